"""Whether two sounds are the same performance, after a codec, an autoencoder or another loudness. Pure."""

from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

from mvpipe.tools.heard import Heard

HOP_S, SPAN_S = 0.02, 0.04
LOW_HZ, HIGH_HZ, BANDS = 100.0, 6500.0, 20
FLOOR = 1e-5
"""Of a sound's loudest band: quieter is the same as nothing (-50 dB)."""

REACH = 3
"""Hops either way that one may lie against the other; an encoder's priming is shorter."""

Levels = NDArray[np.float64]


def likeness(one: Heard, other: Heard) -> float:
    """Correlation of two sounds' band levels over time, in [-1, 1]; at the best of a few small shifts.

    Compared are logarithmic levels in 20 bands from 100 to 6500 Hz every 20 ms, each band against its own
    mean: loudness, tone and phase, which an autoencoder does not keep, do not count; what is sung when does.
    """
    return alike(levels(one), levels(other))


def alike(a: Levels, b: Levels) -> float:
    """`likeness` of two sounds whose levels are known."""
    best = -1.0
    for shift in range(-REACH, REACH + 1):
        x, y = a[max(0, shift) :], b[max(0, -shift) :]
        n = min(len(x), len(y))
        best = max(best, _correlation(x[:n], y[:n]))
    return best


def levels(heard: Heard) -> Levels:
    """log10 of the energy in each band of each hop, shape (hops, 20)."""
    mono, rate = heard.mono, heard.sample_rate
    span = round(SPAN_S * rate)
    hops = max(0, floor((len(mono) - span) / (HOP_S * rate)) + 1)
    starts = np.floor(np.arange(hops) * HOP_S * rate).astype(int)
    pieces = mono[starts[:, None] + np.arange(span)] * np.hanning(span).astype(np.float32)
    power = np.abs(np.fft.rfft(pieces, axis=1)) ** 2
    edges = np.geomspace(LOW_HZ, HIGH_HZ, BANDS + 1) * span / rate
    marks = np.maximum.accumulate(np.ceil(edges).astype(int))
    total = np.concatenate([np.zeros((hops, 1)), np.cumsum(power, axis=1)], axis=1)
    marks = np.minimum(marks, power.shape[1])
    energy = total[:, marks[1:]] - total[:, marks[:-1]]
    least = FLOOR * float(energy.max(initial=0.0)) + 1e-12
    return np.asarray(np.log10(np.maximum(energy, least)))


def _correlation(x: Levels, y: Levels) -> float:
    if not len(x):
        return 0.0
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    size = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float((x * y).sum() / size) if size > 1e-9 else 0.0
