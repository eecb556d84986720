"""`mvpipe render`: a song and a storyboard become a film."""

from __future__ import annotations

from typing import Annotated

import typer

from mvpipe.cli import options


def render(
    song: options.Song,
    storyboard: options.Storyboard,
    only: Annotated[
        str, typer.Option("--only", help="Render these shots alone, such as 3,7-9; the rest as it is.")
    ] = "",
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse", help="Play the night through against a stand-in server: schedule, time, disk."
        ),
    ] = False,
    card: Annotated[
        str, typer.Option("--card", help="Whose speed a rehearsal takes: 24gb or 16gb.", metavar="CARD")
    ] = "24gb",
    into: options.Into = None,
    backend: options.Backend = None,
    separator: options.Separator = None,
    vocals: options.Vocals = None,
    demucs_repo: options.DemucsRepo = None,
    cache: options.Cache = None,
    device: options.Device = "auto",
    workers: options.Workers = 0,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make the film; goes on where it was stopped.

    Separates the voice, cuts, renders, checks every take, assembles, and proves the result.
    Exit codes: 0 the film is done; 7 it is made, but some shots are slugs; others: see the README.
    """
    from mvpipe.cli import session, shooting

    ask = session.request(
        song,
        storyboard,
        backend=backend,
        separator=separator,
        vocals=vocals,
        demucs_repo=demucs_repo,
        cache=cache,
        device=device,
        workers=workers,
    )
    wanted = session.numbers([only]) if only else None
    folder = session.project_folder(storyboard, into)
    if rehearse:
        shooting.rehearse(folder, ask, card=card, quiet=quiet, wait=wait, json=json)
        return
    with session.work_in(folder, quiet=quiet or json, wait=wait) as work:
        shooting.shoot(work, ask, only=wanted, json=json)
