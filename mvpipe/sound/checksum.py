"""Whether a file of weights is the one it should be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from mvpipe.errors import ToolError


def verify(path: Path, sha256: str | None = None) -> str:
    """The file's sha256, held against all that is known of it.

    Known may be: the argument; the record beside it; the checksum in the name of a `.th`; the name the hub's
    cache gave the bytes.

    Raises
    ------
    ToolError : it is another
    """
    state = path.stat()
    found = _digest(path, state.st_size, state.st_mtime_ns)
    for wanted in filter(None, [sha256, *_recorded(path)]):
        if not found.startswith(wanted):
            raise ToolError(
                f"{path}: sha256: {found[:16]}..., not the {wanted[:16]} it should be",
                hint="the file is damaged or another: delete it and fetch it again",
            )
    return found


def _recorded(path: Path) -> Iterator[str]:
    record = path.with_name(f"{path.name}.sha256")
    if record.is_file():
        yield record.read_text(encoding="ascii").split()[0]
    if path.suffix == ".th" and "-" in path.stem:
        yield path.stem.rsplit("-", 1)[1]
    blob = path.resolve().name
    if re.fullmatch("[0-9a-f]{64}", blob):
        yield blob


@lru_cache(maxsize=64)
def _digest(path: Path, _size: int, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record(path: Path, sha256: str) -> None:
    """Write down beside the file what it is, for every later `verify`.

    Parameters
    ----------
    sha256 : what it should be already; empty where nobody says

    Raises
    ------
    ToolError : it is another
    """
    found = verify(path, sha256 or None)
    path.with_name(f"{path.name}.sha256").write_text(f"{found}  {path.name}\n", encoding="ascii")
