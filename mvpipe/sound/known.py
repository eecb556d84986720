"""Words whose times are known, as the cutter sees them: where no cut may fall, and where one may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.film import Boundary, BoundaryKind, Word
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.spectrum import HOPS

EDGE_HOPS = 4
"""A cut within 40 ms of a word's edge does not cut it."""

APART_HOPS = 2 * HOPS
"""Between words further apart than this, nothing is known: what is heard decides again."""

BESIDE_HOPS = 3
"""The quietest moment between two words is looked for up to 30 ms inside both."""

WEIGHT = 0.6
"""Of a cut between two words that are known: worse than a phrase end, better than anything in the voice."""


@dataclass(frozen=True, slots=True)
class Known:
    """What words say of each hop.

    Parameters
    ----------
    inside : int64 (hops,), the word that is sung there, more than 40 ms from both its ends; -1 for none
    around : bool (hops,), whether the words are known there
    gaps : where one word ends and the next begins
    """

    inside: NDArray[np.int64]
    around: NDArray[np.bool_]
    gaps: tuple[Boundary, ...]


def known_words(words: Sequence[Word], hearing: Hearing) -> Known:
    """What words say of each hop of a song; they stand in order and have ends."""
    inside = np.full(hearing.hops, -1, np.int64)
    around = np.zeros(hearing.hops, bool)
    for number, word in enumerate(words):
        start, stop = _hops(word)
        inside[start + EDGE_HOPS : max(stop - EDGE_HOPS, 0)] = number
        around[max(start - EDGE_HOPS, 0) : stop + EDGE_HOPS] = True
    for before, after in pairwise(words):
        stop, start = _hops(before)[1], _hops(after)[0]
        if start - stop <= APART_HOPS:
            around[stop:start] = True
    return Known(inside, around, tuple(_gaps(words, hearing, inside)))


def _gaps(words: Sequence[Word], hearing: Hearing, inside: NDArray[np.int64]) -> Iterator[Boundary]:
    for before, after in pairwise(words):
        low, high = _hops(before)[1] - BESIDE_HOPS, _hops(after)[0] + BESIDE_HOPS + 1
        free = np.arange(max(low, 1), min(high, hearing.hops))
        free = free[inside[free] < 0]
        if len(free) and high - low <= APART_HOPS:
            hop = int(free[hearing.voice_db[free].argmin()])
            yield Boundary(hearing.sample(hop), BoundaryKind.WORD_GAP, WEIGHT)


def _hops(word: Word) -> tuple[int, int]:
    start = round(word.start * HOPS)
    return start, max(round((word.stop or word.start) * HOPS), start)
