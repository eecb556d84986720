"""What a film is, measured from the file alone, and everything that is wrong with it, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mvpipe import film as nouns
from mvpipe.clock import FILM_RATE
from mvpipe.reel import faults
from mvpipe.reel.heard import SILENT, hear
from mvpipe.reel.lag import Match
from mvpipe.tools.frames import digest, read


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was measured on a film.

    Parameters
    ----------
    film, song : the files
    frames : packets of the picture; `decoded` of them gave a frame
    rate : frames per second it was held against
    first, last : seconds at which the first and the last frame appear
    farthest : seconds a frame is off its place k / rate, at most
    pictures : sha256 of the decoded frames; equal for two films with the same pictures
    sound : `exact`, `coded copy`, `different` or `none`
    sound_codec : of the film
    sound_digest, samples : of the film's sound, decoded in the song's sample format
    song_digest, song_samples : what they should be
    matches : for a coded copy, how it lies against the song
    problems : what is wrong, a line each; none for a proved film
    """

    film: Path
    song: Path
    frames: int
    decoded: int
    rate: Fraction
    first: Fraction
    last: Fraction
    farthest: Fraction
    pictures: str
    sound: str
    sound_codec: str
    sound_digest: str
    samples: int
    song_digest: str
    song_samples: int
    matches: tuple[Match, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """JSON values: the result in words, files by name, times in seconds, the rate as text."""
        seconds = {name: round(float(getattr(self, name)), 6) for name in ("first", "last", "farthest")}
        fixed = {"film": self.film.name, "song": self.song.name, "rate": str(self.rate), **seconds}
        return {"result": "pass" if self.ok else "fail", **asdict(self), **fixed}


def prove(
    film: Path,
    song: nouns.Song,
    *,
    frames: int | None = None,
    rate: Fraction = FILM_RATE,
    pictures: str = "",
) -> Proof:
    """Measure a film against its song and its plan.

    A bad film is no error: what is wrong with it stands in the proof.

    Parameters
    ----------
    film : the film, of whatever container
    song : the song, as read from its own file
    frames : what the plan says; without it, what the song's length asks for
    rate : frames per second
    pictures : `picture_digest` of the reel it was made from; without it, frames are only counted

    Raises
    ------
    MediaError : the film is not there, cannot be opened, or has no picture
    """
    reading = read(film)
    sound = hear(film, song) if reading.facts.sounds else SILENT
    shown = reading.times
    return Proof(
        film=film,
        song=song.path,
        frames=len(shown),
        decoded=reading.frames,
        rate=rate,
        first=shown[0] if len(shown) else Fraction(0),
        last=shown[-1] if len(shown) else Fraction(0),
        farthest=shown.farthest(rate),
        pictures=reading.digest,
        sound=sound.kind,
        sound_codec=sound.codec,
        sound_digest=sound.digest,
        samples=sound.samples,
        song_digest=song.digest,
        song_samples=song.samples,
        matches=sound.matches,
        problems=(
            *faults.streams(reading.facts),
            *faults.pictures(reading, frames if frames is not None else song.frames(rate), rate),
            *faults.identity(reading, pictures),
            *faults.covers(len(shown), rate, song),
            *sound.problems,
        ),
    )


def picture_digest(path: Path) -> str:
    """sha256 (hex) of a file's decoded frames: equal for a film and for the reel that was laid in it.

    Raises
    ------
    MediaError : the file is not there, cannot be opened, or has no picture
    """
    return digest(path)
