"""The mezzanines, one after the other, without coding anything again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from mvpipe import film
from mvpipe.errors import MediaError
from mvpipe.tools import picture
from mvpipe.wording import counted


def assemble(mezzanines: Sequence[tuple[Path, int]], rate: Fraction, into: Path) -> film.Reel:
    """Copy the mezzanines into one silent .mp4 in which frame k is shown at exactly k / rate.

    Parameters
    ----------
    mezzanines : (file, frames it must hold) in film order, as `conform` and `slug` write them
    rate : frames per second
    into : the reel

    Raises
    ------
    MediaError : a mezzanine is missing, has another count of frames, or was coded otherwise than the first;
        the message names it and its place in the film
    """
    if not mezzanines:
        raise ValueError("a reel is made of at least one mezzanine")
    files = [path for path, _ in mezzanines]
    _check_alike(files)
    for shot, ((path, wanted), found) in enumerate(
        zip(mezzanines, picture.join(files, rate, into), strict=True), 1
    ):
        if found != wanted:
            raise MediaError(f"shot {shot}: {path.name}: {counted(found, 'frame')} where {wanted} are wanted")
    total = sum(frames for _, frames in mezzanines)
    facts, times = picture.facts(into), picture.times(into)
    if len(times) != total or times.farthest(rate):
        raise MediaError(
            f"{into.name}: {len(times)} of {counted(total, 'frame')}, up to "
            f"{float(times.farthest(rate)) * 1000:.3f} ms off their times"
        )
    return film.Reel(path=into, frames=total, rate=rate, size=facts.size)


def _check_alike(files: Sequence[Path]) -> None:
    """A player reads the parameter sets once, so all shots must be coded with the same."""
    first = picture.facts(files[0])
    for shot, path in enumerate(files, 1):
        found = picture.facts(path)
        if (found.codec, found.size, found.head) != (first.codec, first.size, first.head):
            raise MediaError(
                f"shot {shot}: {path.name}: coded otherwise than shot 1: {found.codec} {found.size} "
                f"and its parameter sets, where {first.codec} {first.size} is wanted",
                hint="conform all shots with the same mvpipe",
            )
