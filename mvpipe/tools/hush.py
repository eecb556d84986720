"""A film without what was written beside its picture and sound: prompts, graphs, file names, encoders.

ComfyUI writes the whole graph into every file it saves (SaveVideo, core 0.33.0), and so a take that is passed
on would tell the prompt. In an MP4 the boxes that hold such text become free space of the same length: not a
byte of picture, sound or timing moves. Other containers are written anew, their packets as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mvpipe.errors import MediaError
from mvpipe.tools import ffmpeg, process

TELLING = frozenset({b"udta", b"meta", b"uuid"})
"""Boxes of text about a film (ISO/IEC 14496-12, 8.10 and 8.11; QuickTime's and vendors' own)."""

HOLDING = frozenset({b"moov", b"trak"})
"""Boxes in which those may lie, besides the file itself."""


@dataclass(frozen=True, slots=True)
class _Box:
    kind: bytes
    start: int
    body: int
    stop: int


def hush(path: Path) -> None:
    """Take out what is written in a film besides picture and sound; in place.

    Raises
    ------
    MediaError : an MP4 whose boxes cannot be followed
    ToolError : another container, which cannot be written anew
    """
    with path.open("r+b") as file:
        head = file.read(12)
        if head[4:8] == b"ftyp":
            for box in list(_telling(file, path, 0, path.stat().st_size)):
                _blank(file, box)
            return
    _write_anew(path)


def _telling(file: IO[bytes], path: Path, start: int, stop: int) -> Iterator[_Box]:
    for box in _boxes(file, path, start, stop):
        if box.kind in TELLING:
            yield box
        elif box.kind in HOLDING:
            yield from _telling(file, path, box.body, box.stop)


def _boxes(file: IO[bytes], path: Path, start: int, stop: int) -> Iterator[_Box]:
    while start + 8 <= stop:
        file.seek(start)
        head = file.read(16)
        size, kind, body = int.from_bytes(head[:4], "big"), head[4:8], start + 8
        if size == 1:
            size, body = int.from_bytes(head[8:16], "big"), start + 16
        end = stop if size == 0 else start + size
        if not body <= end <= stop:
            raise MediaError(f"{path.name}: box at byte {start}: runs out of the file")
        yield _Box(kind, start, body, end)
        start = end


def _blank(file: IO[bytes], box: _Box) -> None:
    file.seek(box.start + 4)
    file.write(b"free")
    file.seek(box.body)
    file.write(bytes(box.stop - box.body))


def _write_anew(path: Path) -> None:
    bare = path.with_name(f".bare-{path.name}")
    streams = ("-map", "0:v", "-map", "0:a?", "-c", "copy", "-map_metadata", "-1", "-map_chapters", "-1")
    process.run(
        ffmpeg.quiet(
            "-i", ffmpeg.file(path), *streams, "-fflags", "+bitexact", "-f", "matroska", ffmpeg.file(bare)
        )
    )
    os.replace(bare, path)
