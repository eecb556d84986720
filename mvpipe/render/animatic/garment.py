"""Neck, shoulders and what is worn."""

from __future__ import annotations

import numpy as np

from mvpipe.render.animatic.canvas import Canvas, Colour, mix
from mvpipe.render.animatic.face import WHITE, Tones, drop
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.paths import Spots, curve, flipped, mirrored, oval, spots
from mvpipe.render.animatic.pixels import Points

BOTTOM = 9.0
"""Where the figure ends, in units below the eyes; no framing shows more."""


def draw_behind(canvas: Canvas, look: Look, tones: Tones) -> None:
    """The part of a collar or hood that the neck covers."""
    cloth = mix(look.cloth, tones.ink, 0.5)
    if look.garment == "hoodie":
        _cut(canvas, mirrored("0,.8 .5,.84 .84,1.16 .8,1.62 0,1.7"), cloth, tones)
    elif look.garment in ("coat", "jacket", "shirt"):
        _cut(canvas, mirrored("0,1.14 .36,1.12 .52,1.26 .56,1.62 0,1.7"), cloth, tones)


def draw_body(canvas: Canvas, look: Look, tones: Tones, opening: float) -> None:
    """The neck, then the garment over it."""
    _neck(canvas, look, tones, drop(1, opening))
    _torso(canvas, look, tones)
    _DETAILS[look.garment](canvas, look, tones)


def _neck(canvas: Canvas, look: Look, tones: Tones, chin: float) -> None:
    j = look.jaw
    side: Spots = [(0.34 + 0.09 * j, 0.5), (0.35 + 0.10 * j, 1.1), (0.42 + 0.12 * j, 1.45), (0.72, 1.76)]
    shape = curve(mirrored([(0.0, 0.4), *side, (0.74, 2.3), (0.0, 2.5)]))
    canvas.fill(shape, tones.skin)
    skin = canvas.mask(shape)
    far = curve(".1,.9 .16,1.3 .1,1.7 .3,2.6 1.2,2.6 1.2,.6")
    canvas.wash(far, tones.shade, 0.85, soft=0.02, within=skin)
    thrown = curve(
        [(-0.5, 0.4), (-0.42, 1.06 + chin), (-0.05, 1.30 + chin), (0.36, 1.36 + chin), (0.7, 1.0), (0.6, 0.4)]
    )
    canvas.wash(thrown, tones.deep, 0.85, soft=0.02, within=skin)
    for way in (-1, 1):
        canvas.ink(flipped(side, way), 0.03, tones.ink)
        canvas.ink(flipped(".12,1.66 .32,1.6 .52,1.56", way), 0.018, tones.deep)


_NECKLINES = {"tee": (1.56, 0.50, 0.34), "dress": (1.90, 0.80, 0.34), "knit": (1.30, 0.44, 0.06)}
"""Height, half width and depth of a garment's neckline; others close higher."""


def _silhouette(look: Look) -> Spots:
    high, neck, dip = _NECKLINES.get(look.garment, (1.46, 0.46, 0.34))
    collar: Spots = [(0.0, high + dip), (neck * 0.6, high + dip * 0.65), (neck, high), (neck, high)]
    shoulder = "0.84,1.70 1.22,1.9 1.46,2.26 1.57,2.95 1.66,3.9 1.74,5.2 1.7,9!"
    return [*collar, *flipped(shoulder, _breadth(look)), (0, BOTTOM)]


def _breadth(look: Look) -> float:
    return 0.90 + 0.20 * look.jaw


def _torso(canvas: Canvas, look: Look, tones: Tones) -> None:
    k = _breadth(look)
    shape = curve(mirrored(_silhouette(look)))
    canvas.fill(shape, look.cloth)
    inside = canvas.mask(shape)
    dark, bright = mix(look.cloth, tones.ink, 0.5), mix(look.cloth, (255, 246, 230), 0.5)
    for shade in (_SHADE, _ARM_SHADE):
        canvas.wash(curve(flipped(shade, k)), dark, 0.83, soft=0.015, within=inside)
    canvas.wash(curve("-.5,1.3 -.1,1.86 .5,1.5 .5,1.2 -.5,1.1"), dark, 0.7, soft=0.04, within=inside)
    canvas.wash(curve(flipped(_SHEEN, k)), bright, 0.6, soft=0.03, within=inside)
    for way in (-k, k):
        canvas.ink(flipped("1,2.45 1.07,3 1.09,3.6 1.14,4.8 1.14,6.6", way), 0.03, tones.ink, (0.05, 0.6))
        for fold in _FOLDS:
            canvas.ink(flipped(fold, way), 0.02, dark, (0.1, 0.1))
    canvas.outline(shape, 0.036, tones.ink)


_SHADE = (
    ".4,1.2 .66,1.72 .54,2.3 .68,2.8 .52,3.5 .6,4.2 .46,5 .55,7.5 1.05,7.5 "
    "1.12,4.8 1.06,3.2 1,2.5 1.2,2.1 1,1.2"
)
_ARM_SHADE = "1.34,2 1.36,2.5 1.28,2.9 1.42,3.5 1.36,4 1.5,4.6 1.44,7.5 2.2,7.5 2,1.8"
_SHEEN = "-1.4,2.12 -1.18,1.96 -.86,1.8 -.9,1.9 -1.2,2.08 -1.38,2.36"
_FOLDS = (
    ".92,2.16 1.02,2.42 1.22,2.56",
    ".8,2.5 .92,2.46 1,2.5",
    "1.16,3.8 1.32,3.98 1.52,3.92",
    "1.2,4.02 1.34,4.12 1.46,4.1",
)


def _cut(canvas: Canvas, points: Spots | str, colour: Colour, tones: Tones) -> Points:
    """A piece of cloth with its outline."""
    shape = curve(points)
    canvas.fill(shape, colour)
    canvas.outline(shape, 0.03, tones.ink)
    return shape


def _both(canvas: Canvas, left: str, colour: Colour, tones: Tones) -> None:
    """A piece of cloth and its mirror image; the one away from the light is darker."""
    _cut(canvas, left, colour, tones)
    _cut(canvas, flipped(left), mix(colour, tones.ink, 0.35), tones)


def _under(canvas: Canvas, tones: Tones, colour: Colour, low: float) -> None:
    """What is worn under an open collar."""
    throat = spots("-.34,1.46! 0,1.8 .34,1.46! .24,2")
    canvas.fill(curve([*throat, (0.0, low), (0.0, low), (-0.24, 2.0)]), colour)
    canvas.ink("-.34,1.48 -.2,1.72 0,1.8 .2,1.72 .34,1.48", 0.026, tones.ink)


def _button(canvas: Canvas, x: float, y: float, look: Look, tones: Tones) -> None:
    ring = oval(x, y, 0.075, 0.075)
    canvas.fill(ring, mix(look.cloth, tones.ink, 0.6))
    canvas.outline(ring, 0.02, tones.ink)


def _coat(canvas: Canvas, look: Look, tones: Tones) -> None:
    _under(canvas, tones, mix(look.cloth, tones.ink, 0.75), 3.0)
    lapel = "-.42,1.3! -.72,1.62 -.92,2.05! -.62,2.2! -.7,2.36! -.1,3.1! -.2,2.2 -.34,1.7"
    collar = "-.36,1.04! -.62,1.1 -.78,1.56! -.66,1.86! -.3,1.72 -.22,1.56 -.3,1.36"
    _both(canvas, lapel, mix(look.cloth, WHITE, 0.07), tones)
    _both(canvas, collar, mix(look.cloth, WHITE, 0.12), tones)
    canvas.ink("0,3.1 .02,4.5 .02,9", 0.028, tones.ink)
    for x, y in ((-0.34, 3.4), (0.36, 3.4), (-0.34, 4.2), (0.36, 4.2)):
        _button(canvas, x, y, look, tones)
    _cut(canvas, mirrored("0,4.86 1.16,4.78 1.18,5.1 0,5.18"), mix(look.cloth, tones.ink, 0.3), tones)


def _jacket(canvas: Canvas, look: Look, tones: Tones) -> None:
    under: Colour = (214, 208, 198) if sum(look.cloth) < 330 else (52, 52, 60)
    _under(canvas, tones, mix(under, tones.ink, 0.12), 3.5)
    lapel = "-.4,1.34! -.6,1.6 -.8,2! -.6,2.12! -.68,2.24! -.06,3.7! -.16,2.4 -.3,1.78"
    _both(canvas, lapel, mix(look.cloth, WHITE, 0.08), tones)
    canvas.ink("0,3.7 .02,5 .05,9", 0.028, tones.ink)
    canvas.ink("-.86,3.2 -.56,3.1", 0.03, tones.ink)
    _button(canvas, 0.1, 4.1, look, tones)


def _shirt(canvas: Canvas, look: Look, tones: Tones) -> None:
    canvas.fill(curve("-.32,1.44! 0,1.9 .32,1.44! 0,2.3!"), tones.shade)
    collar = "-.38,1.28! -.56,1.46 -.6,1.86! -.36,2.02! -.06,2.1! -.24,1.74"
    _both(canvas, collar, mix(look.cloth, WHITE, 0.16), tones)
    canvas.ink("-.05,2.1 -.06,4 -.06,9", 0.022, tones.ink)
    for y in (2.5, 3.3, 4.1, 4.9):
        _button(canvas, 0.05, y, look, tones)


def _hoodie(canvas: Canvas, look: Look, tones: Tones) -> None:
    _under(canvas, tones, mix(look.cloth, tones.ink, 0.7), 2.2)
    hood = "-.4,1.16! -.74,1.2 -.94,1.6 -.66,1.94 -.2,2.16 -.02,2.2! -.22,1.86 -.38,1.5"
    _both(canvas, hood, mix(look.cloth, WHITE, 0.08), tones)
    for side in (-1, 1):
        canvas.ink(flipped(".2,2.06 .22,2.5 .18,2.95", side), 0.05, (226, 222, 214))
    canvas.ink("-.9,5.4 -.7,4.5 .7,4.5 .9,5.4", 0.026, tones.ink)


def _tee(canvas: Canvas, look: Look, tones: Tones) -> None:
    hem = mix(look.cloth, tones.ink, 0.6)
    canvas.ink("-.54,1.6 -.3,1.88 0,1.98 .3,1.88 .54,1.6", 0.02, hem, (0.6, 0.6))


def _dress(canvas: Canvas, look: Look, tones: Tones) -> None:
    for side in (-1, 1):
        strap = flipped(".68,1.62 .72,1.78 .72,2", side)
        canvas.ink(strap, 0.15, tones.ink, (1, 1))
        canvas.ink(strap, 0.09, look.cloth, (1, 1))
    canvas.ink("-.3,2.5 -.1,3.4 -.14,4.4", 0.02, mix(look.cloth, tones.ink, 0.5))


def _knit(canvas: Canvas, look: Look, tones: Tones) -> None:
    roll = mirrored("0,1.22 .42,1.12! .5,1.46 .56,1.62! 0,1.8")
    neck = canvas.mask(_cut(canvas, roll, mix(look.cloth, WHITE, 0.06), tones))
    dark = mix(look.cloth, tones.ink, 0.52)
    canvas.wash(curve(".1,1 .16,1.9 .9,1.9 .9,1"), dark, 0.8, soft=0.02, within=neck)
    for x in np.linspace(-0.38, 0.38, 9).tolist():
        canvas.ink([(x, 1.24 - 0.5 * x * x), (x * 1.2, 1.72 - 0.6 * x * x)], 0.016, dark)


_DETAILS = {
    "coat": _coat, "jacket": _jacket, "shirt": _shirt, "hoodie": _hoodie, "tee": _tee, "dress": _dress,
    "knit": _knit,
}  # fmt: skip
