"""`mvpipe verify`: prove a film."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options


def verify(
    film: Annotated[Path, typer.Argument(help="The film.", metavar="FILM", show_default=False)],
    song: Annotated[Path, typer.Option("--song", help="The song it was made for.", metavar="FILE")],
    frames: Annotated[
        int | None,
        typer.Option("--frames", help="Frames it should have, if not those the song asks for."),
    ] = None,
    rate: Annotated[str, typer.Option("--rate", help="Frames a second, such as 24 or 24000/1001.")] = "24",
    json: options.Json = False,
) -> None:
    """Prove a film.

    Every frame is counted and at its time, and the song's own samples are under it, bit for bit.
    Exit code 9 says that it is not what it should be.
    """
    from fractions import Fraction

    from mvpipe.cli import tables
    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import ProofFailed, SettingsError
    from mvpipe.reel.proof import prove
    from mvpipe.sound.read import measure

    terminal = Terminal()
    try:
        pictures_a_second = Fraction(rate)
    except (ValueError, ZeroDivisionError) as exc:
        raise SettingsError(f"--rate: not a rate: {rate!r}", hint="24, 25 or 24000/1001") from exc
    if pictures_a_second <= 0:
        raise SettingsError(f"--rate: must be positive: {rate}")
    measured, notes = measure(song)
    for note in notes:
        terminal.warn(note)
    proof = prove(film, measured, frames=frames, rate=pictures_a_second)
    if json:
        terminal.json(proof.as_json())
    else:
        terminal.result(tables.proof(proof))
    if not proof.ok:
        raise ProofFailed(f"{film}: {proof.problems[0]}")
