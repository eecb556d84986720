"""Checks: small pure functions over facts. What each is about is said in `data/checks.yaml`.

A check is a function of a `Case` with an id; it returns a `Finding`, or None where it has nothing to ask (a
Radeon's check on a GeForce). Asking for what was not seen raises `NotVisible`, which becomes the finding
`not visible from here` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from mvpipe.doctor.facts import Facts, Server, Unseen
from mvpipe.doctor.wanted import Wanted
from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.written import modelled, read_yaml

DATA = Path(__file__).parent / "data"

T = TypeVar("T")


class Level(StrEnum):
    """What a check comes to."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNSEEN = "not visible from here"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check comes to, in one line."""

    level: Level
    says: str


class NotVisible(Exception):  # no error: a finding
    """A check asked for what was not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the checks look at: what was seen, and what is to be rendered."""

    facts: Facts
    wanted: Wanted

    @property
    def server(self) -> Server:
        """The server; raises NotVisible."""
        return seen(self.facts.server)


def seen(value: T | Unseen) -> T:
    """A fact.

    Raises
    ------
    NotVisible : it is none
    """
    if isinstance(value, Unseen):
        raise NotVisible(value.why)
    return value


def ok(says: str) -> Finding:
    """Nothing is wrong."""
    return Finding(Level.OK, says)


def warn(says: str) -> Finding:
    """It may go wrong."""
    return Finding(Level.WARN, says)


def fail(says: str) -> Finding:
    """A render must not start."""
    return Finding(Level.FAIL, says)


Look = Callable[[Case], Finding | None]
LOOKS: dict[str, Look] = {}


def check(name: str) -> Callable[[Look], Look]:
    """Register a check under its id."""

    def register(look: Look) -> Look:
        if name in LOOKS:
            raise ValueError(f"two checks of one name: {name}")
        LOOKS[name] = look
        return look

    return register


Area = Literal["server", "flags", "graph", "files", "machine", "amd", "canary"]


class About(BaseModel):
    """What is said of a check.

    Parameters
    ----------
    area : where it belongs
    asks : what it asks
    cause : what goes wrong otherwise, and why
    evidence : what is known of it, with disputes
    remedy : what to do
    verify : how to see that it helped
    source : who says so
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    area: Area
    asks: str = Field(min_length=8)
    cause: str = Field(min_length=20)
    evidence: str = Field(min_length=10)
    remedy: str = Field(min_length=8)
    verify: str = Field(min_length=8)
    source: str = Field(min_length=4)


class Checks(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = Field(alias="mvpipe-checks")
    checks: Mapping[str, About]


@lru_cache(maxsize=1)
def abouts() -> Mapping[str, About]:
    """What is said of each check, in the order of the table."""
    path = DATA / "checks.yaml"
    return modelled(Checks, read_yaml(path), path).checks


def about(name: str) -> About:
    """What is said of a check.

    Raises
    ------
    SettingsError : there is no such check
    """
    from difflib import get_close_matches

    if name not in abouts():
        near = get_close_matches(name, abouts(), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(abouts())}"
        raise SettingsError(f"--explain: {name}: no such check", hint=hint)
    return abouts()[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    id: str
    area: Area
    level: Level
    says: str

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {"id": self.id, "area": self.area, "level": self.level.value, "says": self.says}


def examine(case: Case, *, areas: frozenset[str] | None = None) -> list[Row]:
    """Every check that has something to ask, in the order of the file.

    Parameters
    ----------
    areas : only these; None for all
    """
    from mvpipe.doctor import (
        checks_canary,
        checks_files,
        checks_flags,
        checks_graph,
        checks_machine,
        checks_server,
    )

    assert all((checks_canary, checks_files, checks_flags, checks_graph, checks_machine, checks_server))
    wanted = {name: one for name, one in abouts().items() if areas is None or one.area in areas}
    found = {name: _examined(name, case) for name in wanted}
    return [
        Row(id=name, area=wanted[name].area, level=finding.level, says=finding.says)
        for name, finding in found.items()
        if finding
    ]


def _examined(name: str, case: Case) -> Finding | None:
    try:
        return LOOKS[name](case)
    except NotVisible as exc:
        return Finding(Level.UNSEEN, str(exc))
