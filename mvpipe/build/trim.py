"""A worker's vault kept small: what was not used for longest goes first; the store has it all the same."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

IDLE_S = 3600.0
"""Seconds for which nothing is taken away that was used: work under way has its files."""

STALE_S = 86_400.0
"""Seconds after which what is half made was left by somebody who died."""


def touch(folder: Path) -> None:
    """It is used now."""
    os.utime(folder)


def trim(root: Path, limit: int, *, now: float | None = None) -> int:
    """Take away what was not used for longest, until no more than so many bytes lie there; bytes taken.

    Parameters
    ----------
    root : of a vault that is only a copy of what a store has
    now : Unix seconds
    """
    at = time.time() if now is None else now
    for left in (root / "scratch").glob("*"):
        if at - left.stat().st_mtime > STALE_S:
            shutil.rmtree(left, ignore_errors=True)
    homes = [home for pattern in ("??/*", "files/*") for home in root.glob(pattern)]
    used = sorted((home.stat().st_mtime, _bytes(home), home) for home in homes)
    over, taken = sum(size for _, size, _ in used) - limit, 0
    for last, size, home in used:
        if taken >= over or at - last < IDLE_S:
            break
        _take_away(home, root)
        taken += size
    return taken


def _bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in home.iterdir())


def _take_away(home: Path, root: Path) -> None:
    """Out of sight at once, then off the disk: nobody finds half of it."""
    (root / "scratch").mkdir(exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=root / "scratch"))
    home.chmod(0o755)
    home.rename(aside / home.name)
    shutil.rmtree(aside, ignore_errors=True)
