"""What a canary is rendered from: a phrase and a picture that nobody owns.

The phrase is made of pulses and formants: three syllables. The picture is a face drawn with three ovals, for
graphs that cannot do without one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mvpipe.render.comfyui.vocal import VOCAL_RATE, vocal_samples

FRAMES, LONG = 22, 124
"""Of a canary: the fewest that H3 and that LongMedia make of a useful length."""

FORMANTS = ((730, 1090, 2440), (270, 2290, 3010), (570, 840, 2410))
"""Of `ah`, `ee` and `aw`, Hz: Peterson and Barney, 1952, men."""


SIDE = 512
"""Pixels of the picture: more than the 256 under which a face has no detail."""


def phrase(frames: int = FRAMES) -> NDArray[np.float32]:
    """Three voiced syllables: float32, shape (vocal_samples(frames), 2), peak 0.5, at 32 kHz."""
    n = vocal_samples(frames)
    at = np.arange(n) / VOCAL_RATE
    pitch = 120 + 15 * np.sin(2 * np.pi * 2.5 * at)
    phase = 2 * np.pi * np.cumsum(pitch) / VOCAL_RATE
    sound = np.zeros(n)
    for harmonic in range(1, 31):
        which = np.minimum((at / at[-1] * len(FORMANTS)).astype(int), len(FORMANTS) - 1)
        gain = sum(
            1 / (1 + ((harmonic * pitch - np.array(f)[which]) / 90) ** 2) for f in zip(*FORMANTS, strict=True)
        )
        sound += gain * np.sin(harmonic * phase)
    sound *= np.abs(np.sin(np.pi * len(FORMANTS) * at / at[-1])) ** 0.5
    mono = (0.5 * sound / np.abs(sound).max()).astype(np.float32)
    return np.repeat(mono[:, None], 2, axis=1)


def portrait() -> bytes:
    """A face on a plain ground, as PNG."""
    from mvpipe.render.animatic import pillow

    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    pixels = np.full((SIDE, SIDE, 3), (70, 90, 110), np.uint8)
    for middle, half, colour in (
        ((0.5, 0.45), (0.22, 0.3), (200, 165, 140)),
        ((0.41, 0.4), (0.03, 0.02), (40, 30, 30)),
        ((0.59, 0.4), (0.03, 0.02), (40, 30, 30)),
        ((0.5, 0.6), (0.07, 0.02), (150, 60, 60)),
    ):
        inside = ((x - middle[0]) / half[0]) ** 2 + ((y - middle[1]) / half[1]) ** 2 <= 1
        pixels[inside] = colour
    return pillow.png(pixels)
