"""Hearings for tests: of synthesised songs, once each, and made by hand with the answer in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.hearing import Hearing
from mvpipe.sound.listen import listen
from mvpipe.sound.spectrum import HOPS
from tests.synth import Stretch, SynthSong, pieces, song

RATE = 22_050
"""Hz: half the usual, for speed; all that is listened to lies below 11 kHz."""


@lru_cache(6)
def synth(**kw: Any) -> SynthSong:
    """A synthesised song; the last few are kept, of 70 MB each."""
    return song(**{"seconds": 90.0, "sample_rate": RATE, **kw})


@cache
def heard(**kw: Any) -> Hearing:
    """What is heard in it and its separated voice."""
    made = synth(**kw)
    return hear(made, made.separated)


def hear(made: SynthSong, stem: NDArray[np.float32]) -> Hearing:
    """What is heard in a song with some other stem."""
    return listen(pieces(made.mix), pieces(stem), sample_rate=made.sample_rate)


def shuffled(stem: NDArray[np.float32], rate: int = RATE) -> NDArray[np.float32]:
    """The planted fault: the stem's stretches of 2.7 s in another order, so it no longer fits the song."""
    parts = [stem[i : i + int(2.7 * rate)] for i in range(0, len(stem), int(2.7 * rate))]
    order = np.random.default_rng(440).permutation(len(parts))
    return np.concatenate([parts[i] for i in order])


def by_hand(
    seconds: float,
    phrases: Sequence[Stretch] = (),
    *,
    sample_rate: int = 48_000,
    dips: Sequence[float] = (),
    beats: Sequence[float] = (),
    bars: Sequence[float] = (),
    sections: Sequence[float] = (),
) -> Hearing:
    """A hearing with phrases at -15 dB and nothing between; each dip is 100 ms of half the effort."""
    hops = int(seconds * HOPS) + 1
    effort = np.zeros(hops, np.float32)
    runs = np.array([(round(a * HOPS), round(b * HOPS)) for a, b in phrases], np.int64).reshape(-1, 2)
    for a, b in runs:
        effort[a:b] = 0.9
    for at in dips:
        effort[round(at * HOPS) - 5 : round(at * HOPS) + 6] = np.abs(np.linspace(-0.5, 0.5, 11)) + 0.02
    return Hearing(
        sample_rate=sample_rate,
        samples=round(seconds * sample_rate),
        voice_db=np.where(effort > 0, -15 - 22 * (0.9 - effort), -100).astype(np.float32),
        effort=effort,
        peak=np.full(hops, 0.5, np.float32),
        phrases=runs,
        held=np.zeros((0, 2), np.int64),
        breaths=np.zeros((0, 2), np.int64),
        onsets=_hops(beats),
        beats=_hops(beats),
        bars=_hops(bars),
        sections=_hops(sections),
        labels=np.arange(len(sections) + 1),
        metre=4 if len(bars) else 0,
        beat_confidence=1.0 if len(beats) else 0.0,
    )


def _hops(seconds: Sequence[float]) -> NDArray[np.int64]:
    return np.round(np.asarray(seconds, float) * HOPS).astype(np.int64)


def gap_scores(hearing: Hearing, truth: Sequence[Stretch]) -> tuple[float, float]:
    """(recall, precision) of the gaps between phrases: the middle of a found gap lies in a true one."""
    found = [((a[1] + b[0]) / 2 / HOPS) for a, b in pairwise(hearing.phrases)]
    true = [(a[1] - 0.05, b[0] + 0.05) for a, b in pairwise(truth)]
    recall = sum(any(a <= m <= b for m in found) for a, b in true) / max(len(true), 1)
    precision = sum(any(a <= m <= b for a, b in true) for m in found) / max(len(found), 1)
    return recall, precision
