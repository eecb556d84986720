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
    until: options.Until = "",
    max_hours: options.MaxHours = None,
    max_takes: options.MaxTakes = None,
    preview_first: options.PreviewFirst = 4,
    force: options.Force = False,
    embed: Annotated[
        bool, typer.Option("--embed", help="Write graph, prompt and seed of every take into the master.")
    ] = False,
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
    workers: options.Workers = 0,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make the film; goes on where it was stopped.

    Separates the voice, cuts, renders, checks every take, assembles, and proves the result.
    Exit codes: 0 the film is done; it is made, but 7 some shots are slugs, 10 some cannot be judged, 12 the
    pipeline is at fault; others: see the README.
    """
    from mvpipe.cli import session, shooting
    from mvpipe.cli.joining import joined

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
        workers=workers,
        embed=embed,
    )
    limits = shooting.limits(until, max_hours, max_takes, preview_first)
    wanted = session.numbers([only]) if only else None
    folder = session.project_folder(storyboard, into)
    if rehearse:
        shooting.rehearse(folder, ask, card=card, quiet=quiet, wait=wait, json=json)
        return
    with session.work_in(folder, quiet=quiet or json, wait=wait) as alone, joined(alone, ask) as work:
        shooting.shoot(work, ask, only=wanted, limits=limits, json=json, force=force)
