"""The lane of a cluster: as many at once as its workers have room for, and whom a piece of work may go to.

The cluster places what it is given and moves what a lost worker had. This says how much it is given and in
which order, and keeps work from a worker that has shown that it cannot do it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from mvpipe.build.graph import Progress, Work
from mvpipe.build.lane import ATTEMPTS, Ready
from mvpipe.build.vault import Entry
from mvpipe.errors import BackendError, MvpipeError, RenderTimeout, Unreachable

MOST = 512
"""Pieces of work that one run has on a cluster at once, at most."""

SHUN_S = 120.0
"""Seconds for which a worker gets nothing whose server did not answer."""

FORSAKEN_S = 1800.0
"""Seconds without any worker that may do it, after which what waits is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A worker of a cluster.

    Parameters
    ----------
    address, name : of the worker; the name is what people read
    threads : things it does at once
    resources : name -> how much it has
    """

    address: str
    name: str
    threads: int
    resources: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """How somebody was occupied with a piece of work.

    Parameters
    ----------
    by : name of the worker; empty where nobody was
    seconds : it took, made or not
    ended : when it was heard of here, Unix seconds
    ahead_s : by how much the worker's clock was ahead of this machine's, as near as a message travels
    """

    by: str = ""
    seconds: float = 0.0
    ended: float = 0.0
    ahead_s: float = 0.0


NOBODY = Stint()


class Workforce(Protocol):
    """A cluster, as a walk and its lanes see it (`build.run.Hands`)."""

    def hands(self) -> Collection[Hand]:
        """The workers there are now."""

    def allow(self, key: str, workers: Collection[str], resource: str) -> None:
        """What is given out next under this key may go to workers at these addresses, and needs that."""

    def blame(self, key: str) -> str:
        """Name of the worker that failed to do it; empty where nobody knows."""

    def took(self, key: str) -> Stint:
        """Who had it last in this run, and has made it or failed to; `NOBODY` where nobody had to."""

    def where(self, name: str) -> str:
        """Name of the worker that has a node's work now, as far as it was heard of; empty for none."""

    def make(self, ready: Ready, work: Work, progress: Progress) -> Entry:
        """The entry, in the walk's vault."""

    def stop(self) -> None:
        """Have all that is under way end soon."""

    def tidy(self) -> None:
        """Take back from the workers' servers what nobody makes any more."""


class Fitness(Protocol):
    """What is known of who can do what."""

    servers: Collection[str]

    def able(self, ready: Ready, names: Collection[str]) -> Collection[str]:
        """Those of some workers that may do it."""

    def hopeless(self, ready: Ready) -> BackendError | None:
        """Why no worker can do it; None where one may."""

    def note(self, server: str, ready: Ready, error: BackendError) -> bool:
        """Learn from a failure; whether another worker should try it."""

    def well(self, server: str) -> None:
        """Something was made there."""


@dataclass
class Places:
    """A lane (`build.lane.Lane`) of a cluster's workers.

    Parameters
    ----------
    force : the workers
    resource : what a worker must have; empty for any worker
    rank : of what waits; the smallest begins first
    fitness : what is learnt of the workers; None where all are alike
    say : told in words what happens to workers
    now : clock, seconds
    """

    force: Workforce
    resource: str = ""
    rank: Callable[[Ready], Any] = lambda _: 0
    fitness: Fitness | None = None
    say: Callable[[str], None] = lambda _: None
    now: Callable[[], float] = time.monotonic
    shunned: dict[str, float] = field(default_factory=dict[str, float])
    _line: list[tuple[Any, int, Ready]] = field(default_factory=list[tuple[Any, int, Ready]], init=False)
    _turns: count[int] = field(default_factory=count, init=False)
    _busy: int = field(default=0, init=False)
    _alone_since: float | None = field(default=None, init=False)

    @property
    def width(self) -> int:
        """So many at once, at most; how many it is depends on who is there."""
        return MOST

    @property
    def waiting(self) -> int:
        """Pieces of work that nobody was given yet."""
        return len(self._line)

    def shuns(self, worker: str) -> bool:
        """Whether a worker gets nothing for a while."""
        return self.shunned.get(worker, 0.0) > self.now()

    def offer(self, ready: Ready) -> None:
        """It waits from now on."""
        heapq.heappush(self._line, (self.rank(ready), next(self._turns), ready))

    def next(self) -> Ready | None:
        """The first in line that somebody may do, while there is room."""
        there = self._skilled()
        if not self._line or self._busy >= min(self._room(there), MOST):
            return None
        passed, found = [], None
        while self._line and found is None:
            turn = heapq.heappop(self._line)
            if able := self._able(turn[2], there):
                found = turn[2]
                self.force.allow(found.key, able, self.resource)
                self._busy += 1
            else:
                passed.append(turn)
        for turn in passed:
            heapq.heappush(self._line, turn)
        return found

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """A place is free; whether the work goes back into the line, to another worker if need be."""
        self._busy -= 1
        if error is None:
            if self.fitness:
                self.fitness.well(self.force.took(ready.key).by)
            return False
        if isinstance(error, BackendError):
            return self._move(ready, error)
        return isinstance(error, MvpipeError) and error.retryable and ready.attempt < ATTEMPTS

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """What no worker can do; all that waits, where there has been none for too long."""
        there, now = self._skilled(), self.now()
        if there:
            self._alone_since = None
            return self._take_out(self.fitness.hopeless if self.fitness else lambda _: None)
        if self._alone_since is None and self._line:
            self._alone_since = now
            self.say(f"no worker{self._having} is there: {len(self._line)} pieces of work wait for one")
        if self._alone_since is None or now - self._alone_since < FORSAKEN_S:
            return []
        lost = Unreachable(
            f"no worker{self._having} for {FORSAKEN_S / 60:.0f} minutes",
            hint="start one; then the same command goes on where it stands",
        )
        return self._take_out(lambda _: lost)

    @property
    def _having(self) -> str:
        return f" with {self.resource}" if self.resource else ""

    def _take_out(self, why: Callable[[Ready], MvpipeError | None]) -> list[tuple[Ready, MvpipeError]]:
        gone = [(turn, error) for turn in self._line if (error := why(turn[2]))]
        for turn, _ in gone:
            self._line.remove(turn)
        heapq.heapify(self._line)
        return [(turn[2], error) for turn, error in gone]

    def _room(self, there: list[Hand]) -> int:
        """Of the resource one is needed for each; without one, a thread."""
        return int(sum(hand.resources[self.resource] if self.resource else hand.threads for hand in there))

    def _skilled(self) -> list[Hand]:
        hands = self.force.hands()
        there = [hand for hand in hands if not self.resource or hand.resources.get(self.resource, 0) >= 1]
        if self.fitness and there:
            self.fitness.servers = [hand.name for hand in there]
        return there

    def _able(self, ready: Ready, there: list[Hand]) -> list[str]:
        """Addresses of those that may do it; the shunned only where all are."""
        names = [hand.name for hand in there]
        fit = set(self.fitness.able(ready, names) if self.fitness else names)
        well = {name for name in fit if not self.shuns(name)}
        return [hand.address for hand in there if hand.name in (well or fit)]

    def _move(self, ready: Ready, error: BackendError) -> bool:
        worker, others = self.force.blame(ready.key), len(self._skilled()) > 1
        if isinstance(error, Unreachable | RenderTimeout) and error.retryable:
            if worker and others:
                self.shunned[worker] = self.now() + SHUN_S
                self.say(f"{worker}: gets nothing for {SHUN_S:.0f} s: {error}")
            return ready.attempt < ATTEMPTS * max(1, len(self._skilled()))
        again = bool(worker and self.fitness and self.fitness.note(worker, ready, error))
        if again:
            self.say(f"{worker}: cannot do {ready.name}, another worker is tried: {error}")
        return again
