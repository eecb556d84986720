"""What every backend can do: say what decides a take, and make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mvpipe.film import Shot, Slate

Progress = Callable[[int, int], None]
"""Called with (done, of): frames or steps finished, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file that goes into a take.

    Parameters
    ----------
    path : where it is; never part of a key
    digest : sha256 (hex) of its bytes
    """

    path: Path
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CastMember:
    """Somebody in the picture, with the pictures that pin how they look."""

    name: str
    description: str
    pictures: tuple[Asset, ...] = ()
    sings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a shot plays, with the pictures that pin how it looks."""

    name: str
    description: str
    pictures: tuple[Asset, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All a backend may use to write a slate: one shot, resolved and with its files at hand.

    Parameters
    ----------
    shot : the shot
    title : of the film
    look : the film's look, in the director's words
    cast : the members the shot's card names, in its order
    place : the place the card names
    vocals : the isolated vocal of exactly the shot's window: float32 WAV, mono, at the song's rate, or
        as `WantsVoice` asks; real sound in the handles, silence only outside the song
    size : (width, height) in pixels
    options : the storyboard's `render` settings for this backend
    """

    shot: Shot
    title: str
    look: str
    cast: tuple[CastMember, ...]
    place: Place | None
    vocals: Asset
    size: tuple[int, int]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VoiceFormat:
    """How the voice of a window is wanted, where that is not mono at the song's rate.

    Parameters
    ----------
    sample_rate : Hz
    channels : each gets the same voice
    samples : from the window's first frame on; what lies behind the window is the song's next sound
    """

    sample_rate: int
    channels: int
    samples: int


@runtime_checkable
class WantsVoice(Protocol):
    """A backend that wants the voice of a window in a format of its own."""

    def voice_format(self, frames: int) -> VoiceFormat:
        """The format for a window of so many frames."""


@runtime_checkable
class Notes(Protocol):
    """A backend that has something to say about a shot before it is rendered."""

    def notes(self, setup: Setup) -> tuple[str, ...]:
        """What the person should know, in words: letters no font has, pictures that are left out."""


class Backend(Protocol):
    """Makes takes."""

    @property
    def name(self) -> str:
        """With the version of what decides the bytes, such as `animatic/1`; part of every slate."""

    @property
    def slots(self) -> int:
        """How many takes it wants to be given at once."""

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        """What would decide the take's bytes. Pure: the same setup gives the same slate.

        Raises
        ------
        StoryboardError : an option this backend does not know, a picture it cannot use
        """

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        """The files of the slate's `inputs`, under the same roles."""

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        """Write the take to the file `into` (an .mp4 with picture and sound).

        Raises
        ------
        BackendError : it could not; `retryable` says whether trying the same again may help
        """

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        """Seconds one take of so many frames will need, for the plan and the ETA."""
