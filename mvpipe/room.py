"""How much disk a night needs, and how much has to stay free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mvpipe.build.vault import Entry
from mvpipe.errors import VaultError
from mvpipe.film import Shot

KEPT = 1_000_000_000
"""Bytes of disk below which no take is begun: a master, a copy for phones and a few takes still fit."""

KNOWN = {"take": 0.007, "conform": 0.1}
"""Bytes a pixel of each frame, until the project's own files tell: a take of H3 has 3569 bytes a frame of
960x544 (30 s measured); what it is conformed to is coded nearly without loss, a guess on the large side."""

FILMS = 3
"""Reel, master and copy for phones hold the pictures once more each, about as large as those conformed."""


def needed(shots: Sequence[Shot], size: tuple[int, int], entries: Iterable[Entry], attempts: int) -> int:
    """Bytes that shots need at most, with every attempt they may get, and the films.

    Parameters
    ----------
    size : (width, height) of the film
    entries : what the vault holds
    """
    if not shots:
        return 0
    each = _measured(entries)
    takes = sum(len(shot.window) for shot in shots) * each["take"] * attempts
    conformed = sum(len(shot.cut) for shot in shots) * each["conform"] * (1 + FILMS)
    return round((takes + conformed) * size[0] * size[1])


def check_room(free: int, need: int, folder: Path) -> None:
    """Whether a night may begin.

    Raises
    ------
    VaultError : the disk would be full before it ends
    """
    if free < need + KEPT:
        raise VaultError(
            f"{folder}: {free / 1e9:.1f} GB of disk are free: the takes and the film need up to "
            f"{need / 1e9:.1f} GB, and {KEPT / 1e9:.0f} GB are kept free",
            hint="make room, or put the project elsewhere with --into",
        )


def _measured(entries: Iterable[Entry]) -> dict[str, float]:
    """Bytes a pixel of each frame, by kind of entry: as the vault's own say, else as known."""
    size, pixels = dict.fromkeys(KNOWN, 0), dict.fromkeys(KNOWN, 0)
    for entry in entries:
        kind = str(entry.task["name"])
        if kind in KNOWN:
            params = entry.task["params"]
            size[kind] += sum(int(file["size"]) for file in entry.files.values())
            pixels[kind] += int(params["frames"]) * int(params["size"][0]) * int(params["size"][1])
    return {kind: size[kind] / pixels[kind] if pixels[kind] else known for kind, known in KNOWN.items()}
