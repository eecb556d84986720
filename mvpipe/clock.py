"""The clock: picture rates, spans of frames, and the one place where time becomes a frame.

Time is a count of frames or of samples. Rates are `Fraction`, seconds appear only where a person or a
file hands them over, and they are `Fraction` too. A moment is snapped to the absolute frame grid once;
lengths are differences of snapped ends, so nothing accumulates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

FILM_RATE = Fraction(24)
"""The rate of every H3 picture, and of the film."""

NTSC_FILM_RATE = Fraction(24000, 1001)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Picture frames [start, stop) at `rate` frames per second, counted from the song's first sample.

    Raises
    ------
    ValueError : the span is empty, negative, or starts before the song; the rate is not positive
    """

    start: int
    stop: int
    rate: Fraction = FILM_RATE

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"empty or negative span: {self.start}..{self.stop}")
        if self.rate <= 0:
            raise ValueError(f"rate must be positive: {self.rate}")

    def __len__(self) -> int:
        return self.stop - self.start

    def __contains__(self, frame: int) -> bool:
        return self.start <= frame < self.stop

    def meets(self, other: Span) -> bool:
        """Whether `other` begins on the frame this span ends at."""
        return (self.stop, self.rate) == (other.start, other.rate)

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a frame."""
        return self.rate == other.rate and self.start < other.stop and other.start < self.stop

    def samples(self, sample_rate: int) -> slice:
        """Samples [start, stop) of the span; both ends derive from absolute frames, so sound tiles too."""
        return slice(
            first_sample(self.start, sample_rate, self.rate), first_sample(self.stop, sample_rate, self.rate)
        )

    @property
    def seconds(self) -> Fraction:
        """Its length in seconds."""
        return len(self) / self.rate


def frames_in(samples: int, sample_rate: int, rate: Fraction = FILM_RATE) -> int:
    """Frames of the film: the fewest whose picture covers `samples` of sound."""
    return ceil(samples * rate / sample_rate)


def first_sample(frame: int, sample_rate: int, rate: Fraction = FILM_RATE) -> int:
    """The first sample at or after the moment `frame` appears."""
    return ceil(frame * Fraction(sample_rate) / rate)


def snap(seconds: Fraction | int, rate: Fraction = FILM_RATE) -> int:
    """The frame nearest to a moment, halves up. The only way from seconds to frames; monotone."""
    return floor(seconds * rate + Fraction(1, 2))


def snap_sample(sample: int, sample_rate: int, rate: Fraction = FILM_RATE) -> int:
    """The frame nearest to a sample, halves up."""
    return snap(Fraction(sample, sample_rate), rate)


def tile(cuts: Iterable[int], frames: int, rate: Fraction = FILM_RATE) -> list[Span]:
    """Spans that cover the film, cut at the given frames.

    Parameters
    ----------
    cuts : frames, in any order; each must lie inside the film, repeats count once
    frames : length of the film in frames, > 0

    Returns
    -------
    list of Span, each meeting the next, from 0 to `frames`

    Raises
    ------
    ValueError : the film is empty, or a cut is not inside it
    """
    if frames <= 0:
        raise ValueError(f"a film has at least one frame: {frames}")
    inner = sorted(set(cuts))
    if inner and (inner[0] <= 0 or inner[-1] >= frames):
        raise ValueError(f"cut outside the film of {frames} frames: {inner[0]}..{inner[-1]}")
    ends = [0, *inner, frames]
    return [Span(a, b, rate) for a, b in pairwise(ends)]


_TIME = re.compile(r"(?:(?:(?P<h>\d+):(?=\d{1,2}:))?(?P<m>\d+):(?=\d))?(?P<s>\d+(?:\.\d+)?)")


def parse_time(text: str) -> Fraction:
    """Seconds from `S`, `M:SS.mmm` or `H:MM:SS.mmm`.

    Raises
    ------
    ValueError : not such a text, or minutes or seconds of 60 and more behind a colon
    """
    found = _TIME.fullmatch(text.strip())
    if not found:
        raise ValueError(f"not a time: {text!r}")
    hours, minutes, seconds = found["h"], found["m"], Fraction(found["s"])
    if (minutes is not None and seconds >= 60) or (hours is not None and int(minutes) >= 60):
        raise ValueError(f"minutes and seconds run from 0 to 59: {text!r}")
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds


def format_time(seconds: Fraction | int) -> str:
    """`M:SS.mmm`, or `H:MM:SS.mmm` from one hour on; milliseconds are rounded down.

    Raises
    ------
    ValueError : a negative time
    """
    if seconds < 0:
        raise ValueError(f"negative time: {seconds}")
    millis = floor(seconds * 1000)
    minutes, rest = divmod(millis, 60_000)
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02}" if hours else f"{minutes}"
    return f"{head}:{rest // 1000:02}.{rest % 1000:03}"


def timecode(frame: int, rate: Fraction = FILM_RATE) -> str:
    """Non-drop SMPTE timecode `HH:MM:SS:FF`; at 24000/1001 it counts in 24s, as editors expect.

    Raises
    ------
    ValueError : a negative frame
    """
    if frame < 0:
        raise ValueError(f"negative frame: {frame}")
    base = ceil(rate)
    seconds, frames = divmod(frame, base)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}:{frames:02}"
