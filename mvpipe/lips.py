"""Looking at a take and judging its lips, as tasks: what each depends on, and nothing else.

::

    take 3.1 ──► look 3.1 ──► lips 3.1          decoded once; the verdict is pure over look, voice and rules
                                 └──► lips 3.1 slipped
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe import __version__
from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.casting import Casting, sings
from mvpipe.film import Shot
from mvpipe.gate.rules import LOOKED_AT, figures
from mvpipe.gate.weights import OFFICIAL
from mvpipe.production import CLIP, STEM, Production
from mvpipe.render.backend import Backend, DrawsMouths

if TYPE_CHECKING:
    from mvpipe.gate.ear import Ear
    from mvpipe.gate.offset import Performance
    from mvpipe.gate.pairs import Features
    from mvpipe.gate.sync import Samples
    from mvpipe.gate.syncnet import SyncNet

LOOK_VERSION = 8
"""Raised when a look at the same take (`gate/look.py`) would find something else, or keep it otherwise."""

LIPS_VERSION = 4
"""Raised when the same look, voice and rules would get another verdict on the lips."""

Part = tuple[Shot, Entry, Mapping[str, Any]]
"""A shot, the look at its take, and the facts of its verdict."""

MOVED = "moved.mp4"
"""The file of the physical control."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lips:
    """Judges the lips of a film's takes.

    Parameters
    ----------
    production : the plan, the voice, and how the gate is set
    backend : makes the takes
    """

    production: Production
    backend: Backend

    @property
    def values(self) -> dict[str, float]:
        """Every figure that takes are judged by."""
        return figures(self.production.gate.rules)

    def unjudged(self, shot: Shot) -> str:
        """Why nobody judges the lips of a shot; empty where they are judged."""
        asked, cast = self.production.gate.sync, self.production.cast
        if asked == "off":
            return "gate.sync is off"
        if not sings(shot, cast):
            return "nobody sings in it"
        if asked == "auto" and isinstance(self.backend, DrawsMouths):
            return "its mouth is drawn from the voice; gate.sync: on judges it too"
        return ""

    @property
    def casting(self) -> Casting:
        """Who holds the takes against what their shots promise."""
        return Casting(
            cast=self.production.cast,
            backend=self.backend,
            drawn=isinstance(self.backend, DrawsMouths),
            lips=self.production.gate.sync != "off",
            rules=self.values,
        )

    def look(self, take: Entry, *, lips: bool, faces: bool = False, sound: bool = False) -> Work:
        """Decode a take once and measure all that needs its pixels, and where that is wanted its sound.

        Parameters
        ----------
        lips : whether its lips are judged; SyncNet looks at them as well, where its weights are
        faces : look for faces all the same
        """
        weights, faces = (self._weights if lips else None), faces or lips

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate.look import look

            network = _network(weights)
            return look(take.path(CLIP), faces=faces, sound=sound, network=network).save(folder)

        inputs = {"take": take.digest(CLIP), **self._network_input(lips)}
        params = {name: True for name, wanted in (("faces", faces), ("sound", sound)) if wanted}
        return Work(task=Task(name="look", version=LOOK_VERSION, inputs=inputs, params=params), make=make)

    def judge(self, shot: Shot, look: Entry, *, slip: int = 0) -> Work:
        """Judge the lips of a take, or those of a picture that is shown `slip` frames later in it."""
        start, stop = self._window(shot, slip)
        values = self.values

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate.look import Look
            from mvpipe.gate.sync import judge_sync

            looked = Look.load(look.facts, look.folder)
            elsewhere = self._elsewhere(start, stop, int(values["syncnet_voices"]))
            verdict = judge_sync(
                looked.seen,
                self._voice(start, stop),
                self._sample_rate,
                network=_network(self._weights),
                elsewhere=[*elsewhere.values()],
                singer=self.casting.singer(shot, looked),
                names=self.casting.names(shot, looked),
                rules=self.production.gate.rules,
            )
            return {**verdict.as_json(), "elsewhere": [*elsewhere]}

        inputs = {"look": look.key, **self.inputs, **self.casting.pictures(shot)}
        params = {"start": start, "stop": stop, "rules": figures(self.production.gate.rules, LOOKED_AT)}
        return Work(task=Task(name="lips", version=LIPS_VERSION, inputs=inputs, params=params), make=make)

    def control(self, shot: Shot, take: Entry, lips: Entry) -> Work:
        """Write a file in which the pictures of a take really are 400 ms later, and judge that."""
        from mvpipe.gate.physical import compare, delay_for

        start, stop = self._window(shot, 0)
        delay = delay_for(lips.facts["offset_frames_25"])

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate import physical
            from mvpipe.gate.look import look
            from mvpipe.gate.sync import judge_sync

            physical.write_delayed(take.path(CLIP), folder / MOVED, delay)
            network = _network(self._weights)
            looked = look(folder / MOVED, network=network)
            after = judge_sync(
                looked.seen,
                self._voice(start, stop),
                self._sample_rate,
                network=network,
                singer=self.casting.singer(shot, looked),
                rules=self.production.gate.rules,
            )
            proof = compare(lips.facts, after.as_json(), delay, self.values)
            return {"shot": shot.number, "backend": self.backend.name, **asdict(proof)}

        inputs = {"take": take.digest(CLIP), "lips": lips.key, **self.inputs}
        params = {
            "delay": delay,
            "backend": self.backend.name,
            "start": start,
            "stop": stop,
            "with": _tools(),
        }
        return Work(task=Task(name="control", version=1, inputs=inputs, params=params), make=make)

    def voice(self, shot: Shot, *, slip: int = 0) -> Samples:
        """The voice beside a take's pictures, were they shown `slip` frames later than rendered."""
        return self._voice(*self._window(shot, slip))

    def pool(
        self,
        own: tuple[Shot, Entry, Mapping[str, Any]],
        others: Sequence[tuple[Shot, Entry, Mapping[str, Any]]],
    ) -> dict[str, Any] | None:
        """Judge a shot together with others of the performance: (shot, look, verdict) of each."""
        from mvpipe.gate.look import Look
        from mvpipe.gate.pool import performance_of, pool

        def curves(shot: Shot, look: Entry, facts: Mapping[str, Any]) -> Performance:
            voice = self.voice(shot)
            return performance_of(Look.load(look.facts, look.folder), voice, self._sample_rate, facts)

        first, *rest = (curves(*part) for part in (own, *others))
        found = pool(first, rest, self.values)
        return {**asdict(found), "with": [shot.number for shot, _, _ in others]} if found else None

    def _window(self, shot: Shot, slip: int) -> tuple[int, int]:
        """Samples of the stem beside a take's pictures, were they shown `slip` frames later than rendered."""
        window = shot.window.samples(self._sample_rate)
        moved = round(slip * self._sample_rate / shot.window.rate)
        return window.start - moved, window.stop - moved

    def _voice(self, start: int, stop: int) -> Samples:
        from mvpipe.sound import wav

        return wav.read(self.production.vocals.path(STEM), start, stop, mono=True)

    def _elsewhere(self, start: int, stop: int, many: int) -> Mapping[int, Features]:
        """What SyncNet hears where the song is sung elsewhere, by the first picture; nothing without it."""
        if self._weights is None:
            return {}
        ear = _ear(self._weights, self.production.vocals.path(STEM), self._sample_rate)
        return ear.elsewhere((start / self._sample_rate, stop / self._sample_rate), many=many)

    @property
    def inputs(self) -> dict[str, str]:
        """What every verdict on lips depends on besides its take: the stem, and SyncNet where it is."""
        return {"vocals": self.production.vocals.digest(STEM), **self._network_input(True)}

    def _network_input(self, wanted: bool) -> dict[str, str]:
        return {"syncnet": OFFICIAL.sha256} if wanted and self._weights else {}

    @property
    def _weights(self) -> Path | None:
        return self.production.gate.weights

    @property
    def _sample_rate(self) -> int:
        return self.production.plan.song.sample_rate


@lru_cache(maxsize=1)
def _tools() -> dict[str, str]:
    """Versions of all that writes and reads the control's file: with others, it is another control."""
    packages = ("av", "imageio-ffmpeg", "numpy", "opencv-python-headless")
    return {"mvpipe": __version__, **{name: version(name) for name in packages}}


@lru_cache(maxsize=1)
def _ear(weights: Path, stem: Path, sample_rate: int) -> Ear:
    from mvpipe.gate.ear import Ear
    from mvpipe.sound import wav

    return Ear(_loaded(weights), wav.read(stem, mono=True), sample_rate)


def _network(weights: Path | None) -> SyncNet | None:
    return _loaded(weights) if weights else None


@lru_cache(maxsize=1)
def _loaded(weights: Path) -> SyncNet:
    from mvpipe.gate.syncnet import load_weights

    return load_weights(weights)
