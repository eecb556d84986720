"""Sound as samples: the first stream of a file, decoded whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.tools import sound

Samples = NDArray[np.float32]

SCALES = {"u8": 2**7, "s16": 2**15, "s32": 2**31, "s64": 2**63, "f32": 1, "f64": 1}
TYPES = {"u8": "u1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "f32": "<f4", "f64": "<f8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Decoded sound.

    Parameters
    ----------
    samples : float32, shape (n, channels); full scale is 1
    sample_rate : Hz
    """

    samples: Samples
    sample_rate: int

    @property
    def mono(self) -> Samples:
        """Its mean over the channels, shape (n,)."""
        return np.asarray(self.samples.mean(axis=1), np.float32)

    @property
    def peak(self) -> float:
        """Its largest finite value."""
        finite = np.abs(self.samples[np.isfinite(self.samples)])
        return float(finite.max()) if finite.size else 0.0

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.sample_rate


def hear(path: Path) -> Heard:
    """The first sound stream of a file, decoded whole, at its own rate.

    Raises
    ------
    MediaError : there is none, or it cannot be decoded
    """
    facts = sound.probe(path)
    raw = b"".join(sound.decode(path, facts.sample_format))
    samples = np.frombuffer(raw, TYPES[facts.sample_format]).astype(np.float32).reshape(-1, facts.channels)
    centred = samples - 128 if facts.sample_format == "u8" else samples
    return Heard(samples=centred / np.float32(SCALES[facts.sample_format]), sample_rate=facts.sample_rate)
