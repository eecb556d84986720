"""`mvpipe rerender`: new takes of some shots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.plan import Plan


def rerender(
    shots: options.Shots,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Use this seed instead of the next derived one.", min=0, max=2**32 - 1),
    ] = None,
    until: options.Until = "",
    max_hours: options.MaxHours = None,
    max_takes: options.MaxTakes = None,
    preview_first: options.PreviewFirst = 4,
    force: options.Force = False,
    project: options.ProjectFolder = None,
    header: options.Header = None,
    authority: options.Authority = None,
    workers: options.Workers = 0,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make a new take of some shots, and the film.

    The new take has a new seed; earlier takes are kept.
    """
    from pathlib import Path

    from mvpipe.cli import session, shooting
    from mvpipe.cli.joining import joined
    from mvpipe.project import find_folder
    from mvpipe.takes import choose_again

    limits = shooting.limits(until, max_hours, max_takes, preview_first)
    wanted = session.numbers(shots)
    folder = project or find_folder(Path.cwd())
    ask = session.recall(folder, workers=workers, headers=header or (), authority=authority)
    resume = f"mvpipe render {ask.song} {ask.loaded.path}"
    with (
        session.work_in(folder, quiet=quiet or json, wait=wait, resume=resume) as alone,
        joined(alone, ask) as work,
    ):

        def again(plan: Plan) -> None:
            session.check_shots(wanted, plan.shots)
            for number in wanted:
                choose_again(work.project.journal, plan.shots[number - 1].cut, seed)

        shooting.shoot(work, ask, only=None, limits=limits, json=json, force=force, planned=again)
