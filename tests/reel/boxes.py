"""The edit lists of an .mp4: what a player is asked to skip before it shows anything."""

from __future__ import annotations

import struct
from pathlib import Path


def edits(path: Path) -> list[tuple[int, int]]:
    """(duration, first tick) of every edit of every track, in the movie's and the track's time scales."""
    found, rest = [], path.read_bytes()
    while (at := rest.find(b"elst")) >= 0:
        version, count = rest[at + 4], struct.unpack(">I", rest[at + 8 : at + 12])[0]
        form = ">Qq4x" if version else ">Ii4x"
        size = struct.calcsize(form)
        for k in range(count):
            found.append(struct.unpack_from(form, rest, at + 12 + k * size))
        rest = rest[at + 4 :]
    return [(duration, first) for duration, first in found]
