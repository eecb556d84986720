"""Held vowels and breaths of a separated voice, each as runs of hops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.spectrum import Floats, Stem
from mvpipe.sound.voice import Runs, Singing, covered, only_leaked, runs

STILL_DB, HELD_HOPS, HELD_EFFORT = 5.5, 30, 0.4
"""A vowel is held where the bands change by less than 5.5 dB in 50 ms for 0.3 s, and it is loud enough. Of
vowels of 0.6 s and more 81 to 88 % is found, with vibrato and all, and 4 to 6 % of all consonants with them.
At 3 dB those are 12 and 0.2 (tuning half, three stems), and nothing of the real excerpt's long note."""

BEFORE_HOPS, RISE_DB = 80, 6.0
"""A breath is looked for within 0.8 s before a phrase: the air rises by 6 dB over its least until then. Its
least in the whole gap often follows the breath, and what rings before it is above that from the start."""

UNDER_LOUD_DB = 45.0
"""Nothing counts as quieter than 45 dB below the loud moments: a separator's mask leaves deeper holes, and
what ends them is no breath."""

LEAKED_DB = 3.0
"""Air less than 3 dB above what leaks of the mix is no breath: a hi-hat is as loud as one there. Of the
breaths in short gaps of the mask's stems 96 instead of 75 of 100 are found to 50 ms then, and of the cuts 96
instead of 94 are at a best place (tuning half and five more, 653 cuts)."""

RISE_HOPS = 3
"""It has begun 30 ms before it is heard."""

SHORTEST_HOPS, LONGEST_HOPS = 8, 70
"""A breath lasts 80 to 700 ms."""


def held(stem: Stem, heard: Singing) -> Runs:
    """Held vowels."""
    sung = covered(heard.phrases, len(stem.level))
    still = sung & (_smooth(stem.flux, 5) < STILL_DB) & (heard.effort > HELD_EFFORT)
    found = runs(still)
    return found[found[:, 1] - found[:, 0] >= HELD_HOPS]


def breaths(stem: Stem, mix_air: Floats, phrases: Runs) -> Runs:
    """Breaths before phrases; one for a phrase at most, the last before it.

    Parameters
    ----------
    mix_air : float32 (n,), dB re full scale of the mix between 2 and 8 kHz, which tells what leaked
    """
    edges, quietest = [0, *phrases[:, 1].tolist()], _quietest(stem.air)
    own = ~only_leaked(stem.air, mix_air, LEAKED_DB)
    found = [
        _breath(stem.air, own, max(before, start - BEFORE_HOPS), start, quietest)
        for before, start in zip(edges, phrases[:, 0].tolist(), strict=False)
    ]
    return np.array([run for run in found if run], np.int64).reshape(-1, 2)


def _quietest(air: Floats) -> float:
    """The level from which air has to rise at the least."""
    return float(np.percentile(air, 95)) - UNDER_LOUD_DB


def _breath(
    air: Floats, own: NDArray[np.bool_], start: int, stop: int, quietest: float
) -> tuple[int, int] | None:
    """The last breath between two hops, by the hops whose air is the voice's own."""
    if stop - start < SHORTEST_HOPS:
        return None
    smooth, own = _smooth(air[start:stop], 3), own[start:stop]
    least = np.minimum.accumulate(smooth)
    blown = runs(own & (smooth > np.maximum(least, quietest) + RISE_DB))
    long = blown[:, 1] - blown[:, 0]
    fit = blown[(long >= SHORTEST_HOPS) & (long <= LONGEST_HOPS) & (blown[:, 0] > 0)]
    return (start + max(int(fit[-1, 0]) - RISE_HOPS, 0), start + int(fit[-1, 1])) if len(fit) else None


def _smooth(values: Floats, width: int) -> NDArray[np.float64]:
    if len(values) < width:
        return np.asarray(values, np.float64)
    wide = np.pad(values.astype(np.float64), width // 2, mode="edge")
    return np.convolve(wide, np.full(width, 1 / width), mode="valid")
