"""Painted places for shots without pictures: chosen by the words, the same for the same place.

Units: the backdrop is 1 high and as wide as its aspect; y grows downwards.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mvpipe.render.animatic import pixels, scenes
from mvpipe.render.animatic.canvas import Canvas
from mvpipe.render.animatic.palette import Palette
from mvpipe.render.animatic.pixels import Pixels
from mvpipe.render.animatic.words import by_word, heard

_PAINTED_HEIGHT = 432  # it is seen out of focus, so more would be waste

SCENES = by_word(
    {
        "city": (
            "street streets city alley town skyline rooftop roof urban neon traffic downtown bridge car "
            "cars taxi tram train station platform railway metro subway bus harbourside tokyo shanghai "
            "paris london berlin york"
        ),
        "sea": "sea beach ocean coast shore water lake river harbour harbor wave waves boat island cliff",
        "hills": (
            "forest wood woods garden park tree trees mountain mountains hill hills field fields desert "
            "road meadow countryside valley sky clouds"
        ),
        "room": (
            "room bedroom kitchen apartment flat window interior hotel cafe bar diner house home bed "
            "staircase corridor office library"
        ),
        "stage": (
            "stage club concert theatre theater studio spotlight microphone crowd band gig audience dance "
            "dancefloor"
        ),
    }
)
"""Words of places -> the scene that is painted for them."""

_INDOORS = frozenset({"window", "windows", "indoors", "inside", "interior"})


def scene_of(texts: list[str]) -> str:
    """The scene the first telling text asks for, or `lights`."""
    for text in texts:
        words = list(heard(text))
        if not _INDOORS.isdisjoint(words):
            return "room"
        for word in words:
            if word in SCENES:
                return SCENES[word]
    return "lights"


@lru_cache(maxsize=4)
def backdrop(scene: str, palette: Palette, size: tuple[int, int], seed: int) -> Pixels:
    """A painted place: RGB, shape (h, w, 3)."""
    aspect = size[0] / size[1]
    canvas = Canvas(0.0, 0.0, (round(_PAINTED_HEIGHT * aspect), _PAINTED_HEIGHT), _PAINTED_HEIGHT)
    dice = np.random.default_rng([seed, 5])
    scenes.paint_sky(canvas, palette)
    scenes.PAINTERS[scene](canvas, palette, dice, aspect)
    rgb, _ = canvas.finish()
    big = pixels.resize(pixels.blur(rgb, 0.8), size)
    return graded(np.asarray(big, np.uint8), palette, seed)


def graded(rgb: Pixels, palette: Palette, seed: int) -> Pixels:
    """A vignette, and the grain of paper."""
    height, width = rgb.shape[:2]
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    fall = (np.clip((x * x * 0.8 + y * y) - 0.45, 0, 1) * 0.42).astype(np.float32)[..., None]
    tooth = np.random.default_rng([seed, 3]).normal(0, 1, (height // 2, width // 2)).astype(np.float32)
    grain = pixels.stretch(tooth, (width, height))[..., None] * 2.2
    out = rgb * (1 - fall) + np.array(palette.ink, np.float32) * fall + grain
    return np.asarray(np.clip(np.round(out), 0, 255), np.uint8)
