"""The frames of a shot that are seen, as tasks: cut out of a take, or a slug where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.film import Clip, Shot, Slate, Slug, Take
from mvpipe.production import CLIP

MEZZANINE = "shot.mp4"


def conformed(shot: Shot, entry: Entry, *, size: tuple[int, int], slip: int = 0) -> Work:
    """What is seen of a take, its picture moved by `slip` frames within the handles."""
    slate = slate_of(entry)
    take = Take(
        slate=slate,
        key=entry.key,
        path=entry.path(CLIP),
        digest=entry.digest(CLIP),
        frames=len(shot.window),
        rate=shot.cut.rate,
        size=slate.size,
    )
    clip = Clip(shot=shot, take=take, slip=slip)

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.reel.conform import conform

        conform(clip, folder / MEZZANINE, size=size, progress=progress)
        return {}

    params = {
        "first": clip.first,
        "frames": len(shot.cut),
        "rate": str(shot.cut.rate),
        "size": list(size),
    }
    task = Task(name="conform", version=1, inputs={"take": take.digest}, params=params)
    return Work(task=task, make=make)


def slugged(shot: Shot, reason: str, *, size: tuple[int, int]) -> Work:
    """Filler as long as the shot, which says why there is no take."""
    missing = Slug(shot=shot, reason=reason)

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.reel.conform import slug

        slug(missing, folder / MEZZANINE, size=size, progress=progress)
        return {}

    params = {
        "number": shot.number,
        "start": shot.cut.start,
        "frames": len(shot.cut),
        "rate": str(shot.cut.rate),
        "size": list(size),
        "reason": reason,
    }
    return Work(task=Task(name="slug", version=1, params=params), make=make)


def slate_of(take: Entry) -> Slate:
    """The slate a take was made from."""
    record = take.facts["slate"]
    return Slate(**{**record, "size": tuple(record["size"])})
