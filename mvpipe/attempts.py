"""The attempts a shot gets: with which seed, how framed, and how large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mvpipe import takes
from mvpipe.film import Slate
from mvpipe.floor import barred
from mvpipe.production import Crew
from mvpipe.render.backend import Setup

CLOSER = "close-up from the front, the whole face in the picture, the mouth free and well lit"
"""The framing that the last attempt asks for with `on_fail: closer`: what the gate reads best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A take that could be made: what decides it, and what it is made from.

    Parameters
    ----------
    smaller : the same with the seed and words of this one, where the storyboard allows a smaller one
    is_smaller : whether it is one
    """

    slate: Slate
    setup: Setup
    smaller: Attempt | None = None
    is_smaller: bool = False

    @property
    def name(self) -> str:
        """Of its node."""
        return f"take {self.slate.shot}.{self.slate.take}{' smaller' if self.is_smaller else ''}"

    @property
    def extent(self) -> str:
        """How large it is, for people."""
        return "at {}x{}".format(*self.slate.size)


def attempts(crew: Crew, setup: Setup, *, judged: bool) -> Iterator[Attempt]:
    """The attempts a shot gets, in order, each made up when it is asked for: of most shots, only the first.

    The last may ask for a closer framing.

    Parameters
    ----------
    judged : whether somebody judges its lips
    """
    production, shot = crew.production, setup.shot
    seeds = takes.attempts(
        crew.project.journal, shot.cut, storyboard_seed=production.seed, many=production.takes
    )
    closer = judged and production.gate.on_fail in ("closer", "best") and len(seeds) > 1
    for number, seed in enumerate(seeds, 1):
        if closer and number == len(seeds):
            setup = replace(setup, shot=replace(shot, card=replace(shot.card, framing=CLOSER)))
        yield _attempt(crew, setup, number, seed)


def too_large(crew: Crew, attempt: Attempt) -> str:
    """Why an attempt is made smaller from the beginning; empty where it is not.

    No server may be given it as it is; or an earlier run has found that none can make it.
    """
    if attempt.smaller is None or crew.project.vault.find(takes.take_task(attempt.slate).key):
        return ""
    if crew.project.vault.find(takes.take_task(attempt.smaller.slate).key):
        return "as it was before"
    return barred(crew.backend, attempt.setup)


def _attempt(crew: Crew, setup: Setup, number: int, seed: int) -> Attempt:
    slate = crew.backend.slate(setup, take=number, seed=seed)
    if not (allowed := crew.production.smaller):
        return Attempt(slate=slate, setup=setup)
    small = allowed.of(setup)
    smaller = Attempt(slate=crew.backend.slate(small, take=number, seed=seed), setup=small, is_smaller=True)
    return Attempt(slate=slate, setup=setup, smaller=smaller)
