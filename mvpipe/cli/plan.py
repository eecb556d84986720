"""`mvpipe plan`: where is cut, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mvpipe.cli import options


def plan(
    song: options.Song,
    storyboard: options.Storyboard,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="What changed since the last plan, what would be rendered, and why."),
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Write the plan as a page to look at and listen to, and open it.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write that page to this file.", metavar="FILE")
    ] = None,
    frontier: Annotated[
        bool, typer.Option("--frontier", help="Show cut quality against render time, to choose from.")
    ] = False,
    preview_first: options.PreviewFirst = 4,
    into: options.Into = None,
    backend: options.Backends = None,
    header: options.Header = None,
    authority: options.Authority = None,
    cluster: options.Cluster = None,
    vault: options.SharedVault = None,
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
    from mvpipe.cli import session, showing, tables
    from mvpipe.cli.joining import joined
    from mvpipe.plan_diff import compare, last_plan
    from mvpipe.shot_notes import shot_notes

    ask = session.request(
        song,
        storyboard,
        backends=backend or (),
        headers=header or (),
        authority=authority,
        separator=separator,
        vocals=vocals,
        demucs_repo=demucs_repo,
        cache=cache,
        device=device,
        cluster=cluster,
        vault=vault,
    )
    folder = session.project_folder(storyboard, into)
    with session.work_in(folder, quiet=quiet or json, wait=wait) as alone, joined(alone, ask) as work:
        last = last_plan(work.project.plan) if diff else None
        pages = showing.pages(work.project, html, open_page=open_page)
        with work.watcher() as watcher:
            ready = pipeline.prepare(work.project, ask, watcher)
            changes = pipeline.foresee(work.project, ready, watcher) if diff else None
            choices = pipeline.choices(ready, ask) if frontier else ()
            if changes is None:
                wanted = pipeline.to_render(work.project, ready, watcher)
            else:
                wanted = {one.shot.number for one in changes if one.render}
            night = pipeline.foretell(work.project, ready, preview=preview_first, only=wanted)
            if pages:
                showing.write(pages, ready.heard)
        made = ready.production.plan
        since = compare(last, made) if last else None
        if json:
            found = {"diff": changes, "since": since, "frontier": choices or None}
            order = {"night": night.as_json()} if night else {}
            work.terminal.json({**made.as_json(), **_as_json(found), **order})
            return
        shown = tables.plan(made) if changes is None else tables.changes(made, changes, since=since)
        shown = f"{shown}\n{night.text()}" if night else shown
        work.terminal.result(tables.frontier(choices) if frontier else shown)
        for note in (*made.notes, *shot_notes(ready.production, ready.backend, made.shots)):
            work.terminal.warn(note)
        work.terminal.note(f"timeline: {work.project.folder / 'timeline.png'}")
        for page in pages:
            work.terminal.note(f"page: {page}")
        if open_page and not showing.opened(pages[0]):
            work.terminal.warn(f"no browser opens here: look at {pages[0]}")


def _as_json(found: Mapping[str, Sequence[Any] | None]) -> dict[str, Any]:
    """What was asked for besides the plan: values that know their JSON form, and lines of text."""
    return {
        name: [value if isinstance(value, str) else value.as_json() for value in values]
        for name, values in found.items()
        if values is not None
    }
