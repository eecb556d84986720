"""From a tree of texts to a Storyboard, or to everything that keeps it from being one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mvpipe.storyboard.models import Storyboard
from mvpipe.storyboard.nodes import Entries, Items, Node, Text
from mvpipe.storyboard.problems import MOST_SHOWN, FieldPath, Mark, Problem, dotted
from mvpipe.storyboard.scalars import did_you_mean, one_spelling, show


@dataclass(frozen=True, slots=True)
class Marks:
    """Where every value and every key stands in the file."""

    values: dict[FieldPath, Mark] = field(default_factory=dict)
    keys: dict[FieldPath, Mark] = field(default_factory=dict)

    def value(self, path: FieldPath) -> Mark:
        """The mark of a value, or of the nearest thing around it that was written."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Mark(1, 1))

    def key(self, path: FieldPath) -> Mark:
        """The mark of a key, or of what stands in its place."""
        return self.keys.get(path) or self.value(path)


def read(tree: Node, folder: Path) -> tuple[Storyboard | None, Marks, list[Problem]]:
    """The storyboard a tree describes, with the place of each value; without it, the problems.

    Parameters
    ----------
    tree : as composed
    folder : against which the files it names are looked up
    """
    marks = Marks()
    values = _spread(tree, (), marks)
    context = {"folder": folder, **{group: _listed(values, group) for group in ("cast", "places")}}
    try:
        return Storyboard.model_validate(values, context=context), marks, []
    except ValidationError as exc:
        errors = sorted(exc.errors(include_url=False), key=lambda error: _mark(error, marks))
        # guesses cost time, and nobody sees those of the rest
        shown = [_problem(error, marks) for error in errors[:MOST_SHOWN]]
        rest = [Problem(mark=_mark(e, marks), field="", text="") for e in errors[MOST_SHOWN:]]
        return None, marks, [*shown, *rest]


def _spread(node: Node, path: FieldPath, marks: Marks) -> Any:
    """Dicts, lists and text; None where a key has nothing behind it."""
    marks.values[path] = node.mark
    match node:
        case Text():
            return None if node.bare and not node.text else node.text
        case Items():
            return [_spread(item, (*path, number), marks) for number, item in enumerate(node.items)]
        case Entries():
            spread = {}
            for key, value in node.entries:
                here = (*path, one_spelling(key.text))
                marks.keys[here] = key.mark
                spread[here[-1]] = _spread(value, here, marks)
            return spread


def _listed(values: Any, group: str) -> tuple[str, ...] | None:
    """The names described under `cast` or `places`; None if that part is no mapping, which is said anyway."""
    described = values.get(group) if isinstance(values, dict) else None
    if not isinstance(described, dict | None):
        return None
    return tuple(described or {})


def _mark(error: Any, marks: Marks) -> Mark:
    path = _path(error)
    about_key = error["type"] == "extra_forbidden" or "[key]" in error["loc"]
    return marks.key(path) if about_key else marks.value(path)


def _path(error: Any) -> FieldPath:
    return tuple(step for step in error["loc"] if step != "[key]")


def _problem(error: Any, marks: Marks) -> Problem:
    path = _path(error)
    kind, found, context = error["type"], error["input"], error.get("ctx", {})
    cause = context.get("error")
    if cause is not None:
        text, hint = str(cause), getattr(cause, "hint", "")
    elif kind == "missing":
        text, hint = _missing(path, found)
    elif kind == "extra_forbidden":
        text, hint = _unknown(path, found)
    elif options := re.findall(r"'([^']+)'", str(context.get("expected", ""))):
        text = f"not one of {', '.join(options)}: {show(found)}"
        hint = did_you_mean(found, options) if isinstance(found, str) else ""
    else:
        text, hint = _shape(kind, found)
    return Problem(mark=_mark(error, marks), field=dotted(path) or "storyboard", text=text, hint=hint)


def _missing(path: FieldPath, found: Any) -> tuple[str, str]:
    given = ", ".join(list(found)[:12]) if isinstance(found, dict) and found else "nothing"
    examples = _fields(path[:-1]).get(str(path[-1]), {}).get("examples", [""])
    return f"missing: found only {given}", f"such as {path[-1]}: {examples[0]}"


def _unknown(path: FieldPath, found: Any) -> tuple[str, str]:
    key, known = str(path[-1]), _fields(path[:-1])
    text = f"unknown key: {show(key)}"
    if not key.isprintable():
        return text, "a character that cannot be seen stands in the key: type it again"
    if near := get_close_matches(key.lower(), known, n=1, cutoff=0.6):
        return text, f"did you mean {near[0]}?"
    if found is None and path[:-1]:
        return text, "if this belongs to the text before it: a text with a comma inside { } needs quotes"
    if home := next((other for other in _HOMES if key in _fields(other)), None):
        return text, f"it belongs to {dotted(home).replace('[0]', '')}"
    return text, f"known here: {', '.join(known)}"


_HOMES: tuple[FieldPath, ...] = (
    ("picture",), ("cuts",), ("sound",), ("render",), ("render", "animatic"), ("gate",),
    ("sections", 0), ("sections", 0, "shots", 0), (),
)  # fmt: skip


def _fields(path: FieldPath) -> Mapping[str, Any]:
    """The known keys at a path, from the schema."""
    schema = _schema()
    here: Any = schema
    for step in path:
        here = here.get("items", {}) if isinstance(step, int) else _behind(here, step)
        here = _followed(here, schema)
    return dict(here.get("properties", {}))


@cache
def _schema() -> dict[str, Any]:
    return Storyboard.model_json_schema()


def _behind(here: Any, step: str) -> Any:
    return here.get("properties", {}).get(step) or here.get("additionalProperties") or {}


def _followed(here: Any, schema: Any) -> Any:
    if "$ref" in here:
        return schema["$defs"][here["$ref"].rsplit("/", 1)[-1]]
    return here


def _shape(kind: str, found: Any) -> tuple[str, str]:
    if kind in {"tuple_type", "list_type"}:
        hint = (
            f"write [{found}]"
            if isinstance(found, str) and len(found) < 40
            else "begin each with - or write [a, b]"
        )
        return f"expected a list: found {show(found)}", hint
    if kind in {"model_type", "dict_type", "mapping_type", "model_attributes_type"}:
        return f"expected keys and values: found {show(found)}", "such as {key: value}"
    return f"cannot be read ({kind}): found {show(found)}", ""
