"""`mvpipe lint`: read a storyboard and say what is wrong or odd."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options


def lint(
    storyboard: options.Storyboard,
    song: Annotated[
        Path | None, typer.Option("--song", help="Check the times against this song too.", metavar="FILE")
    ] = None,
) -> None:
    """Check a storyboard.

    Errors end with exit code 2; oddities are listed.
    """
    from mvpipe.cli.terminal import Terminal
    from mvpipe.storyboard.check import check, lint
    from mvpipe.storyboard.load import load

    terminal = Terminal()
    loaded = load(storyboard)
    seconds = None
    if song:
        from mvpipe.sound.read import measure

        seconds = measure(song)[0].seconds
    check(loaded, seconds)
    notes = lint(loaded)
    for note in notes:
        terminal.result(str(note))
    terminal.note(f"{storyboard}: {len(notes)} notes" if notes else f"{storyboard}: nothing to note")
