"""What a render would do now, and why: the wanted slate of each shot held against what the vault holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mvpipe import takes
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.build.why import differences
from mvpipe.film import Outcome, Shot
from mvpipe.production import Crew
from mvpipe.shoot import ShotWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would happen to a shot.

    Parameters
    ----------
    shot : the shot
    render : whether a take would be made
    why : in words, at least one line
    seconds : what it is predicted to need; 0 if nothing is rendered
    """

    shot: Shot
    render: bool
    why: tuple[str, ...]
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "shot": self.shot.number,
            "render": self.render,
            "why": list(self.why),
            "seconds": round(self.seconds, 2),
        }


def change(crew: Crew, shot: Shot, voice: Entry) -> Change:
    """What a render would do to one shot; nothing is made or changed."""
    vault, journal = crew.project.vault, crew.project.journal
    known = {take.key: take for take in takes.known_takes(journal, shot.cut)}
    tasks = [takes.take_task(slate) for slate in ShotWork(crew, shot).slates(voice)]
    pick = takes.picked(journal, shot.cut)
    if pick and pick["family"] == takes.family(tasks[0]) and vault.find(pick["key"], repair=False):
        number = known[pick["key"]].number
        return Change(shot=shot, render=False, why=(f"take {number} was picked, and is there",))
    for task in tasks:
        if vault.find(task.key, repair=False) is None:
            seconds = crew.backend.predict_s(len(shot.window), crew.production.size)
            return Change(shot=shot, render=True, why=_reasons(crew, shot, task), seconds=seconds)
        take = known.get(task.key)
        if take is None or take.outcome is not Outcome.FAIL:
            name = f"take {take.number}" if take else "a take nobody has looked at"
            return Change(shot=shot, render=False, why=(f"nothing changed: {name} is there",))
    return Change(shot=shot, render=False, why=(f"all {len(tasks)} attempts failed: a slug stands in",))


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
