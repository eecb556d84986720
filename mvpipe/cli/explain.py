"""`mvpipe explain`: why something failed, and what to do first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mvpipe.doctor.faults import Explained
    from mvpipe.render.comfyui.address import Address

TAIL = 8 * 1024 * 1024
"""Bytes of the end of a log that are read."""


def explain(
    text: Annotated[
        str, typer.Argument(help="An error's words, or - for stdin.", metavar="[TEXT]", show_default=False)
    ] = "",
    log: Annotated[
        Path | None, typer.Option("--log", help="A log, such as ComfyUI's.", metavar="FILE")
    ] = None,
    job: Annotated[
        str,
        typer.Option(
            "--job", help="A job of the project by its name, such as 'take 3.1', or 'last'.", metavar="ID"
        ),
    ] = "",
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", help="Write a zip file for a bug report, without secrets.", metavar="OUT"),
    ] = None,
    backend: options.Backend = None,
    header: options.Header = None,
    authority: options.Authority = None,
    project: options.ProjectFolder = None,
    json: options.Json = False,
) -> None:
    """Say what is known of a failure: cause, what to do first, what it costs, how to verify, sources.

    Without TEXT, --log or --job: the last failure of the project. A server is asked for --bundle alone.
    """
    from mvpipe.cli.servers import find_server
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.faults import explain as recognise
    from mvpipe.doctor.faults import nearest

    terminal = Terminal()
    asked = _asked(text, log, job, project)
    found = recognise(asked)
    near = [] if found else nearest(asked)
    if bundle:
        _bundle(bundle, asked, found, near, find_server(backend, header or (), authority))
        terminal.note(f"{bundle}: read it once before you attach it")
    if json:
        result = "known" if found else "not known"
        terminal.json({"result": result, "faults": [one.as_json() for one in found], "nearest": near})
    elif found:
        terminal.result("\n\n".join(one.text() for one in found))
    else:
        terminal.result(f"not known{_nearest(near)}")
        if not bundle:
            terminal.note("--bundle OUT.zip writes a report without secrets, fit to attach to an issue")


def _bundle(into: Path, asked: str, found: Sequence[Explained], near: Sequence[str], server: Address) -> None:
    """Write what is visible of server, files and machine beside the words that were asked about."""
    from mvpipe.cli.settings import default_cache
    from mvpipe.doctor.bundle import bundle_files, write_bundle
    from mvpipe.doctor.diagnose import Place, gather
    from mvpipe.doctor.redact import of_this_machine
    from mvpipe.doctor.wanted import want

    place = Place(url=str(server), server=server, folder=Path.cwd(), kept=default_cache().parent)
    facts = gather(want(), place).as_json()
    secrets = [*server.headers.values(), *(value for _, value in server.query)]
    redactor = of_this_machine(addresses=[str(server)], secrets=secrets)
    write_bundle(into, bundle_files(asked, found, near, facts, redactor))


def _nearest(near: list[str]) -> str:
    from mvpipe.doctor.faults import known_faults

    return "".join(f"\n  nearest: {name}: {known_faults()[name].title}" for name in near)


def _asked(text: str, log: Path | None, job: str, project: Path | None) -> str:
    from mvpipe.errors import SettingsError

    if sum(map(bool, (text, log, job))) > 1:
        raise SettingsError("explain: one of TEXT, --log and --job")
    if text == "-":
        return sys.stdin.read()
    if text:
        return text
    if log:
        try:
            with log.open("rb") as stream:
                stream.seek(max(0, log.stat().st_size - TAIL))
                return stream.read(TAIL).decode("utf-8", "replace")
        except OSError as exc:
            raise SettingsError(f"--log: {log}: {(exc.strerror or str(exc)).lower()}") from exc
    return _job(job or "last", project)


def _job(name: str, project: Path | None) -> str:
    """What the journal says of the last failed attempt at a job."""
    from mvpipe.cli import session
    from mvpipe.errors import SettingsError

    with session.look_into(project) as work:
        jobs = [one for one in work.project.journal.jobs() if one.outcome == "failed" and one.note]
    if name == "last" and not jobs:
        raise SettingsError("nothing has failed here", hint="mvpipe explain TEXT, or --log FILE")
    if name != "last":
        jobs = [one for one in jobs if one.name == name or one.key.startswith(name)]
    if not jobs:
        raise SettingsError(
            f"--job: {name}: no failed attempt of that name", hint="mvpipe status tells the shots"
        )
    return jobs[-1].note
