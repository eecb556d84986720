"""What was heard in a song: a frozen value that the cutter reads, and that is kept as a file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.film import Curve
from mvpipe.sound.beats import Hops
from mvpipe.sound.spectrum import HOP, HOPS, Floats
from mvpipe.sound.voice import Runs

VERSION = 1
"""Bumped by hand when the same sound would give another hearing, or the file changes."""

NUMBERS = ("sample_rate", "samples", "beat_confidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What was heard in a song. A hop is 10 ms; hop `i` lies `i` hundredths of a second into the song.

    Parameters
    ----------
    sample_rate, samples : those of the song
    voice_db : float32 (hops,), level of the separated voice, dB re full scale
    effort : float32 (hops,), how much voice, in [0, 1]
    peak : float32 (hops,), largest magnitude of the mix, for its picture
    phrases : int64 (k, 2), hops [start, stop) in which somebody sings; gaps of 180 ms and more part them
    onsets : int64 (k,), hops at which something new sounds in the mix
    beats, bars, sections : int64 (k,), hops; empty where none can be trusted
    beat_confidence : share of the song whose beats can be trusted, in [0, 1]
    """

    sample_rate: int
    samples: int
    voice_db: Floats
    effort: Floats
    peak: Floats
    phrases: Runs
    onsets: Hops
    beats: Hops
    bars: Hops
    sections: Hops
    beat_confidence: float

    @property
    def hops(self) -> int:
        """How many."""
        return len(self.voice_db)

    @property
    def voice(self) -> Curve:
        """The level of the voice."""
        return Curve(values=self.voice_db, hop=HOP)

    @property
    def seconds(self) -> Fraction:
        """Length of the song."""
        return Fraction(self.samples, self.sample_rate)

    @property
    def voice_share(self) -> float:
        """Share of the song in which somebody sings, in [0, 1]."""
        return float((self.phrases[:, 1] - self.phrases[:, 0]).sum()) / max(self.hops, 1)

    def sample(self, hop: int) -> int:
        """The song's sample at which a hop lies."""
        return min((hop * self.sample_rate + HOPS // 2) // HOPS, self.samples)


def save(hearing: Hearing, path: Path) -> None:
    """Write it to a `.npz`; the same hearing gives the same bytes."""
    arrays = {f.name: getattr(hearing, f.name) for f in fields(Hearing) if f.name not in NUMBERS}
    numbers = np.array([VERSION, *(getattr(hearing, name) for name in NUMBERS)], np.float64)
    with path.open("wb") as out:
        np.savez(out, allow_pickle=False, numbers=numbers, **arrays)


def load(path: Path) -> Hearing:
    """What `save` wrote.

    Raises
    ------
    MediaError : the file is not one, or of another version
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            version, sample_rate, samples, confidence = held["numbers"].tolist()
            arrays: dict[str, NDArray[np.generic]] = {k: held[k] for k in held.files if k != "numbers"}
    except (OSError, KeyError, ValueError, BadZipFile) as exc:
        raise MediaError(
            f"{path.name}: not a hearing: {exc}", hint="remove it: it will be made again"
        ) from exc
    wanted = {f.name for f in fields(Hearing)} - set(NUMBERS)
    if version != VERSION or set(arrays) != wanted:
        raise MediaError(f"{path.name}: hearing of version {version:g}, not {VERSION}", hint="remove it")
    numbers = {"sample_rate": int(sample_rate), "samples": int(samples), "beat_confidence": confidence}
    return Hearing(**numbers, **arrays)  # type: ignore[arg-type]
