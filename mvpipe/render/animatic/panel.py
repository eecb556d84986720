"""A transparent sheet over the picture, and the stickers it is cut into to be laid over many frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mvpipe.render.animatic import pixels
from mvpipe.render.animatic.canvas import Colour
from mvpipe.render.animatic.pixels import Cutout, Pixels


@dataclass(slots=True)
class Panel:
    """A transparent sheet as large as the picture, lettered from the bottom up."""

    size: tuple[int, int]
    rgb: NDArray[np.float32]
    alpha: NDArray[np.float32]

    @classmethod
    def blank(cls, size: tuple[int, int]) -> Panel:
        """A sheet with nothing on it."""
        return cls(
            size, np.zeros((size[1], size[0], 3), np.float32), np.zeros((size[1], size[0]), np.float32)
        )

    def lay(self, mask: Pixels | NDArray[np.float32], colour: Colour, strength: float = 1.0) -> None:
        """Lay a colour through a mask of 0..255 over the sheet."""
        rows = np.nonzero(np.asarray(mask).max(1))[0]
        if not len(rows):
            return
        band = slice(rows[0], rows[-1] + 1)
        share: NDArray[np.float32] = (mask[band] * np.float32(strength / 255)).astype(np.float32)
        self.rgb[band] *= (1 - share)[..., None]
        self.rgb[band] += share[..., None] * np.array(colour, np.float32)
        self.alpha[band] *= 1 - share
        self.alpha[band] += 255 * share

    def paste(self, rgb: Pixels, mask: Pixels) -> None:
        """Lay a picture of the sheet's size over it, through a mask."""
        keep = 1 - mask.astype(np.float32) / 255
        self.rgb *= keep[..., None]
        self.rgb += pixels.times(rgb, np.dstack([mask] * 3))
        self.alpha *= keep
        self.alpha += mask

    def letters(self) -> Pixels:
        """An empty mask of the sheet's size."""
        return np.zeros((self.size[1], self.size[0]), np.uint8)

    def cut(self) -> Cutout:
        """The sheet as planes; fractions become noise, not steps, so that soft shadows show no bands."""
        noise = np.random.default_rng(1).random(self.alpha.shape, np.float32)
        return pixels.cutout(_scattered(self.rgb, noise[..., None]), _scattered(self.alpha, noise))


def _scattered(values: NDArray[np.float32], noise: NDArray[np.float32]) -> Pixels:
    return np.asarray(np.minimum(np.floor(values + noise), 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Sticker:
    """Something that stands still over the picture: its corner in even pixels, and its planes."""

    at: tuple[int, int]
    y: Pixels
    a: Pixels
    chroma: tuple[Pixels, Pixels, Pixels]

    def stick(self, planes: tuple[Pixels, Pixels, Pixels]) -> None:
        """Lay it over a picture."""
        put(planes, self, self.at)


def sticker(part: Cutout, at: tuple[int, int]) -> Sticker:
    """A cutout, made ready to be laid over many frames."""
    return Sticker(at, part.y, part.a, part.chroma())


def put(planes: tuple[Pixels, Pixels, Pixels], part: Sticker, at: tuple[int, int]) -> None:
    """Lay a sticker over a picture with its corner elsewhere; all of it inside."""
    (x, y), (h, w) = at, part.y.shape
    pixels.over(planes[0][y : y + h, x : x + w], part.y, part.a)
    half = (slice(y // 2, (y + h) // 2), slice(x // 2, (x + w) // 2))
    u, v, mask = part.chroma
    for plane, drawn in zip(planes[1:], (u, v), strict=True):
        pixels.over(plane[half], drawn, mask)


def stickers(panel: Cutout) -> list[Sticker]:
    """The parts of a panel that hold anything; the rest need not be laid."""
    found = []
    for a, b in _stretches(panel.a.max(1) > 0):
        for c, d in _stretches(panel.a[a:b].max(0) > 0):
            half = (slice(a // 2, b // 2), slice(c // 2, d // 2))
            part = Cutout(panel.y[a:b, c:d].copy(), panel.a[a:b, c:d].copy(), panel.uva[half].copy())
            found.append(sticker(part, (c, a)))
    return found


def _stretches(used: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where a row of flags is set, first and last widened to even numbers, near ones joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], used, [False]]).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for start, stop in edges.reshape(-1, 2):
        a, b = int(start) & ~1, min(len(used), (int(stop) + 1) & ~1)
        if found and a - found[-1][1] < 64:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def flat(colour: Colour) -> tuple[int, int, int]:
    """A colour as Y, U and V."""
    rgb = np.full((2, 2, 3), colour, np.uint8)
    u, v = pixels.chroma(rgb)
    return int(pixels.luma(rgb)[0, 0]), int(u[0, 0]), int(v[0, 0])
