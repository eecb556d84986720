"""What the mouth does and what the voice does, as curves to be laid over each other: 100 values a second.

The mouth is how high the lips are, and how far the lower one is from the nose, over how far apart the eyes
are, so that neither size nor distance counts. The voice is heard where an open mouth shows: from 0.6 to
3.5 kHz, the region of the second and third formants, in three bands so that no vowel speaks alone. Both are
narrowed to 1-10 Hz, the pace of syllables. Sound of 1-3 kHz follows the area of the mouth best, at 2-7 Hz
(Chandrasekaran et al., "The natural statistics of audiovisual speech", 2009). On windows of a native H3 clip
these curves and bands raise the share that can be judged, against lip height with 450-1200 and 300-3500 Hz:

| p <= 0.05 within a frame, of windows of | 5 s | 6 s | 8 s |
|---|---|---|---|
| lip height; 450-1200 Hz in dB, 300-3500 Hz | 0.58 | 0.62 | 0.84 |
| lip height; three bands | 0.80 | 0.88 | 0.95 |
| lip height and lower lip; three bands | 0.86 | 0.90 | 0.98 |

Width, the gap between the lips, decibel in place of loudness, and a band of 3.5-7 kHz did not help; motion
energy and the darkness of a patch are worse (findings-sync, section 3). On the even half of the benchmark
(`python -m tests.benchmarks gate`) and that clip, neither did windows of 25 and 60 ms, exponents of 0.2 and
0.45, or heights along the axes of the face; five bands are worse. Nor is the peak placed better by a softer
loudness and up to 12 Hz: the middle error is 5.3 for 6.0 ms on the even half, and 7.0 for 6.4 on the odd one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.tracks import Track, median

Floats = NDArray[np.float64]

HOPS = 100
"""Values a second of every curve."""

LIPS = ((0, 17), (37, 84), (267, 314))
"""Points of the mesh above and below the mouth's middle and to its sides."""

NOSE, LOWER_LIP = 1, 17

STEADY = 13
"""Frames over which the distance of the eyes is smoothed: heads turn more slowly, points jitter faster."""

BANDS = ((600, 1000), (1000, 2000), (2000, 3500))
"""Hz in which the voice is heard."""

LOUDNESS = 0.3
"""Exponent from power to loudness (Stevens)."""

VOICED_DB = -30.0
"""Below the loudest by so much, somebody still sings."""

SILENT = 1e-7
"""Mean square of the loudest hops under which there is no voice at all: -70 dBFS."""

HEARD_HZ = (80, 7000)
WINDOW_S = 0.04
PACE_HZ = (1.0, 10.0)


def mouth_curves(track: Track, times: Sequence[Fraction]) -> Floats:
    """Height of the lips, and drop of the lower one, over the distance of the eyes; shape (2, hops).

    Parameters
    ----------
    times : seconds at which each frame of the take is shown, the first at 0; two or more
    """
    pairs = np.array([*LIPS, (NOSE, LOWER_LIP)])
    apart = track.points[:, pairs[:, 0]] - track.points[:, pairs[:, 1]]
    apart = np.hypot(apart[..., 0], apart[..., 1]) / median(track.eyes, STEADY)[:, None]
    shown = np.array([float(times[k]) for k in track.frames])
    stop = float(times[-1] + times[-1] / (len(times) - 1))
    hops = np.arange(int(stop * HOPS)) / HOPS
    return np.stack([spline(shown, one, hops) for one in (apart[:, : len(LIPS)].mean(1), apart[:, -1])])


def voice_curves(voice: NDArray[np.float32], sample_rate: int) -> Floats:
    """How loud the voice is in each of `BANDS`; float64, shape (3, hops).

    Parameters
    ----------
    voice : float32, shape (n,), in [-1, 1]
    """
    power, hertz, reference = _spectra(voice, sample_rate)
    bands = [power[:, (hertz >= low) & (hertz < high)].sum(1) / reference for low, high in BANDS]
    return np.asarray(np.stack(bands) ** LOUDNESS)


def voiced_seconds(voice: NDArray[np.float32], sample_rate: int) -> float:
    """For how long somebody is heard."""
    power, hertz, reference = _spectra(voice, sample_rate)
    heard = power[:, (hertz >= HEARD_HZ[0]) & (hertz < HEARD_HZ[1])].sum(1)
    if not len(voice) or _mean_square(heard, sample_rate) < SILENT:
        return 0.0
    return float((heard > reference * 10 ** (VOICED_DB / 10)).sum()) / HOPS


def paced(curves: Floats) -> Floats:
    """Curves narrowed to the pace of syllables, without delay; shape (..., hops).

    A Butterworth band-pass of order 2, forwards and backwards, applied to the spectrum; the ends are
    mirrored about their last value for a second and a half, so that they do not ring.
    """
    hops = curves.shape[-1]
    reach = min(hops - 1, 150)
    head = 2 * curves[..., :1] - curves[..., reach:0:-1]
    tail = 2 * curves[..., -1:] - curves[..., -2 : -reach - 2 : -1]
    whole = np.concatenate([head, curves, tail], axis=-1)
    size = 1 << (2 * whole.shape[-1] - 1).bit_length()
    spectrum = np.fft.rfft(whole - whole.mean(-1, keepdims=True), size)
    narrowed = np.fft.irfft(spectrum * _gain(np.fft.rfftfreq(size, 1 / HOPS)), size)
    return np.asarray(narrowed[..., reach : reach + hops])


def _gain(hertz: NDArray[np.floating[Any]]) -> Floats:
    """Squared magnitude of the analogue filter."""
    low, high = PACE_HZ
    safe = np.maximum(hertz, 1e-9)
    detuned = (safe**2 - low * high) / (safe * (high - low))
    return np.asarray(1 / (1 + detuned**4))


def _spectra(voice: NDArray[np.float32], sample_rate: int) -> tuple[Floats, Floats, float]:
    """Power of each hop, the frequencies, and the power of the loudest hops."""
    wide = int(WINDOW_S * sample_rate)
    hops = len(voice) * HOPS // sample_rate + 1
    padded = np.pad(voice.astype(np.float64), (wide // 2, 2 * wide))
    first = (np.arange(hops) * sample_rate // HOPS)[:, None]
    size = 1 << (wide - 1).bit_length()
    spectra = np.fft.rfft(padded[first + np.arange(wide)] * np.hanning(wide), size)
    power = np.asarray(np.abs(spectra) ** 2, np.float64)
    hertz = np.asarray(np.fft.rfftfreq(size, 1 / sample_rate), np.float64)
    heard = power[:, (hertz >= HEARD_HZ[0]) & (hertz < HEARD_HZ[1])].sum(1)
    return power, hertz, float(np.percentile(heard, 99)) + 1e-12


def _mean_square(heard: Floats, sample_rate: int) -> float:
    """Of the loudest hops, from the power of their spectrum (Parseval, one side, a Hann window)."""
    wide = int(WINDOW_S * sample_rate)
    size = 1 << (wide - 1).bit_length()
    return float(np.percentile(heard, 99) * 2 / size / (np.hanning(wide) ** 2).sum())


def spline(at: Floats, values: Floats, wanted: Floats) -> Floats:
    """Values between values, by a natural cubic spline; beyond the ends, the last value.

    Parameters
    ----------
    at : rising
    """
    if len(at) < 3:
        return np.interp(wanted, at, values)
    step, slope = np.diff(at), np.diff(values) / np.diff(at)
    bend = np.zeros(len(at))  # second derivatives, none at the ends
    bend[1:-1] = _tridiagonal(step[1:-1], 2 * (step[:-1] + step[1:]), 6 * np.diff(slope))
    inside = np.clip(wanted, at[0], at[-1])
    k = np.clip(np.searchsorted(at, inside, "right") - 1, 0, len(step) - 1)
    a, b = at[k + 1] - inside, inside - at[k]
    h = step[k]
    curve = (bend[k] * a**3 + bend[k + 1] * b**3) / (6 * h)
    return np.asarray(
        curve + (values[k] / h - bend[k] * h / 6) * a + (values[k + 1] / h - bend[k + 1] * h / 6) * b
    )


def _tridiagonal(beside: Floats, diagonal: Floats, right: Floats) -> Floats:
    """Solve a symmetric tridiagonal system (Thomas)."""
    diagonal, right = diagonal.copy(), right.copy()
    for k in range(1, len(diagonal)):
        share = beside[k - 1] / diagonal[k - 1]
        diagonal[k] -= share * beside[k - 1]
        right[k] -= share * right[k - 1]
    for k in range(len(diagonal) - 1, -1, -1):
        after = beside[k] * right[k + 1] if k + 1 < len(diagonal) else 0.0
        right[k] = (right[k] - after) / diagonal[k]
    return right
