"""A sheet of paper to draw figures on: flat colours, washes and ink lines.

A canvas shows a window of the drawing, measured in the drawing's own units, so that one part (a jaw, the
eyes) can be redrawn alone. Small drawings are drawn twice as large and averaged down.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mvpipe.render.animatic import pixels
from mvpipe.render.animatic.paths import Spots, line, stroke
from mvpipe.render.animatic.pixels import Pixels, Points

Colour = tuple[int, int, int]

LARGE = 140
"""Pixels a unit from which one pixel is drawn for each delivered; below, two a side."""


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """A colour between `a` (share 0) and `b` (share 1)."""
    return (
        round(a[0] + (b[0] - a[0]) * share),
        round(a[1] + (b[1] - a[1]) * share),
        round(a[2] + (b[2] - a[2]) * share),
    )


@dataclass(slots=True)
class Canvas:
    """A window on a drawing.

    Parameters
    ----------
    left, top : its corner, in the drawing's units
    size : (width, height) in delivered pixels
    scale : delivered pixels a unit
    """

    left: float
    top: float
    size: tuple[int, int]
    scale: float
    rgb: Pixels = field(init=False)
    alpha: Pixels = field(init=False)

    def __post_init__(self) -> None:
        width, height = (side * self._over for side in self.size)
        self.rgb = np.zeros((height, width, 3), np.uint8)
        self.alpha = np.zeros((height, width), np.uint8)

    @property
    def _over(self) -> int:
        return 1 if self.scale > LARGE else 2

    @property
    def _scale(self) -> float:
        return self.scale * self._over

    def _pixels(self, points: Points) -> Points:
        return np.asarray((points - (self.left, self.top)) * self._scale, float)

    def mask(self, shape: Points) -> Pixels:
        """Where a shape is: 255 inside; for the `within` of a wash."""
        found = np.zeros(self.alpha.shape, np.uint8)
        pixels.fill(found, self._pixels(shape), (255,))
        return found

    def fill(self, shape: Points, colour: Colour) -> None:
        """An opaque flat colour."""
        at = self._pixels(shape)
        pixels.fill(self.rgb, at, colour)
        pixels.fill(self.alpha, at, (255,))

    def ink(
        self,
        path: Spots | str | Points,
        width: float,
        colour: Colour,
        taper: tuple[float, float] = (0.15, 0.15),
    ) -> None:
        """A pen stroke along a line, thinner towards its ends."""
        points = path if isinstance(path, np.ndarray) else line(path)
        self.fill(stroke(points, width, taper), colour)

    def outline(self, shape: Points, width: float, colour: Colour) -> None:
        """A pen stroke once round a shape."""
        self.ink(np.vstack([shape, shape[:1]]), width, colour, (1, 1))

    def wash(
        self,
        shape: Points,
        colour: Colour,
        strength: float,
        *,
        soft: float = 0.0,
        within: Pixels | None = None,
    ) -> None:
        """A translucent colour, its edge blurred by `soft` units; only what is already drawn takes it."""
        at = self._pixels(shape)
        margin = 3 * soft * self._scale + 2
        low = np.floor(np.maximum(at.min(0) - margin, 0)).astype(int)
        high = np.ceil(np.minimum(at.max(0) + margin, self.alpha.shape[::-1])).astype(int)
        if (high <= low).any():
            return
        part = (slice(low[1], high[1]), slice(low[0], high[0]))
        mask = np.zeros(self.alpha[part].shape, np.uint8)
        pixels.fill(mask, at - low, (255,))
        mask = pixels.blur(mask, soft * self._scale)
        cover = self.alpha[part] if within is None else within[part]
        pixels.blend(self.rgb[part], colour, pixels.scaled(pixels.times(mask, cover), strength))

    def rim(self, colour: Colour, width: float, strength: float) -> None:
        """Light from behind, on the edges that face right, just inside their ink."""
        reach = max(1, round(width * self._scale))
        inner = pixels.shrink(self.alpha, max(1, reach // 2))
        behind = np.zeros_like(inner)
        behind[:, : -2 * reach] = inner[:, 2 * reach :]
        edge = pixels.blur(pixels.without(inner, behind), reach / 3)
        pixels.blend(self.rgb, colour, pixels.scaled(edge, strength))

    def finish(self) -> tuple[Pixels, Pixels]:
        """The drawing and its coverage, averaged down: RGB already multiplied by it, and alpha."""
        alpha = np.asarray(pixels.resize(self.alpha, self.size), np.uint8)
        flat = pixels.times(self.rgb, np.dstack([self.alpha] * 3))
        return np.asarray(pixels.resize(flat, self.size), np.uint8), alpha
