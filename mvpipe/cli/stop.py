"""`mvpipe stop`: end a run from a second terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from mvpipe.cli import options


def stop(
    now: Annotated[
        bool, typer.Option("--now", help="Cancel the takes that run, too; only ours, nobody else's.")
    ] = False,
    project: options.ProjectFolder = None,
) -> None:
    """Have a render begin no more takes; the film is made of what is there.

    Takes that run are finished. The same render command goes on later.
    """
    from pathlib import Path

    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import SettingsError
    from mvpipe.project import at_work, find_folder
    from mvpipe.pulse import ask_to_stop, feel

    folder = project or find_folder(Path.cwd())
    if not at_work(folder):
        raise SettingsError(f"{folder}: nothing to stop: nobody is at work in it")
    if feel(folder) is None:
        raise SettingsError(f"{folder}: no takes are made yet", hint="stop it with Ctrl-C there")
    ask_to_stop(folder, at_once=now)
    what = "what runs is cancelled" if now else "takes that run are finished, no more are begun"
    Terminal().result(f"{folder}: {what}")
