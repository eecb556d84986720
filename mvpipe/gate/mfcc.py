"""Cepstra as SyncNet hears them: exactly those of python_speech_features 0.6 with its defaults.

Davis and Mermelstein, "Comparison of Parametric Representations for Monosyllabic Word Recognition", 1980;
the figures are the defaults of J. Lyons, python_speech_features, which the official SyncNet calls.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SAMPLE_RATE = 16_000

CEPSTRA, BANDS = 13, 26
_WIDE, _STEP, _FFT = 400, 160, 512
_EMPHASIS, _LIFTER = 0.97, 22


def mfcc(voice: NDArray[np.int16]) -> Floats:
    """Thirteen cepstra every 10 ms, the first replaced by the log energy.

    Parameters
    ----------
    voice : int16, shape (n,), at `SAMPLE_RATE`, n > 0

    Returns
    -------
    float64, shape (hops, 13); row k describes samples 160k to 160k + 400, zeros behind the end
    """
    if voice.ndim != 1 or not len(voice):
        raise ValueError(f"mono sound with at least one sample, not {voice.shape}")
    power = np.abs(np.fft.rfft(_frames(voice), _FFT)) ** 2 / _FFT
    energy, bands = power.sum(1), power @ _filters().T
    cepstra = np.log(_positive(bands)) @ _cosines().T
    cepstra *= 1 + _LIFTER / 2 * np.sin(np.pi * np.arange(CEPSTRA) / _LIFTER)
    cepstra[:, 0] = np.log(_positive(energy))
    return cepstra


def _frames(voice: NDArray[np.int16]) -> Floats:
    signal = voice.astype(np.float64)
    signal[1:] -= _EMPHASIS * voice[:-1]
    count = 1 + max(0, -(-(len(signal) - _WIDE) // _STEP))
    padded = np.zeros((count - 1) * _STEP + _WIDE)
    padded[: len(signal)] = signal
    return np.lib.stride_tricks.sliding_window_view(padded, _WIDE)[::_STEP]


def _positive(values: Floats) -> Floats:
    return np.where(values == 0, np.finfo(np.float64).eps, values)


def _filters() -> Floats:
    """Triangles on the mel scale, from bin to whole bin."""
    top = 2595 * np.log10(1 + SAMPLE_RATE / 2 / 700)
    hertz = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    edges = np.floor((_FFT + 1) * hertz / SAMPLE_RATE)[:, None]
    bins = np.arange(_FFT // 2 + 1)
    low, mid, high = edges[:-2], edges[1:-1], edges[2:]
    up, down = (bins - low) / (mid - low), (high - bins) / (high - mid)
    return np.asarray(np.where(bins < mid, up, down) * ((bins >= low) & (bins < high)))


def _cosines() -> Floats:
    """The first rows of the orthonormal DCT-II."""
    rows, columns = np.arange(CEPSTRA)[:, None], np.arange(BANDS)
    scale = np.where(rows == 0, np.sqrt(1 / BANDS), np.sqrt(2 / BANDS))
    return np.asarray(scale * np.cos(np.pi * rows * (2 * columns + 1) / (2 * BANDS)))


def resample(voice: NDArray[np.float32], sample_rate: int) -> NDArray[np.int16]:
    """A voice as SyncNet is given it: 16 kHz, int16, its spectrum kept up to the lower of the two limits.

    Parameters
    ----------
    voice : float32, shape (n,), in [-1, 1]; louder samples are held at full scale, as int16 files hold them
    """
    common = math.gcd(sample_rate, SAMPLE_RATE)
    step, out_step = sample_rate // common, SAMPLE_RATE // common
    rest = sample_rate // 10  # silence, so that the ends do not run into each other
    size = -(-(len(voice) + rest) // step) * step
    spectrum = np.fft.rfft(voice.astype(np.float64), size)
    out_size = size // step * out_step
    out = np.fft.irfft(spectrum[: out_size // 2 + 1], out_size) * out_size / size
    wanted = len(voice) * SAMPLE_RATE // sample_rate
    return np.clip(np.round(out[:wanted] * 32767), -32768, 32767).astype(np.int16)
