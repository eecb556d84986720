"""What can be wrong with a film's picture, in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from mvpipe.clock import format_time
from mvpipe.film import Song
from mvpipe.tools.frames import Reading
from mvpipe.tools.picture import Facts, Times
from mvpipe.wording import counted


def streams(facts: Facts) -> Iterator[str]:
    """A film is one picture and one sound."""
    if (facts.pictures, facts.sounds, facts.others) != (1, 1, 0):
        yield (
            f"streams: {counted(facts.pictures, 'picture')}, {counted(facts.sounds, 'sound')} and "
            f"{counted(facts.others, 'other')} where one picture and one sound are wanted"
        )


def pictures(reading: Reading, frames: int, rate: Fraction) -> Iterator[str]:
    """As many frames as planned, each at its time, each decodable."""
    if len(reading.times) != frames:
        yield f"frames: {len(reading.times)} where {frames} are wanted"
    if reading.frames != len(reading.times):
        yield f"frames: {reading.frames} of {len(reading.times)} can be decoded"
    yield from (f"picture: {line}" for line in reading.damage[:5])
    if len(reading.damage) > 5:
        more = counted(len(reading.damage) - 5, "more place is", "more places are")
        yield f"picture: {more} damaged"
    yield from _off(reading.times, rate)


def identity(reading: Reading, digest: str) -> Iterator[str]:
    """The very frames of the reel, where its digest is known."""
    if digest and reading.digest != digest:
        yield "picture: not the frames of the reel, though perhaps as many"


def covers(frames: int, rate: Fraction, song: Song) -> Iterator[str]:
    """The picture lasts as long as the song, and less than a frame longer."""
    longer = frames / rate - song.seconds
    if not 0 <= longer < 1 / rate:
        how = "shorter" if longer < 0 else "longer"
        yield f"length: the picture is {float(abs(longer)) * 1000:.3f} ms {how} than the song"


def _off(times: Times, rate: Fraction) -> Iterator[str]:
    """A container's clock rounds; by more than half a tick a frame is off."""
    limit = times.base / 2
    wrong = [k for k in range(len(times)) if abs(times[k] - k / rate) > limit]
    if wrong:
        k = wrong[0]
        off = counted(len(wrong), "frame is off its place", "frames are off their places")
        yield (
            f"times: {off}; frame {k} appears at "
            f"{format_time(max(times[k], Fraction(0)))}, not at {format_time(k / rate)}"
        )
