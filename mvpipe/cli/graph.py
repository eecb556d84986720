"""`mvpipe graph`: graphs for ComfyUI, ours and yours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.render.comfyui.address import Address
    from mvpipe.render.comfyui.schema import Schemas

app = typer.Typer(
    help="List the graphs for ComfyUI, and make one of your own usable.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_graphs() -> None:
    """List the graphs mvpipe ships, what each needs and how exact its lock is."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.render.comfyui import template

    terminal = Terminal()
    for name in template.names():
        slots = template.load(name).slots
        terminal.result(f"{name}: {slots.title}")
        terminal.result(f"  lock: {slots.lock}")


@app.command("import")
def import_graph(
    workflow: Annotated[
        Path, typer.Argument(help="A workflow saved by ComfyUI.", metavar="WORKFLOW", show_default=False)
    ],
    into: Annotated[
        Path | None, typer.Option("--into", help="Folder to write to, if not beside it.", metavar="DIR")
    ] = None,
    backend: options.Backend = None,
    header: options.Header = None,
    authority: options.Authority = None,
    schemas: Annotated[
        Path | None,
        typer.Option(
            "--schemas", help="A saved answer of the server's /object_info, in its place.", metavar="FILE"
        ),
    ] = None,
) -> None:
    """Propose the slots of a graph of yours, and write both files; nothing is written over.

    API format is read as it is. What the editor saves needs the classes of the server it was made with:
    name it with --backend, or give its /object_info with --schemas. Then name the graph in the storyboard:
    `render: {graph: NAME.json}`.
    """
    import json

    from mvpipe.backends import ANIMATIC
    from mvpipe.cli.servers import find_server
    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import SettingsError
    from mvpipe.render.comfyui.importing import classes_in, propose
    from mvpipe.render.comfyui.schema import read_schemas

    terminal = Terminal()
    found = _read(workflow, "a workflow", "save it with Export (API)")
    known: Schemas | None = None
    if schemas:
        known = read_schemas(_read(schemas, "an answer of /object_info", "curl URL/object_info > FILE"))
    elif backend not in (None, ANIMATIC):
        known = _asked(find_server(backend, header or (), authority), classes_in(found))
    folder = into or workflow.parent
    graph = folder / f"{workflow.stem}.mvpipe.json"
    slots = graph.with_suffix(".slots.yaml")
    for path in (graph, slots):
        if path.exists():
            raise SettingsError(f"{path}: is there already", hint="move it away, or name another --into")
    proposal = propose(found, workflow, known)
    graph.write_text(json.dumps(proposal.graph, indent=2, ensure_ascii=False) + "\n", "utf-8")
    slots.write_text(proposal.text, "utf-8")
    for path in (graph, slots):
        terminal.result(str(path))
    for note in proposal.notes:
        terminal.warn(note)


def _read(path: Path, what: str, hint: str) -> Any:
    """A JSON file.

    Raises
    ------
    SettingsError : it is none
    """
    import json

    from mvpipe.errors import SettingsError

    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise SettingsError(f"{path}: not {what}: {exc}", hint=hint) from exc


def _asked(server: Address, classes: tuple[str, ...]) -> Schemas:
    """The classes as a server has them; those it has not are left out.

    Raises
    ------
    BackendError : it does not answer, or is not ComfyUI
    """
    from tempfile import TemporaryDirectory

    from mvpipe.render.comfyui.client import Client
    from mvpipe.render.comfyui.schema import read_schemas

    with TemporaryDirectory(prefix="mvpipe-graph-") as scratch:
        client = Client(server, Path(scratch))
        try:
            client.greet()
            found = {name: info for name in classes if (info := client.server.schema(name)) is not None}
        finally:
            client.close()
    return read_schemas(found)
