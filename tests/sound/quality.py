"""How close an estimated part is to the true one.

Both measures are in dB, higher is better, over all samples and channels at once, nothing is loaded,
resampled or aligned here: an estimate one sample late is a worse estimate.

- `sdr`: signal to distortion. E. Vincent et al., 2006, in the plain form of the Music Demixing Challenge
  (Y. Mitsufuji et al., 2021): no filter and no gain is forgiven.
- `si_sdr`: the same with the best gain forgiven. J. Le Roux et al., "SDR - half-baked or well done?", 2019.
- `jump`: how much the level of an estimate jumps, against the truth, where its spans meet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Sound = NDArray[np.float32]


def sdr(truth: Sound, estimate: Sound) -> float:
    """Signal to distortion ratio in dB; infinite for the truth itself."""
    true, guess = _validate(truth, estimate)
    return _ratio_db(true, guess - true)


def si_sdr(truth: Sound, estimate: Sound) -> float:
    """Scale-invariant signal to distortion ratio in dB."""
    true, guess = _validate(truth, estimate)
    target = true * (np.vdot(guess, true) / np.vdot(true, true))
    return _ratio_db(target, guess - target)


def level(sound: Sound, hop: int = 1024) -> NDArray[np.float64]:
    """RMS of each hop in dB, shape (n,)."""
    hops = sound[: len(sound) // hop * hop].reshape(-1, hop * sound.shape[1])
    in_db: NDArray[np.float64] = 10 * np.log10(np.square(hops, dtype=np.float64).mean(axis=1) + 1e-12)
    return in_db


def jump(truth: Sound, estimate: Sound, hops: NDArray[np.int64], hop: int = 1024) -> float:
    """Median over the given hops of how the error in level changes from the hop before, in dB."""
    off = level(estimate, hop) - level(truth, hop)
    return float(np.median(np.abs(off[hops] - off[hops - 1])))


def _validate(truth: Sound, estimate: Sound) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if truth.shape != estimate.shape:
        raise ValueError(f"shapes differ: {truth.shape}, {estimate.shape}; did you compare at one rate?")
    if not truth.any():
        raise ValueError("the truth is silent: nothing can be compared with it")
    return truth.astype(np.float64), estimate.astype(np.float64)


def _ratio_db(signal: NDArray[np.float64], noise: NDArray[np.float64]) -> float:
    power = float(np.square(noise).sum())
    return float("inf") if power == 0 else 10 * float(np.log10(np.square(signal).sum() / power))
