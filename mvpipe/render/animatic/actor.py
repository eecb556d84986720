"""Put a figure into the frames: bent, turned and sized as its carriage and the camera say."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mvpipe.render.animatic import pixels, puppet
from mvpipe.render.animatic.motion import Carriage, PerFrame
from mvpipe.render.animatic.pixels import Cutout, Field, Pixels

_CELL = 12  # pixels of the frame between two points at which the bending is worked out
_PIVOT = 1.45  # units below the eyes where the neck bends


@dataclass(slots=True)
class Actor:
    """A figure in a shot.

    Parameters
    ----------
    sheet : its drawing
    carriage, opening, spread : its movements, one value a frame
    box : where it can appear in the frame: left, top, right, bottom in even pixels
    """

    sheet: puppet.Sheet
    carriage: Carriage
    opening: PerFrame
    spread: PerFrame
    box: tuple[int, int, int, int]
    _now: Cutout = field(init=False)
    _shown: list[Cutout | None] = field(init=False, default_factory=lambda: [None, None])

    def __post_init__(self) -> None:
        base = self.sheet.base
        self._now = Cutout(*(plane.copy() for plane in (base.y, base.a, base.uva)))

    def paint(self, planes: tuple[Pixels, Pixels, Pixels], i: int, at: tuple[float, float, float]) -> None:
        """Lay the figure over frame `i`; `at` is where its eyes are (x, y) and the pixels of a unit."""
        self._express(i)
        x, y = self._bend(i, at)
        left, top, right, bottom = self.box
        whole = (slice(top, bottom), slice(left, right))
        half = (slice(top // 2, bottom // 2), slice(left // 2, right // 2))
        size = (right - left, bottom - top)
        xs, ys = _grown(x, size, _CELL), _grown(y, size, _CELL)
        now = self._now
        pixels.over(planes[0][whole], pixels.remap(now.y, xs, ys), pixels.remap(now.a, xs, ys))
        # half a chroma pixel is not where half a luma pixel is: both count from their centres
        small = (size[0] // 2, size[1] // 2)
        xs, ys = (_grown(np.asarray((c - 0.5) / 2, np.float32), small, _CELL // 2) for c in (x, y))
        u, v, mask = Cutout(now.y, now.a, pixels.remap(now.uva, xs, ys)).chroma()
        for plane, drawn in zip(planes[1:], (u, v), strict=True):
            pixels.over(plane[half], drawn, mask)

    def _express(self, i: int) -> None:
        """Put the mouth and the eyes of frame `i` on the figure."""
        parts = (
            self.sheet.mouth(float(self.opening[i]), float(self.spread[i])),
            self.sheet.eyes(float(self.carriage.lid[i])),
        )
        for n, (x, y, part) in enumerate(parts):
            if part is self._shown[n]:
                continue
            self._shown[n] = part
            h, w = part.y.shape
            box = (slice(y, y + h), slice(x, x + w))
            half = (slice(y // 2, (y + h) // 2), slice(x // 2, (x + w) // 2))
            self._now.y[box], self._now.a[box] = part.y, part.a
            self._now.uva[half] = part.uva

    def _bend(self, i: int, at: tuple[float, float, float]) -> tuple[Field, Field]:
        """Which pixel of the sheet is seen at every _CELL-th pixel of the box, one cell beyond it."""
        left, top, right, bottom = self.box
        c = self.carriage
        xs = left + _CELL * np.arange((right - left) // _CELL + 2) + (_CELL - 1) / 2
        ys = top + _CELL * np.arange((bottom - top) // _CELL + 2) + (_CELL - 1) / 2
        u, v = np.meshgrid((xs + 0.5 - at[0]) / at[2] - c.sway[i], (ys + 0.5 - at[1]) / at[2])
        head = 1 / (1 + np.exp((v - 1.35) * 9))
        u0, v0 = u - c.shift[i] * head, v - c.rise[i] * head
        roll = c.roll[i] * head
        u1 = u0 * np.cos(roll) + (v0 - _PIVOT) * np.sin(roll)
        v1 = _PIVOT + (v0 - _PIVOT) * np.cos(roll) - u0 * np.sin(roll)
        bulge = _depth(u1, v1)
        u1, v1 = u1 - c.turn[i] * bulge, v1 - c.nod[i] * bulge
        scale = self.sheet.dress.scale
        x = (u1 - puppet.LEFT) * scale - 0.5
        y = (v1 - puppet.TOP) * scale - 0.5
        return np.asarray(x, np.float32), np.asarray(y, np.float32)


def _depth(u: PerFrame, v: PerFrame) -> PerFrame:
    """How far the face stands out, in units: a dome that ends at its contour, and a nose."""
    dome = np.sqrt(np.maximum(0, 1 - (u / 0.86) ** 2 - ((v - 0.04) / 1.2) ** 2))
    nose = np.exp(-((u / 0.15) ** 2) - ((v - 0.30) / 0.20) ** 2)
    return 0.62 * dome**1.5 + 0.16 * nose


def _grown(coarse: Field, size: tuple[int, int], cell: int) -> Field:
    rows, columns = coarse.shape
    return pixels.stretch(coarse, (columns * cell, rows * cell))[: size[1], : size[0]]
