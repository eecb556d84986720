"""Other ways to cut: equal lengths, beats, bars, sections, and a published scheme restated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.hearing import Hearing
from mvpipe.sound.spectrum import HOPS
from mvpipe.sound.tiling import Steps, tile_cheapest
from mvpipe.sound.voice import gaps

Frames = Sequence[int]
FIRST, LAST = 120, 192
"""5 to 8 s, in frames."""

SCORES = {
    "silence": 100,
    "phrase end": 85,
    "valley": 68,
    "section": 46,
    "breath": 42,
    "soft valley": 36,
    "bar": 26,
    "beat": 10,
}
"""What the published scheme gives a candidate; those within 0.22 s become one, at their weighted mean."""
MERGE_S, GRID_S, AIM_S = 0.22, 0.1, 8.0
"""It aims at 9 s in 5 to 10 s; here at 8 s in 5 to 8."""


def frames_of(hearing: Hearing) -> int:
    return -(-hearing.samples * 24 // hearing.sample_rate)


def equal(hearing: Hearing) -> Frames:
    """Every 6.5 s."""
    return list(range(156, frames_of(hearing), 156))


def beats(hearing: Hearing) -> Frames:
    return _nearest(hearing, hearing.beats)


def bars(hearing: Hearing) -> Frames:
    return _nearest(hearing, hearing.bars)


def structure(hearing: Hearing) -> Frames:
    """On changes of section, and evenly between them."""
    ends = [0, *(round(hop * 24 / HOPS) for hop in hearing.sections.tolist()), frames_of(hearing)]
    out: list[int] = []
    for start, stop in pairwise(ends):
        count = max(round((stop - start) / 156), 1)
        out += [start + k * (stop - start) // count for k in range(count)]
    return [frame for frame in out if frame]


def published(hearing: Hearing) -> Frames:
    """The best published scheme, on the same stem and the same beats."""
    frames = frames_of(hearing)
    reward = np.zeros(frames + 1, np.int64)
    for at, score in _merged(sorted(_candidates(hearing))):
        frame = round(at * 24)
        if 0 < frame < frames:
            reward[frame] = max(reward[frame], round(100 * score))
    off = np.abs(np.arange(FIRST, LAST + 1) / 24 - AIM_S)
    steps = Steps(
        first=FIRST, price=np.rint(1000 * off).astype(np.int64), group=np.zeros(73, np.int64), same=0
    )
    tiling = tile_cheapest(10_000 - reward, steps)
    return tiling.cuts if tiling else ()


def _candidates(hearing: Hearing) -> Iterator[tuple[float, float]]:
    """(seconds, score) on a grid of 100 ms."""
    level, step = hearing.voice_db, round(GRID_S * HOPS)
    power = 10 ** (level[: len(level) // step * step].reshape(-1, step).astype(float) / 10)
    rms = 10 * np.log10(power.mean(axis=1))
    loud = float(np.percentile(rms, 90))
    for start, stop in gaps(hearing.phrases, hearing.hops).tolist():
        if stop - start >= HOPS // 2:
            yield _gridded((start + stop) / 2 / HOPS), SCORES["silence"]
        yield _gridded(start / HOPS), SCORES["phrase end"]
        yield _gridded(max(stop / HOPS - 0.2, 0)), SCORES["breath"]
    lowest = np.flatnonzero((rms[1:-1] < rms[:-2]) & (rms[1:-1] <= rms[2:])) + 1
    for at in lowest.tolist():
        depth = loud - rms[at]
        if depth > 6:
            yield _gridded((at + 0.5) * GRID_S), SCORES["valley" if depth > 15 else "soft valley"]
    for name, hops in (("section", hearing.sections), ("bar", hearing.bars), ("beat", hearing.beats)):
        yield from ((_gridded(hop / HOPS), SCORES[name]) for hop in hops.tolist())


def _gridded(seconds: float) -> float:
    return round(seconds / GRID_S) * GRID_S


def _merged(candidates: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Neighbours within 0.22 s as one: at the mean of their moments by score, with the highest score."""
    held: list[tuple[float, float]] = []
    for at, score in [*candidates, (np.inf, 0.0)]:
        if held and at - held[-1][0] > MERGE_S:
            weight = sum(s for _, s in held)
            yield sum(t * s for t, s in held) / weight, max(s for _, s in held)
            held = []
        held.append((at, score))


def _nearest(hearing: Hearing, hops: NDArray[np.int64]) -> Frames:
    """The cheapest tiling in 5 to 8 s of which every cut costs its distance to the nearest of these."""
    if not len(hops):
        return equal(hearing)
    at = hops * 24 / HOPS
    price = np.abs(np.arange(frames_of(hearing) + 1)[:, None] - at).min(axis=1)
    any_length = np.zeros(LAST - FIRST + 1, np.int64)
    steps = Steps(first=FIRST, price=any_length, group=any_length, same=0)
    tiling = tile_cheapest(np.rint(100 * price).astype(np.int64) + 1, steps)
    return tiling.cuts if tiling else ()
