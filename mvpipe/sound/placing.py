"""Lines without times, laid along the phrases that are sung: the cheapest way, in order, by length alone.

What is sung is taken apart at every gap, at dips inside phrases, and at least once a second. Each line takes
some of these pieces in a row; pieces may be left over (somebody sings what is not written) and so may lines
(what is written is not sung), at a price. The cheapest whole is found by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.spectrum import HOPS, Floats
from mvpipe.sound.voice import Runs

PIECES = 24
"""Pieces a line may take at most."""

FINEST_HOPS = HOPS
"""A phrase is taken apart at least this often."""

LENGTH, SPLIT, BLIND_SPLIT, LONG_GAP = 2.0, 0.7, 1.4, 0.8
"""Price of being e times as long as the words say; of ending in a dip, or in nothing, inside a phrase; and of
a gap of a second inside a line."""

LEFT_OVER, MISSING = 0.7, 2.5
"""Price of a sung second that no line takes, and of a line that is not sung."""

ROUNDS = 3
"""How often the tempo of the words is taken anew from where they fell."""

Costs = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a line was laid.

    Parameters
    ----------
    start, stop : hops
    fit : how well its length and its ends fit, in [0, 1]
    """

    start: int
    stop: int
    fit: float


@dataclass(frozen=True, slots=True)
class _Pieces:
    """What is sung, in pieces: hops, and the price of beginning a line with each (and, last, of the end)."""

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    edge: Costs

    @property
    def sung(self) -> Costs:
        """Seconds sung before each piece, and in all."""
        return np.concatenate([[0.0], np.cumsum(self.stop - self.start)]) / HOPS

    @property
    def paused(self) -> Costs:
        """Seconds of gaps before each piece, from the first on; none is longer than two."""
        gaps = np.clip(self.start[1:] - self.stop[:-1], 0, 2 * HOPS) / HOPS
        return np.concatenate([[0.0, 0.0], np.cumsum(gaps)])[: len(self.start) + 1]


def place(weights: Sequence[int], phrases: Runs, level: Floats) -> list[Place | None]:
    """Where each line is sung; None for one that is not.

    Parameters
    ----------
    weights : how much there is to sing in each line, > 0
    phrases, level : as in `hearing.Hearing`
    """
    if not len(phrases) or not weights:
        return [None] * len(weights)
    pieces = _pieces(phrases, level)
    length = float(pieces.sung[-1]) / sum(weights)
    spans: list[tuple[int, int] | None] = []
    for _ in range(ROUNDS):
        spans = _cheapest(np.array(weights) * length, pieces)
        long = [pieces.sung[b] - pieces.sung[a] for a, b in filter(None, spans)]
        much = [w for w, span in zip(weights, spans, strict=True) if span]
        if much:
            length = float(np.median(np.array(long) / np.array(much)))
    return [
        None if span is None else _place(span, wanted * length, pieces)
        for span, wanted in zip(spans, weights, strict=True)
    ]


def _place(span: tuple[int, int], wanted: float, pieces: _Pieces) -> Place:
    a, b = span
    off = abs(float(np.log((pieces.sung[b] - pieces.sung[a]) / wanted)))
    fit = float(np.exp(-off - 0.5 * (pieces.edge[a] + pieces.edge[b])))
    return Place(start=int(pieces.start[a]), stop=int(pieces.stop[b - 1]), fit=fit)


def _pieces(phrases: Runs, level: Floats) -> _Pieces:
    starts, stops, edges = [], [], []
    for start, stop in phrases.tolist():
        inner = _dips(level[start:stop]) if stop - start > FINEST_HOPS // 2 else {}
        ends = [0, *sorted(inner), stop - start]
        for a, b in pairwise(ends):
            starts.append(start + a)
            stops.append(start + b)
            edges.append(inner.get(a, 0.0))
    return _Pieces(np.array(starts), np.array(stops), np.array([*edges, 0.0]))


def _dips(level: Floats) -> dict[int, float]:
    """Hops inside a phrase at which a line may end, and the price of that."""
    reach = 15
    wide = np.pad(level, reach, constant_values=np.inf)
    lowest = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1).min(axis=1) == level
    loud = np.median(level)
    found = {
        int(at): SPLIT
        for at in np.flatnonzero(lowest & (level < loud - 6))
        if reach < at < len(level) - reach
    }
    ends = [0, *sorted(found), len(level)]
    for a, b in pairwise(ends):
        for k in range(1, -(-(b - a) // FINEST_HOPS)):
            found[a + k * (b - a) // -(-(b - a) // FINEST_HOPS)] = BLIND_SPLIT
    return found


def _cheapest(wanted: Costs, pieces: _Pieces) -> list[tuple[int, int] | None]:
    """The pieces [a, b) of each line, given the seconds it wants."""
    n, sung, paused = len(pieces.start), pieces.sung, pieces.paused
    reach = min(PIECES, n)
    ends = np.arange(1, n + 1)
    begins = ends[:, None] - np.arange(1, reach + 1)  # (n, reach)
    legal, begins = begins >= 0, np.maximum(begins, 0)
    long = np.log(np.maximum(sung[ends][:, None] - sung[begins], 1e-3))
    inner = LONG_GAP * (paused[ends][:, None] - paused[np.minimum(begins + 1, n)])
    fixed = np.where(legal, inner + pieces.edge[ends][:, None], np.inf)
    skipped = LEFT_OVER * sung
    best = skipped.copy()  # price with the first lines done and the first pieces used up
    back: list[NDArray[np.int64]] = []
    for seconds in wanted:
        price = fixed + LENGTH * np.abs(long - np.log(seconds)) + best[begins]
        taken = price.argmin(axis=1)
        now = np.concatenate([[np.inf], price[np.arange(n), taken]])
        came = np.concatenate([[0], taken + 1])
        missed = best + MISSING < now
        now, came = np.where(missed, best + MISSING, now), np.where(missed, 0, came)
        ahead = now - skipped
        least = np.minimum.accumulate(ahead)
        back.append(np.where(least < ahead, -1, came))  # -1: the piece before is left over
        best = least + skipped
    return _walk(back)


def _walk(back: list[NDArray[np.int64]]) -> list[tuple[int, int] | None]:
    at, spans = len(back[0]) - 1, []
    for came in reversed(back):
        while came[at] < 0:
            at -= 1
        taken = int(came[at])
        spans.append((at - taken, at) if taken else None)
        at -= taken
    return spans[::-1]
