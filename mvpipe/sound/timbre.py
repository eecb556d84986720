"""What a voice sounds like, whoever's words it sings: the colour of its loud moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from mvpipe.errors import MediaError
from mvpipe.sound.spectrum import Blocks, Floats, Reader, frequencies

HZ = (150.0, 5000.0)
"""What is looked at: four formants. Codecs and separators leave it alone; a bass and cymbals lie outside."""

BANDS, COEFFICIENTS = 28, 12
"""Bands, evenly spaced in mel, and the cepstral coefficients kept of them, without the level."""

LOUD_DB, SILENT_DB = 20.0, -90.0
"""What is within 20 dB of the loud moments counts; what rings on after them, and breath, does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timbre:
    """What every hop of a voice sounds like.

    Parameters
    ----------
    colour : float32 (n, COEFFICIENTS), cepstrum of the mel bands
    loud : bool (n,), where there is enough voice to tell anything
    """

    colour: Floats
    loud: NDArray[np.bool_]


def timbre(sound: Blocks, sample_rate: int) -> Timbre:
    """What every hop of a voice sounds like.

    Parameters
    ----------
    sound : in blocks: float32, shape (n, channels), any n
    sample_rate : Hz

    Raises
    ------
    MediaError : a sample rate that does not hold four formants
    """
    if sample_rate < 2 * HZ[1]:
        raise MediaError(f"voice: {sample_rate} Hz: {2 * HZ[1]:.0f} are needed to tell one from another")
    mel = _mel(sample_rate)
    colours, levels = [], []
    for power, _ in Reader(sound, sample_rate):
        bands = power @ mel
        colours.append(dct(np.log(bands + 1e-10), axis=1, norm="ortho")[:, 1 : COEFFICIENTS + 1])
        levels.append(10 * np.log10(bands.sum(axis=1) + 1e-10))
    level = np.concatenate(levels)
    loud = level > max(float(np.percentile(level, 95)) - LOUD_DB, SILENT_DB)
    return Timbre(colour=np.concatenate(colours).astype(np.float32), loud=loud)


@cache
def _mel(sample_rate: int) -> Floats:
    """Weights that gather bins into overlapping bands: float32 (bins, BANDS)."""
    low, high = (2595 * np.log10(1 + hz / 700) for hz in HZ)
    edges = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    hz = frequencies(sample_rate)[:, None]
    rise, fall = (hz - edges[:-2]) / np.diff(edges)[:-1], (edges[2:] - hz) / np.diff(edges)[1:]
    return np.clip(np.minimum(rise, fall), 0, None).astype(np.float32)
