"""From a request to the film and its report: what `render` and `rerender` share."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from mvpipe import pipeline
from mvpipe.backends import ANIMATIC, kind_of
from mvpipe.budget import Budget, until
from mvpipe.cli import doctor
from mvpipe.cli.session import Session, check_shots, work_in
from mvpipe.errors import SettingsError
from mvpipe.forecast import PREVIEW
from mvpipe.plan import Plan
from mvpipe.production import GateSettings
from mvpipe.rehearsal import CARDS, rehearsal_folder, stage
from mvpipe.report import summarise, write_report
from mvpipe.request import Request
from mvpipe.tools.awake import awake


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use, and what it shows first.

    Parameters
    ----------
    budget : time and takes
    preview : shots that are rendered before others
    """

    budget: Budget = field(default_factory=Budget)
    preview: int = PREVIEW


NO_LIMITS = Limits()


def limits(clock: str, hours: float | None, takes: int | None, preview: int) -> Limits:
    """What the options allow.

    Raises
    ------
    SettingsError : they say nothing that can be kept to
    """
    ends = until(clock, hours, now=time.time())
    return Limits(budget=Budget(until=ends, takes=takes), preview=preview)


def shoot(
    work: Session,
    ask: Request,
    *,
    only: Collection[int] | None,
    limits: Limits = NO_LIMITS,
    json: bool,
    force: bool = False,
    planned: Callable[[Plan], None] = lambda _: None,
) -> None:
    """Make the film, say what came of it, and keep a report.

    Parameters
    ----------
    only : shots that may be rendered; None for all
    limits : time and takes
    force : render though the doctor's checks fail; noted in the journal and in the report
    planned : told the plan before anything is rendered

    Raises
    ------
    NotReady : a check fails
    PipelineFault, TakesExhausted, CannotJudge : the film is made, but not all of it is as it should be
    """
    terminal = work.terminal
    for absent in pipeline.greet(work.project, ask):
        terminal.warn(absent)
    ask, forced = doctor.before(work, ask, force=force)
    if forced:
        work.project.journal.note("forced", "doctor", checks=list(forced))
    with work.watcher() as watcher:
        ready = pipeline.prepare(work.project, ask, watcher)
        check_shots(only or (), ready.production.plan.shots)
        planned(ready.production.plan)
        for note in ready.production.plan.notes:
            terminal.warn(note)
        with awake(terminal.note) if kind_of(ask) != ANIMATIC else nullcontext():
            made = pipeline.shoot(
                work.project,
                ready,
                only=only,
                budget=limits.budget,
                preview=limits.preview,
                watcher=watcher,
            )
    report = summarise(work.project, ready.production.plan, made, forced=forced)
    write_report(work.project, report)
    if json:
        terminal.json(report.as_json())
    else:
        terminal.result(report.text(Path.cwd()))
    if complaint := report.stand.only(sorted(only) if only is not None else None).complaint():
        raise complaint


def rehearse(folder: Path, ask: Request, *, card: str, quiet: bool, wait: bool, json: bool) -> None:
    """Make the film in a project of its own, with takes of a stand-in, and say what the night would need.

    Raises
    ------
    SettingsError : no such card
    """
    if card not in CARDS:
        raise SettingsError(f"--card: not known: {card}", hint=f"it is one of {', '.join(CARDS)}")
    apart = rehearsal_folder(folder)
    with work_in(apart, quiet=quiet or json, wait=wait) as work, stage(ask, apart, card) as (asked, scene):
        scene.clear(work.project)
        with work.watcher() as watcher:
            ready = pipeline.prepare(work.project, asked, watcher)
            production = replace(ready.production, gate=GateSettings(sync="off"))  # nobody sings for it
            pipeline.shoot(work.project, replace(ready, production=production), watcher=watcher)
        found = scene.rehearsed(work.project)
        if json:
            work.terminal.json(found.as_json())
        else:
            work.terminal.result(found.text())
