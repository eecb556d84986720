"""What lies behind the figures: a picture of the place, or a painted one; and the weather."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from mvpipe.render.animatic import backdrop, pillow, pixels
from mvpipe.render.animatic.board import Board, used_pictures
from mvpipe.render.animatic.palette import Palette, palette_of
from mvpipe.render.animatic.pixels import Pixels

MARGIN = 0.17
"""How much larger than the picture the ground is, for the camera to travel in."""


def palette_for(board: Board) -> Palette:
    """The colours of a shot: the place's, else the prompt's, else the look's, else the section's own."""
    return palette_of(telling(board), f"{board.place}|{board.section}|{board.title}")


def telling(board: Board) -> list[str]:
    """What may say where a shot plays and in what light, the most telling first."""
    return [board.place_description, board.place, board.prompt, board.look]


@dataclass(frozen=True, slots=True)
class Ground:
    """The planes behind everything, larger than the picture by `MARGIN`.

    Parameters
    ----------
    y, u, v : planes; out of focus, `y` is kept at half its size like the others
    size : (width, height) of the whole ground
    """

    y: Pixels
    u: Pixels
    v: Pixels
    size: tuple[int, int]

    def fill(
        self, planes: tuple[Pixels, Pixels, Pixels], size: tuple[int, int], view: tuple[float, float, float]
    ) -> None:
        """Paint the whole picture as the camera sees the ground: zoom, shift x, shift y."""
        for out, plane in zip(planes, (self.y, self.u, self.v), strict=True):
            share = plane.shape[1] / self.size[0]
            seen = (round(size[0] * share), round(size[1] * share))
            found = pixels.affine(plane, _through(plane, seen, view, share), seen)
            if out.shape == found.shape:
                out[:] = found
            else:
                pixels.enlarge(found, out)


def _through(
    plane: Pixels, seen: tuple[int, int], view: tuple[float, float, float], share: float
) -> pixels.Field:
    """The matrix from a seen pixel to the plane's; pixel centres, not corners, are mapped."""
    zoom, x, y = view[0], view[1] * share, view[2] * share
    left = plane.shape[1] / 2 - (seen[0] / 2 + x) / zoom + 0.5 / zoom - 0.5
    top = plane.shape[0] / 2 - (seen[1] / 2 + y) / zoom + 0.5 / zoom - 0.5
    return np.array([[1 / zoom, 0, left], [0, 1 / zoom, top]], np.float32)


def ground_for(board: Board, palette: Palette, size: tuple[int, int], pictures: Mapping[str, Path]) -> Ground:
    """The ground of a shot."""
    big = (2 * round(size[0] * (1 + MARGIN) / 2), 2 * round(size[1] * (1 + MARGIN) / 2))
    roles = used_pictures(board)
    if roles:
        behind = 0.0 if not board.performance else 0.007 if board.place_picture else 0.045
        rgb = _photographed(pillow.open_picture(pictures[roles[0]], big), palette, big, blur=behind)
    else:
        rgb = _painted(board, palette, big)
    y = pixels.luma(rgb)
    if board.performance:
        y = np.asarray(pixels.resize(y, (big[0] // 2, big[1] // 2)), np.uint8)
    return Ground(y, *pixels.chroma(rgb), big)


def _painted(board: Board, palette: Palette, size: tuple[int, int]) -> Pixels:
    own = f"{board.place}|{board.place_description}" if board.place else f"{board.section}|{board.prompt}"
    seed = int.from_bytes(sha256(own.encode()).digest()[:6])
    scene = backdrop.scene_of(telling(board))
    if scene == "room" and weather_of(board) == "rain":
        scene = "rainy room"
    rgb = backdrop.backdrop(scene, palette, size, seed)
    if board.performance:
        return np.asarray(pixels.blur(rgb, size[1] * 0.004), np.uint8)
    return rgb


def _photographed(picture: Pixels, palette: Palette, size: tuple[int, int], *, blur: float) -> Pixels:
    """A picture that covers the ground; softer and darker where figures stand before it."""
    inset = not blur and _too_much_lost(picture, size)
    soft = 0.06 if inset else blur
    fitted = np.asarray(pixels.blur(cover(picture, size), soft * size[1]), np.float32)
    fitted = 0.84 * fitted + 0.16 * fitted.mean(2, keepdims=True)
    share = 0.26 if soft else 0.08
    toned = fitted * (1 - share) + np.array(palette.deep, np.float32) * share
    ground = backdrop.graded(np.clip(toned, 0, 255).astype(np.uint8), palette, seed=1)
    return _with_inset(ground, picture) if inset else ground


def _too_much_lost(picture: Pixels, size: tuple[int, int]) -> bool:
    """Whether less than half of a picture would be seen if it covered the ground."""
    ratio = picture.shape[1] * size[1] / (picture.shape[0] * size[0])
    return bool(min(ratio, 1 / ratio) < 0.5)


def _with_inset(ground: Pixels, picture: Pixels) -> Pixels:
    """The whole picture before its own blur, right of the lettering, with a shadow under it."""
    height, width = ground.shape[:2]
    scale = min(0.74 * height / picture.shape[0], 0.80 * width / picture.shape[1])
    w, h = round(picture.shape[1] * scale), round(picture.shape[0] * scale)
    x, y = round(min(0.60 * width - w / 2, 0.94 * width - w)), round(0.48 * height - h / 2)
    out = ground.copy()
    shadow = np.zeros((height, width), np.uint8)
    shadow[y + h // 40 : y + h + h // 40, x : x + w] = 255
    pixels.blend(out, (0, 0, 0), pixels.scaled(pixels.blur(shadow, height * 0.02), 0.6))
    out[y : y + h, x : x + w] = pixels.resize(picture, (w, h))
    return out


def cover(picture: Pixels, size: tuple[int, int]) -> Pixels:
    """The picture scaled and cropped to a size; of tall ones the upper part is kept, where faces are."""
    height, width = picture.shape[:2]
    scale = max(size[0] / width, size[1] / height)
    wide, high = min(width, round(size[0] / scale)), min(height, round(size[1] / scale))
    x, y = (width - wide) // 2, round((height - high) * 0.30)
    cut = np.ascontiguousarray(picture[y : y + high, x : x + wide])
    return np.asarray(pixels.resize(cut, size), np.uint8)


_WEATHER = {
    "rain": r"rain(s|ing|y|fall|drops?|storm)?|storm\w*|drizzle|downpour",
    "snow": r"snow\w*|blizzard|flurries",
}


def weather_of(board: Board) -> str:
    """What falls or floats in the air: rain, snow, or dust."""
    text = f"{board.prompt} {board.place_description} {board.look}".lower()
    return next((name for name, words in _WEATHER.items() if re.search(rf"\b({words})\b", text)), "dust")


@dataclass(frozen=True, slots=True)
class Weather:
    """A bright veil that drifts: it is added to the light of the picture."""

    veil: Pixels
    drift: tuple[float, float]

    def fall(self, y: Pixels, i: int) -> None:
        """Add the veil of frame `i` to a Y plane, in place."""
        height, width = y.shape
        tall, wide = self.veil.shape[0] // 2, self.veil.shape[1] // 2
        x0, y0 = round(-self.drift[0] * i) % wide, round(-self.drift[1] * i) % tall
        pixels.add(y, self.veil[y0 : y0 + height, x0 : x0 + width])


def falling(board: Board) -> str:
    """What falls through the picture itself: indoors, only dust."""
    inside = backdrop.scene_of(telling(board)) == "room"
    return "dust" if inside else weather_of(board)


def weather(kind: str, size: tuple[int, int], seed: int) -> Weather:
    """The weather of a shot."""
    width, height = size
    dice = np.random.default_rng([seed % 2**63, 29])
    veil = np.zeros((height, width), np.uint8)
    count, bright, length, lean, speed = {
        "rain": (90, 46, 0.085, 0.22, 0.075),
        "snow": (70, 70, 0.0, 0.3, 0.006),
        "dust": (26, 30, 0.0, 0.6, 0.0012),
    }[kind]
    for _ in range(count):
        x, y = dice.uniform(0, width), dice.uniform(0, height)
        near = dice.uniform(0.4, 1.0)
        r = height * 0.0022 * (1 + 2.2 * near * (kind != "rain"))
        run = np.array(
            [(-r / 2, 0), (r / 2, 0), (r / 2 - length * lean * height * near, length * height * near)]
        )
        t = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        flake = np.stack([r * np.cos(t), r * np.sin(t)], 1)
        for dx in (0, -width):
            for dy in (0, -height):
                pixels.fill(
                    veil, (run if kind == "rain" else flake) + (x + dx, y + dy), (round(bright * near),)
                )
    soft = np.asarray(pixels.blur(veil, height * (0.0008 if kind == "rain" else 0.003)), np.uint8)
    return Weather(np.tile(soft, (2, 2)), (-lean * speed * height, speed * height))
