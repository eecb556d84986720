"""`mvpipe graph`: graphs for ComfyUI, ours and yours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
) -> None:
    """Propose the slots of a graph of yours, and write both files; nothing is written over.

    Name the graph in the storyboard: `render: {graph: NAME.json}`.
    """
    import json

    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import SettingsError
    from mvpipe.render.comfyui.importing import propose

    terminal = Terminal()
    try:
        found = json.loads(workflow.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise SettingsError(f"{workflow}: not a workflow: {exc}", hint="save it with Export (API)") from exc
    folder = into or workflow.parent
    graph = folder / f"{workflow.stem}.mvpipe.json"
    slots = graph.with_suffix(".slots.yaml")
    for path in (graph, slots):
        if path.exists():
            raise SettingsError(f"{path}: is there already", hint="move it away, or name another --into")
    proposal = propose(found, workflow)
    graph.write_text(json.dumps(proposal.graph, indent=2, ensure_ascii=False) + "\n", "utf-8")
    slots.write_text(proposal.text, "utf-8")
    for path in (graph, slots):
        terminal.result(str(path))
    for note in proposal.notes:
        terminal.warn(note)
