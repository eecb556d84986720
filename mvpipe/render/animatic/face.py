"""A face in ink and flat colour: its shape, light and shadow, eyes and nose; `mouth.py` draws the mouth.

Units: 0, 0 lies between the eyes, the skull's top at y = -1, the chin at y = 1.05, an eye's centre at
x = +-0.31 and its outer corner at +-0.46, so that the eyes of a face mesh are 0.92 units apart. The light
comes from the left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvpipe.render.animatic.canvas import Canvas, Colour, mix
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.paths import Spots, curve, flipped, line, mirrored, oval, spots
from mvpipe.render.animatic.pixels import Pixels, Points

EYES_APART = 0.92
"""Units between the outer corners of the eyes."""

WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """What changes in a face while it sings.

    Parameters
    ----------
    opening : of the mouth, 0 closed .. 1 wide open
    spread : of the lips, 0 round .. 1 broad
    lid : 0 eyes open .. 1 shut
    """

    opening: float = 0.0
    spread: float = 0.5
    lid: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tones:
    """The few colours a face is made of."""

    skin: Colour
    shade: Colour
    deep: Colour
    light: Colour
    lips: Colour
    ink: Colour


def tones_of(look: Look, ink: Colour) -> Tones:
    """Skin in light and shadow; shadows lean towards the ink, as if the room coloured them."""
    skin = look.skin
    painted = 0.58 if soft(look) else 0.34
    return Tones(
        skin=skin,
        shade=mix(mix(skin, (150, 60, 70), 0.22), ink, 0.26),
        deep=mix(mix(skin, (120, 40, 60), 0.35), ink, 0.52),
        light=mix(skin, (255, 244, 226), 0.45),
        lips=mix(mix(skin, (178, 44, 62), painted), ink, 0.10),
        ink=ink,
    )


def soft(look: Look) -> bool:
    """Whether the jaw is narrow; such faces get fuller lips and longer lashes."""
    return look.jaw < 0.5


def drop(y: float, opening: float) -> float:
    """How far a point at height y sinks when the jaw opens."""
    t = min(max((y - 0.38) / 0.5, 0.0), 1.0)
    return 0.15 * opening * t * t * (3 - 2 * t)


def sunk(points: Spots | str, opening: float) -> Spots:
    """Points of a closed face where they lie on an open one."""
    listed = spots(points) if isinstance(points, str) else points
    return [(x, y + drop(y, opening)) for x, y in listed]


def contour(look: Look, opening: float) -> Points:
    """The outline of the face, hair left out."""
    j = look.jaw
    half = spots("0,-.99 .36,-.94 .6,-.72 .695,-.38 .7,-.04 .68,.22")
    half += [(0.635 + 0.03 * j, 0.46), (0.555 + 0.06 * j, 0.68), (0.41 + 0.09 * j, 0.88)]
    half += [(0.20 + 0.10 * j, 1.02), (0.0, 1.05)]
    return curve(mirrored(sunk(half, opening)))


def draw_head(canvas: Canvas, look: Look, pose: Pose, tones: Tones) -> Pixels:
    """Ears, skin, light and shadow; where the skin is."""
    for side in (-1, 1):
        _ear(canvas, tones, side)
    face = contour(look, pose.opening)
    canvas.fill(face, tones.skin)
    skin = canvas.mask(face)
    _shadows(canvas, tones, skin, pose.opening)
    _lights(canvas, tones, skin, pose.opening)
    if look.freckles:
        for x, y in spots(
            "-.2,.24 -.28,.29 -.36,.23 -.44,.29 -.32,.35 -.1,.21 .2,.26 .28,.31 .36,.25 .1,.23"
        ):
            canvas.wash(oval(x, y, 0.014, 0.012), tones.deep, 0.55)
    if look.age:
        _wrinkles(canvas, tones)
    return skin


def draw_features(canvas: Canvas, look: Look, pose: Pose, tones: Tones) -> None:
    """Nose, eyes and brows, and the line of the jaw."""
    _nose(canvas, tones)
    for side in (-1, 1):
        _eye(canvas, look, pose, tones, side)
        _brow(canvas, look, tones, side)
    face = contour(look, pose.opening)
    fifth = len(face) // 5  # the line ends at the temples: the hair has its own
    canvas.ink(face[fifth:-fifth], 0.03, tones.ink, (0.2, 0.2))


def _ear(canvas: Canvas, tones: Tones, side: int) -> None:
    ear = flipped(".66,-.1 .77,-.17 .83,-.05 .8,.16 .72,.31 .64,.28", side)
    canvas.fill(curve(ear), tones.skin if side < 0 else tones.shade)
    canvas.ink(ear, 0.024, tones.ink)
    canvas.ink(flipped(".76,-.06 .74,.06 .71,.16", side), 0.02, tones.deep)


def _shadows(canvas: Canvas, tones: Tones, skin: Pixels, opening: float) -> None:
    edge = ".34,-1 .46,-.55 .5,-.3 .6,-.12 .5,.12 .44,.34 .33,.52 .36,.78 .16,1 .1,1.2 .9,1.2 .9,-1"
    core = ".5,-1 .62,-.3 .6,.3 .46,.8 .25,1.15 .9,1.2 .9,-1"
    canvas.wash(curve(sunk(edge, opening)), tones.shade, 0.85, soft=0.012, within=skin)
    canvas.wash(curve(sunk(core, opening)), tones.deep, 0.40, soft=0.05, within=skin)
    for side in (-1, 1):
        blush = mix(tones.skin, (206, 62, 62), 0.5)
        canvas.wash(oval(side * 0.40, 0.36, 0.17, 0.11), blush, 0.34, soft=0.06, within=skin)
        canvas.wash(oval(side * 0.31, -0.035, 0.20, 0.11), tones.shade, 0.55, soft=0.035, within=skin)


def _lights(canvas: Canvas, tones: Tones, skin: Pixels, opening: float) -> None:
    chin = 0.93 + drop(0.93, opening)
    canvas.wash(oval(-0.16, -0.46, 0.24, 0.16), tones.light, 0.35, soft=0.08, within=skin)
    canvas.wash(oval(-0.44, 0.20, 0.10, 0.08), tones.light, 0.50, soft=0.04, within=skin)
    canvas.wash(oval(-0.04, chin, 0.12, 0.05), tones.light, 0.35, soft=0.03, within=skin)


def _wrinkles(canvas: Canvas, tones: Tones) -> None:
    for side in (-1, 1):
        canvas.ink(flipped(".22,.4 .31,.52 .34,.66", side), 0.018, tones.deep)
        canvas.ink(flipped(".2,.13 .31,.17 .42,.12", side), 0.014, tones.deep)
    canvas.ink("-.3,-.48 0,-.51 .3,-.48", 0.014, tones.shade)


def _nose(canvas: Canvas, tones: Tones) -> None:
    pen = mix(tones.deep, tones.ink, 0.55)
    bridge = curve(".07,-.14 .07,.05 .08,.22 .16,.37 .13,.43 .04,.43 .05,.3 .02,.1")
    canvas.wash(bridge, tones.deep, 0.55, soft=0.012)
    canvas.wash(curve("-.13,.44 0,.41 .14,.44 .07,.5 -.06,.49"), tones.deep, 0.45, soft=0.015)
    canvas.ink(".145,.34 .165,.4 .13,.445 .085,.43", 0.019, pen, (0.1, 0.4))
    canvas.ink("-.145,.35 -.16,.4 -.125,.44 -.08,.43", 0.016, pen, (0.1, 0.4))
    canvas.ink("-.05,.452 0,.468 .05,.452", 0.016, pen)
    canvas.wash(oval(-0.03, 0.33, 0.035, 0.05), tones.light, 0.75, soft=0.012)
    canvas.wash(curve("-.035,-.1 0,-.1 0,.24 -.045,.26"), tones.light, 0.45, soft=0.012)


def _eye(canvas: Canvas, look: Look, pose: Pose, tones: Tones, side: int) -> None:
    def at(points: Spots | str) -> Spots:
        return [(side * (0.31 + x), y) for x, y in flipped(points, 1)]

    lift = 0.076 * (1 - pose.lid) - 0.045 * pose.lid
    upper = [(-0.145, 0.025), (-0.07, -lift * 0.85), (0.02, -lift), (0.10, -lift * 0.62), (0.155, -0.012)]
    lower = "-.145,.025 -.09,.052 0,.066 .09,.052 .155,-.012"
    if pose.lid < 0.9:
        shape = np.vstack([line(at(upper)), line(at(lower))[::-1]])
        canvas.fill(shape, mix((240, 236, 230), tones.shade, 0.14))
        _iris(canvas, look, tones, side * 0.315, canvas.mask(shape))
        brim = [(x, y + 0.03) for x, y in reversed(upper[1:4])]
        over = curve(at([(-0.17, 0.0), (-0.07, -lift - 0.05), (0.02, -lift - 0.05), (0.17, -0.03), *brim]))
        canvas.wash(over, tones.ink, 0.35, soft=0.01, within=canvas.mask(shape))
    else:
        lid = [*upper, *((x, y - 0.07) for x, y in reversed(upper))]
        canvas.wash(curve(at(lid)), tones.shade, 0.5, soft=0.02)
    canvas.ink(at(upper), 0.046 if soft(look) else 0.036, tones.ink, (0.25, 0.7))
    if soft(look):
        wing = [(0.12, -lift * 0.4 - 0.005), (0.165, -0.03), (0.20, -0.062)]
        canvas.ink(at(wing), 0.032, tones.ink, (1, 0.05))
    canvas.ink(at(lower), 0.013, tones.deep, (0.1, 0.6))
    canvas.ink(at("-.1,-.082 0,-.128 .1,-.112 .165,-.066"), 0.014, tones.deep)


def _iris(canvas: Canvas, look: Look, tones: Tones, x: float, inside: Pixels) -> None:
    ring, glow = mix(look.iris, tones.ink, 0.25), mix(look.iris, (255, 240, 200), 0.35)
    canvas.wash(oval(x, -0.008, 0.080, 0.083), ring, 1.0, within=inside)
    canvas.wash(oval(x, 0.014, 0.058, 0.052), glow, 0.8, soft=0.008, within=inside)
    canvas.wash(oval(x, -0.008, 0.038, 0.040), (14, 12, 18), 1.0, within=inside)
    canvas.wash(oval(x - 0.028, -0.036, 0.019, 0.021), WHITE, 0.95, within=inside)


def _brow(canvas: Canvas, look: Look, tones: Tones, side: int) -> None:
    thick = 0.045 + 0.035 * look.jaw
    colour = mix(look.hair, tones.ink, 0.55 if sum(look.hair) > 330 else 0.3)
    brow = flipped(".115,-.185 .22,-.235 .34,-.255 .44,-.225 .51,-.165", side)
    canvas.ink(brow, thick, colour, (0.75, 0.05))
