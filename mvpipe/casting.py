"""What a shot promises to show and to sound like, and whether a take keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.cutting import NOBODY
from mvpipe.film import Continuity, Finding, Outcome, Shot, ShotKind, Slate
from mvpipe.render.backend import Asset, Backend, CastMember, LocksSound

if TYPE_CHECKING:
    from mvpipe.gate.look import Look
    from mvpipe.gate.people import Expected
    from mvpipe.gate.portraits import Faces
    from mvpipe.tools.audible import Audible

PROMISE_VERSION = 1
"""Raised when the same look, voice, pictures and rules would get other findings."""

SLIP = 2
"""Frames beside what is seen into which a picture may be slipped without being looked at again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Casting:
    """Holds the takes of a film against what their shots promise.

    Parameters
    ----------
    cast : by name
    backend : makes the takes
    drawn : whether it draws people, who then look like nobody and sing by construction
    lips : whether lips are judged at all: else nobody's face is missed where one sings
    rules : every figure that is judged by
    """

    cast: Mapping[str, CastMember]
    backend: Backend
    drawn: bool
    lips: bool
    rules: Mapping[str, float]

    def wants_faces(self, shot: Shot) -> bool:
        """Whether a take of the shot has to be looked at for faces, whoever judges its lips."""
        return bool(shot.card.cast) and not self.drawn

    def wants_sound(self, slate: Slate) -> bool:
        """Whether a take of the slate has to be listened to."""
        return isinstance(self.backend, LocksSound) and self.backend.locks(slate)

    def promise(self, shot: Shot, take: Entry, slate: Slate, look: Entry, sent: Mapping[str, Path]) -> Work:
        """Hold a take against what its shot and its slate promise; its facts are the findings.

        Parameters
        ----------
        slate, look : of the take
        sent : role -> file, of all that went into it
        """

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate.look import Look

            found = self.judge(shot, slate, sent, Look.load(look.facts, look.folder))
            return {"findings": [asdict(one) for one in found]}

        card = shot.card
        params = {
            "kind": card.kind.value,
            "cast": [[name, self.cast[name].sings] for name in card.cast],
            "voice": shot.voice,
            "shown": [shown(shot).start, shown(shot).stop],
            "rate": str(shot.cut.rate),
            "chain": shot.number if card.continuity is Continuity.CHAIN else 0,
            "lips": self.lips,
            "rules": dict(self.rules),
        }
        inputs = {"take": take.key, "look": look.key, **self.pictures(shot)}
        return Work(
            task=Task(name="promise", version=PROMISE_VERSION, inputs=inputs, params=params), make=make
        )

    def pictures(self, shot: Shot) -> dict[str, str]:
        """Name -> digest of the pictures by which the shot's people are known; empty where no faces are."""
        if not self.wants_faces(shot):
            return {}
        members = ((name, self.cast[name].pictures) for name in shot.card.cast)
        return {f"picture:{name}/{k}": one.digest for name, many in members for k, one in enumerate(many)}

    def judge(self, shot: Shot, slate: Slate, assets: Mapping[str, Path], look: Look) -> tuple[Finding, ...]:
        """The findings on a take's people and on its sound, as far as it was looked at and listened to.

        Raises
        ------
        MediaError : a picture of the cast, or the voice that was sent, cannot be read
        """
        found: tuple[Finding, ...] = ()
        if look.faces and self.wants_faces(shot):
            wanted = expected(shot, self.cast, like_pictures=True)
            found = people(look, replace(wanted, sings=wanted.sings and self.lips), self.rules)
        if isinstance(self.backend, LocksSound) and (heard := self.backend.locked(slate, assets)):
            from mvpipe.tools.audible import measure

            found = (*found, *sound(look, measure(heard), shot, self.rules))
        return found

    def singer(self, shot: Shot, look: Look) -> int | None:
        """Which of the faces that can be judged is the singer by the pictures; None where nothing tells."""
        if self.drawn or not shot.card.cast:
            return None
        return singer(look, expected(shot, self.cast, like_pictures=True), self.rules)

    def names(self, shot: Shot, look: Look) -> dict[int, str]:
        """Place of each track -> the cast member it is, of those the pictures tell."""
        from mvpipe.gate.people import names_of

        if self.drawn or not shot.card.cast:
            return {}
        return names_of(look.seen, expected(shot, self.cast, like_pictures=True), self.rules)


def findings(promise: Entry) -> tuple[Finding, ...]:
    """What `Casting.promise` found."""
    return tuple(Finding(**{**one, "outcome": Outcome(one["outcome"])}) for one in promise.facts["findings"])


def sings(shot: Shot, cast: Mapping[str, CastMember]) -> bool:
    """Whether somebody should be seen to sing in a shot."""
    singers = not shot.card.cast or any(cast[name].sings for name in shot.card.cast)
    return shot.card.kind is ShotKind.PERFORMANCE and singers and shot.voice > 0


def shown(shot: Shot) -> range:
    """The frames of a take that the film may show."""
    return range(max(0, shot.head - SLIP), shot.head + len(shot.cut) + SLIP)


def expected(shot: Shot, cast: Mapping[str, CastMember], *, like_pictures: bool) -> Expected:
    """Whom a shot should show.

    Parameters
    ----------
    cast : of the film
    like_pictures : whether the backend's people look like the cast's pictures: drawn ones do not

    Raises
    ------
    MediaError : a picture of the cast cannot be read
    """
    from mvpipe.gate.people import Expected

    members = [cast[name] for name in shot.card.cast]
    singers = [one.name for one in members if one.sings]
    sung = sings(shot, cast)
    return Expected(
        sings=sung,
        closed=bool(members) and (not sung or shot.voice < NOBODY),
        cast={one.name: _faces(one.pictures) for one in members if like_pictures and one.pictures},
        singer=singers[0] if sung and len(singers) == 1 else "",
        shown=shown(shot),
    )


def people(look: Look, wanted: Expected, rules: Mapping[str, float]) -> tuple[Finding, ...]:
    """The findings on the people of a take that was looked at for faces."""
    from mvpipe.gate.people import judge_people

    return judge_people(look.seen, wanted, rules) if look.faces else ()


def sound(
    look: Look, voice: Audible, shot: Shot, rules: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """The findings on a take's own sound, where the voice was locked into it, and on a chain's brightness."""
    from mvpipe.gate.sounds import Link, judge_chain, judge_sound

    seconds = len(look.seen.times) / float(shot.cut.rate)
    found = judge_sound(look.sound, voice, seconds, rules)
    if shot.card.continuity is Continuity.CHAIN:
        found = (*found, *judge_chain([Link(shot=shot.number, sound=look.sound, voice=voice)], rules))
    return found


def singer(look: Look, wanted: Expected, rules: Mapping[str, float]) -> int | None:
    """Which of the faces that can be judged is the singer's by the pictures; None where they do not tell."""
    from mvpipe.gate.people import singer_among

    tracks = look.seen.tracks
    faces = [k for k, track in enumerate(tracks) if track.coverage >= rules["coverage"]]
    return singer_among(faces, look.seen, wanted, rules)


def _faces(pictures: tuple[Asset, ...]) -> Faces:
    import numpy as np

    return np.concatenate([_face(one.path, one.digest) for one in pictures])


@lru_cache(maxsize=64)
def _face(path: Path, digest: str) -> Faces:
    """The face of a picture, which is looked for once in a run."""
    from mvpipe.gate.portraits import portrait_of

    return portrait_of(path)
