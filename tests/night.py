"""Nights on a virtual clock: a fleet, servers that need no time of ours, and takes that fail."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from mvpipe.berth import Berth
from mvpipe.build.lane import Ready
from mvpipe.errors import MvpipeError
from mvpipe.film import Slate
from mvpipe.fleet import Fleet
from mvpipe.ledger import Ledger, Note
from mvpipe.render.backend import NO_LIMITS, Limits, Progress, Ran
from mvpipe.schedule import Ask, Post


@dataclass
class Server:
    """A host that renders in no time of ours; how long it takes is the simulation's."""

    name: str
    answers: bool = True
    frees: int = 0
    limits: Limits = NO_LIMITS

    def render(self, slate: Slate, assets: object, into: Path, progress: Progress) -> Ran:
        raise AssertionError("a simulation renders nothing")

    def free(self) -> bool:
        self.frees += 1
        return True

    def alive(self) -> bool:
        return self.answers

    def tidy(self) -> None:
        assert self.answers, "only who is there has anything taken back"


LONGEST_S = 30 * 86_400.0
TICK_S = 10.0
"""The walk asks a lane again after a while without news; a coarse second of the simulation."""

Takes = Callable[[str, Ask], float]
Fails = Callable[[str, Ask, float], BaseException | None]


@dataclass
class Night:
    """Runs a fleet on a virtual clock, one take after another on each server.

    Parameters
    ----------
    takes_s : how long an ask takes on a server, once it is its turn
    fails : the error it ends with, if any
    then : what an ask that ended well adds

    Attributes
    ----------
    starved : seconds of servers that had nothing to do while a take waited for one
    """

    speeds: Sequence[float]
    takes_s: Takes | None = None
    fails: Fails = lambda _server, _ask, _now: None
    then: Callable[[Ask], list[Ask]] = lambda _ask: []
    text_s: float = 0.0
    first: Sequence[str] = ()
    note: Note | None = None
    now: float = 0.0
    said: list[str] = field(default_factory=list)
    said_at: list[float] = field(default_factory=list)
    done: list[tuple[str, str, float, float]] = field(default_factory=list)
    lost: dict[str, MvpipeError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hosts = [Server(name=f"server {k}") for k in range(len(self.speeds))]
        self.speed = {f"server {k}": s for k, s in enumerate(self.speeds)}
        self.fleet = Fleet(
            [
                Berth(host=host, speed=speed, text_s=self.text_s)
                for host, speed in zip(self.hosts, self.speeds, strict=True)
            ],
            ledger=Ledger(self.note, lambda: self.now) if self.note else None,
            first=self.first,
            say=self._hear,
            now=lambda: self.now,
        )
        self.queues: dict[str, list[tuple[Ready, float]]] = {host.name: [] for host in self.hosts}
        self.free_at = dict.fromkeys(self.queues, 0.0)
        self.last: dict[str, tuple[str, str] | None] = dict.fromkeys(self.queues)
        self.later: list[tuple[float, int, Ready]] = []
        self.turns = 0
        self.starved = 0.0

    def _hear(self, text: str) -> None:
        self.said.append(text)
        self.said_at.append(self.now)

    def run(self, asks: Sequence[Ask]) -> Night:
        for ask in asks:
            self.fleet.offer(Ready(name=ask.name, key=ask.name, hint=ask))
        self._begin()
        while any(self.queues.values()) or self.later or self.fleet.waiting:
            self._step()
            self._begin()
        return self

    def _begin(self) -> None:
        for ready, error in self.fleet.dropped():
            self.lost[ready.name] = error
        while turn := self.fleet.next():
            self.queues[self.fleet.where(turn)].append((turn, self.now))
        for ready, error in self.fleet.dropped():
            self.lost[ready.name] = error

    def _step(self) -> None:
        assert self.now < LONGEST_S, "it does not end"
        ends = [(self._end(name, *queue[0]), name) for name, queue in self.queues.items() if queue]
        times = [at for at, _ in ends] + [at for at, _, _ in self.later]
        coming = min(times, default=inf)
        if coming > self.now + TICK_S:
            self._pass(self.now + TICK_S)
            return
        if self.later and self.later[0][0] == coming:
            at, _, ready = heapq.heappop(self.later)
            self._pass(at)
            self.fleet.offer(ready)
            return
        at, name = min(ends)
        ready, offered = self.queues[name].pop(0)
        begun = max(self.free_at[name], offered)
        self._pass(at)
        self.free_at[name] = at
        error = self.fails(name, ready.hint, at)
        self.done.append(
            (ready.name, name, begun, at) if error is None else (f"! {ready.name}", name, begun, at)
        )
        self.last[name] = ready.hint.group
        if self.fleet.end(ready, error):
            self.turns += 1
            again = Ready(name=ready.name, key=ready.key, hint=ready.hint, attempt=ready.attempt + 1)
            heapq.heappush(self.later, (at + 2, self.turns, again))
        elif error is not None:
            assert isinstance(error, MvpipeError)
            self.lost[ready.name] = error
        else:
            for ask in self.then(ready.hint):
                self.turns += 1
                heapq.heappush(
                    self.later, (at + 20, self.turns, Ready(name=ask.name, key=ask.name, hint=ask))
                )

    def _pass(self, at: float) -> None:
        if self.fleet.waiting:
            self.starved += (at - self.now) * sum(not queue for queue in self.queues.values())
        self.now = at

    def _end(self, name: str, ready: Ready, offered: float) -> float:
        post = Post(name=name, speed=self.speed[name], text_s=self.text_s)
        setup = post.setup_s(self.last[name], ready.hint.group)
        takes = self.takes_s(name, ready.hint) if self.takes_s else ready.hint.seconds / self.speed[name]
        return max(self.free_at[name], offered) + setup + takes

    def idle(self) -> float:
        """Share of the night in which servers had nothing to do, before each one's last take ended."""
        whole = max(end for *_, end in self.done)
        busy = sum(end - begun for *_, begun, end in self.done)
        return 1 - busy / (whole * len(self.hosts))

    def kept_waiting(self) -> float:
        """The part of `idle` in which a take waited all the same."""
        return self.starved / (max(end for *_, end in self.done) * len(self.hosts))

    def names(self, server: str = "") -> list[str]:
        return [name for name, at, *_ in self.done if not server or at == server]


def song(seed: int, shots: int, texts: int = 8) -> list[Ask]:
    r = random.Random(seed)
    return [
        Ask(name=f"take {k}.1", seconds=r.uniform(200, 700), text=f"text {r.randrange(texts)}", at=150 * k)
        for k in range(shots)
    ]


def unequal_night(seed: int, retakes: int = 9) -> Night:
    """60 shots on four servers; times are foreseen within a tenth, some takes fail."""
    speeds = (1.0, 0.7, 0.5, 0.3)
    r = random.Random(seed)
    jitter = {f"take {k}.{n}": r.uniform(0.9, 1.1) for k in range(60) for n in (1, 2)}
    bad = {f"take {k}.1" for k in r.sample(range(60), retakes)}

    def again(ask: Ask) -> list[Ask]:
        if ask.name not in bad:
            return []
        return [Ask(name=ask.name[:-1] + "2", seconds=ask.seconds, text=ask.text, at=ask.at, retake=True)]

    return Night(
        speeds,
        text_s=60,
        then=again,
        takes_s=lambda name, ask: ask.seconds * jitter[ask.name] / speeds[int(name.split()[1])],
    ).run(song(seed, 60))
