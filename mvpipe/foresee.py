"""What a render would do now, and why: the wanted slate of each shot held against what the vault holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from mvpipe import takes
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.build.why import differences
from mvpipe.film import Outcome, Shot, Slate
from mvpipe.floor import whole_s
from mvpipe.forecast import fitting
from mvpipe.production import Crew
from mvpipe.shoot import ShotWork
from mvpipe.timing import Times
from mvpipe.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would happen to a shot.

    Parameters
    ----------
    shot : the shot
    render : whether a take would be made
    why : in words, at least one line
    seconds : what it is predicted to need; 0 if nothing is rendered
    take : the take that would be kept
    slip : frames by which its picture is moved
    """

    shot: Shot
    render: bool
    why: tuple[str, ...]
    seconds: float = 0.0
    take: Entry | None = None
    slip: int = 0

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "shot": self.shot.number,
            "render": self.render,
            "why": list(self.why),
            "seconds": round(self.seconds, 2),
        }


def change(work: ShotWork, voice: Entry, before: Change | None, times: Times) -> Change:
    """What a render would do to one shot; nothing is rendered or changed.

    Parameters
    ----------
    before : what it would do to the shot before
    times : what is known of how long takes need
    """
    if work.before is None or before is None:
        return _change(work, work.slates(voice), times)
    number = before.shot.number
    if before.render:
        why = (f"chained to shot {number}, which is rendered anew",)
        return Change(shot=work.shot, render=True, why=why, seconds=_seconds(work, times))
    if before.take is None:
        return Change(shot=work.shot, render=False, why=(f"chained to shot {number}, which has no take",))
    join = work.join(before.take, before.slip)
    entry = work.crew.project.vault.make(join.task, lambda folder: join.make(folder, lambda *_: None))
    return _change(work, work.slates(voice, entry), times)


def _seconds(work: ShotWork, times: Times) -> float:
    crew = work.crew
    return whole_s(crew.backend, times, fitting(crew.production, crew.backend, work.shot))


def _change(work: ShotWork, slates: Iterator[Slate], times: Times) -> Change:
    crew, shot = work.crew, work.shot
    vault, journal = crew.project.vault, crew.project.journal
    known = {take.key: take for take in takes.known_takes(journal, shot.cut)}
    tasks = (takes.take_task(slate) for slate in slates)
    first = next(tasks)
    pick = takes.picked(journal, shot.cut)
    if pick and pick["family"] == takes.family(first) and (found := vault.find(pick["key"], repair=False)):
        number = known[pick["key"]].number
        why, slip = (f"take {number} was picked, and is there",), known[pick["key"]].slip
        return Change(shot=shot, render=False, why=why, take=found, slip=slip)
    for task in chain([first], tasks):
        entry = vault.find(task.key, repair=False)
        if entry is None:
            seconds = _seconds(work, times)
            return Change(shot=shot, render=True, why=_reasons(crew, shot, task), seconds=seconds)
        take = known.get(task.key)
        if take is None or take.outcome is not Outcome.FAIL:
            name = f"take {take.number}" if take else "a take nobody has looked at"
            said = f": {take.words}" if take and (take.slip or take.outcome is not Outcome.PASS) else ""
            why = (f"nothing changed: {name} is there{said}",)
            slip = take.slip if take else 0
            return Change(shot=shot, render=False, why=why, take=entry, slip=slip)
    why = (f"all {counted(crew.production.takes, 'attempt')} failed: a slug stands in",)
    return Change(shot=shot, render=False, why=why)


def _reasons(crew: Crew, shot: Shot, wanted: Task) -> tuple[str, ...]:
    """Why the wanted take is not there, against what was last seen in the shot of this number."""
    used = takes.last_used(crew.project.journal, shot.number)
    if used is None:
        return ("never rendered",)
    now = takes.cut_name(shot.cut)
    moved = [f"cut: {used['cut']} -> {now}"] if used["cut"] != now else []
    if not used["key"]:
        return (*moved, "a slug stands in for it")
    before = crew.project.vault.find(used["key"], repair=False)
    if before is None:
        return (*moved, "its take is lost from the vault, or damaged")
    fields = [_plain(line) for line in differences(before.task, wanted.record())]
    if not moved and all(line.startswith("seed:") for line in fields):
        return ("a new take was asked for", *fields)
    return (*moved, *fields)


def _plain(line: str) -> str:
    """A field as the director knows it: what a graph calls `params.graph.prompt` is the prompt."""
    for prefix in ("params.graph.", "params.", "inputs."):
        line = line.removeprefix(prefix)
    return line
