"""`mvpipe account`: where every second of every server went."""

from __future__ import annotations

from mvpipe.cli import options


def account(project: options.ProjectFolder = None, json: options.Json = False) -> None:
    """Say where every second of every server went.

    From the journal, of all runs together: takes, takes that failed, waiting and why, away. The parts add up
    to the whole.
    """
    import time
    from pathlib import Path

    from mvpipe import account as accounts
    from mvpipe.cli import session
    from mvpipe.project import at_work, find_folder

    folder = project or find_folder(Path.cwd())
    with session.look_into(folder) as work:
        until = time.time() if at_work(folder) else None
        found = accounts.account(work.project.journal, until)
        if json:
            work.terminal.json(found.as_json())
        else:
            work.terminal.result(found.text() or "no server has rendered here")
