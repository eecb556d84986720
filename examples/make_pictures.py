"""Draw the reference pictures of `first-light/`: the singer, the quay and the lamp room.

`.venv/bin/python examples/make_pictures.py [FOLDER]`; the same pixels every time. The singer is drawn by the
animatic itself from the words of the storyboard, so that picture and film show the same person.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from ruamel.yaml import YAML

from mvpipe.render.animatic.portrait import draw_portrait

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]

HERE = Path(__file__).parent / "first-light"

WIDE, HIGH, OVER = 960, 544, 2
"""The size of a place, and how much larger it is drawn."""


SKY = [
    (0.0, (46, 62, 98)),
    (0.35, (104, 118, 152)),
    (0.62, (206, 158, 150)),
    (0.80, (250, 196, 142)),
    (1.0, (255, 226, 176)),
]
NIGHT: Colour = (30, 38, 62)
RED: Colour = (176, 62, 56)


def gradient(stops: Sequence[tuple[float, Colour]], width: int, height: int) -> Image.Image:
    """Colours from top to bottom."""
    places, colours = [place for place, _ in stops], np.array([colour for _, colour in stops], float)
    down = np.linspace(0, 1, height)
    rows = np.stack([np.interp(down, places, colours[:, channel]) for channel in range(3)], 1)
    return Image.fromarray(np.repeat(rows[:, None].astype(np.uint8), width, 1), "RGB")


def glow(
    picture: Image.Image, x: float, y: float, radius: float, colour: Colour, strength: float
) -> Image.Image:
    """Light that spreads from a point, added to what is there."""
    down, across = np.mgrid[0 : picture.height, 0 : picture.width]
    fall = np.exp(-np.hypot(across - x, (down - y) * 1.4) / radius)[..., None] * strength
    lit = 255 - (255 - np.asarray(picture, float)) * (1 - fall * np.array(colour) / 255)
    return Image.fromarray(lit.astype(np.uint8), "RGB")


def shape(picture: Image.Image, points: Points, colour: Colour, *, soft: float = 0, share: float = 1) -> None:
    """A filled outline, with a soft edge where wanted."""
    mask = Image.new("L", picture.size)
    ImageDraw.Draw(mask).polygon([tuple(point) for point in points], fill=round(255 * share))
    picture.paste(colour, mask=mask.filter(ImageFilter.GaussianBlur(soft)) if soft else mask)


def finished(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """At its final size, with a little grain and darker corners."""
    small = picture.resize((picture.width // OVER, picture.height // OVER), Image.Resampling.LANCZOS)
    down, across = np.mgrid[-1 : 1 : small.height * 1j, -1 : 1 : small.width * 1j]
    corner = 1 - 0.22 * np.clip(down**2 + across**2 - 0.5, 0, 1)[..., None]
    grain = rng.normal(0, 1.2, (small.height, small.width, 1))
    return Image.fromarray(np.clip(np.asarray(small, float) * corner + grain, 0, 255).astype(np.uint8), "RGB")


def sea(picture: Image.Image, top: int, light: float, rng: np.random.Generator) -> None:
    """Water from `top` down, with the sun's path at `light` (a share of the width)."""
    width, height = picture.size
    deep = gradient(
        [(0, (224, 176, 150)), (0.12, (150, 138, 150)), (0.5, (74, 88, 118)), (1, NIGHT)], width, height - top
    )
    picture.paste(deep, (0, top))
    draw = ImageDraw.Draw(picture)
    for _ in range(1500):
        near = rng.uniform(0, 1) ** 1.6
        y = top + 3 + near * (height - top)
        spread = width * (0.015 + 0.13 * near)
        x = light * width + rng.normal(0, spread)
        long = (6 + 60 * near) * OVER / 2 * rng.uniform(0.4, 1)
        share = np.exp(-(((x - light * width) / (2 * spread)) ** 2)) * (1 - 0.75 * near)
        colour = tuple(
            round(a + (b - a) * share) for a, b in zip((92, 104, 132), (255, 220, 168), strict=True)
        )
        draw.line(
            [(x - long, y), (x + long, y)], fill=colour, width=max(1, round((0.6 + 2.2 * near) * OVER / 2))
        )


def quay() -> Image.Image:
    """The harbour: a mole with its lighthouse, boats asleep, the sun not yet up."""
    rng, (w, h) = np.random.default_rng(3), (WIDE * OVER, HIGH * OVER)
    line = round(0.56 * h)
    picture = gradient(SKY, w, line)
    picture = glow(_on(picture, w, h), 0.66 * w, line, 0.22 * w, (255, 214, 150), 0.85)
    for _ in range(9):
        x, y, long = rng.uniform(0, w), rng.uniform(0.1, 0.42) * h, rng.uniform(0.10, 0.26) * w
        cloud = [(x - long, y), (x, y - 0.010 * h), (x + long, y), (x, y + 0.007 * h)]
        shape(picture, cloud, (232, 172, 160), soft=9, share=0.5)
    hills = ((0, 0.05), (0.16, 0.075), (0.34, 0.02), (0.42, 0), (0, 0))
    shape(picture, [(a * w, line - b * h) for a, b in hills], (96, 98, 128), soft=2)
    sea(picture, line, 0.66, rng)
    _lighthouse(picture, 0.79 * w, line + 0.02 * h, 0.30 * h)
    for x, y, size, colour in (
        (0.30, 0.66, 0.13, (44, 58, 86)),
        (0.17, 0.74, 0.19, (58, 44, 62)),
        (0.47, 0.625, 0.09, (52, 70, 96)),
    ):
        _boat(picture, x * w, y * h, size * w, colour)
    _stones(picture, rng)
    return finished(picture, rng)


def _on(sky: Image.Image, width: int, height: int) -> Image.Image:
    picture = Image.new("RGB", (width, height), NIGHT)
    picture.paste(sky, (0, 0))
    return picture


def _lighthouse(picture: Image.Image, x: float, foot: float, tall: float) -> None:
    def at(*spots: tuple[float, float]) -> Points:
        """Across in half widths of the foot, up in heights of the tower."""
        return [(x + 0.115 * tall * a, foot - tall * b) for a, b in spots]

    mole = [(-15, 0), (-3, 0.05), (16, 0.07), (16, -0.1), (-15.6, -0.03)]
    shape(picture, at(*mole), (48, 50, 70), soft=1)
    shape(picture, at((-1, 0), (-0.62, 1), (0.62, 1), (1, 0)), (232, 220, 214))
    shape(picture, at((-1, 0), (-0.62, 1), (-0.1, 1), (-0.3, 0)), (150, 150, 172), soft=4)
    for low, high in ((0.28, 0.46), (0.64, 0.80)):
        a, b = 1 - 0.38 * low, 1 - 0.38 * high
        shape(picture, at((-a, low), (-b, high), (b, high), (a, low)), RED)
    shape(picture, at((-0.95, 1), (0.95, 1), (0.95, 1.02), (-0.95, 1.02)), (44, 44, 58))
    shape(picture, at((-0.5, 1), (-0.5, 1.11), (0.5, 1.11), (0.5, 1)), (255, 232, 178))
    shape(picture, at((-0.66, 1.11), (0, 1.2), (0.66, 1.11)), RED)
    picture.paste(glow(picture, x, foot - 1.06 * tall, 0.09 * tall, (255, 226, 160), 0.9))


def _boat(picture: Image.Image, x: float, y: float, size: float, colour: Colour) -> None:
    def at(*spots: tuple[float, float]) -> Points:
        """Across and up from the water line, in lengths of the boat."""
        return [(x + size * a, y - size * b) for a, b in spots]

    dark: Colour = (26, 30, 46)
    hull = ((-0.5, 0.12), (0.5, 0.15), (0.38, -0.06), (-0.40, -0.06))
    shape(picture, at(*((a, -b - 0.12) for a, b in hull)), dark, soft=6, share=0.55)
    shape(picture, at(*hull), colour)
    shape(picture, at((-0.5, 0.12), (0.5, 0.15), (0.49, 0.125), (-0.49, 0.095)), (226, 196, 176))
    shape(picture, at((-0.26, 0.12), (-0.24, 0.3), (0.02, 0.3), (0.04, 0.13)), (200, 178, 170))
    shape(picture, at((-0.2, 0.2), (-0.2, 0.27), (-0.02, 0.27), (-0.02, 0.2)), (62, 74, 100))
    draw = ImageDraw.Draw(picture)
    draw.line(at((0.14, 0.13), (0.14, 0.72)), fill=dark, width=max(2, round(0.014 * size)))
    draw.line(at((0.47, 0.15), (0.14, 0.7), (-0.46, 0.12)), fill=dark, width=1)


def _stones(picture: Image.Image, rng: np.random.Generator) -> None:
    w, h = picture.size
    shape(picture, [(0, 0.86 * h), (0.55 * w, 0.90 * h), (w, 0.985 * h), (w, h), (0, h)], (38, 42, 60))
    draw = ImageDraw.Draw(picture)
    for _ in range(46):
        x, y = rng.uniform(0, w), rng.uniform(0.89, 1.0) * h
        if y > (0.875 + 0.11 * x / w) * h:
            wide = rng.uniform(0.03, 0.07) * w
            draw.rounded_rectangle(
                [x, y, x + wide, y + 0.022 * h], 8, fill=(50, 54, 74), outline=(30, 34, 50)
            )
    for x in (0.10, 0.36):
        draw.rounded_rectangle([x * w, 0.835 * h, (x + 0.022) * w, 0.91 * h], 10, fill=(24, 27, 42))


def lamp_room() -> Image.Image:
    """Inside the lantern: panes, the great lens at the right, sea and sun below."""
    rng, (w, h) = np.random.default_rng(4), (WIDE * OVER, HIGH * OVER)
    line = round(0.62 * h)
    picture = glow(_on(gradient(SKY, w, line), w, h), 0.33 * w, line, 0.3 * w, (255, 210, 150), 1.0)
    sea(picture, line, 0.33, rng)
    for ring in range(9):  # the lens: prisms one above the other
        y, half = (0.20 + 0.07 * ring) * h, (0.13 - 0.012 * abs(ring - 4)) * w
        bar(picture, (0.80 * w, y, half), (0.80 * w, y + 0.052 * h, 0.86 * half), (206, 196, 176), 0.72)
        bar(picture, (0.80 * w, y, half), (0.80 * w, y + 0.010 * h, half), (255, 244, 214))
    picture = glow(picture, 0.80 * w, 0.5 * h, 0.10 * w, (255, 224, 160), 0.7)
    _dew(picture, rng)
    iron: Colour = (34, 36, 50)
    for x in (0.06, 0.27, 0.49, 0.70, 0.93):
        top = (x - 0.05 * (x - 0.5)) * w
        bar(picture, (top + 4, 0, 9), (x * w + 4, h, 12), (206, 158, 128), 0.6)
        bar(picture, (top, 0, 9), (x * w, h, 12), iron)
    for y, high, colour in ((0.10, 0.024, iron), (0.74, 0.024, iron), (0.93, 0.14, (28, 30, 44))):
        bar(picture, (w / 2, (y - high / 2) * h, w), (w / 2, (y + high / 2) * h, w), colour)
    bar(picture, (w / 2, 0.86 * h, w), (w / 2, 0.872 * h, w), (196, 150, 92))
    return finished(picture, rng)


def bar(
    picture: Image.Image,
    top: tuple[float, float, float],
    foot: tuple[float, float, float],
    colour: Colour,
    share: float = 1,
) -> None:
    """A beam between two ends, each (x, y, half its width)."""
    (x0, y0, half0), (x1, y1, half1) = top, foot
    shape(
        picture, [(x0 - half0, y0), (x0 + half0, y0), (x1 + half1, y1), (x1 - half1, y1)], colour, share=share
    )


def _dew(picture: Image.Image, rng: np.random.Generator) -> None:
    """Drops on the lower panes, and the runs that some have left."""
    w, h = picture.size
    for _ in range(150):
        x, y, r = rng.uniform(0, w), (0.85 - 0.45 * rng.uniform(0, 1) ** 2) * h, rng.uniform(1.5, 4)
        run = r * (1 if rng.uniform() < 0.8 else rng.uniform(8, 30))
        drop = [(x - r, y), (x - 0.7 * r, y - run), (x + 0.7 * r, y - run), (x + r, y), (x, y + r)]
        shape(picture, drop, (255, 236, 214), soft=1, share=0.35)


def ada() -> Image.Image:
    """The singer, as the animatic draws her from the storyboard's words."""
    storyboard = YAML(typ="safe").load(HERE / "storyboard.yaml")
    png = draw_portrait("ada", storyboard["cast"]["ada"]["is"].strip(), (576, 720))
    return Image.open(BytesIO(png)).convert("RGB")


def main() -> None:
    """All three, as JPEG."""
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pictures"
    into.mkdir(parents=True, exist_ok=True)
    for draw, name, quality in ((ada, "ada", 80), (quay, "quay", 74), (lamp_room, "lamp-room", 74)):
        draw().save(into / f"{name}.jpg", quality=quality, optimize=True)


if __name__ == "__main__":
    main()
