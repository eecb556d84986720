"""A still of a drawn character or of a painted place: reference pictures made by the project itself."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from mvpipe.render.animatic import backdrop, camera, pillow, pixels
from mvpipe.render.animatic.canvas import Canvas, mix
from mvpipe.render.animatic.face import Pose, tones_of
from mvpipe.render.animatic.figure import draw_figure
from mvpipe.render.animatic.look import look_of
from mvpipe.render.animatic.palette import palette_of
from mvpipe.render.animatic.pixels import Pixels


def draw_portrait(name: str, description: str, size: tuple[int, int]) -> bytes:
    """A PNG of the character that the animatic draws for a name and a description.

    Parameters
    ----------
    name, description : as in the storyboard's cast
    size : (width, height) in pixels, each at least 64
    """
    width, height = size
    palette = palette_of([description], name)
    unit = min(height * 0.56, width * 0.76) / camera.HEAD_UNITS
    left, top = -width / 2 / unit, -(height * 0.40) / unit
    canvas = Canvas(left, top, size, unit)
    draw_figure(
        canvas,
        look_of(name, description),
        Pose(opening=0.05),
        tones_of(look_of(name, description), palette.ink),
        palette.accent,
    )
    rgb, alpha = canvas.finish()
    ground = _studio(size, mix(palette.mid, palette.glow, 0.35), palette.deep, name)
    return pillow.png(pixels.laid(ground, rgb, alpha))


def draw_place(name: str, description: str, size: tuple[int, int]) -> bytes:
    """A PNG of the place that the animatic paints for a name and a description."""
    palette = palette_of([description, name], name)
    seed = int.from_bytes(sha256(f"{name}|{description}".encode()).digest()[:6])
    return pillow.png(backdrop.backdrop(backdrop.scene_of([description, name]), palette, size, seed))


def _studio(
    size: tuple[int, int], bright: tuple[int, int, int], dark: tuple[int, int, int], name: str
) -> Pixels:
    """A photographer's paper roll, lit from the left."""
    width, height = size
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    fall = np.clip(np.hypot((x - 0.36) * width / height, y - 0.36) / 0.85, 0, 1)[..., None]
    grain = np.random.default_rng(len(name)).normal(0, 2.0, (height, width, 1))
    rgb = np.array(bright) * (1 - fall) + np.array(dark) * fall + grain
    return np.asarray(np.clip(np.round(rgb), 0, 255), np.uint8)
