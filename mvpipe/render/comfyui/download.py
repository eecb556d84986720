"""Fetching a file: to a name of its own, resumed where it broke off, its length counted before it counts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mvpipe.errors import Unreachable, VaultError
from mvpipe.render.comfyui.answers import Stream, refusal
from mvpipe.render.comfyui.ends import File
from mvpipe.render.comfyui.failures import GO_ON
from mvpipe.render.comfyui.steady import Steady
from mvpipe.render.comfyui.transport import Transport

RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


@dataclass(slots=True)
class _Part:
    """What there is of a file, and what it was part of."""

    path: Path
    size: int = 0
    whole: int | None = None
    changed: str = ""
    ended: bool = False

    def request(self) -> dict[str, str]:
        """Headers that ask for the rest; a server that has another file by now sends the whole."""
        if not self.size or not self.changed:
            return {}
        # an If-Range with an ETag is passed over by aiohttp; with a date it is heeded
        return {"Range": f"bytes={self.size}-", "If-Range": self.changed}

    def take(self, stream: Stream) -> None:
        """Write what comes, behind what is there or instead of it."""
        self.ended = False
        found = RANGE.fullmatch(stream.headers.get("Content-Range", ""))
        resumed = stream.status == 206
        if resumed and not (found and (int(found[1]), found[3]) == (self.size, str(self.whole))):
            self.size, self.changed = 0, ""  # a piece of something else: from the beginning, then
            return
        if not resumed:
            length = stream.headers.get("Content-Length", "")
            self.size, self.whole = 0, int(length) if length.isdigit() else None
            self.changed = stream.headers.get("Last-Modified", "")
        with self.path.open("r+b" if resumed else "wb") as file:
            file.seek(self.size)
            for piece in stream.pieces:
                file.write(piece)
                self.size += len(piece)
        self.ended = True

    @property
    def complete(self) -> bool:
        """Whether it is all there: it ended by itself, with the length that was told."""
        return self.ended and self.whole in (None, self.size)


def download(transport: Transport, file: File, into: Path, steady: Steady) -> bool:
    """Fetch a file whole; whether there is one.

    Parameters
    ----------
    into : written only when all of it is there

    Raises
    ------
    Unreachable : it broke off again and again
    VaultError : it cannot be written here
    BackendError : as the server says
    """
    part = _Part(into.with_name(f".{into.name}.part"))
    try:
        for _ in range(transport.patience.pieces):
            if not steady(lambda: _fetch(transport, file, part)):
                return False
            if part.complete:
                os.replace(part.path, into)
                return True
            steady.tick()
    except OSError as exc:
        raise VaultError(
            f"{into}: cannot be written: {(exc.strerror or str(exc)).lower()}", hint=GO_ON
        ) from exc
    finally:
        part.path.unlink(missing_ok=True)
    got = f"{part.size} of {part.whole} bytes"
    raise Unreachable(
        f"{transport.address}/view: {file.filename}: broke off again and again: {got}",
        hint="the same command fetches it once the connection holds",
    )


def fetch_film(
    transport: Transport,
    file: File,
    into: Path,
    steady: Steady,
    whole: Callable[[Path], bool],
    *,
    sure: bool,
) -> bool:
    """Fetch a film that can be read; whether there is one.

    What comes in its place is asked for once more: a proxy's page under a status of 200, or a server that is
    starting, must not cost a render.

    Parameters
    ----------
    whole : whether a file can be read as a film
    sure : whether the server has named it, so that it should be there
    """
    for left in (1, 0):
        came = download(transport, file, into, steady)
        if came and whole(into):
            return True
        into.unlink(missing_ok=True)
        if not came and not sure:
            return False
        if left:
            steady.rest(transport.patience.look_s)
    return False


def _fetch(transport: Transport, file: File, part: _Part) -> bool:
    with transport.fetch("/view", query=file.query, headers=part.request()) as stream:
        if stream.status == 404:
            return False
        if stream.status == 416:  # it is shorter than what we have: another file
            part.size, part.changed = 0, ""
        elif stream.status not in (200, 206):
            raise refusal(stream)
        else:
            with suppress(Unreachable):  # what came is kept; the length tells that it is not all
                part.take(stream)
    return True
