"""Counts and lists as people say them."""

from __future__ import annotations

from collections.abc import Sequence

NAMED = 12
"""Things that are named in one line; of more, the first."""


def counted(many: int, one: str, more: str = "", *, form: str = "d") -> str:
    """A count with its noun: `1 shot`, `2 shots`.

    Parameters
    ----------
    one : of one thing
    more : of several; left out, `one` with an s
    form : of the number, as `format` takes it: `+d` for one with its sign
    """
    return f"{many:{form}} {one if abs(many) == 1 else more or f'{one}s'}"


def listed(things: Sequence[object], most: int = NAMED) -> str:
    """Things in one line: `1, 2, 3`; of more than `most`, the first, and how many more."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(str, things[:most])) + more


def named(what: str, things: Sequence[object], most: int = NAMED) -> str:
    """Things of a kind by their names: `shot 3`, `shots 3, 7`."""
    return f"{what}{'s' * (len(things) > 1)} {listed(things, most)}"
