"""The mouth, from closed to wide open, and the hair around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvpipe.render.animatic.canvas import Canvas, Colour, mix
from mvpipe.render.animatic.face import Pose, Tones, soft, sunk
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.paths import Spots, curve, line, mirrored, oval
from mvpipe.render.animatic.pixels import Pixels

MIDDLE = 0.672
"""Height of the closed lips."""

_THROAT: Colour = (58, 14, 22)
_TONGUE: Colour = (176, 70, 74)
_TEETH: Colour = (240, 234, 224)


@dataclass(frozen=True, slots=True)
class _Lips:
    """Half the width of the mouth, and the heights of its corners, upper and lower lip."""

    wide: float
    corner: float
    up: float
    low: float


def _lips(pose: Pose) -> _Lips:
    o = pose.opening
    return _Lips(
        wide=0.205 + 0.06 * pose.spread - 0.03 * o * (1.2 - pose.spread),
        corner=MIDDLE + 0.07 * o,
        up=MIDDLE - 0.02 * o,
        low=MIDDLE + 0.26 * o,
    )


def draw_mouth(canvas: Canvas, look: Look, pose: Pose, tones: Tones) -> None:
    """Lips, and what is seen between them."""
    lips = _lips(pose)
    w, corner, full = lips.wide, lips.corner, 1.0 if soft(look) else 0.8
    top = _upper_edge(lips, full)
    bottom: Spots = [
        (w, corner), (w * 0.70, lips.low + 0.052 * full), (0.0, lips.low + 0.105 * full),
        (-w * 0.70, lips.low + 0.052 * full), (-w, corner),
    ]  # fmt: skip
    shape = np.vstack([line(top), line(bottom)])
    canvas.wash(oval(0.0, lips.low + 0.155, w * 0.62, 0.03), tones.deep, 0.5, soft=0.025)
    canvas.fill(shape, tones.lips)
    inside = canvas.mask(shape)
    shaded = np.vstack([line(top), [(w, corner), (0, lips.up + 0.02), (-w, corner)]])
    canvas.wash(shaded, tones.ink, 0.24, soft=0.008, within=inside)
    canvas.wash(oval(-0.04, lips.low + 0.055, w * 0.34, 0.017), tones.light, 0.55, soft=0.012, within=inside)
    _gap(canvas, pose, tones, lips)
    canvas.ink(bottom, 0.014, tones.ink, (0.1, 0.1))
    canvas.ink(top, 0.012, tones.ink, (0.4, 0.4))


def _upper_edge(lips: _Lips, full: float) -> Spots:
    w, up = lips.wide, lips.up
    left: Spots = [(-w, lips.corner), (-w * 0.62, up - 0.052 * full), (-0.055, up - 0.086 * full)]
    return [*left, (0.0, up - 0.066 * full), *((-x, y) for x, y in reversed(left))]


def _gap(canvas: Canvas, pose: Pose, tones: Tones, lips: _Lips) -> None:
    """The line between closed lips, or throat, teeth and tongue."""
    w, corner, up, low = lips.wide - 0.022, lips.corner, lips.up, lips.low
    above: Spots = [(-w, corner), (-w * 0.5, up + 0.006), (0, up + 0.016), (w * 0.5, up + 0.006), (w, corner)]
    if pose.opening < 0.04:
        canvas.ink(above, 0.024, tones.ink, (0.5, 0.5))
        return
    below: Spots = [
        (w, corner),
        (w * 0.66, low - 0.012),
        (0, low + 0.012),
        (-w * 0.66, low - 0.012),
        (-w, corner),
    ]
    hole = np.vstack([line(above), line(below)])
    canvas.fill(hole, _THROAT)
    inside = canvas.mask(hole)
    tall = low - up
    canvas.wash(oval(0, low + 0.02, w * 0.72, tall * 0.40), _TONGUE, 0.9, soft=0.012, within=inside)
    for colour, lip, foot, strength in (
        (_TEETH, 0.05, tall * 0.22, min(1.0, pose.opening * 5)),
        (_THROAT, 0.04, 0.02, 0.5),
    ):
        row = curve(
            [
                (-w, up - lip),
                (w, up - lip),
                (w * 0.84, up + foot),
                (0, up + 0.02 + foot * 1.1),
                (-w * 0.84, up + foot),
            ]
        )
        canvas.wash(row, colour, strength, soft=0.004, within=inside)
    canvas.outline(hole, 0.014, tones.ink)


def draw_beard(canvas: Canvas, look: Look, pose: Pose, tones: Tones, skin: Pixels) -> None:
    """Stubble or a beard, on the skin; it is drawn before the mouth."""
    if look.beard in ("full", "stubble"):
        edge = sunk("0,.52 .3,.56 .44,.56 .6,.36 .72,.18 .75,.8 .4,1.3", pose.opening)
        full = look.beard == "full"
        colour = mix(look.hair, tones.ink, 0.2)
        canvas.wash(
            curve(mirrored(edge)), colour, 0.92 if full else 0.26, soft=0.02 if full else 0.06, within=skin
        )


def draw_moustache(canvas: Canvas, look: Look, tones: Tones) -> None:
    """A moustache, over the upper lip."""
    if look.beard in ("full", "moustache"):
        shape = curve(mirrored("0,.50 .1,.51 .24,.57 .33,.68 .2,.64 .08,.60 0,.585"))
        canvas.fill(shape, mix(look.hair, tones.ink, 0.15))
        canvas.outline(shape, 0.014, mix(look.hair, tones.ink, 0.7))
