"""The files a storyboard names, and text as it lies on disk."""

from __future__ import annotations

import codecs
import unicodedata
from pathlib import Path

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.scalars import Wrong, did_you_mean, show

LARGEST_TEXT = 1 << 20
"""Bytes of a storyboard or of lyrics. Five hundred shots take a tenth of it; ruamel reads it in 3 s."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, the longer before those that begin like them."""


def resolve(folder: Path, name: str) -> Path:
    """The absolute path of a file named in a storyboard that lies in `folder`.

    A name typed on one system and a file copied from another may spell the same letters differently
    (NFC, NFD); the spelling that is on disk is taken.
    """
    asked = folder.absolute() / name
    spellings = (folder.absolute() / unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    return next((path for path in (asked, *spellings) if path.exists()), asked)


def existing(folder: Path, name: str, kind: str) -> Path:
    """`resolve`, refused unless it is there and is a `kind`: "file" or "folder".

    Raises
    ------
    Wrong : it is missing, or something else
    """
    try:
        path = resolve(folder, name)
        if not path.exists():
            raise Wrong(f"no such {kind}: {show(name)}", hint=lambda: _elsewhere(path, name))
        if path.is_dir() != (kind == "folder"):
            raise Wrong(f"not a {kind}: {show(name)} is a {'folder' if path.is_dir() else 'file'}")
    except OSError as exc:
        raise Wrong(f"cannot be opened: {show(name)}: {exc.strerror}") from exc
    return path


def _elsewhere(path: Path, name: str) -> str:
    if "\\" in name:
        return "write / between folders, on every system"
    try:
        near = did_you_mean(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return f"there is no folder {path.parent} to look into"
    return near or f"looked in {path.parent}"


def read_text(path: Path) -> str:
    """The text of a file: UTF-8, or UTF-16 or UTF-32 where it begins with their mark.

    Raises
    ------
    StoryboardError : it cannot be read, is too large, or holds bytes that are no such text
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TEXT + 1)
    except FileNotFoundError as exc:
        raise StoryboardError(f"{path}: no such file", hint=_elsewhere(path.absolute(), path.name)) from exc
    except OSError as exc:
        raise StoryboardError(f"{path}: cannot be read: {exc.strerror}") from exc
    if len(data) > LARGEST_TEXT:
        raise StoryboardError(
            f"{path}: too large: more than {LARGEST_TEXT >> 20} MiB", hint="is it really a text?"
        )
    return decode(data, path)


def decode(data: bytes, path: Path) -> str:
    """The text of `data`, without a byte order mark.

    Raises
    ------
    StoryboardError : names the first byte that is not text, with its line and column
    """
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as exc:
        before = body[: exc.start].decode(encoding, "replace")
        raise StoryboardError(
            f"{path}:{place(before)}: not {encoding.upper()}: byte 0x{body[exc.start]:02x} "
            f"at offset {len(mark) + exc.start}, {'cut short or damaged' if mark else _guess(body)}",
            hint="save it as UTF-8: most editors offer it under 'save as' or in the status line",
        ) from exc
    if "\0" in text:
        raise StoryboardError(
            f"{path}:{place(text[: text.index(chr(0))])}: not UTF-8 text: a zero byte, {_guess(body)}",
            hint="save it as UTF-8",
        )
    return text


def encoded(text: str, like: bytes) -> bytes:
    """A text as bytes, with the mark and in the encoding of the file it is to replace."""
    mark, encoding = next(((m, e) for m, e in _MARKS if like.startswith(m)), (b"", "utf-8"))
    return mark + text.encode(encoding)


def place(before: str) -> str:
    """`line:column`, from 1, of what follows the text `before`."""
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return f"{len(lines)}:{len(lines[-1]) + 1}"


def _guess(data: bytes) -> str:
    zeros = data[:1000].count(0)
    if zeros * 3 > min(len(data), 1000):
        return f"perhaps UTF-16-{'LE' if data[1:2] == bytes(1) else 'BE'} without its mark"
    if zeros:
        return "perhaps no text at all"
    if any(0x80 <= byte < 0xA0 for byte in data):
        return "perhaps Windows-1252"
    return "perhaps Latin-1"
