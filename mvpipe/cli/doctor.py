"""`mvpipe doctor`: may a render start, and what is in its way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.check import Area
    from mvpipe.doctor.diagnose import Diagnosis
    from mvpipe.render.comfyui.address import Address
    from mvpipe.request import Request


def doctor(
    storyboard: Annotated[
        Path | None,
        typer.Argument(help="The storyboard, a YAML file.", metavar="STORYBOARD", show_default=False),
    ] = None,
    backend: options.Backends = None,
    header: options.Header = None,
    authority: options.Authority = None,
    models: Annotated[
        Path | None,
        typer.Option(
            "--models", help="ComfyUI's models folder; headers are read, no weights.", metavar="DIR"
        ),
    ] = None,
    hashed: Annotated[
        bool, typer.Option("--hash", help="Read the graph's model files whole, for their SHA-256.")
    ] = False,
    explain: Annotated[
        str, typer.Option("--explain", help="Cause, evidence, remedy of one check.", metavar="ID")
    ] = "",
    canary: Annotated[
        bool, typer.Option("--canary", help="Render one smallest take first, and keep what it proves.")
    ] = False,
    into: options.Into = None,
    json: options.Json = False,
) -> None:
    """Look at server, graph, model files and machine before the night.

    One line a check: ok, warn, fail, or not visible from here. Exit code 11: a render must not start.
    """
    from mvpipe.cli.servers import find_machines
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.diagnose import explained

    terminal = Terminal()
    if explain:
        told = explained(explain)
        if json:
            terminal.json(told)
        else:
            terminal.result("\n".join(f"{name}: {text.strip()}" for name, text in told.items()))
        return
    named = backend[0] if backend else None
    servers = [machine.address for machine in find_machines(backend or (), header or (), authority)]
    if canary:
        for server in servers:
            _prove(terminal, storyboard, server)
    found = {str(server): _look(storyboard, named, models, into, server, hashed=hashed) for server in servers}
    if json:
        each = {name: one.as_json() for name, one in found.items()}
        terminal.json({"servers": each} if len(each) > 1 else next(iter(each.values())))
    else:
        terminal.result("\n\n".join(_titled(name, one, alone=len(found) == 1) for name, one in found.items()))
    for one in found.values():
        refuse(one)


def _titled(name: str, found: Diagnosis, *, alone: bool) -> str:
    return found.text() if alone else f"{name}:\n{found.text()}"


def _prove(terminal: Terminal, storyboard: Path | None, server: Address) -> None:
    import time
    from tempfile import TemporaryDirectory

    from mvpipe.cli.settings import default_cache
    from mvpipe.doctor.canary import keep
    from mvpipe.doctor.proving import prove
    from mvpipe.doctor.wanted import want, want_film
    from mvpipe.render.comfyui.client import Client
    from mvpipe.storyboard.load import load

    wanted = want_film(load(storyboard)) if storyboard else want()
    with TemporaryDirectory(prefix="mvpipe-canary-") as scratch:
        client = Client(server, Path(scratch) / "jobs")
        try:
            proved = prove(wanted, client, Path(scratch), now=time.time(), say=terminal.note)
        finally:
            client.close()
    keep(default_cache().parent, str(server), proved)


def _look(
    storyboard: Path | None,
    backend: str | None,
    models: Path | None,
    into: Path | None,
    server: Address,
    *,
    hashed: bool,
) -> Diagnosis:
    from mvpipe.backends import ANIMATIC, COMFYUI
    from mvpipe.cli.settings import default_cache
    from mvpipe.doctor.diagnose import Place, diagnose
    from mvpipe.doctor.wanted import want, want_film
    from mvpipe.project import folder_for
    from mvpipe.storyboard.load import load

    loaded = load(storyboard) if storyboard else None
    named = backend or (loaded.storyboard.render.backend if loaded else COMFYUI)
    place = Place(
        url="" if named == ANIMATIC else str(server),
        server=server,
        models=models,
        hashed=hashed,
        folder=folder_for(storyboard, into) if storyboard else Path.cwd(),
        kept=default_cache().parent,
    )
    wanted = want_film(loaded) if loaded else want()
    areas: frozenset[Area] | None = frozenset({"machine"}) if named == ANIMATIC and not models else None
    return diagnose(wanted, place, areas=areas)


def refuse(found: Diagnosis) -> None:
    """Raise what a render must not start with.

    Raises
    ------
    NotReady : a check fails
    """
    from mvpipe.errors import NotReady

    if found.failed:
        first = found.failed[0]
        more = f", and {len(found.failed) - 1} more" if len(found.failed) > 1 else ""
        raise NotReady(
            f"doctor: {first.id}: {first.says}{more}",
            hint=f"mvpipe doctor --explain {first.id} says what to do",
        )


def before(terminal: Terminal, ask: Request, folder: Path, *, force: bool) -> tuple[Request, tuple[str, ...]]:
    """Ask the checks before a render; the request without servers that fail, and the checks gone against.

    Of several servers one that is away stays in the request: it is used once it is back.

    Raises
    ------
    NotReady : a check fails at every server, and `force` is false
    """
    from dataclasses import replace

    from mvpipe.backends import ANIMATIC, kind_of

    if kind_of(ask) == ANIMATIC or ask.cluster:
        return ask, ()  # nothing of H3 is needed here: a cluster's workers have been asked
    found = [(machine, _asked(terminal, ask, machine.address, folder)) for machine in ask.machines]
    fit = [machine for machine, one in found if force or not one.failed]
    if not fit:
        refuse(found[0][1])
    for machine, one in found:
        if one.failed and not force:
            away = _is_away(one)
            fit += [machine] if away else []
            what = "used once it is back" if away else "left out"
            terminal.warn(f"{machine.address}: {what}: doctor: {one.failed[0].id}: {one.failed[0].says}")
    machines = tuple(machine for machine in ask.machines if machine in fit)
    return replace(ask, machines=machines), _against(terminal, [one for _, one in found]) if force else ()


def _asked(terminal: Terminal, ask: Request, server: Address, folder: Path) -> Diagnosis:
    """What the checks say of one server; into the log, too."""
    from mvpipe.cli.settings import default_cache
    from mvpipe.doctor.check import Level
    from mvpipe.doctor.diagnose import Place, diagnose
    from mvpipe.doctor.wanted import want_film

    place = Place(url=str(server), server=server, folder=folder, kept=default_cache().parent)
    found = diagnose(want_film(ask.loaded), place)
    for row in found.rows:
        terminal.record(f"doctor: {server}: {row.level.value}: {row.id}: {row.says}")
    if warns := found.count(Level.WARN):
        terminal.note(
            f"doctor: {counted(warns, 'check warns', 'checks warn')}: mvpipe doctor {ask.loaded.path}"
        )
    return found


def _is_away(found: Diagnosis) -> bool:
    return any(row.id == "server-answers" for row in found.failed)


def _against(terminal: Terminal, found: Sequence[Diagnosis]) -> tuple[str, ...]:
    """Ids of all checks that fail, each said."""
    rows = [row for one in found for row in one.failed]
    for row in rows:
        terminal.warn(f"doctor: {row.id}: {row.says}: rendering all the same (--force)")
    return tuple(dict.fromkeys(row.id for row in rows))
