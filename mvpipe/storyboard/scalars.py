"""What a single value in a storyboard means: text becomes a time, a size, a number, a name.

Every reader takes the text as written (or the value it stands for, from code) and gives the value;
what it refuses is a `Wrong` that reads *what: what was found*. No I/O, no YAML, no pydantic.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NamedTuple

from mvpipe.clock import parse_time

LONGEST_NAME = 60
"""Characters of a name; it stands on cards, in file names and in messages."""

LATEST = Fraction(24 * 3600)
"""No song lasts a day; a larger time is a slip of the pen."""

SIZE_STEP, SMALLEST_SIDE, LONGEST_SIDE = 32, 64, 2048
"""H3 renders sides that are multiples of 32 (its node's schema); even, as every encoder wants it."""


class Wrong(ValueError):
    """A value that does not mean what its field needs; reads *what: what was found*.

    The hint may be a function: a guess among many names is only made for who reads it.
    """

    def __init__(self, message: str, *, hint: str | Callable[[], str] = "") -> None:
        super().__init__(message)
        self._hint = hint

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self._hint if isinstance(self._hint, str) else self._hint()


class Size(NamedTuple):
    """Width and height of the picture in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


class Stretch(NamedTuple):
    """Seconds [start, stop) of the song."""

    start: Fraction
    stop: Fraction


def show(value: Any) -> str:
    """What was found, in a few words."""
    match value:
        case None:
            return "nothing"
        case str():
            short = value if len(value) <= 60 else f"{value[:57]}..."
            return json.dumps(short, ensure_ascii=any(unicodedata.category(c) in _UNSEEN for c in short))
        case list() | tuple():
            return "a list"
        case dict():
            return "keys and values"
    return repr(value)


_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def text(value: Any) -> str:
    """Text as written, without the blanks around it."""
    if not isinstance(value, str):
        raise Wrong(f"expected text: found {show(value)}")
    for char in value:
        if unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t":
            raise Wrong(f"a character that cannot be shown: U+{ord(char):04X} in {show(value)}")
    return value.strip()


def line(value: Any) -> str:
    """Text on one line, single blanks between its words."""
    return " ".join(text(value).split())


def words(value: Any) -> str:
    """Text on one line that says something."""
    found = line(value)
    if not found:
        raise Wrong("empty: found no text")
    return found


def one_spelling(words: str) -> str:
    """Words in the one spelling that makes equal ones equal: NFC, single blanks."""
    return " ".join(unicodedata.normalize("NFC", words).split())


def name(value: Any) -> str:
    """A name, in one spelling."""
    found = one_spelling(words(value))
    if len(found) > LONGEST_NAME:
        raise Wrong(f"a name of more than {LONGEST_NAME} characters: {show(found)}")
    if bad := next((c for c in found if c in "/\\<>"), ""):
        raise Wrong(f"a name cannot hold {bad}: {show(found)}")
    return found


def time(value: Any) -> Fraction:
    """Seconds from `S`, `M:SS.mmm` or `H:MM:SS.mmm`."""
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        seconds = Fraction(value)
    else:
        try:
            seconds = parse_time(_ascii(value))
        except ValueError as exc:
            raise Wrong(f"not a time: {show(value)}", hint=_time_hint(value)) from exc
    if not 0 <= seconds <= LATEST:
        raise Wrong(f"a time runs from 0 to {LATEST // 3600} hours: {show(value)}")
    return seconds


def _ascii(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii() or len(value) > LONGEST_NAME:
        raise ValueError(value)
    return value


def _time_hint(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"(\d+:)*\d+,\d+", value):
        return "write a point, not a comma: " + value.replace(",", ".")
    if isinstance(value, str) and value.count(":") >= 1 and re.fullmatch(r"[\d:.]+", value):
        return "minutes and seconds run from 00 to 59; frames are not written, milliseconds are: 1:02.500"
    return "write seconds, M:SS.mmm or H:MM:SS.mmm, such as 41, 0:41.5 or 1:02:03"


def stretch(value: Any) -> Stretch:
    """A stretch of the song from `start - stop`."""
    if isinstance(value, Stretch):
        return value
    ends = re.split(r"\s*[-\u2013\u2014]\s*", value) if isinstance(value, str) else []
    if len(ends) != 2:
        raise Wrong(f"not a stretch of time: {show(value)}", hint='write two times: "1:02 - 1:03.5"')
    start, stop = time(ends[0].strip()), time(ends[1].strip())
    if start >= stop:
        raise Wrong(f"ends before it begins: {show(value)}", hint="the earlier time comes first")
    return Stretch(start, stop)


def size(value: Any) -> Size:
    """A picture size from `WxH`."""
    found = (
        re.fullmatch(r"(\d{1,5})\s*[xX\u00d7]\s*(\d{1,5})", value, re.ASCII)
        if isinstance(value, str)
        else None
    )
    if not isinstance(value, Size) and not found:
        raise Wrong(f"not a size: {show(value)}", hint="write width x height, such as 1344x768")
    asked = value if isinstance(value, Size) else Size(*map(int, found.groups() if found else ()))
    near = Size(*(min(max(round(a / SIZE_STEP) * SIZE_STEP, SMALLEST_SIDE), LONGEST_SIDE) for a in asked))
    if near != asked:
        raise Wrong(
            f"sides are multiples of {SIZE_STEP} from {SMALLEST_SIDE} to {LONGEST_SIDE}: {show(str(asked))}",
            hint=f"the nearest is {near}",
        )
    return asked


def whole(low: int, high: int) -> Callable[[Any], int]:
    """A reader of whole numbers in [low, high]."""

    def read(value: Any) -> int:
        number = value
        if isinstance(value, str) and re.fullmatch(r"[-+]?\d{1,12}", value, re.ASCII):
            number = int(value)
        if not isinstance(number, int) or isinstance(number, bool):
            raise Wrong(f"not a whole number: {show(value)}")
        if not low <= number <= high:
            raise Wrong(f"not in {low}..{high}: {number}")
        return number

    return read


def shot_number(value: Any) -> int:
    """The number of a shot whose start can move: from 2, spelled one way, so that none comes twice."""
    if value in ("1", 1):
        raise Wrong("shot 1 cannot be moved: it starts with the song")
    if isinstance(value, str) and not re.fullmatch(r"[1-9]\d*", value, re.ASCII):
        raise Wrong(f"not a shot number: {show(value)}", hint="write it in digits, without leading zeros")
    return whole(2, 99_999)(value)


def version(value: Any) -> int:
    """The version of the format."""
    if whole(0, 999)(value) != 1:
        raise Wrong(f"this mvpipe reads version 1: {show(value)}", hint="a newer mvpipe may read it")
    return 1


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or nothing."""
    near = get_close_matches(word, sorted(known)[:_MOST_COMPARED], n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


_MOST_COMPARED = 500
"""Comparing is quadratic; a folder or cast larger than this gets no guess at its end."""


def number(value: Any) -> float:
    """A plain number such as 0.7."""
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d{1,9}(\.\d{1,9})?", value, re.ASCII):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Wrong(f"not a number: {show(value)}")
    return float(value)


def flag(value: Any) -> bool:
    """True or false; YAML's older words for them are text here, as in `lyric: no`."""
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return bool(value.lower() == "true")
    meant = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}
    guess = meant.get(value.lower(), "") if isinstance(value, str) else ""
    raise Wrong(f"not true or false: {show(value)}", hint=f"write {guess}" if guess else "")


def file_stem(title: str) -> str:
    """A title as the name of a file: Unicode kept, what file systems refuse replaced, never empty."""
    kept = (_safe(char) for char in unicodedata.normalize("NFC", title))
    stem = " ".join("".join(kept).split()).strip(" .-_")
    while len(stem.encode()) > _LONGEST_STEM:
        stem = stem[:-1].rstrip(" .-_")
    if stem.split(".")[0].strip().upper() in _RESERVED:
        stem = f"_{stem}"
    return stem or "film"


_LONGEST_STEM = 200
"""Bytes; file systems allow 255, and takes, formats and temporary names append to it."""

_RESERVED = {"CON", "PRN", "AUX", "NUL"} | {f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10)}
"""Names that Windows keeps for devices, with any suffix."""


def _safe(char: str) -> str:
    if char in '/\\:*?"<>|':
        return "-"
    kind = unicodedata.category(char)
    if kind in {"Cc", "Zl", "Zp"}:
        return " "
    joins = char in "\u200c\u200d"  # they shape Persian words and family emoji
    return "" if kind in {"Cf", "Cs"} and not joins else char
