"""What every backend can do: say what decides a take, and make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mvpipe.clock import Span
from mvpipe.film import Shot, Slate

if TYPE_CHECKING:
    from mvpipe.tools.heard import Heard

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
    """Somebody in the picture, with the files that pin how they look and sound."""

    name: str
    description: str
    pictures: tuple[Asset, ...] = ()
    videos: tuple[Asset, ...] = ()
    voice: Asset | None = None
    sings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a shot plays, with the files that pin how it looks."""

    name: str
    description: str
    pictures: tuple[Asset, ...] = ()
    videos: tuple[Asset, ...] = ()


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
    accompaniment : the rest of the song in the same window and format, both sides of it, where the backend
        `WantsAccompaniment`
    join : the picture a chained shot goes on from: that of the shot before at this window's first frame
    options : the storyboard's `render` settings for this backend
    """

    shot: Shot
    title: str
    look: str
    cast: tuple[CastMember, ...]
    place: Place | None
    vocals: Asset
    size: tuple[int, int]
    accompaniment: Asset | None = None
    join: Asset | None = None
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
class WantsAccompaniment(WantsVoice, Protocol):
    """A backend that renders some shots to the song without its voice."""

    def accompanies(self, shot: Shot, options: Mapping[str, Any]) -> bool:
        """Whether the shot is one of these, under the storyboard's settings for this backend."""


@runtime_checkable
class Chains(Protocol):
    """A backend that can go on from a picture of the shot before."""

    def chains(self, shot: Shot, options: Mapping[str, Any]) -> bool:
        """Whether the shot is to be made so.

        Raises
        ------
        SettingsError : it is, and the graph cannot
        """


@runtime_checkable
class LocksSound(Protocol):
    """A backend whose takes carry as their own sound the one that they were rendered to."""

    def locks(self, slate: Slate) -> bool:
        """Whether a take of this slate is locked to a sound."""

    def locked(self, slate: Slate, assets: Mapping[str, Path]) -> Heard | None:
        """The sound that a take of this slate should carry; None where it is locked to none.

        Raises
        ------
        MediaError : it cannot be read
        """


@runtime_checkable
class Pins(Protocol):
    """A backend whose takes are made from the bank's files."""

    def pinned(self, setup: Setup) -> Mapping[str, Mapping[str, Any]]:
        """Digest of every file a shot is made from -> `size` in pixels and `seconds` as it is sent."""

    def make_ready(self, setup: Setup) -> None:
        """Read every file a shot is made from, whole.

        Raises
        ------
        StoryboardError : one cannot be used
        """


@runtime_checkable
class Notes(Protocol):
    """A backend that has something to say about a shot before it is rendered."""

    def notes(self, setup: Setup) -> tuple[str, ...]:
        """What the person should know, in words that name the shot: letters no font has, ..."""


@runtime_checkable
class NotesPlan(Protocol):
    """A backend that has something to say about the settings of a film before its first shot."""

    def plan_notes(self, options: Mapping[str, Any], size: tuple[int, int]) -> tuple[str, ...]:
        """What the plan should say of the storyboard's settings for this backend.

        Raises
        ------
        MvpipeError : they cannot be used
        """


@runtime_checkable
class DrawsMouths(Protocol):
    """A backend that draws mouths from the voice: no model claims that they follow it."""

    @property
    def draws_mouths(self) -> str:
        """How, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server is to be given, as its owner says.

    Parameters
    ----------
    largest : (width, height) of the largest picture, by its pixels; None for any
    longest_s : seconds of the longest window; None for any
    profiles : names of sampling profiles; empty for all
    """

    largest: tuple[int, int] | None = None
    longest_s: float | None = None
    profiles: tuple[str, ...] = ()

    def bars(self, window: Span, size: tuple[int, int], profile: str) -> str:
        """Why a take may not go there; empty where it may."""
        if self.largest and size[0] * size[1] > self.largest[0] * self.largest[1]:
            return "pictures up to {}x{}, not {}x{}".format(*self.largest, *size)
        seconds = float(window.seconds)
        if self.longest_s is not None and seconds > self.longest_s:
            return f"windows up to {self.longest_s:g} s, not {seconds:.1f}"
        if self.profiles and profile not in self.profiles:
            return f"profiles {', '.join(self.profiles)}, not {profile}"
        return ""


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a render went at a server, as far as it was heard.

    Parameters
    ----------
    begun, ended : when the server worked on it, Unix seconds on this machine's clock; None where not heard
    step_s : seconds of a step of the sampling; None where not heard
    parts : what its time was spent on (`text`, `load`, `sample`, `finish`) -> seconds
    used : bytes of each kind of the server's memory (`graphics`, `main`) that were in use when it had ended
    whole : bytes of each kind that there are
    """

    begun: float | None = None
    ended: float | None = None
    step_s: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    used: Mapping[str, int] = field(default_factory=dict[str, int])
    whole: Mapping[str, int] = field(default_factory=dict[str, int])


UNHEARD = Ran()


class Host(Protocol):
    """One server that renders."""

    @property
    def name(self) -> str:
        """Its address, without secrets."""

    @property
    def limits(self) -> Limits:
        """What it is to be given."""

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> Ran:
        """As `Backend.render`; how it went."""

    def free(self) -> bool:
        """Have it let go of its memory once nothing runs; whether it took the request, within seconds."""

    def alive(self) -> bool:
        """Whether it answers now; within a few seconds."""

    def tidy(self) -> None:
        """Take back what was sent to it and is made, or being made, elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What references add to every step of a sampling.

    Parameters
    ----------
    rows : that ride through each step beside the shot's own
    filmed : whether films are among the references
    """

    rows: int = 0
    filmed: bool = False

    def __post_init__(self) -> None:
        if self.rows < 0 or (self.filmed and not self.rows):
            raise ValueError(f"rows not below 0, and above it with a film: {self}")


BARE = Conditioning()
"""No references."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a take asks of the server that makes it.

    Parameters
    ----------
    model : digest of what must be in memory
    text : digest of what is encoded before sampling
    steps : of the sampling; 0 where nobody knows
    profile : name of the sampling profile
    conditioning : what its references add to a step
    """

    model: str
    text: str
    steps: int
    profile: str = ""
    conditioning: Conditioning = BARE


@runtime_checkable
class Hosted(Protocol):
    """A backend whose takes are made by servers, one or more."""

    def hosts(self) -> Sequence[tuple[Host, float]]:
        """The servers, each with its speed against the first as far as the user has said."""

    def needs(self, setup: Setup) -> Needs:
        """What a shot asks of them; its sounds and its join need not be there."""

    def home(self, slate: Slate) -> str:
        """Name of the server that has begun a take, by its job's record; empty for none."""


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
