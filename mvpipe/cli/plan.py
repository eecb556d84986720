"""`mvpipe plan`: where is cut, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    pass


def plan(
    song: options.Song,
    storyboard: options.Storyboard,
    diff: Annotated[
        bool, typer.Option("--diff", help="Say which shots would be rendered, why, and how long it takes.")
    ] = False,
    into: options.Into = None,
    backend: options.Backend = None,
    separator: options.Separator = None,
    vocals: options.Vocals = None,
    demucs_repo: options.DemucsRepo = None,
    cache: options.Cache = None,
    device: options.Device = "auto",
    wait: options.Wait = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Cut the song and say why; renders nothing.

    Separates the voice, listens, prints the shots, and writes plan.json and timeline.png.
    """
    from mvpipe import pipeline
    from mvpipe.cli import session, tables

    ask = session.request(
        song,
        storyboard,
        backend=backend,
        separator=separator,
        vocals=vocals,
        demucs_repo=demucs_repo,
        cache=cache,
        device=device,
    )
    folder = session.project_folder(storyboard, into)
    with session.work_in(folder, quiet=quiet or json, wait=wait) as work:
        with work.watcher() as watcher:
            ready = pipeline.prepare(work.project, ask, watcher)
            changes = pipeline.foresee(work.project, ready, watcher) if diff else None
        made = ready.production.plan
        if json:
            found = {} if changes is None else {"diff": [change.as_json() for change in changes]}
            work.terminal.json({**made.as_json(), **found})
            return
        work.terminal.result(tables.changes(made, changes) if changes is not None else tables.plan(made))
        for note in made.notes:
            work.terminal.warn(note)
        work.terminal.note(f"timeline: {work.project.folder / 'timeline.png'}")
