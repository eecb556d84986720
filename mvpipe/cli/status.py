"""`mvpipe status`: how far a project is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.cli.session import Session

AGAIN_S = 2.0
"""Seconds between two looks."""


def status(
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again and again, as long as somebody is at work.")
    ] = False,
    project: options.ProjectFolder = None,
    json: options.Json = False,
) -> None:
    """Say how far the film is.

    Which shots have takes, which are slugs, what is under way and where, and whether the film is made.
    """
    import time

    from mvpipe.cli import session
    from mvpipe.project import at_work, find_folder

    folder, last = project or find_folder(Path.cwd()), ""
    while True:
        with session.look_into(folder) as work:
            found = _look(work, json=json)
            if found != last:
                work.terminal.result(found)
                last = found
        if not watch or not at_work(folder):
            return
        time.sleep(AGAIN_S)


def _look(work: Session, *, json: bool) -> str:
    import json as writer
    import time

    from mvpipe.project import at_work
    from mvpipe.pulse import feel, told
    from mvpipe.status import look

    state = look(work.project)
    beat = feel(work.project.folder) if at_work(work.project.folder) else None
    if json:
        return writer.dumps({**state.as_json(), "now": beat}, indent=1, ensure_ascii=False)
    return "\n".join([state.text(), *(f"  {line}" for line in (told(beat, time.time()) if beat else ()))])
