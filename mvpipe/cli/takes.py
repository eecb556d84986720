"""`mvpipe takes`: the takes of a shot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.build.vault import Entry
    from mvpipe.cli.session import Session
    from mvpipe.film import Shot
    from mvpipe.project import Project


def takes(shot: options.Shot, project: options.ProjectFolder = None, json: options.Json = False) -> None:
    """List the takes of a shot.

    Verdict, what was measured on its lips, seed, file, and which one is in the film.
    """
    from mvpipe.cli import session, tables

    with session.look_into(project) as work:
        rows = _rows(work, session.planned_shot(work.project, shot))
        if json:
            work.terminal.json({"shot": shot, "takes": rows})
            return
        if not rows:
            work.terminal.result(f"shot {shot}: no takes yet")
            return
        cells = [
            (
                str(r["take"]),
                "in the film" if r["seen"] else "",
                r["verdict"],
                *tables.lips_cells(r["lips"], r["slip"]),
                r["size"],
                str(r["seed"]),
                r["server"],
                r["file"],
                r["reason"],
            )
            for r in rows
        ]
        measured = ("offset", "confidence", "by", "control", "slip")
        head = ("take", "", "verdict", *measured, "size", "seed", "server", "file", "reason")
        work.terminal.result(tables.table(head, cells, right=(0, 3, 4, 7, 9)))


def _rows(work: Session, shot: Shot) -> list[dict[str, Any]]:
    from mvpipe.floor import server_of
    from mvpipe.mezzanine import slate_of
    from mvpipe.takes import known_takes, last_used

    vault, journal = work.project.vault, work.project.journal
    used = last_used(journal, shot.number)
    rows = []
    for known in known_takes(journal, shot.cut):
        entry = vault.find(known.key, repair=False)
        rows.append(
            {
                "take": known.number,
                "seen": bool(used and used["key"] == known.key),
                "verdict": known.outcome.value,
                "size": "{}x{}".format(*slate_of(entry).size) if entry else "",
                "seed": known.seed,
                "file": _shown(work.project, shot, known.number, entry) if entry else "lost",
                "reason": known.words,
                "slip": known.slip,
                "server": server_of(entry) if entry else "",
                "lips": dict(known.lips),
                "findings": [dict(finding) for finding in known.findings],
            }
        )
    return rows


def _shown(project: Project, shot: Shot, number: int, entry: Entry) -> str:
    """Its human name, where the last render laid it out."""
    from mvpipe.production import CLIP
    from mvpipe.shoot import take_place

    place = take_place(project, shot, number)
    return str(place if place.exists() else entry.path(CLIP))
