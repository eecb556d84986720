"""A character drawn once and moved many times: the figure, its mouths and its eyelids as planes.

Only what moves is redrawn: the lower face for each opening and spread of the lips, the eyes for each
position of the lids. They are drawn when first needed and kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mvpipe.render.animatic import pixels
from mvpipe.render.animatic.canvas import Canvas, Colour
from mvpipe.render.animatic.face import Pose, tones_of
from mvpipe.render.animatic.figure import draw_figure
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.pixels import Cutout

LEFT, TOP, RIGHT = -2.0, -1.9, 2.0
"""What a sheet shows of a figure, in its units; its bottom is chosen with the framing."""

LOWEST = 8.0

OPENINGS, SPREADS, LIDS = 16, 3, 3
"""Steps of a mouth's opening, of its spread, and of a lid."""

_MOUTH = (-1.2, 0.34, 1.2, 1.80)
_EYES = (-0.66, -0.36, 0.66, 0.22)
_MARGIN = 0.2  # units drawn around a patch and cut off again, so that blurs meet the sheet's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Dress:
    """All that decides a sheet.

    Parameters
    ----------
    look : of the character
    ink : colour of lines and shadows
    rim : colour of the light from behind
    air : what the room's light multiplies colours with
    scale : pixels a unit
    bottom : where the sheet ends, in units below the eyes
    blur : how far out of focus the figure is, in units
    """

    look: Look
    ink: Colour
    rim: Colour
    air: Colour
    scale: float
    bottom: float
    blur: float = 0.0

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the sheet in pixels, even."""
        return (
            2 * round((RIGHT - LEFT) * self.scale / 2),
            2 * round((self.bottom - TOP) * self.scale / 2),
        )


@dataclass(slots=True)
class Sheet:
    """A figure at one size, and the parts of it that move."""

    dress: Dress
    base: Cutout
    _patches: dict[tuple[str, int, int], tuple[int, int, Cutout]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def reach(self) -> float:
        """Units from the middle to the farthest pixel of the figure, on either side."""
        columns = np.flatnonzero(self.base.a.max(0))
        return float(max(-LEFT - columns[0] / self.dress.scale, columns[-1] / self.dress.scale + LEFT))

    def mouth(self, opening: float, spread: float) -> tuple[int, int, Cutout]:
        """The lower face: where it lies on the sheet (x, y in even pixels), and its planes."""
        o, s = round(opening * (OPENINGS - 1)), round(spread * (SPREADS - 1))
        return self._patch("mouth", o, s, Pose(opening=o / (OPENINGS - 1), spread=s / (SPREADS - 1)), _MOUTH)

    def eyes(self, lid: float) -> tuple[int, int, Cutout]:
        """The eyes: where they lie on the sheet, and their planes."""
        step = round(lid * (LIDS - 1))
        return self._patch("eyes", step, 0, Pose(lid=step / (LIDS - 1)), _EYES)

    def _patch(
        self, part: str, a: int, b: int, pose: Pose, box: tuple[float, float, float, float]
    ) -> tuple[int, int, Cutout]:
        with self._lock:
            if (part, a, b) not in self._patches:
                self._patches[part, a, b] = _draw(self.dress, pose, box)
            return self._patches[part, a, b]


@lru_cache(maxsize=4)
def sheet(dress: Dress) -> Sheet:
    """The sheet of a dress; the latest few are kept."""
    _, _, base = _draw(dress, Pose(), (LEFT, TOP, RIGHT, dress.bottom))
    return Sheet(dress, base)


def _draw(dress: Dress, pose: Pose, box: tuple[float, float, float, float]) -> tuple[int, int, Cutout]:
    """The part of the figure inside `box` (left, top, right, bottom), clipped to the sheet."""
    scale, (width, height) = dress.scale, dress.size
    x0, y0, x1, y1 = (
        2 * round(v * scale / 2) for v in (box[0] - LEFT, box[1] - TOP, box[2] - LEFT, box[3] - TOP)
    )
    x1, y1 = min(x1, width), min(y1, height)
    margin = 2 * round(_MARGIN * scale / 2)
    left, top = max(0, x0 - margin), max(0, y0 - margin)
    canvas = Canvas(
        LEFT + left / scale,
        TOP + top / scale,
        (min(width, x1 + margin) - left, min(height, y1 + margin) - top),
        scale,
    )
    draw_figure(canvas, dress.look, pose, tones_of(dress.look, dress.ink), dress.rim)
    rgb, alpha = (pixels.blur(image, dress.blur * scale) for image in canvas.finish())
    inner = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
    lit = pixels.tinted(np.ascontiguousarray(rgb[inner]), dress.air)
    return x0, y0, pixels.cutout(lit, np.ascontiguousarray(alpha[inner]))
