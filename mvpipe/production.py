"""What every shot of a film shares: the plan, the cast and places with pinned pictures, the crew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.chain import JOIN
from mvpipe.clock import Span
from mvpipe.film import Shot
from mvpipe.plan import Plan
from mvpipe.project import Project
from mvpipe.render.backend import (
    Asset,
    Backend,
    CastMember,
    Chains,
    Place,
    Setup,
    VoiceFormat,
    WantsAccompaniment,
    WantsVoice,
)

if TYPE_CHECKING:
    from mvpipe.floor import Floor
    from mvpipe.render.comfyui.vocal import Samples

CLIP = "take.mp4"
VOICE, BAND = "voice.wav", "accompaniment.wav"
STEM, REST = "vocals.wav", "accompaniment.wav"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """How takes are judged, and what follows.

    Parameters
    ----------
    sync : whose lips: `auto`, `on` or `off`
    rules : figures that differ from the gate's own
    on_fail : `retake`, `closer` or `best`
    mend_common : whether offsets that many shots share are mended like others
    weights : SyncNet's, where the user brought them
    """

    sync: str = "auto"
    rules: Mapping[str, float] = field(default_factory=dict[str, float])
    on_fail: str = "retake"
    mend_common: bool = False
    weights: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """What a take may be where no server has the memory for the film's size.

    Parameters
    ----------
    size : (width, height)
    profile : name of the sampling profile; empty for the one that fits the size
    """

    size: tuple[int, int]
    profile: str = ""

    def of(self, setup: Setup) -> Setup:
        """A setup made smaller."""
        return replace(setup, size=self.size, options={**setup.options, "profile": self.profile})


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """What all shots of a film share.

    Parameters
    ----------
    plan : the plan
    look : of the film
    cast, places : by name, their pictures pinned by digest
    size : (width, height) of the film
    seed : of the storyboard
    takes : attempts a shot gets
    options : the storyboard's settings for the backend
    vocals : the entry that holds the stem
    embed : whether the master says what its takes were made from
    accompaniment : the entry that holds the rest of the song, where some shot is rendered to it
    gate : how takes are judged
    smaller : what a take may be instead that no server has the memory for; None: nothing
    """

    plan: Plan
    look: str
    cast: Mapping[str, CastMember]
    places: Mapping[str, Place]
    size: tuple[int, int]
    seed: int
    takes: int
    options: Mapping[str, Any]
    vocals: Entry
    embed: bool = False
    accompaniment: Entry | None = None
    gate: GateSettings = field(default_factory=GateSettings)
    smaller: Smaller | None = None

    def setup(self, shot: Shot, voice: Entry, join: Entry | None = None) -> Setup:
        """All the backend may use for one shot; with the picture it goes on from where it is chained."""
        made = self.silent(shot)
        return replace(
            made,
            vocals=_asset(voice, VOICE),
            accompaniment=_asset(voice, BAND) if BAND in voice.files else None,
            join=_asset(join, JOIN) if join else None,
        )

    def silent(self, shot: Shot) -> Setup:
        """The same without any sound, for whoever asks for pictures and words alone."""
        card = shot.card
        return Setup(
            shot=shot,
            title=self.plan.title,
            look=self.look,
            cast=tuple(self.cast[name] for name in card.cast),
            place=self.places[card.place] if card.place else None,
            vocals=Asset(path=Path(), digest=""),
            size=self.size,
            options=self.options,
        )

    def goes_on(self, shot: Shot, backend: Backend) -> bool:
        """Whether a shot is made from a picture of the one before."""
        return isinstance(backend, Chains) and backend.chains(shot, self.options)

    def voice(self, shot: Shot, backend: Backend) -> Work:
        """Cut the voice of a shot's window: the real neighbours in the handles, silence outside the song.

        Where the shot is rendered to the accompaniment, that is cut beside it, by the same clock.
        """
        inputs = {"vocals": self.vocals.digest(STEM)}
        if isinstance(backend, WantsVoice):
            return self._formed_voice(shot, backend, backend.voice_format(len(shot.window)))
        rate, stem = self.plan.song.sample_rate, self.vocals.path(STEM)
        window = shot.window.samples(rate)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.sound import wav

            voice = wav.read(stem, window.start, window.stop, mono=True)[:, None]
            wav.write(folder / VOICE, [voice], sample_rate=rate, channels=1, samples=len(voice))
            return {}

        params = {"start": window.start, "stop": window.stop}
        return Work(task=Task(name="voice", version=1, inputs=inputs, params=params), make=make)

    def _formed_voice(self, shot: Shot, backend: Backend, form: VoiceFormat) -> Work:
        window, rate = shot.window, self.plan.song.sample_rate
        stems = {VOICE: (self.vocals.path(STEM), True)}
        inputs = {"vocals": self.vocals.digest(STEM)}
        wants = isinstance(backend, WantsAccompaniment) and backend.accompanies(shot, self.options)
        if self.accompaniment and wants:
            stems[BAND] = self.accompaniment.path(REST), False
            inputs["accompaniment"] = self.accompaniment.digest(REST)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            for name, (stem, mono) in stems.items():
                cut_stem(stem, mono, window, rate, form, folder / name)
            return {}

        params = {"frame": window.start, "song_rate": rate, **asdict(form)}
        return Work(task=Task(name="voice", version=1, inputs=inputs, params=params), make=make)


def _asset(entry: Entry, name: str) -> Asset:
    return Asset(path=entry.path(name), digest=entry.digest(name))


def cut_stem(stem: Path, mono: bool, window: Span, rate: int, form: VoiceFormat, into: Path) -> None:
    """A window of a stem in the backend's form; a voice stands in the middle, a band keeps its sides."""
    from mvpipe.render.comfyui.vocal import vocal_window
    from mvpipe.sound import wav
    from mvpipe.sound.resample import converted

    def read(start: int, stop: int) -> Samples:
        found = wav.read(stem, start, stop, mono=mono)
        return found[:, None] if mono else found

    sound = vocal_window(read, window.start, len(window), rate, converted)
    wav.write(into, [sound], sample_rate=form.sample_rate, channels=form.channels, samples=form.samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """Who works on every shot.

    Parameters
    ----------
    production : what the shots share
    project : where the work is kept
    backend : makes the takes
    floor : where they are made; None for whoever only looks
    only : numbers of the shots that may be rendered; the others are seen as far as they exist
    expect : told of every node and what it costs, in units of its stage
    say : told in words what the person should know
    seen : digest of the pictures of every judged take -> (its key, its name)
    noted : what was said of a shot's setup, and need not be said of another's
    """

    production: Production
    project: Project
    backend: Backend
    floor: Floor | None = None
    only: Collection[int] | None = None
    expect: Callable[[str, int], None] = lambda _name, _weight: None
    say: Callable[[str], None] = lambda _: None
    seen: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    noted: set[str] = field(default_factory=set[str])

    def may_render(self, shot: Shot) -> bool:
        """Whether new takes of the shot are wanted."""
        return self.only is None or shot.number in self.only
