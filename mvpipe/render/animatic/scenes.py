"""Painters of places. Each fills a canvas that is 1 unit high and `aspect` wide, y growing downwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mvpipe.render.animatic import pixels
from mvpipe.render.animatic.canvas import Canvas, Colour, mix
from mvpipe.render.animatic.palette import Palette
from mvpipe.render.animatic.paths import box, curve, disc
from mvpipe.render.animatic.pixels import Pixels, Points

Dice = np.random.Generator


def paint_sky(canvas: Canvas, p: Palette) -> None:
    """Fill the whole canvas, darkest at the top, brightest above the horizon."""
    height = canvas.alpha.shape[0]
    t = np.linspace(0, 1, height)[:, None]
    stops = np.array([p.deep, mix(p.deep, p.mid, 0.7), mix(p.mid, p.glow, 0.45), p.mid], float)
    rows = np.stack([np.interp(t[:, 0], [0, 0.42, 0.68, 1], stops[:, i]) for i in range(3)], 1)
    canvas.rgb[:] = np.round(rows).astype(np.uint8)[:, None]
    canvas.alpha[:] = 255


def _glowing(canvas: Canvas, shape: Points, colour: Colour, *, reach: float = 0.03) -> None:
    canvas.wash(shape, colour, 0.75, soft=reach)
    canvas.wash(shape, mix(colour, (255, 255, 255), 0.55), 0.95, soft=0.002)


def _city(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    ground = 0.80
    for layer, (low, high, share) in enumerate(((0.30, 0.62, 0.35), (0.14, 0.50, 0.62), (-0.1, 0.30, 0.86))):
        colour, x = mix(mix(p.mid, p.deep, 0.5), p.ink, share), -0.1
        while x < aspect + 0.1:
            width = dice.uniform(0.10, 0.22) * (1 + 0.35 * layer)
            middle = abs((x + width / 2) / aspect - 0.5) < 0.22
            top = dice.uniform(low, high) + (0.30 if layer == 2 and middle else 0)
            canvas.wash(box(x, top, x + width, 1), colour, 1.0)
            canvas.wash(box(x, top, x + width * 0.3, 1), mix(colour, p.glow, 0.12), 0.5, soft=0.01)
            _windows(canvas, p, dice, (x, top, width, layer))
            x += width + dice.uniform(-0.01, 0.02)
    for _ in range(5):
        x, top = dice.uniform(0, aspect), dice.uniform(0.22, 0.5)
        sign = box(x, top, x + dice.uniform(0.025, 0.04), top + dice.uniform(0.10, 0.22))
        _glowing(canvas, sign, p.accent if dice.random() < 0.6 else p.glow)
    _wet_ground(canvas, p, ground)


def _windows(canvas: Canvas, p: Palette, dice: Dice, at: tuple[float, float, float, int]) -> None:
    x, top, width, layer = at
    step = 0.022 + 0.010 * layer
    for row in np.arange(top + step, 0.8, step * 1.5):
        for column in np.arange(x + step * 0.6, x + width - step, step):
            if dice.random() < 0.30:
                lit = mix(p.glow, p.mid, float(dice.uniform(0, 0.7)))
                canvas.wash(box(column, row, column + step * 0.5, row + step * 0.8), lit, 0.75)


def _wet_ground(canvas: Canvas, p: Palette, ground: float) -> None:
    """What stands above the ground, mirrored in it and smeared downwards."""
    height = canvas.rgb.shape[0]
    edge = round(ground * height)
    mirrored = np.asarray(pixels.blur(canvas.rgb[2 * edge - height : edge][::-1], 7), np.float32)
    fade = np.linspace(0.62, 0.15, height - edge, dtype=np.float32)[:, None, None]
    canvas.rgb[edge:] = np.round(mirrored * fade + np.array(p.ink, np.float32) * (1 - fade)).astype(np.uint8)
    canvas.wash(box(-1, ground - 0.002, 9, ground + 0.006), p.ink, 0.8, soft=0.004)


def _sea(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    horizon, sun = 0.56, float(dice.uniform(0.25, 0.75)) * aspect
    canvas.wash(disc(sun, 0.40, 0.34), p.glow, 0.55, soft=0.10)
    _glowing(canvas, disc(sun, 0.40, 0.085), p.glow, reach=0.04)
    _clouds(canvas, p, dice, aspect, 0.42)
    canvas.wash(
        curve(
            [
                (aspect * 0.5, horizon),
                (aspect * 0.72, 0.50),
                (aspect * 0.86, 0.44),
                (aspect * 1.1, 0.42),
                (aspect * 1.1, horizon),
                (aspect * 0.5, horizon),
            ]
        ),
        mix(p.deep, p.ink, 0.4),
        0.9,
        soft=0.003,
    )
    canvas.wash(box(-1, horizon, 9, 1.1), mix(p.deep, p.mid, 0.25), 1.0)
    canvas.wash(box(-1, 0.72, 9, 1.3), p.ink, 0.65, soft=0.10)
    for _ in range(170):
        depth = dice.uniform(0, 1) ** 1.6
        y = horizon + 0.006 + depth * 0.42
        near = abs(dice.normal(0, 1))
        x = (
            sun + dice.choice([-1, 1]) * near * (0.03 + 0.16 * depth)
            if dice.random() < 0.6
            else dice.uniform(0, aspect)
        )
        length = (0.015 + 0.09 * depth) * dice.uniform(0.5, 1.3)
        colour = p.glow if near < 1.2 else mix(p.mid, p.glow, 0.3)
        canvas.wash(
            disc(float(x), float(y), length, 0.06), colour, float(0.75 * (1 - 0.5 * depth)), soft=0.001
        )


def _clouds(canvas: Canvas, p: Palette, dice: Dice, aspect: float, low: float) -> None:
    for _ in range(7):
        x, y, r = dice.uniform(0, aspect), dice.uniform(0.05, low), dice.uniform(0.10, 0.34)
        canvas.wash(disc(x, y, r, 0.13), mix(p.glow, p.mid, float(dice.uniform(0.2, 0.8))), 0.5, soft=0.016)
        canvas.wash(disc(x + 0.05, y + 0.022, r * 0.9, 0.10), mix(p.deep, p.mid, 0.4), 0.45, soft=0.014)


def _hills(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    sun = dice.uniform(0.2, 0.8) * aspect
    canvas.wash(disc(sun, 0.42, 0.40), p.glow, 0.5, soft=0.12)
    _glowing(canvas, disc(sun, 0.36, 0.07), p.glow, reach=0.04)
    _clouds(canvas, p, dice, aspect, 0.34)
    for layer in range(5):
        depth = layer / 4
        base = 0.48 + 0.12 * layer
        x = np.linspace(-0.1, aspect + 0.1, 60)
        waves = sum(
            dice.uniform(0.4, 1) * np.sin(x * f * (1.2 + layer * 0.5) + dice.uniform(0, 6.3)) / f
            for f in (1.5, 3.5, 8.0)
        )
        y = base - 0.075 * np.asarray(waves)
        shape = np.vstack([np.stack([x, y], 1), [(aspect + 0.1, 1.2), (-0.1, 1.2)]])
        colour = mix(mix(p.mid, p.glow, 0.35 * (1 - depth)), p.ink, 0.12 + 0.74 * depth)
        canvas.wash(shape, colour, 1.0)
        canvas.wash(
            box(-1, base + 0.02, 9, base + 0.14), mix(p.glow, p.mid, 0.4), 0.20 * (1 - depth), soft=0.04
        )
        if layer >= 2:
            _trees(canvas, mix(colour, p.ink, 0.35), dice, np.stack([x, y], 1), 0.05 + 0.055 * (layer - 2))


def _trees(canvas: Canvas, colour: Colour, dice: Dice, ridge: Points, size: float) -> None:
    for x in np.arange(ridge[0, 0], ridge[-1, 0], size * 0.55):
        if dice.random() < 0.66:
            foot = float(np.interp(x, ridge[:, 0], ridge[:, 1])) + 0.02
            tall, half = size * dice.uniform(1.2, 2.6), size * dice.uniform(0.26, 0.42)
            steps = [(x, foot - tall)]
            for k in (1, 2, 3):
                steps += [
                    (x + half * k / 3, foot - tall * (1 - k / 3.0)),
                    (x + half * k / 5, foot - tall * (1 - k / 3.0)),
                ]
            right = np.array(steps)
            left = np.stack([2 * x - right[:, 0], right[:, 1]], 1)[::-1]
            canvas.wash(np.vstack([right, left]), colour, 1.0)


def _room(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    wall, floor = mix(p.deep, p.ink, 0.35), 0.84
    left, right = 0.10 * aspect, 0.50 * aspect
    outside = canvas.rgb.copy()
    canvas.wash(box(-1, -1, 9, 2), wall, 1.0)
    canvas.wash(disc(aspect * 0.42, 0.42, 0.62), p.mid, 0.45, soft=0.16)
    pane = canvas.mask(box(left, 0.08, right, 0.66))
    canvas.rgb[pane > 0] = outside[pane > 0]
    for _ in range(26):
        _light(canvas, p, dice, (dice.uniform(left, right), dice.uniform(0.3, 0.62)), 0.03, pane)
    frame = mix(wall, p.ink, 0.6)
    for x in np.linspace(left, right, 4):
        canvas.wash(box(x - 0.008, 0.07, x + 0.008, 0.67), frame, 1.0)
    for y in (0.08, 0.30, 0.66):
        canvas.wash(box(left - 0.01, y - 0.008, right + 0.01, y + 0.008), frame, 1.0)
    canvas.wash(box(left - 0.04, 0.66, right + 0.04, 0.69), mix(frame, p.glow, 0.2), 1.0)
    for x, side in ((left, -1), (right, 1)):
        drape = curve(
            [
                (x - side * 0.03, 0.03),
                (x + side * 0.13, 0.03),
                (x + side * 0.12, 0.5),
                (x + side * 0.14, 0.80),
                (x + side * 0.02, 0.80),
                (x + side * 0.04, 0.4),
            ]
        )
        canvas.wash(drape, mix(p.accent, p.ink, 0.62), 0.95, soft=0.002)
    canvas.wash(
        np.array([(left, 0.70), (right, 0.70), (right + 0.42, 1.1), (left + 0.40, 1.1)]),
        p.glow,
        0.16,
        soft=0.02,
    )
    canvas.wash(box(-1, floor, 9, 1.2), p.ink, 0.72, soft=0.004)
    _lamp(canvas, p, aspect * 0.88)
    picture = box(aspect * 0.62, 0.16, aspect * 0.62 + 0.24, 0.34)
    canvas.wash(picture, mix(p.ink, wall, 0.3), 1.0)
    canvas.wash(
        box(aspect * 0.62 + 0.016, 0.176, aspect * 0.62 + 0.224, 0.324), mix(p.mid, p.glow, 0.25), 0.8
    )


def _rainy_room(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    """The room, with drops that run down its window."""
    _room(canvas, p, dice, aspect)
    pane = canvas.mask(box(0.105 * aspect, 0.085, 0.495 * aspect, 0.655))
    for _ in range(110):
        x, y, long = dice.uniform(0.1, 0.5) * aspect, dice.uniform(0.06, 0.64), dice.uniform(0.02, 0.12)
        r = dice.uniform(0.0012, 0.0034)
        trail = curve([(x - r * 0.4, y), (x + r * 0.4, y), (x + r * 0.7, y + long), (x - r * 0.7, y + long)])
        canvas.wash(trail, p.glow, 0.22, soft=0.001, within=pane)
        canvas.wash(disc(x, y + long, r * 1.2, 1.3), mix(p.glow, (255, 255, 255), 0.45), 0.55, within=pane)


def _lamp(canvas: Canvas, p: Palette, x: float) -> None:
    canvas.wash(disc(x, 0.40, 0.34), p.glow, 0.45, soft=0.11)
    canvas.wash(box(x - 0.008, 0.42, x + 0.008, 0.9), p.ink, 1.0)
    shade = np.array([(x - 0.05, 0.30), (x + 0.05, 0.30), (x + 0.095, 0.45), (x - 0.095, 0.45)])
    _glowing(canvas, shade, mix(p.glow, p.accent, 0.25), reach=0.03)


def _stage(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    canvas.wash(box(-1, -1, 9, 2), mix(p.ink, p.deep, 0.45), 1.0)
    canvas.wash(disc(aspect / 2, 0.55, 0.62, 0.8), p.deep, 0.8, soft=0.14)
    for k in range(7):
        x = (k + 0.5) / 7 * aspect
        lean, wide = dice.uniform(-0.35, 0.35), dice.uniform(0.10, 0.20)
        colour = (p.glow, p.accent, p.mid)[k % 3]
        beam = np.array(
            [(x - 0.01, -0.02), (x + 0.01, -0.02), (x + lean + wide, 1.0), (x + lean - wide, 1.0)]
        )
        canvas.wash(beam, colour, 0.30, soft=0.012)
        _glowing(canvas, disc(x, 0.045, 0.016), colour, reach=0.03)
    canvas.wash(box(-1, 0.03, 9, 0.04), p.ink, 1.0)
    canvas.wash(disc(aspect / 2, 0.92, 0.9, 0.16), mix(p.glow, p.mid, 0.4), 0.4, soft=0.05)
    for _ in range(34):
        x, r = dice.uniform(-0.1, aspect + 0.1), dice.uniform(0.030, 0.048)
        y = dice.uniform(0.88, 0.97)
        canvas.wash(disc(x, y, r, 1.15), p.ink, 1.0)
        canvas.wash(disc(x, y + r * 2.6, r * 2.1, 1.0), p.ink, 1.0)


def _light(
    canvas: Canvas,
    p: Palette,
    dice: Dice,
    at: tuple[float, float],
    size: float,
    within: Pixels | None = None,
) -> None:
    colour = (p.glow, p.accent, mix(p.mid, p.glow, 0.5), mix(p.accent, p.glow, 0.5))[int(dice.integers(4))]
    r = size * dice.uniform(0.4, 1.4)
    strength = float(dice.uniform(0.16, 0.5))
    canvas.wash(disc(*at, r), colour, strength, soft=r * 0.05, within=within)
    canvas.wash(disc(*at, r * 0.84), colour, strength * 0.4, soft=r * 0.2, within=within)


def _lights(canvas: Canvas, p: Palette, dice: Dice, aspect: float) -> None:
    canvas.wash(disc(aspect * 0.3, 0.3, 0.5), p.mid, 0.7, soft=0.2)
    canvas.wash(disc(aspect * 0.85, 0.75, 0.5), p.accent, 0.30, soft=0.2)
    canvas.wash(disc(aspect * 0.62, 0.16, 0.3), p.glow, 0.35, soft=0.16)
    for _ in range(46):
        at = float(dice.uniform(0, aspect)), float(np.clip(dice.normal(0.5, 0.24), 0, 1))
        _light(canvas, p, dice, at, 0.055)


Painter = Callable[[Canvas, Palette, Dice, float], None]
PAINTERS: dict[str, Painter] = {
    "city": _city, "sea": _sea, "hills": _hills, "room": _room,
    "rainy room": _rainy_room, "stage": _stage, "lights": _lights,
}  # fmt: skip
