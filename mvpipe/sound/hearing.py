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
from mvpipe.sound.voice import Runs, covered

VERSION = 11
"""Bumped by hand when the same sound would give another hearing, or the file changes."""

NUMBERS = ("sample_rate", "samples", "beat_confidence", "metre")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of the song, as heard.

    Parameters
    ----------
    start, stop : hops
    label : `A`, `B`, ...: the same for the same music; after `Z` comes `AA`
    time : 1 where it is heard first, then 2, ...
    voice : share of it in which somebody sings, in [0, 1]
    """

    start: int
    stop: int
    label: str
    time: int
    voice: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What was heard in a song. A hop is 10 ms; hop `i` lies `i` hundredths of a second into the song.

    Parameters
    ----------
    sample_rate, samples : those of the song
    voice_db : float32 (hops,), level of the separated voice, dB re full scale; never more than 25 dB below
        the mix around it, for there no separator is to be believed
    effort : float32 (hops,), how much voice, in [0, 1]
    peak : float32 (hops,), largest magnitude of the mix, for its picture
    phrases : int64 (k, 2), hops [start, stop) in which somebody sings; gaps of 180 ms and more part them
    held : int64 (k, 2), hops [start, stop) of held vowels inside phrases
    breaths : int64 (k, 2), hops [start, stop) in which the singer is heard breathing in, before a phrase
    onsets : int64 (k,), hops at which something new sounds in the mix
    beats, bars, sections : int64 (k,), hops; empty where none can be trusted. A section is where one begins
        after another, so the first is not listed
    labels : int64 (k + 1,), of every section: the same number for the same music, from 0
    beat_confidence : share of the song whose beats can be trusted, in [0, 1]
    metre : counts to a bar, 0 where no bars are heard
    """

    sample_rate: int
    samples: int
    voice_db: Floats
    effort: Floats
    peak: Floats
    phrases: Runs
    held: Runs
    breaths: Runs
    onsets: Hops
    beats: Hops
    bars: Hops
    sections: Hops
    labels: Hops
    beat_confidence: float
    metre: int

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

    @property
    def parts(self) -> tuple[Part, ...]:
        """The sections in order; they tile the song."""
        ends = [0, *self.sections.tolist(), self.hops]
        sung = np.concatenate([[0], np.cumsum(covered(self.phrases, self.hops))])
        labels = self.labels.tolist()
        return tuple(
            Part(
                start=start,
                stop=stop,
                label=_letters(label),
                time=labels[: at + 1].count(label),
                voice=float(sung[stop] - sung[start]) / (stop - start),
            )
            for at, (start, stop, label) in enumerate(zip(ends, ends[1:], labels, strict=False))
        )

    def sample(self, hop: int) -> int:
        """The song's sample at which a hop lies."""
        return min((hop * self.sample_rate + HOPS // 2) // HOPS, self.samples)


def _letters(label: int) -> str:
    high, low = divmod(label, 26)
    return (_letters(high - 1) if high else "") + chr(ord("A") + low)


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
            version, *numbers = held["numbers"].tolist()
            arrays: dict[str, NDArray[np.generic]] = {k: held[k] for k in held.files if k != "numbers"}
    except (OSError, KeyError, ValueError, BadZipFile) as exc:
        raise MediaError(
            f"{path.name}: not a hearing: {exc}", hint="remove it: it will be made again"
        ) from exc
    wanted = {f.name for f in fields(Hearing)} - set(NUMBERS)
    if version != VERSION or set(arrays) != wanted:
        raise MediaError(f"{path.name}: hearing of version {version:g}, not {VERSION}", hint="remove it")
    sample_rate, samples, confidence, metre = numbers
    return Hearing(
        sample_rate=int(sample_rate),
        samples=int(samples),
        beat_confidence=confidence,
        metre=int(metre),
        **arrays,  # type: ignore[arg-type]
    )
