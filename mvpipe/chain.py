"""Shots that go on from the shot before: which they are, in what order, and from which picture.

::

    take 2.1 ──► shot 2 ──► join 3 ──► take 3.1

The join is the picture of the take that is seen in shot 2, at the frame at which the window of shot 3 begins.

A chained shot is rendered when the take that is seen in the shot before is known, and again when that one
changes. What goes on is a picture alone, never a made-up sound: sound that is fed back loses its upper
octaves within a few shots (H3-Multishot, SETTINGS.md), and so a chain keeps its bank pinned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.errors import StoryboardError
from mvpipe.film import Continuity, Shot

JOIN = "join.png"
JOIN_VERSION = 1


def chains(shots: Sequence[Shot]) -> tuple[tuple[int, ...], ...]:
    """Numbers of the shots of every chain in film order; the first of each is the one others go on from."""
    runs: list[list[int]] = []
    for shot in shots:
        if shot.card.continuity is Continuity.CHAIN and runs:
            runs[-1].append(shot.number)
        else:
            runs.append([shot.number])
    return tuple(tuple(run) for run in runs if len(run) > 1)


def check_chains(shots: Sequence[Shot]) -> None:
    """Whether every chained shot has one before it whose take shows where it begins.

    Raises
    ------
    StoryboardError : it has not
    """
    if shots and shots[0].card.continuity is Continuity.CHAIN:
        raise StoryboardError(
            f"{shots[0].card.origin}: continuity: chain: this is the film's first shot",
            hint="describe the first shot apart, with continuity: cut",
        )
    for before, shot in pairwise(shots):
        if shot.card.continuity is Continuity.CHAIN and not _shows(before, shot):
            raise StoryboardError(
                f"{shot.card.origin}: continuity: chain: shot {shot.number} is rendered from frame "
                f"{shot.window.start} on, which no take of shot {before.number} shows: it has "
                f"{before.window.start} to {before.window.stop - 1}",
                hint="continuity: cut",
            )


def join_frame(before: Shot, shot: Shot) -> int:
    """The frame of a take of the shot before at which the chained shot's window begins."""
    return shot.window.start - before.window.start


def join_work(clip: Path, digest: str, frame: int) -> Work:
    """Take the picture out of a take that a chained shot goes on from.

    Parameters
    ----------
    clip, digest : the take that is seen in the shot before
    frame : counted from its first
    """

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.render.animatic import pillow
        from mvpipe.tools import frames

        (folder / JOIN).write_bytes(pillow.png(frames.still(clip, frame)))
        return {}

    params = {"frame": frame}
    return Work(
        task=Task(name="join", version=JOIN_VERSION, inputs={"take": digest}, params=params), make=make
    )


def with_followers(shots: Sequence[Shot], wanted: Collection[int]) -> frozenset[int]:
    """The wanted shots, and those that are chained to them, however far."""
    found = set(wanted)
    for run in chains(shots):
        firsts = [place for place, number in enumerate(run) if number in found]
        found.update(run[firsts[0] :] if firsts else ())
    return frozenset(found)


def _shows(before: Shot, shot: Shot) -> bool:
    return 0 <= join_frame(before, shot) < len(before.window)
