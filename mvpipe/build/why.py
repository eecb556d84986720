"""Why a task would be done again: what differs between what was done and what is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NOTHING = "nothing"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A line a field that differs, `field.path: old -> new`; empty when nothing does."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    lines = []
    for field in sorted(before.keys() | after.keys()):
        was, wanted = before.get(field, _NOTHING), after.get(field, _NOTHING)
        if was != wanted:
            lines.append(f"{field}: {_short(was)} -> {_short(wanted)}")
    return lines


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def _short(value: Any) -> str:
    text = str(value)
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return text[:12]
    return text if len(text) <= 100 else f"{text[:97]}..."
