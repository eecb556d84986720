"""Values as YAML that a person would have written: bare where that is safe, else quoted or folded."""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mvpipe.clock import format_time

WIDTH = 100
"""Columns of a line of folded text."""

_BARE = re.compile(r"[^\W_]|[(/+.]")
_FLOW = set(",[]{}")
_TYPED = re.compile(
    r"(?i)(true|false|yes|no|on|off|y|n|null|~|[-+.\d][\d_.,eExXoO+-]*|[-+]?\.(inf|nan))", re.ASCII
)
"""What another reader of YAML would take for something else than text."""


def scalar(text: str, *, flow: bool = False) -> str:
    """A text on one line: bare, or in double quotes.

    Parameters
    ----------
    text : any text
    flow : whether it stands inside [ ] or { }
    """
    return text if _is_plain(text, flow) else quoted(text)


def key(name: str) -> str:
    """A key, in block or in braces: numbers of shots stay bare."""
    return name if name.isdecimal() and name.isascii() else scalar(name, flow=True)


def _is_plain(text: str, flow: bool) -> bool:
    return bool(
        _BARE.match(text)
        and not text.endswith((" ", ":"))
        and not re.search(r":\s|\s#|\s\s|[\n\t]", text)
        and not _TYPED.fullmatch(text)
        and not (flow and _FLOW & set(text))
        and all(_seen(char) for char in text)
    )


def _seen(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}


def quoted(text: str) -> str:
    """A text in double quotes; what cannot be seen is written by its number."""
    return re.sub(r"[^ -~]", _escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if _seen(char):
        return char
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}"


def folded(text: str, indent: int) -> str | None:
    """The text as a folded block behind its key, or None where it cannot stand in one.

    Parameters
    ----------
    text : on one line, single blanks between its words
    indent : columns the block stands in
    """
    if text != " ".join(text.split()) or not text or not all(_seen(char) for char in text):
        return None
    lines = textwrap.wrap(text, max(WIDTH - indent, 40), break_long_words=False, break_on_hyphens=False)
    return ">\n" + "\n".join(" " * indent + line for line in lines)


def value(found: Any, indent: int) -> str:
    """What stands behind a key, on its line or below it.

    Parameters
    ----------
    found : text, a list or a mapping of such
    indent : columns the key stands in
    """
    if isinstance(found, list) and found and all(isinstance(item, Mapping) for item in found):
        return "\n" + "\n".join(row for item in found for row in listed(item, indent + 2))
    if isinstance(found, str):
        short = scalar(found)
        block = folded(found, indent + 2) if len(short) + indent > WIDTH - 10 else None
        return block or short
    return flow(found)


def flow(found: Any) -> str:
    """A value on one line, lists and mappings in brackets."""
    match found:
        case str():
            return scalar(found, flow=True)
        case Mapping():
            inner = ", ".join(f"{key(str(name))}: {flow(item)}" for name, item in found.items())
            return f"{{{inner}}}"
        case Sequence():
            return f"[{', '.join(map(flow, found))}]"
    return str(found).lower() if isinstance(found, bool) else str(found)


def lines(found: Mapping[str, Any], indent: int) -> list[str]:
    """A mapping as block lines, each key in column `indent`."""
    pad = " " * indent
    shown = ((key(name), value(item, indent)) for name, item in found.items())
    return [f"{pad}{name}:{'' if item.startswith(chr(10)) else ' '}{item}" for name, item in shown]


def moment(seconds: Fraction) -> str:
    """A time as people write it, to the millisecond: `1:02`, `0:26.75`.

    A frame's time is rounded down by less than half a frame, so it is read back as the same frame.
    """
    text = format_time(seconds)
    return text.rstrip("0").rstrip(".") if "." in text else text


def listed(found: Mapping[str, Any], dash: int) -> list[str]:
    """A mapping as an item of a list, its dash in column `dash`."""
    first, *rest = lines(found, dash + 2)
    return [f"{' ' * dash}- {first.lstrip()}", *rest]


def comment(text: str, indent: int = 0, width: int = WIDTH) -> list[str]:
    """A text as comment lines; what would end the line, or cannot be seen, becomes a blank."""
    pad = " " * indent + "# "
    clean = " ".join("".join(char if _commentable(char) else " " for char in text).split())
    return textwrap.wrap(
        clean,
        width,
        initial_indent=pad,
        subsequent_indent=pad,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _commentable(char: str) -> bool:
    """Joiners shape Persian words and family emoji; other unseen characters could reverse a whole line."""
    return _seen(char) or char in "\u200c\u200d"
