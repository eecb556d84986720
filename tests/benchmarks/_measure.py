"""What is measured on a song whose answer is known: gaps, cuts, form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.hearing import Hearing
from mvpipe.sound.spectrum import HOPS
from tests.synth import Stretch, Truth

SHORTEST_GAP_S = 0.18
START_S, END_S, NEAR_S, BAR_S, SECTION_S = 0.1, 0.15, 0.04, 0.1, 3.0
AS_QUIET_DB, INAUDIBLE_DB = 3.0, 30.0
"""Hops within 3 dB of a gap's quietest, or 30 dB below the loud voice, are as good a place as any, unless the
singer breathes in there; a breath that begins within 0.1 s of the phrase before leaves no such place."""
LONG_S, EDGE_S = 1.5, 0.3
"""Inside a gap of 1.5 s every place 0.3 s from its edges, and outside its breath, is as good as another."""


@dataclass
class Count:
    """So many of so many; adds up over songs."""

    good: int = 0
    of: int = 0

    def add(self, good: int, of: int) -> None:
        self.good += good
        self.of += of

    @property
    def share(self) -> float:
        return self.good / self.of if self.of else float("nan")


@dataclass
class Gaps:
    """How well the gaps between phrases were found."""

    recall: Count = field(default_factory=Count)
    precision: Count = field(default_factory=Count)
    starts: Count = field(default_factory=Count)
    ends: Count = field(default_factory=Count)

    def merge(self, other: Gaps) -> None:
        for one in fields(self):
            found = getattr(other, one.name)
            getattr(self, one.name).add(found.good, found.of)


def gaps(hearing: Hearing, truth: Truth) -> Gaps:
    """Gaps found, by whether their middle lies in a true one; and how exactly they begin and end."""
    heard = [(a / HOPS, b / HOPS) for a, b in hearing.phrases.tolist()]
    found = [(a[1], b[0]) for a, b in pairwise(heard)]
    true = [gap for gap in truth.gaps if gap[1] - gap[0] >= SHORTEST_GAP_S]
    out = Gaps()
    met = [next((g for g in found if a - 0.05 <= sum(g) / 2 <= b + 0.05), None) for a, b in true]
    out.recall.add(sum(gap is not None for gap in met), len(true))
    inside = [any(a - 0.05 <= sum(g) / 2 <= b + 0.05 for a, b in truth.gaps) for g in found]
    out.precision.add(sum(inside), len(found))
    pairs = [(gap, own) for gap, own in zip(true, met, strict=True) if own]
    out.ends.add(sum(abs(own[0] - gap[0]) <= END_S for gap, own in pairs), len(pairs))
    out.starts.add(sum(abs(own[1] - gap[1]) <= START_S for gap, own in pairs), len(pairs))
    return out


@dataclass
class Cuts:
    """How good a plan's cuts are."""

    in_word: Count = field(default_factory=Count)
    best: Count = field(default_factory=Count)
    on_bar: Count = field(default_factory=Count)
    out_of_range: Count = field(default_factory=Count)

    def merge(self, other: Cuts) -> None:
        for one in fields(self):
            found = getattr(other, one.name)
            getattr(self, one.name).add(found.good, found.of)


def cuts(truth: Truth, frames: Sequence[int], length: int, best: NDArray[np.bool_]) -> Cuts:
    """Cuts inside words (over 40 ms), at a true best place (within 40 ms), on bars; lengths not 5-8 s."""
    out = Cuts()
    at = [frame / 24 for frame in frames]
    lengths = np.diff([0, *frames, length])
    out.in_word.add(sum(truth.inside_word(t) for t in at), len(at))
    reach = round(NEAR_S * HOPS)
    near = [best[max(round(t * HOPS) - reach, 0) : round(t * HOPS) + reach + 1].any() for t in at]
    out.best.add(int(sum(near)), len(at))
    if truth.bars:
        out.on_bar.add(sum(min(abs(t - b) for b in truth.bars) <= BAR_S for t in at), len(at))
    out.out_of_range.add(int(((lengths < 120) | (lengths > 192)).sum()), len(lengths))
    return out


def best_places(level: NDArray[np.float32], truth: Truth) -> NDArray[np.bool_]:
    """Hops at which a cut is as good as it gets, by the level of the true stem and the true phrases."""
    best = np.zeros(len(level), bool)
    loud = float(np.percentile(level, 95))
    edges = [0.0, *(x for phrase in truth.phrases for x in phrase), len(level) / HOPS]
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        breath = next((start for start, stop in truth.breaths if a + 0.1 <= start and stop <= b), b)
        _mark(best, level, (a, breath), loud)
    return best


def _mark(best: NDArray[np.bool_], level: NDArray[np.float32], gap: Stretch, loud: float) -> None:
    start, stop = round(gap[0] * HOPS), round(gap[1] * HOPS)
    if stop - start < 3:
        return
    inner = level[start:stop]
    best[start:stop] |= (inner <= inner.min() + AS_QUIET_DB) | (inner <= loud - INAUDIBLE_DB)
    if gap[1] - gap[0] >= LONG_S:
        edge = round(EDGE_S * HOPS)
        best[start + edge : stop - edge] = True


@dataclass
class Forms:
    """How well the form was found."""

    recall: Count = field(default_factory=Count)
    precision: Count = field(default_factory=Count)
    pair_recall: Count = field(default_factory=Count)
    pair_precision: Count = field(default_factory=Count)
    metre: Count = field(default_factory=Count)
    bars: Count = field(default_factory=Count)

    def merge(self, other: Forms) -> None:
        for one in fields(self):
            found = getattr(other, one.name)
            getattr(self, one.name).add(found.good, found.of)


def form(hearing: Hearing, truth: Truth, counts: int) -> Forms:
    """Changes of section (within 3 s), moments of one label (pairs of seconds), the metre, the bars."""
    out = Forms()
    true = [start for _, start, _ in truth.sections[1:]]
    found = (hearing.sections / HOPS).tolist()
    out.recall.add(sum(any(abs(t - f) <= SECTION_S for f in found) for t in true), len(true))
    out.precision.add(sum(any(abs(t - f) <= SECTION_S for t in true) for f in found), len(found))
    seconds = range(int(truth.sections[-1][2]))
    names = [
        next(n for n, a, b in truth.sections if a <= s + 0.5 < b or b == truth.sections[-1][2])
        for s in seconds
    ]
    own = [
        next((p.label for p in hearing.parts if p.start / HOPS <= s + 0.5 < p.stop / HOPS), "")
        for s in seconds
    ]
    pairs = [(names[a] == names[b], own[a] == own[b]) for a, b in combinations(seconds, 2)]
    both = sum(t and f for t, f in pairs)
    out.pair_recall.add(both, sum(t for t, _ in pairs))
    out.pair_precision.add(both, sum(f for _, f in pairs))
    if truth.bars:
        out.metre.add(hearing.metre == counts, 1)
        bars = hearing.bars / HOPS
        hit = [len(bars) > 0 and bool(np.abs(bars - b).min() <= 0.07) for b in truth.bars]
        out.bars.add(sum(hit), len(hit))
    return out
