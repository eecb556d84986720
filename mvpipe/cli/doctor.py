"""`mvpipe doctor`: may a render start, and what is in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.build.muster import Force
    from mvpipe.cli.session import Session
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.check import Area, Row
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
        refuse(one.failed)


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


def refuse(failed: Sequence[Row]) -> None:
    """Raise what a render must not start with.

    Raises
    ------
    NotReady : a check fails
    """
    from mvpipe.errors import NotReady

    if failed:
        first = failed[0]
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise NotReady(
            f"doctor: {first.id}: {first.says}{more}",
            hint=f"mvpipe doctor --explain {first.id} says what to do",
        )


def before(work: Session, ask: Request, *, force: bool) -> tuple[Request, tuple[str, ...]]:
    """Ask the checks before a render; the request without servers that fail, and the checks gone against.

    Of several servers one that is away stays in the request: it is used once it is back. Of a cluster every
    worker that renders is asked of its own server, and one that fails gets no takes.

    Raises
    ------
    NotReady : a check fails at every server, and `force` is false
    BackendError : a worker cannot be asked
    """
    from dataclasses import replace

    from mvpipe.backends import ANIMATIC, kind_of
    from mvpipe.crowd import H3

    terminal = work.terminal
    if kind_of(ask) == ANIMATIC:
        return ask, ()  # nothing of H3 is needed here
    if work.cluster:
        found = _ask_workers(work.cluster, ask)
    else:
        found = {str(one.address): _ask(ask, one.address, work.project.folder) for one in ask.machines}
    failed = {name: _told(terminal, name, rows, ask) for name, rows in found.items()}
    if force:
        return ask, _against(terminal, failed)
    if failed and all(failed.values()):  # nobody, where all workers have just gone: they may come back
        refuse(next(iter(failed.values())))
    for name, rows in failed.items():
        if rows and not (work.cluster and _is_away(rows)):  # that was said when the workers were mustered
            what = "used once it is back" if _is_away(rows) else "left out"
            terminal.warn(f"{name}: {what}: doctor: {rows[0].id}: {rows[0].says}")
    out = [name for name, rows in failed.items() if rows and not _is_away(rows)]
    if work.cluster:
        work.cluster.spare(out, H3)
    return replace(ask, machines=tuple(one for one in ask.machines if str(one.address) not in out)), ()


def _ask(ask: Request, server: Address, folder: Path) -> Sequence[Row]:
    """What the checks say of one server."""
    from mvpipe.cli.settings import default_cache
    from mvpipe.doctor.diagnose import Place, diagnose
    from mvpipe.doctor.wanted import want_film

    place = Place(url=str(server), server=server, folder=folder, kept=default_cache().parent)
    return diagnose(want_film(ask.loaded), place).rows


def _ask_workers(cluster: Force, ask: Request) -> Mapping[str, Sequence[Row]]:
    """What the checks say of the server of every worker that renders, by the worker's name."""
    from mvpipe.cli.worker import diagnosed
    from mvpipe.crowd import renderers
    from mvpipe.doctor.wanted import want_film
    from mvpipe.errors import BackendError

    names = {hand.address: hand.name for hand in renderers(cluster.hands())}
    found = cluster.everyone(diagnosed, want_film(ask.loaded), workers=list(names))
    for address, said in found.items():
        if isinstance(said, BaseException):
            raise BackendError(
                f"worker {names[address]}: doctor: cannot be asked: {said}",
                hint="look at the worker's own output, or start it anew",
            ) from said
    return {names[address]: rows for address, rows in found.items()}


def _told(terminal: Terminal, name: str, rows: Sequence[Row], ask: Request) -> Sequence[Row]:
    """The checks that fail, of all that were asked at one server, which go into the log."""
    from mvpipe.doctor.check import Level

    for row in rows:
        terminal.record(f"doctor: {name}: {row.level.value}: {row.id}: {row.says}")
    if warns := sum(row.level is Level.WARN for row in rows):
        checks = counted(warns, "check warns", "checks warn")
        terminal.note(f"doctor: {name}: {checks}: mvpipe doctor {ask.loaded.path}")
    return [row for row in rows if row.level is Level.FAIL]


def _is_away(failed: Sequence[Row]) -> bool:
    return any(row.id == "server-answers" for row in failed)


def _against(terminal: Terminal, failed: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
    """Ids of all checks that fail, each said."""
    rows = [(name, row) for name, rows in failed.items() for row in rows]
    for name, row in rows:
        terminal.warn(f"doctor: {name}: {row.id}: {row.says}: rendering all the same (--force)")
    return tuple(dict.fromkeys(row.id for _, row in rows))
