"""`mvpipe pick`: this take, and no other."""

from __future__ import annotations

from typing import Annotated

import typer

from mvpipe.cli import options


def pick(
    shot: options.Shot,
    take: Annotated[int, typer.Argument(help="The number of one of its takes.", min=1, show_default=False)],
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
) -> None:
    """Choose the take that is seen in a shot.

    The next render uses it, whatever the checks say. The choice holds until what the shot asks for changes.
    """
    from pathlib import Path

    from mvpipe.cli import session
    from mvpipe.errors import SettingsError
    from mvpipe.project import find_folder
    from mvpipe.takes import choose_pick, known_takes, last_used

    with session.work_in(project or find_folder(Path.cwd()), quiet=False, wait=wait) as work:
        planned = session.planned_shot(work.project, shot)
        journal = work.project.journal
        known = {found.number: found for found in known_takes(journal, planned.cut)}
        if take not in known:
            have = ", ".join(map(str, known)) or "none"
            raise SettingsError(f"shot {shot}: take {take}: not there: it has {have}")
        if work.project.vault.find(known[take].key) is None:
            raise SettingsError(f"shot {shot}: take {take}: lost from the vault", hint="render it again")
        used = last_used(journal, shot)
        choose_pick(journal, planned.cut, known[take].key, used["family"] if used else known[take].family)
        work.terminal.result(f"shot {shot}: take {take} is picked; the next render puts it into the film")
