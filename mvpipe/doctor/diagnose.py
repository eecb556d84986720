"""From what is to be rendered, and where, to the table: facts gathered once, every check asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.doctor import canary
from mvpipe.doctor.check import Area, Case, Level, Row, examine
from mvpipe.doctor.facts import NO_MODELS, Facts, ModelFile, Server, Unseen
from mvpipe.doctor.gather import models_beside, see_models, see_server
from mvpipe.doctor.machine import Eyes, look
from mvpipe.doctor.recipes import suggest
from mvpipe.doctor.wanted import Wanted
from mvpipe.render.comfyui.address import Address, address
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.server import Server as Wire
from mvpipe.render.comfyui.transport import Transport

IN_A_HURRY = Patience(connect_s=5.0, answer_s=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to look.

    Parameters
    ----------
    url : the server's address as the user named it; empty to ask none
    hashed : whether the files of the graph are read whole, for their sums
    models : ComfyUI's models folder; None for the one beside a server on this machine, where it tells
    folder : where the film goes
    kept : folder of what canaries proved
    eyes : how the machine is looked at
    server : the same server with its secrets, where it has any
    """

    url: str
    folder: Path
    kept: Path
    models: Path | None = None
    hashed: bool = False
    eyes: Eyes | None = None
    server: Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What all checks came to, and the name of the recipe that fits; empty where the card is not visible."""

    facts: Facts
    rows: tuple[Row, ...]
    recipe: str = ""

    @property
    def failed(self) -> tuple[Row, ...]:
        """What a render must not start with."""
        return tuple(row for row in self.rows if row.level is Level.FAIL)

    @property
    def result(self) -> str:
        """`pass` if a render may start, else `fail`."""
        return "fail" if self.failed else "pass"

    def count(self, level: Level) -> int:
        """Rows of a level."""
        return sum(row.level is level for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """One object for scripts."""
        return {
            "result": self.result,
            "recipe": self.recipe,
            "checks": [row.as_json() for row in self.rows],
            "facts": self.facts.as_json(),
        }

    def text(self) -> str:
        """The table for people, one line a check."""
        lines = table([(row.level.value, row.id, row.says) for row in self.rows])
        counts = ", ".join(f"{self.count(level)} {level.value}" for level in Level)
        may = "a render must not start" if self.failed else "a render may start"
        lines += [f"recipe: {self.recipe}: mvpipe recipe show {self.recipe}"] if self.recipe else []
        return "\n".join([*lines, f"result: {self.result}: {may} ({counts})"])


def table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Three columns, the first two as wide as they need."""
    wide = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    return [f"{a.ljust(wide[0])}  {b.ljust(wide[1])}  {c}" for a, b, c in rows]


def gather(wanted: Wanted, place: Place) -> Facts:
    """All that can be seen.

    Raises
    ------
    SettingsError : an address that is none
    MediaError : a models folder that is none
    """
    server = _server(wanted, place) if place.url else Facts().server
    return Facts(
        server=server,
        machine=look(place.folder, place.eyes),
        models=_models(place, server, wanted.files if place.hashed else ()),
        canary=Facts().canary if isinstance(server, Unseen) else canary.last(place.kept, server.url),
    )


def _server(wanted: Wanted, place: Place) -> Server | Unseen:
    transport = Transport(place.server or address(place.url), IN_A_HURRY)
    try:
        return see_server(Wire(transport), wanted.template.asks())
    finally:
        transport.close()


def _models(place: Place, server: Server | Unseen, hashed: Collection[str]) -> tuple[ModelFile, ...] | Unseen:
    beside = None if isinstance(server, Unseen) else models_beside(server)
    folder = place.models or beside
    return see_models(folder, hashed) if folder else NO_MODELS


def diagnose(wanted: Wanted, place: Place, *, areas: frozenset[Area] | None = None) -> Diagnosis:
    """Look, and ask every check; raises as `gather`."""
    facts = gather(wanted, place)
    case = Case(facts=facts, wanted=wanted)
    return Diagnosis(facts=facts, rows=tuple(examine(case, areas=areas)), recipe=suggest(case))


def explained(name: str) -> Mapping[str, str]:
    """What is known of a check, by heading.

    Raises
    ------
    SettingsError : there is no such check
    """
    from mvpipe.doctor.check import about

    found = about(name)
    return {
        "check": name,
        "asks": found.asks,
        "cause": found.cause,
        "evidence": found.evidence,
        "remedy": found.remedy,
        "verify": found.verify,
        "source": found.source,
    }
