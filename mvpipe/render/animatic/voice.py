"""From the isolated vocal to a mouth: how far it opens and how broad the lips are, for every frame.

A mouth follows what is articulated, not how loud it is: the first formants of vowels lie in 450..1200 Hz
and close with the lips, so that band in dB, and the power of 300..3500 Hz compressed by 0.3, open it
(bands and exponent as measured for sync estimators in this project's findings). The jaw is quicker to
open than to close, and moves ahead of the sound.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
PerFrame = NDArray[np.float64]

SAMPLE_RATE = 16_000
HOPS = 100
"""Analysis steps a second."""

LEAD_S = 0.08
"""Seconds the curve is read ahead of the sound: the jaw's own lag, and a natural lead (a talking head
measured by correlation runs 57 ms ahead of its voice)."""

OPENS_S, CLOSES_S = 0.020, 0.055
"""Time constants of the jaw."""

FLOOR_DB = -30.0
"""Below the loudest vowels by so much, the lips are shut."""

QUIETEST = 1e-7
"""Mean power of the two bands under which nobody sings, however quiet the rest is; about -70 dBFS."""


def articulation(vocal: Samples) -> tuple[PerFrame, PerFrame]:
    """Opening and spread of the lips at 100 Hz, each in [0, 1].

    Parameters
    ----------
    vocal : float32, shape (n,), at `SAMPLE_RATE`
    """
    power = _spectra(vocal)
    hertz = np.fft.rfftfreq(2 * (power.shape[1] - 1), 1 / SAMPLE_RATE)
    vowel, voice, bright = (
        power[:, (hertz >= low) & (hertz < high)].sum(1)
        for low, high in ((450, 1200), (300, 3500), (1500, 3500))
    )
    loud = np.percentile(vowel, 97), np.percentile(voice, 97)
    if min(loud) < QUIETEST:
        return np.zeros(len(power)), np.full(len(power), 0.5)
    decibel = 10 * np.log10(vowel / loud[0] + 1e-9)
    target = 0.5 * np.clip(1 - decibel / FLOOR_DB, 0, 1) ** 1.5 + 0.5 * np.clip(voice / loud[1], 0, 1) ** 0.3
    target = np.clip((target - 0.22) / 0.68, 0, 1) * (decibel > FLOOR_DB)
    spread = np.clip(0.5 + 0.5 * np.log10((bright + 1e-12) / (vowel + 1e-12) * 4 + 1e-3), 0, 1)
    return _jaw(target), _settle(np.where(decibel > FLOOR_DB, spread, 0.5), 0.06)


def _spectra(vocal: Samples) -> NDArray[np.float64]:
    hop, width = SAMPLE_RATE // HOPS, 640
    padded = np.pad(vocal.astype(np.float64), (width // 2, width))
    starts = np.arange(0, len(vocal) + 1, hop)
    windows = padded[starts[:, None] + np.arange(width)] * np.hanning(width)
    return np.asarray(np.abs(np.fft.rfft(windows, 1024)) ** 2 / (1024 * width / 4), float)


def _jaw(target: PerFrame) -> PerFrame:
    opens, closes = (1 - np.exp(-1 / (HOPS * s)) for s in (OPENS_S, CLOSES_S))
    out, at = np.empty_like(target), 0.0
    for i, wanted in enumerate(target):
        at += (wanted - at) * (opens if wanted > at else closes)
        out[i] = at
    return out


def _settle(values: PerFrame, seconds: float) -> PerFrame:
    n = round(seconds * HOPS) * 2 + 1
    kernel = np.hanning(n + 2)[1:-1]
    return np.asarray(np.convolve(np.pad(values, n // 2, "edge"), kernel / kernel.sum(), "valid"), float)


def at_frames(curve: PerFrame, frames: int, rate: Fraction, late_s: float = 0.0) -> PerFrame:
    """The curve at every frame, `late_s` seconds late; before and after it, its ends."""
    seconds = np.arange(frames) * float(1 / rate) + LEAD_S - late_s
    return np.asarray(np.interp(seconds * HOPS, np.arange(len(curve)), curve), float)


def babble(frames: int, rate: Fraction, seed: int) -> tuple[PerFrame, PerFrame]:
    """A mouth that speaks, but not to this voice: syllables of 0.15 to 0.35 s from `seed`."""
    dice = np.random.default_rng([seed, 77])
    hops = int(frames / float(rate) * HOPS) + HOPS
    target, spread, at = np.zeros(hops), np.full(hops, 0.5), 0
    while at < hops:
        length, gap = dice.integers(15, 36), dice.integers(3, 30)
        target[at : at + length] = dice.uniform(0.3, 1.0)
        spread[at : at + length] = dice.uniform(0, 1)
        at += int(length + gap)
    return at_frames(_jaw(target), frames, rate), at_frames(_settle(spread, 0.06), frames, rate)
