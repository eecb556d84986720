"""`mvpipe draft`: prompts proposed for every shot, shown as a diff."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options


def draft(
    endpoint: Annotated[
        str,
        typer.Option(
            "--endpoint",
            help="A local server that speaks OpenAI's API, such as http://localhost:11434/v1; its key, if it "
            "wants one, in MVPIPE_DRAFT_KEY. Without one a grammar drafts.",
            metavar="URL",
            envvar="MVPIPE_DRAFT_ENDPOINT",
        ),
    ] = "",
    model: Annotated[
        str, typer.Option("--model", help="The model's name there.", envvar="MVPIPE_DRAFT_MODEL")
    ] = "",
    section: Annotated[
        list[str] | None,
        typer.Option("--section", help="Only this section; may be repeated.", metavar="NAME"),
    ] = None,
    empty: Annotated[bool, typer.Option("--empty", help="Only shots that have no prompt yet.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Put it into the storyboard.")] = False,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds a section may take to be answered.", min=1)
    ] = 180.0,
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Propose prompts for every shot, from lyrics, look and cast.

    Shown as a diff and never put in place unasked. Answers are kept in the project: nothing is asked twice.
    """
    from mvpipe import drafting
    from mvpipe.cli import session, showing
    from mvpipe.editing import described, open_desk
    from mvpipe.endpoint import Endpoint
    from mvpipe.errors import SettingsError
    from mvpipe.project import find_folder

    by = None
    if endpoint:
        if not model:
            raise SettingsError("--model: which model of the endpoint?", hint="such as --model llama3.1")
        asks = Endpoint(
            url=endpoint, model=model, key=os.environ.get("MVPIPE_DRAFT_KEY", ""), patience_s=patience
        )
        by = drafting.Drafter(model=model, ask=asks.ask)
    folder = project or find_folder(Path.cwd())
    with session.work_in(folder, quiet=True, wait=wait) as work, work.watcher() as watcher:
        desk = open_desk(work.project, session.recall(folder), watcher)
        changes = drafting.draft(
            work.project, desk.loaded, desk.heard, by=by, sections=section or (), only_empty=empty
        )
        showing.edit(work, desk, described(desk, changes), watcher, apply=apply, json=json)
        if not apply and not json:
            work.terminal.result("nothing was changed: --apply puts it in place")
