"""Voices that are made, and what can be done to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mvpipe.tools.heard import Heard
from tests.gate.faces_synth import SAMPLE_RATE, speak

Samples = NDArray[np.float32]


def sung(seed: int, samples: int = 0, *, sings: bool = True) -> Samples:
    """A voice of random syllables at `SAMPLE_RATE`; of 5.2 s unless asked for more or less."""
    count = samples or int(5.2 * SAMPLE_RATE)
    voice, _ = speak(np.random.default_rng(seed), count / SAMPLE_RATE + 0.1, sings)
    return np.asarray(0.5 * voice[:count] / np.abs(voice).max(), np.float32)


def heard(mono: Samples, sample_rate: int = SAMPLE_RATE) -> Heard:
    """Mono samples as both channels of a sound."""
    return Heard(samples=np.repeat(mono[:, None], 2, axis=1).astype(np.float32), sample_rate=sample_rate)


def dulled(voice: Samples, keeps: float) -> Samples:
    """The voice with so much of its power above 4 kHz."""
    spectrum = np.fft.rfft(voice)
    spectrum[np.fft.rfftfreq(len(voice), 1 / SAMPLE_RATE) > 4000] *= np.sqrt(keeps)
    return np.asarray(np.fft.irfft(spectrum, len(voice)), np.float32)


VOICE = sung(1)
SILENCE = np.zeros_like(VOICE)
