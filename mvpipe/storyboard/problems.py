"""Problems and notes: what is said about a place in a storyboard, and how they are said together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.scalars import show

FieldPath = tuple[str | int, ...]
"""Keys and indices from the top of the storyboard to a value."""

MOST_SHOWN = 40
"""Problems listed at once; who has more is helped by the first."""


class Mark(NamedTuple):
    """A place in a text file; both count from 1, the column in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that cannot be filmed.

    Parameters
    ----------
    mark : where it stands, if it stands somewhere
    field : the field as `sections[0].shots[2].cast`, or what of the file it is about
    text : what is wrong: what was found
    hint : what to do
    """

    mark: Mark | None
    field: str
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that stops nothing.

    Parameters
    ----------
    where : `file:line:column: field`
    text : what is noted
    """

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def dotted(path: FieldPath) -> str:
    """A path as people write it: `sections[0].shots[2].cast`."""
    said = ""
    for step in path:
        if isinstance(step, int):
            said += f"[{step}]"
        elif step.isidentifier() or step.replace("-", "_").isidentifier():
            said += f".{step}" if said else step
        else:
            said += f"[{show(step)}]"
    return said


def fail(path: Path, problems: Sequence[Problem]) -> StoryboardError:
    """One error that says all problems, a line each, in the order of the file."""
    ordered = sorted(problems, key=lambda problem: problem.mark or Mark(0, 0))
    lines = [_line(path, problem) for problem in ordered[:MOST_SHOWN]]
    if len(ordered) > MOST_SHOWN:
        lines.append(f"{path}: and {len(ordered) - MOST_SHOWN} more")
    return StoryboardError("\n".join(lines), hint=_hints(ordered[:MOST_SHOWN]))


def _line(path: Path, problem: Problem) -> str:
    mark = f"{problem.mark.line}:{problem.mark.column}:" if problem.mark else ""
    return f"{path}:{mark} {problem.field}: {problem.text}"


def _hints(problems: Sequence[Problem]) -> str:
    first = {problem.hint: problem.mark for problem in reversed(problems) if problem.hint}
    if len(first) < 2:
        return "".join(first)
    ordered = reversed(first.items())
    return "\n".join(f"line {mark.line}: {hint}" if mark else hint for hint, mark in ordered)
