"""Hair and hats, in two layers: what lies behind the head, and what lies over the forehead."""

from __future__ import annotations

import numpy as np

from mvpipe.render.animatic.canvas import Canvas, mix
from mvpipe.render.animatic.face import WHITE, Tones
from mvpipe.render.animatic.hairstyles import CAP_INNER, CAP_OUTER, CREST, STYLES
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.paths import curve, flipped, line, mirrored, scalloped
from mvpipe.render.animatic.pixels import Pixels, Points


def draw_behind(canvas: Canvas, look: Look, tones: Tones) -> None:
    """The hair that the head and neck cover."""
    style = STYLES.get(look.cut)
    if style and style.behind:
        edge = curve(mirrored(style.behind))
        shape = scalloped(edge, style.locks, style.depth) if style.locks else edge
        canvas.fill(shape, mix(look.hair, tones.ink, 0.5))
        canvas.outline(shape, 0.034, tones.ink)


def draw_shadow(canvas: Canvas, look: Look, tones: Tones, skin: Pixels) -> None:
    """What hair or hat throws on the forehead; drawn before them."""
    if look.hat:
        shape = curve("-.9,-1.2 .9,-1.2 .82,-.26 .4,-.36 0,-.38 -.4,-.36 -.82,-.26")
    elif look.cut in STYLES:
        shape = curve(flipped(STYLES[look.cut].front, look.part)) + np.array((0.02, 0.07))
    else:
        return
    canvas.wash(shape, tones.deep, 0.62, soft=0.015, within=skin)


def draw_over(canvas: Canvas, look: Look, tones: Tones) -> None:
    """The hair and the hat in front of the face."""
    style = STYLES.get(look.cut)
    if style:
        _lock(canvas, curve(flipped(style.front, look.part)), look, tones)
        dark, bright = mix(look.hair, tones.ink, 0.7), mix(look.hair, (255, 246, 230), 0.42)
        for strand in style.strands:
            canvas.ink(flipped(strand, look.part), 0.016, dark, (0.05, 0.3))
        for shine in style.shine:
            canvas.ink(flipped(shine, look.part), 0.05, bright, (0.02, 0.02))
    elif look.cut != "bald":
        _stubble(canvas, look, tones)
        if look.cut == "mohawk":
            _lock(canvas, curve(CREST), look, tones)
    if look.hat:
        _HATS[look.hat](canvas, look, tones)


def _stubble(canvas: Canvas, look: Look, tones: Tones) -> None:
    cap = np.vstack([line(CAP_OUTER), line(CAP_INNER)])
    canvas.wash(cap, mix(look.hair, tones.ink, 0.25), 0.85, soft=0.02)
    canvas.ink(CAP_OUTER, 0.03, tones.ink)


def _lock(canvas: Canvas, shape: Points, look: Look, tones: Tones) -> None:
    canvas.fill(shape, look.hair)
    far = curve(".34,-1.8 .5,-.9 .62,-.4 .66,.3 .66,2.6 1.4,2.6 1.4,-1.8")
    canvas.wash(far, mix(look.hair, tones.ink, 0.5), 0.75, soft=0.03, within=canvas.mask(shape))
    canvas.outline(shape, 0.032, tones.ink)


def _felt(canvas: Canvas, shape: Points, look: Look, tones: Tones) -> None:
    """A piece of a hat, its far side in shadow."""
    canvas.fill(shape, mix(look.cloth, tones.ink, 0.35))
    far = curve(".3,-1.6 .5,-.9 .46,-.2 1.4,-.2 1.4,-1.6")
    canvas.wash(far, tones.ink, 0.38, soft=0.03, within=canvas.mask(shape))
    canvas.outline(shape, 0.034, tones.ink)


def _beanie(canvas: Canvas, look: Look, tones: Tones) -> None:
    _felt(canvas, curve(mirrored("0,-1.34 .42,-1.26 .74,-.94 .82,-.5! .4,-.58 0,-.6")), look, tones)
    _felt(canvas, curve(mirrored("0,-.74 .45,-.71 .85,-.6! .83,-.34! .42,-.46 0,-.5")), look, tones)
    for x in np.linspace(-0.72, 0.72, 13).tolist():
        canvas.ink([(x, -0.70 + 0.10 * x * x), (x * 0.99, -0.49 + 0.10 * x * x)], 0.014, tones.ink)


def _hat(canvas: Canvas, look: Look, tones: Tones) -> None:
    crown = curve(mirrored("0,-1.42 .12,-1.38 .4,-1.52 .6,-1.28 .72,-.66 .4,-.58 0,-.56"))
    _felt(canvas, crown, look, tones)
    _felt(canvas, curve(mirrored("0,-.76 .7,-.74 1.22,-.58 1.16,-.46 .7,-.52 0,-.5")), look, tones)
    band = curve("-.7,-.88 0,-.92 .7,-.88 .72,-.74 0,-.78 -.72,-.74")
    canvas.wash(band, tones.ink, 0.7, within=canvas.mask(crown))


_HATS = {"beanie": _beanie, "hat": _hat}


def draw_glasses(canvas: Canvas, look: Look, tones: Tones) -> None:
    """Clear or dark glasses."""
    if not look.glasses:
        return
    frame = mix(tones.ink, (0, 0, 0), 0.3)
    for side in (-1, 1):
        lens = curve(flipped(".1,-.14 .3,-.17 .52,-.14 .53,.02 .44,.15 .24,.16 .11,.04", side))
        if look.glasses == "dark":
            canvas.wash(lens, (20, 18, 28), 0.9)
            glint = curve("-.14,-.12 -.02,-.13 -.1,.1 -.16,.06") + np.array((side * 0.31, 0))
            canvas.wash(glint, WHITE, 0.28, soft=0.01)
        else:
            canvas.wash(lens, (210, 230, 240), 0.14)
        canvas.outline(lens, 0.03, frame)
        canvas.ink([(side * 0.53, -0.10), (side * 0.68, -0.10)], 0.03, tones.ink, (1, 1))
    canvas.ink("-.1,-.07 0,-.1 .1,-.07", 0.028, tones.ink, (1, 1))
