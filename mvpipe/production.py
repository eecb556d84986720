"""What every shot of a film shares: the plan, the cast and places with pinned pictures, the crew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.clock import Span
from mvpipe.film import Shot
from mvpipe.plan import Plan
from mvpipe.project import Project
from mvpipe.render.backend import Asset, Backend, CastMember, Place, Setup, VoiceFormat, WantsVoice

if TYPE_CHECKING:
    from mvpipe.render.comfyui.vocal import Samples

VOICE = "voice.wav"
STEM = "vocals.wav"


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

    def setup(self, shot: Shot, voice: Entry) -> Setup:
        """All the backend may use for one shot."""
        card = shot.card
        return Setup(
            shot=shot,
            title=self.plan.title,
            look=self.look,
            cast=tuple(self.cast[name] for name in card.cast),
            place=self.places[card.place] if card.place else None,
            vocals=Asset(path=voice.path(VOICE), digest=voice.digest(VOICE)),
            size=self.size,
            options=self.options,
        )

    def voice(self, shot: Shot, backend: Backend) -> Work:
        """Cut the voice of a shot's window: the real neighbours in the handles, silence outside the song."""
        inputs = {"vocals": self.vocals.digest(STEM)}
        if isinstance(backend, WantsVoice):
            return self._formed_voice(shot.window, backend.voice_format(len(shot.window)), inputs)
        rate, stem = self.plan.song.sample_rate, self.vocals.path(STEM)
        window = shot.window.samples(rate)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.sound import wav

            voice = wav.read(stem, window.start, window.stop, mono=True)[:, None]
            wav.write(folder / VOICE, [voice], sample_rate=rate, channels=1, samples=len(voice))
            return {}

        params = {"start": window.start, "stop": window.stop}
        return Work(task=Task(name="voice", version=1, inputs=inputs, params=params), make=make)

    def _formed_voice(self, window: Span, form: VoiceFormat, inputs: Mapping[str, str]) -> Work:
        rate, stem = self.plan.song.sample_rate, self.vocals.path(STEM)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.render.comfyui.vocal import vocal_window
            from mvpipe.sound import wav
            from mvpipe.sound.resample import converted

            def read(start: int, stop: int) -> Samples:
                return wav.read(stem, start, stop, mono=True)[:, None]

            voice = vocal_window(read, window.start, len(window), rate, converted)
            wav.write(
                folder / VOICE,
                [voice],
                sample_rate=form.sample_rate,
                channels=form.channels,
                samples=form.samples,
            )
            return {}

        params = {"frame": window.start, "song_rate": rate, **asdict(form)}
        return Work(task=Task(name="voice", version=1, inputs=inputs, params=params), make=make)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """Who works on every shot.

    Parameters
    ----------
    production : what the shots share
    project : where the work is kept
    backend : makes the takes
    only : numbers of the shots that may be rendered; the others are seen as far as they exist
    expect : told of every node and what it costs, in units of its stage
    say : told in words what the person should know
    seen : digest of the pictures of every judged take -> (its key, its name)
    """

    production: Production
    project: Project
    backend: Backend
    only: Collection[int] | None = None
    expect: Callable[[str, int], None] = lambda _name, _weight: None
    say: Callable[[str], None] = lambda _: None
    seen: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def may_render(self, shot: Shot) -> bool:
        """Whether new takes of the shot are wanted."""
        return self.only is None or shot.number in self.only
