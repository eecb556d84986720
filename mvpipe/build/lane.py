"""Where nodes that are ready wait for their turn: a lane says which begins next, and how many at once."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from mvpipe.errors import MvpipeError

ATTEMPTS = 3
"""How often a retryable failure is tried in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A node whose turn may come.

    Parameters
    ----------
    name : of the node
    key : of its task
    hint : what its lane should know of it; the walk does not look into it
    attempt : 1, 2, ...
    """

    name: str
    key: str
    hint: Any = None
    attempt: int = 1


class Lane(Protocol):
    """A queue with places. All but `width` is called from the walk's own thread.

    A lane that cannot go on raises nothing: it hands the nodes that wait back through `dropped`.
    """

    @property
    def width(self) -> int:
        """How many things it does at once, at most."""

    def offer(self, ready: Ready) -> None:
        """It waits from now on."""

    def next(self) -> Ready | None:
        """Which begins now; None if none can. It is in a place until `end`."""

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """It ended, well or not, and its place is free; whether it is to be offered again after a pause."""

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """What waited and will never begin, each with the reason; handed out once."""


@dataclass
class Pool:
    """So many at once, in the order of `rank`, then in the order offered.

    Parameters
    ----------
    width : at once
    rank : of what waits; the smallest begins first
    """

    width: int
    rank: Callable[[Ready], Any] = lambda _: 0
    _line: list[tuple[Any, int, Ready]] = field(default_factory=list[tuple[Any, int, Ready]], init=False)
    _turns: count[int] = field(default_factory=count, init=False)
    _busy: int = field(default=0, init=False)

    def offer(self, ready: Ready) -> None:
        """It waits from now on."""
        heapq.heappush(self._line, (self.rank(ready), next(self._turns), ready))

    def next(self) -> Ready | None:
        """The first in line, if a place is free."""
        if not self._line or self._busy >= self.width:
            return None
        self._busy += 1
        return heapq.heappop(self._line)[2]

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """Its place is free; what says of itself that trying again may help is tried again."""
        self._busy -= 1
        return isinstance(error, MvpipeError) and error.retryable and ready.attempt < ATTEMPTS

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """Nothing: a pool always goes on."""
        return []
