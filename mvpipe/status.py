"""How far a project is, from its plan, its journal and its vault; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mvpipe import takes
from mvpipe.film import Outcome, Shot
from mvpipe.plan import load_plan
from mvpipe.project import Project, at_work
from mvpipe.wording import counted, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotState:
    """One shot.

    Parameters
    ----------
    shot : the shot
    state : `done`, `picked`, `slug`, `waiting` or `rendering`
    take : number of the take that is seen; 0 for none
    takes : how many there are
    reason : of the verdict or the slug, in words
    verdict : on the take that is seen; empty for none
    slip : frames by which its picture is moved
    lips : the verdict on its lips, as the journal keeps it
    awaited : number of the take that the next render puts into the film, which shows something else; else 0
    picked : whether a person chose the one that is awaited
    """

    shot: Shot
    state: str
    take: int
    takes: int
    reason: str
    verdict: str = ""
    slip: int = 0
    lips: Mapping[str, Any] = field(default_factory=dict[str, Any])
    awaited: int = 0
    picked: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether a person should look at it."""
        return self.state == "done" and self.verdict != Outcome.PASS.value and not self.picked


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A project."""

    title: str
    shots: tuple[ShotState, ...]
    films: tuple[str, ...]
    running: tuple[str, ...]

    @property
    def awaited(self) -> tuple[ShotState, ...]:
        """The shots whose take is not in the film yet."""
        return tuple(shot for shot in self.shots if shot.awaited) if self.films else ()

    @property
    def result(self) -> str:
        """`complete`, `incomplete` or `not started`."""
        done = sum(shot.state in ("done", "picked") for shot in self.shots)
        if done == len(self.shots) and self.films and not self.awaited:
            return "complete"
        return "incomplete" if done else "not started"

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "result": self.result,
            "title": self.title,
            "shots": [
                {
                    "number": s.shot.number,
                    "state": s.state,
                    "take": s.take,
                    "takes": s.takes,
                    "awaited": s.awaited,
                    "reason": s.reason,
                    "verdict": s.verdict,
                    "slip": s.slip,
                    "offset_ms": s.lips.get("offset_ms"),
                    "confidence": s.lips.get("confidence"),
                    "method": s.lips.get("method"),
                }
                for s in self.shots
            ],
            "films": list(self.films),
            "running": list(self.running),
        }

    def text(self) -> str:
        """For people."""
        counts: dict[str, int] = {}
        for shot in self.shots:
            counts[shot.state] = counts.get(shot.state, 0) + 1
        summary = ", ".join(f"{many} {state}" for state, many in counts.items())
        lines = [f"{self.title}: {self.result}: {counted(len(self.shots), 'shot')}: {summary}"]
        lines += [
            f"  shot {s.shot.number}: {s.state}{f': {s.reason}' if s.reason else ''}"
            for s in self.shots
            if s.state in ("slug", "rendering")
        ]
        lines += [
            f"  look at shot {s.shot.number}: {s.verdict}: {s.reason}" for s in self.shots if s.doubtful
        ]
        lines += [f"  shot {s.shot.number}: {s.reason}" for s in self.shots if s.slip]
        lines += self._behind()
        lines += [f"  film: {film}" for film in self.films]
        lines += [f"  running: {name}" for name in self.running]
        return "\n".join(lines)

    def _behind(self) -> list[str]:
        if not (late := self.awaited):
            return []
        named = listed([f"shot {s.shot.number} (take {s.awaited}{', picked' * s.picked})" for s in late])
        them = "them" if len(late) > 1 else "it"
        return [f"  not in the film yet: {named}; mvpipe render puts {them} in"]


def look(project: Project) -> State:
    """The state of a project.

    Raises
    ------
    PlanError : there is no plan yet
    """
    plan = load_plan(project.plan)
    running, shown = _running(project), takes.last_shown(project.journal)
    return State(
        title=plan.title,
        shots=tuple(_shot(project, shot, running, shown) for shot in plan.shots),
        films=tuple(str(path) for path in sorted(project.film.glob("[!.]*"))),
        running=running,
    )


def _shot(project: Project, shot: Shot, running: tuple[str, ...], shown: float) -> ShotState:
    known = takes.known_takes(project.journal, shot.cut)
    used = takes.last_used(project.journal, shot.number)
    here = used if used and used["cut"] == takes.cut_name(shot.cut) else None
    seen = next((take for take in known if here and take.key == here["key"]), None)
    pick = takes.picked(project.journal, shot.cut)
    if any(name.startswith(f"take {shot.number}.") for name in running):
        state, reason = "rendering", ""
    elif seen:
        state = "picked" if pick and pick["key"] == seen.key else "done"
        reason = seen.words
    elif here:
        state, reason = "slug", here.get("reason") or (known[-1].reason if known else "")
    else:
        state, reason = "waiting", ""
    key = takes.awaited(project.journal, shot, shown)
    awaited = next((take.number for take in known if key and take.key == key), 0)
    return ShotState(
        shot=shot,
        state=state,
        take=seen.number if seen else 0,
        takes=len(known),
        reason=reason,
        verdict=seen.outcome.value if seen else "",
        slip=seen.slip if seen else 0,
        lips=seen.lips if seen else {},
        awaited=awaited,
        picked=bool(awaited and pick and pick["key"] == key),
    )


def _running(project: Project) -> tuple[str, ...]:
    """What is under way, if somebody is at work: an attempt without an end may also have died."""
    if not at_work(project.folder):
        return ()
    return tuple(job.name for job in project.journal.jobs() if job.ended is None)
