"""A recipe's settings put into a storyboard, line by line: comments, order and blanks stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mvpipe.errors import SettingsError

COMMENT = re.compile(r"[ \t]+#.*$")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
RENDER = re.compile(r"render[ \t]*:(?P<rest>.*)$")
PAIR = re.compile(r"(?P<name>[A-Za-z_]+)[ \t]*:[ \t]*(?P<value>\"[^\"]*\"|'[^']*'|[^,}#]*?)[ \t]*(?=[,}]|$)")


def with_settings(text: str, settings: Mapping[str, str]) -> str:
    """A storyboard's text with these settings under `render`; all else is left alone, byte for byte.

    Raises
    ------
    SettingsError : its `render` is written in a way that cannot be edited safely
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(ending)
    at = next((i for i, line in enumerate(lines) if RENDER.match(line)), None)
    if at is None:
        return ending.join(_added(lines, [f"render: {{{_pairs(settings)}}}"]))
    found = RENDER.match(lines[at])
    rest = _without_comment(found["rest"]) if found else ""
    if not rest:
        return ending.join([*lines[: at + 1], *_block(lines[at + 1 :], settings)])
    if not (rest.startswith("{") and rest.endswith("}")) or rest.count("{") > 1:
        raise SettingsError(
            "storyboard: render: written in a way mvpipe does not edit",
            hint=f"write it yourself: {_pairs(settings)}",
        )
    comment = lines[at][lines[at].index(rest) + len(rest) :]
    lines[at] = f"render: {{{_pairs(_merged(rest, settings))}}}{comment}"
    return ending.join(lines)


def _without_comment(rest: str) -> str:
    return re.sub(r"(^|[ \t])#.*$", "", rest).strip()


def _merged(flow: str, settings: Mapping[str, str]) -> dict[str, str]:
    told = {pair["name"]: pair["value"].strip() for pair in PAIR.finditer(flow[1:-1])}
    return {**told, **settings}


def _pairs(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in settings.items())


def _added(lines: Sequence[str], new: Sequence[str]) -> list[str]:
    """Lines at the end of a file, before its last line break."""
    last = len(lines)
    while last and not lines[last - 1].strip():
        last -= 1
    return [*lines[:last], "", *new, *(lines[last:] or [""])]


def _block(lines: Sequence[str], settings: Mapping[str, str]) -> list[str]:
    """The lines behind `render:`, in which settings stand one a line."""
    end = next(
        (i for i, line in enumerate(lines) if line.strip() and not line.startswith((" ", "\t", "#"))),
        len(lines),
    )
    own = [line for line in lines[:end] if line.strip() and not line.lstrip().startswith("#")]
    indent = re.match(r"[ \t]*", own[0])[0] if own else "  "  # type: ignore[index]  # matches always
    left, out = dict(settings), []
    for line in lines[:end]:
        name = re.match(rf"{re.escape(indent)}(?P<name>[A-Za-z_]+)[ \t]*:(?P<rest>.*)$", line)
        if name and name["name"] in left:
            comment = COMMENT.search(QUOTED.sub(lambda m: "_" * len(m[0]), name["rest"]))
            kept = name["rest"][comment.start() :] if comment else ""
            out.append(f"{indent}{name['name']}: {left.pop(name['name'])}{kept}")
        else:
            out.append(line)
    return [*[f"{indent}{name}: {value}" for name, value in left.items()], *out, *lines[end:]]
