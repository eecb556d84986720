"""`mvpipe status`: how far a project is."""

from __future__ import annotations

from mvpipe.cli import options


def status(project: options.ProjectFolder = None, json: options.Json = False) -> None:
    """Say how far the film is.

    Which shots have takes, which are slugs, what is under way, and whether the film is made.
    """
    from mvpipe.cli import session
    from mvpipe.status import look

    with session.look_into(project) as work:
        state = look(work.project)
        if json:
            work.terminal.json(state.as_json())
        else:
            work.terminal.result(state.text())
