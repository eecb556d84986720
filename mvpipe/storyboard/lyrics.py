"""Lyrics with or without times: .lrc, .srt, .vtt and plain .txt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from mvpipe.clock import Span, parse_time
from mvpipe.errors import StoryboardError
from mvpipe.storyboard.files import read_text


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is sung.

    Parameters
    ----------
    text : its words, on one line
    start : when it begins, in seconds of the song; None in a file without times
    stop : when it ends; None where the file does not say
    """

    text: str
    start: Fraction | None = None
    stop: Fraction | None = None


def read_lyrics(path: Path) -> tuple[Line, ...]:
    """The lines of a lyrics file; timed ones in the order they are sung.

    Raises
    ------
    StoryboardError : it cannot be read, or says `file:line: what: what was found`
    """
    readers = {".lrc": _lrc, ".srt": _cues, ".vtt": _cues, ".txt": _plain}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise StoryboardError(
            f"{path}: lyrics: not a kind of lyrics: {path.suffix or 'no ending'}",
            hint=f"known are {', '.join(readers)}",
        )
    rows = [" ".join(row.split()) for row in re.split(r"\r\n|\r|\n", read_text(path))]
    return reader(rows, path)


def sung(lines: Sequence[Line], span: Span) -> str:
    """What is sung in a span: the lines that begin in it, else the one that fills most of it."""
    first, last = span.start / span.rate, span.stop / span.rate
    begun = [line.text for line in lines if line.start is not None and first <= line.start < last]
    if begun:
        return " / ".join(begun)
    held = (line for line in lines if line.start is not None and line.start < first)
    most = (line.text for line in held if line.stop and min(line.stop, last) - first > span.seconds / 2)
    return next(most, "")


def line_alone(lyric: str) -> str:
    """A storyboard's `lyric` without the `#2` that counts its times."""
    return _counted(lyric)[0]


def find(lines: Sequence[Line], lyric: str) -> Fraction | None:
    """When a storyboard's `lyric` is sung: the start of the first line that holds its words, or of its nth.

    Case, punctuation and spelling of letters (NFC, NFD) make no difference.
    """
    wanted, times = _counted(lyric)
    words = f" {_bare(wanted)} "
    if not words.strip():
        return None
    starts = [line.start for line in lines if line.start is not None and words in f" {_bare(line.text)} "]
    return starts[times - 1] if len(starts) >= times else None


def _counted(lyric: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*\S)\s*#([1-9]\d{0,3})", lyric)
    return (found[1], int(found[2])) if found else (lyric, 1)


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("\u2019", "")
    return " ".join(re.findall(r"\w+", folded))


def _plain(rows: Sequence[str], path: Path) -> tuple[Line, ...]:
    """What is written, without headings such as [Chorus]."""
    return tuple(Line(row) for row in rows if row and not _HEADING.fullmatch(row))


_HEADING = re.compile(r"\[[^\]\d][^\]]*\]")

_TAG = re.compile(r"\[([A-Za-z#_][\w#-]*)\s*:(.*)\]")
_STAMP = re.compile(r"\[(\d+):(\d{1,2})(?:[.:](\d{1,3}))?\]")


def _lrc(rows: Sequence[str], path: Path) -> tuple[Line, ...]:
    """Stamped lines; a stamp without words ends the line before it."""
    offset = Fraction(0)
    stamped: list[tuple[Fraction, str]] = []
    for number, row in enumerate(rows, 1):
        if tag := _TAG.fullmatch(row):
            if tag[1].lower() == "offset":
                offset = _offset(tag[2], number, path)
            continue
        if row and not _HEADING.fullmatch(row):
            stamped += _stamped(row, number, path)
    # a positive offset makes lyrics come earlier; what it would put before the song begins with it
    ordered = sorted(
        ((max(start - offset, Fraction(0)), text) for start, text in stamped), key=lambda at: at[0]
    )
    stops: list[Fraction | None] = [after[0] for _, after in pairwise(ordered)]
    return tuple(
        Line(text, start, stop) for (start, text), stop in zip(ordered, [*stops, None], strict=False) if text
    )


def _offset(written: str, number: int, path: Path) -> Fraction:
    if not re.fullmatch(r"[-+]?\d{1,9}", written.strip(), re.ASCII):
        raise _wrong(path, number, "offset: not a number of milliseconds", written.strip())
    return Fraction(int(written), 1000)


def _stamped(row: str, number: int, path: Path) -> Iterator[tuple[Fraction, str]]:
    """A row's words once for each of its stamps; stamps of single words are left out."""
    stamps, rest = [], row
    while stamp := _STAMP.match(rest):
        stamps.append(stamp)
        rest = rest[stamp.end() :].lstrip()
    if not stamps or re.match(r"\[\d+:", rest):
        raise _wrong(path, number, "no time stamp such as [01:02.50]", row)
    words = " ".join(re.sub(r"<\d+:\d{1,2}(?:[.:]\d{1,3})?>", " ", rest).split())
    for stamp in stamps:
        minutes, seconds, part = stamp[1], stamp[2], stamp[3] or "0"
        if int(seconds) > 59:
            raise _wrong(path, number, "seconds run from 00 to 59", stamp[0])
        yield int(minutes) * 60 + Fraction(f"{int(seconds)}.{part}"), words


_ARROW = re.compile(r"(\S+)\s*-->\s*(\S+)(?:\s.*)?")


def _cues(rows: Sequence[str], path: Path) -> tuple[Line, ...]:
    """Cues of SubRip and WebVTT: blocks between blank rows, the words behind the row with the arrow."""
    lines: list[Line] = []
    for number, block in _blocks(rows):
        arrow = next((at for at, row in enumerate(block[:2]) if "-->" in row), None)
        if arrow is None:
            if path.suffix.lower() == ".srt":
                raise _wrong(path, number, "no times such as 00:01:02,500 --> 00:01:05,000", block[0])
            continue  # WEBVTT, NOTE, STYLE and REGION blocks
        start, stop = _ends(block[arrow], number + arrow, path)
        words = " ".join(re.sub(r"<[^>]*>|\{\\[^}]*\}", " ", " ".join(block[arrow + 1 :])).split())
        if words:
            lines.append(Line(words, start, stop))
    return tuple(sorted(lines, key=lambda line: line.start or Fraction(0)))


def _blocks(rows: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, row in enumerate([*rows, ""], 1):
        if row:
            block.append(row)
        elif block:
            yield number - len(block), block
            block = []


def _ends(row: str, number: int, path: Path) -> tuple[Fraction, Fraction]:
    found = _ARROW.fullmatch(row)
    try:
        start, stop = (parse_time(end.replace(",", ".")) for end in (found.groups() if found else ()))
    except ValueError as exc:
        raise _wrong(path, number, "not two times", row) from exc
    if stop < start:
        raise _wrong(path, number, "ends before it begins", row)
    return start, stop


def _wrong(path: Path, number: int, what: str, found: str) -> StoryboardError:
    return StoryboardError(f'{path}:{number}: lyrics: {what}: found "{found[:60]}"')
