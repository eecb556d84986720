"""Lyrics with or without times: .lrc, .srt, .vtt and plain .txt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from mvpipe.clock import Span, parse_time
from mvpipe.errors import StoryboardError
from mvpipe.film import Line, SungLine, Word
from mvpipe.storyboard.files import read_text


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


EARLY = Fraction(1, 4)
"""People stamp a line up to a quarter of a second before it is heard, and cuts fall right before that: a line
is sung in the shot that shows the moment so much later, or its middle if it is short."""


def heard_at(line: Line | SungLine) -> Fraction | None:
    """A moment at which a line is surely under way; None where it has no time."""
    if line.start is None or line.stop is None:
        return None if line.start is None else line.start + EARLY
    return line.start + min(EARLY, (line.stop - line.start) / 2)


def sung(lines: Sequence[Line], span: Span) -> str:
    """What is sung in a span: the lines that begin in it, else the one that fills most of it."""
    first, last = span.start / span.rate, span.stop / span.rate
    moments = [(line, heard_at(line)) for line in lines]
    begun = [line.text for line, moment in moments if moment is not None and first <= moment < last]
    if begun:
        return " / ".join(begun)
    held = (line for line in lines if line.start is not None and line.start < first)
    most = (line.text for line in held if line.stop and min(line.stop, last) - first > span.seconds / 2)
    return next(most, "")


def line_alone(lyric: str) -> str:
    """A storyboard's `lyric` without the `#2` that counts its times."""
    return _counted(lyric)[0]


def holding(lines: Sequence[Line], lyric: str) -> tuple[int, ...]:
    """Which lines hold the words of a storyboard's `lyric`, in order.

    Case, punctuation and spelling of letters (NFC, NFD) make no difference.
    """
    wanted = _bare(line_alone(lyric))
    if not wanted:
        return ()
    return tuple(at for at, line in enumerate(lines) if f" {wanted} " in f" {_bare(line.text)} ")


def time_asked(lyric: str) -> int:
    """Which of the times a line is sung a storyboard's `lyric` means: 2 for `#2`; 0 where it does not say."""
    return _counted(lyric)[1]


def _counted(lyric: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*\S)\s*#([1-9]\d{0,3})", lyric)
    return (found[1], int(found[2])) if found else (lyric, 0)


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("\u2019", "")
    return " ".join(re.findall(r"\w+", folded))


def _plain(rows: Sequence[str], path: Path) -> tuple[Line, ...]:
    """What is written, without headings such as [Chorus]."""
    return tuple(Line(row) for row in rows if row and not _HEADING.fullmatch(row))


_HEADING = re.compile(r"\[[^\]\d][^\]]*\]")

_TAG = re.compile(r"\[([A-Za-z#_][\w#-]*)\s*:(.*)\]")
_STAMP = re.compile(r"\[(\d+):(\d{1,2})(?:[.:](\d{1,3}))?\]")
_WORD_STAMP = re.compile(r"[<\[](\d+):(\d{1,2})(?:[.:](\d{1,3}))?[>\]]")


def _lrc(rows: Sequence[str], path: Path) -> tuple[Line, ...]:
    """Stamped lines; a stamp without words ends the line before it."""
    offset = Fraction(0)
    stamped: list[Line] = []
    for number, row in enumerate(rows, 1):
        if tag := _TAG.fullmatch(row):
            if tag[1].lower() == "offset":
                offset = _offset(tag[2], number, path)
            continue
        if row and not _HEADING.fullmatch(row):
            stamped += _stamped(row, number, path)
    # a positive offset makes lyrics come earlier; what it would put before the song begins with it
    ordered = sorted((_moved(line, -offset) for line in stamped), key=lambda line: line.start or 0)
    stops: list[Fraction | None] = [after.start for _, after in pairwise(ordered)]
    return tuple(
        replace(line, stop=stop, words=_ended(line.words, stop))
        for line, stop in zip(ordered, [*stops, None], strict=False)
        if line.text
    )


def _moved(line: Line, by: Fraction) -> Line:
    """The line later by so many seconds; nothing begins before the song."""
    first = Fraction(0)
    words = tuple(
        Word(word.text, max(word.start + by, first), word.stop and max(word.stop + by, first))
        for word in line.words
    )
    return replace(line, start=max((line.start or first) + by, first), words=words)


def _ended(words: Sequence[Word], stop: Fraction | None) -> tuple[Word, ...]:
    """The words, of which each ends where the next begins, and none after the line."""
    ends: list[Fraction | None] = [word.stop or after.start for word, after in pairwise(words)]
    ends += [word.stop or stop for word in words[-1:]]
    capped = (end if stop is None or end is None else min(end, stop) for end in ends)
    return tuple(
        Word(word.text, word.start, end if end is None else max(end, word.start))
        for word, end in zip(words, capped, strict=True)
    )


def _offset(written: str, number: int, path: Path) -> Fraction:
    if not re.fullmatch(r"[-+]?\d{1,9}", written.strip(), re.ASCII):
        raise _wrong(path, number, "offset: not a number of milliseconds", written.strip())
    return Fraction(int(written), 1000)


def _stamped(row: str, number: int, path: Path) -> Iterator[Line]:
    """A row's words once for each of its stamps; the stamps of single words move with the line."""
    stamps, rest = [], row
    while stamp := _STAMP.match(rest):
        stamps.append(stamp)
        rest = rest[stamp.end() :].lstrip()
    if not stamps or re.match(r"\[\d+:", rest):
        raise _wrong(path, number, "no time stamp such as [01:02.50]", row)
    starts = [_seconds(stamp, number, path) for stamp in stamps]
    pieces = _WORD_STAMP.split(rest)
    words = " ".join(" ".join(pieces[::4]).split())
    stamped = _words(rest, starts[0], number, path)
    for start in starts:
        yield _moved(Line(words, starts[0], words=stamped), start - starts[0])


def _words(rest: str, start: Fraction, number: int, path: Path) -> tuple[Word, ...]:
    """The words of a row with stamps between them: the text after each, and that before the first."""
    found = list(_WORD_STAMP.finditer(rest))
    if not found:
        return ()
    ends = [*(stamp.start() for stamp in found), len(rest)]
    texts = [rest[: ends[0]], *(rest[a.end() : b] for a, b in zip(found, ends[1:], strict=True))]
    starts = [start, *(_seconds(stamp, number, path) for stamp in found)]
    for (before, after), stamp in zip(pairwise(starts[1:]), found[1:], strict=True):
        if after < before:
            raise _wrong(path, number, "a word before the one in front of it", stamp[0])
    words = [
        Word(" ".join(text.split()), begins, ends_at)
        for text, begins, ends_at in zip(texts, starts, [*starts[1:], None], strict=True)
    ]
    return tuple(word for word in words if word.text)


def _seconds(stamp: re.Match[str], number: int, path: Path) -> Fraction:
    if int(stamp[2]) > 59:
        raise _wrong(path, number, "seconds run from 00 to 59", stamp[0])
    return int(stamp[1]) * 60 + Fraction(f"{int(stamp[2])}.{stamp[3] or '0'}")


_MARKUP = re.compile(r"<[^>]*>|\{\\[^}]*\}")
_CUE_STAMP = re.compile(r"<((?:\d+:)?\d{1,2}:\d{1,2}\.\d{1,3})>")


def _cue_words(text: str, start: Fraction, stop: Fraction, number: int, path: Path) -> tuple[Word, ...]:
    """The words of a WebVTT cue with stamps between them."""
    first, *pairs = _CUE_STAMP.split(text)
    if not pairs:
        return ()
    try:
        starts = [start, *(parse_time(stamp) for stamp in pairs[::2])]
    except ValueError as exc:
        raise _wrong(path, number, "not a time", text) from exc
    if starts != sorted(starts) or starts[-1] > stop:
        raise _wrong(path, number, "a word outside its cue, or before the one in front of it", text)
    texts = (" ".join(_MARKUP.sub(" ", part).split()) for part in (first, *pairs[1::2]))
    words = [Word(word, begins) for word, begins in zip(texts, starts, strict=True)]
    return _ended([word for word in words if word.text], stop)


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
        rows_of_text = " ".join(block[arrow + 1 :])
        words = " ".join(_MARKUP.sub(" ", rows_of_text).split())
        if words:
            lines.append(Line(words, start, stop, _cue_words(rows_of_text, start, stop, number, path)))
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
