"""What is found out about a song in one pass over its samples, in flat memory."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import format_time
from mvpipe.errors import MediaError
from mvpipe.sound.promise import flac_md5, flac_total
from mvpipe.tools.sound import StreamFacts

Native = NDArray[Any]
"""Samples as the decoder gives them: shape (n, channels), in the dtype of their sample format."""

DTYPES = {"u8": "u1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "f32": "<f4", "f64": "<f8"}

CLIPPED_RUN = 3
"""Neighbouring samples at full scale that are taken for a cut-off wave: one or two happen in good masters."""


class Tally:
    """Counts, hashes and watches samples as they come by; how they are cut into pieces changes nothing.

    Parameters
    ----------
    name : of the file, for messages
    facts : of its sound
    """

    def __init__(self, name: str, facts: StreamFacts) -> None:
        self.samples = 0
        self.clipped = 0
        self.first_clipped = 0
        self.peak = 0.0
        self.silent = True
        self._name = name
        self._facts = facts
        self._sha = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False) if _carries_md5(facts) else None
        self._zero = 128 if facts.sample_format == "u8" else 0
        self._limit = _full_scale(facts)
        self._before = np.zeros((CLIPPED_RUN - 1, facts.channels), bool)

    @property
    def digest(self) -> str:
        """The sha256 of all that came by, as `film.Song` defines it."""
        return self._sha.hexdigest()

    @property
    def md5_differs(self) -> bool:
        """Whether a FLAC's own checksum says that these, though all there, are not what was encoded."""
        if self._md5 is None or self.samples != flac_total(self._facts.extradata):
            return False
        return self._md5.digest() != flac_md5(self._facts.extradata)

    def add(self, block: Native) -> None:
        """Take the next samples.

        Raises
        ------
        MediaError : one of them is NaN or infinite
        """
        self._sha.update(block.data)
        if self._md5:
            self._md5.update(_as_stored(block, self._facts.bits))
        low, high = block.min(), block.max()
        if block.dtype.kind == "f":
            self._demand_finite(block, low, high)
            self.peak = max(self.peak, float(high), -float(low))
        self.silent = self.silent and low == high == self._zero
        self._count_clipped(block, low, high)
        self.samples += len(block)

    def _demand_finite(self, block: Native, low: Any, high: Any) -> None:
        largest = np.finfo(np.float32).max  # the sound is worked on as float32
        if -largest <= low <= high <= largest:
            return
        bad = ~(np.abs(block) <= largest)
        row = int(np.argmax(bad.any(axis=1)))
        channel = int(np.argmax(bad[row]))
        at = self.samples + row
        kind = "NaN, not a number" if np.isnan(block[row, channel]) else "infinite"
        time = format_time(Fraction(at, self._facts.sample_rate))
        raise MediaError(
            f"{self._name}: at {time} (sample {at}, channel {channel + 1}): the sound is {kind}",
            hint="export the song again: a plug-in may have failed there",
        )

    def _count_clipped(self, block: Native, low: Any, high: Any) -> None:
        if not self._limit:
            return
        if -self._limit < low and high < self._limit:
            self._before = np.zeros_like(self._before)
            return
        full = np.concatenate([self._before, (block >= self._limit) | (block <= -self._limit)])
        runs = full[2:] & full[1:-1] & full[:-2]
        if not self.clipped and runs.any():
            self.first_clipped = self.samples + int(np.argmax(runs.any(axis=1))) - (CLIPPED_RUN - 1)
        self.clipped += int(runs.sum())
        self._before = full[len(full) - (CLIPPED_RUN - 1) :]


def _carries_md5(facts: StreamFacts) -> bool:
    return facts.codec == "flac" and bool(flac_md5(facts.extradata)) and 0 < facts.bits <= 32


def _full_scale(facts: StreamFacts) -> int | float:
    """The largest value of a stored sample, as decoded; 0 where the coding has no such edge."""
    if not facts.bits or facts.sample_format == "u8":
        return 0
    if facts.sample_format in ("f32", "f64"):
        return 1.0
    size = int(facts.sample_format[1:])
    largest: int = (2 ** (facts.bits - 1) - 1) << (size - facts.bits)
    return largest


def _as_stored(block: Native, bits: int) -> bytes:
    """Integer samples in the fewest whole bytes, as FLAC's checksum takes them."""
    size = block.dtype.itemsize * 8
    values = np.ascontiguousarray(block >> (size - bits), "<i4")
    return values.view(np.uint8).reshape(-1, 4)[:, : (bits + 7) // 8].tobytes()
