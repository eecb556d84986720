"""From a request to the film and its report: what `render` and `rerender` share."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mvpipe import pipeline
from mvpipe.cli.session import Session, work_in
from mvpipe.errors import SettingsError, TakesExhausted
from mvpipe.rehearsal import CARDS, rehearsal_folder, stage
from mvpipe.report import Report, summarise, write_report
from mvpipe.request import Request


def shoot(work: Session, ask: Request, *, only: Collection[int] | None, json: bool) -> None:
    """Make the film, say what came of it, and keep a report.

    Raises
    ------
    TakesExhausted : the film is made, but a shot that was to be rendered has no take
    """
    terminal = work.terminal
    pipeline.greet(work.project, ask)
    with work.watcher() as watcher:
        ready = pipeline.prepare(work.project, ask, watcher)
        for note in ready.production.plan.notes:
            terminal.warn(note)
        made = pipeline.shoot(work.project, ready, only=only, watcher=watcher)
    report = summarise(work.project, ready.production.plan, made)
    write_report(work.project, report)
    if json:
        terminal.json(report.as_json())
    else:
        terminal.result(report.text(Path.cwd()))
    _complain(report, made, only)


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
        with work.watcher() as watcher:
            ready = pipeline.prepare(work.project, asked, watcher)
            pipeline.shoot(work.project, ready, watcher=watcher)
        found = scene.rehearsed(work.project)
        if json:
            work.terminal.json(found.as_json())
        else:
            work.terminal.result(found.text())


def _complain(report: Report, made: pipeline.Made, only: Collection[int] | None) -> None:
    lost = [number for number in sorted(made.slugs) if only is None or number in only]
    if lost:
        names = ", ".join(map(str, lost))
        raise TakesExhausted(
            f"no take for {len(lost)} of {report.shots} shots: {names}: a slug stands in; "
            f"shot {lost[0]}: {made.slugs[lost[0]]}",
            hint=f"change them, or try new takes: mvpipe rerender {' '.join(map(str, lost))}",
        )
