"""`mvpipe gate`: judge the takes that are there again, and say which stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.standing import Standing


def gate(
    shots: Annotated[
        list[str] | None, typer.Argument(help="Show these alone: 3 or 7-9.", metavar="[SHOT...]")
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="List the figures that a storyboard may change, and end.")
    ] = False,
    pictures: Annotated[
        bool,
        typer.Option(
            "--pictures",
            help="Draw verdicts, mouths and voice and curves: all of the shots that are named; of no names, "
            "those that do not pass.",
        ),
    ] = False,
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Judge the takes that are there again, without rendering.

    By the storyboard's rules and the weights there are now. Which take stands in a shot follows from it; the
    next render puts it into the film. Exit codes: as of render.
    """
    from pathlib import Path

    from mvpipe import pipeline
    from mvpipe.cli import session, tables
    from mvpipe.cli.terminal import Terminal
    from mvpipe.project import find_folder
    from mvpipe.report import gate_lines
    from mvpipe.standing import stand

    if rules:
        Terminal().result(_rules())
        return
    wanted = session.numbers(shots) if shots else None
    folder = project or find_folder(Path.cwd())
    ask = session.recall(folder)
    with session.work_in(folder, quiet=quiet or json, wait=wait) as work:
        with work.watcher() as watcher:
            ready = pipeline.prepare(work.project, ask, watcher)
            session.check_shots(wanted or (), ready.production.plan.shots)
            asked = (wanted or ()) if pictures else None
            made = pipeline.rejudge(work.project, ready, pictures=asked, watcher=watcher)
        found = stand(work.project, ready.production.plan, made).only(wanted)
        for path in made.pages.values():
            work.terminal.note(f"a verdict as a picture: {path}")
        if json:
            common = [{"shots": list(one.shots), "offset_ms": one.offset_ms} for one in found.common]
            record = {"result": found.result, "pipeline_faults": common, "control": dict(found.control)}
            work.terminal.json({**record, "shots": [one.as_json() for one in found.shots]})
        else:
            head = ("shot", "stands", "verdict", "offset", "confidence", "by", "control", "slip", "reason")
            rows = [_row(one) for one in found.shots]
            lines = [*gate_lines(found), tables.table(head, rows, right=(0, 3, 4, 7))]
            work.terminal.result("\n".join(lines))
        if complaint := found.complaint():
            raise complaint


def _row(one: Standing) -> tuple[str, ...]:
    from mvpipe.cli.tables import lips_cells

    picked = ", picked" if one.picked else ""
    stands = f"take {one.take}{picked}" if one.take else "slug"
    verdict = f"{one.outcome}{', seen' if one.marked else ''}" if one.take else ""
    return (str(one.shot), stands, verdict, *lips_cells(one.lips, one.slip), one.reason)


def _rules() -> str:
    from mvpipe.cli.tables import table
    from mvpipe.gate.rules import RULES

    rows = [
        (r.about, name, f"{r.value:g}", f"{r.low:g} to {r.high:g}", r.what, r.source)
        for name, r in RULES.items()
    ]
    return table(("about", "rule", "value", "may be", "what", "source"), rows, right=(2,))
