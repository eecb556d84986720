"""The lane of a cluster gives out what there is room for, to whom may have it, and gives up in time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from mvpipe.build.graph import Progress, Work
from mvpipe.build.lane import ATTEMPTS, Ready
from mvpipe.build.places import FORSAKEN_S, SHUN_S, Hand, Places, Stint
from mvpipe.build.vault import Entry
from mvpipe.errors import GraphRejected, MediaError, RenderFailed, Unreachable
from mvpipe.fitness import Fitness
from mvpipe.schedule import Ask


class Force:
    """Workers on paper."""

    def __init__(self, **h3: float) -> None:
        self.there = [self.hand(name, many) for name, many in h3.items()]
        self.allowed: dict[str, tuple[list[str], str]] = {}
        self.blamed = ""

    @staticmethod
    def hand(name: str, h3: float) -> Hand:
        return Hand(address=f"tcp://{name}", name=name, threads=2, resources={"h3": h3} if h3 else {})

    def hands(self) -> list[Hand]:
        return self.there

    def allow(self, key: str, workers: Collection[str], resource: str) -> None:
        self.allowed[key] = list(workers), resource

    def blame(self, key: str) -> str:
        return self.blamed

    def took(self, key: str) -> Stint:
        return Stint(by="ada", seconds=1.0)

    def where(self, name: str) -> str:
        return ""

    def make(self, ready: Ready, work: Work, progress: Progress) -> Entry:
        raise NotImplementedError

    def stop(self) -> None: ...

    def tidy(self) -> None: ...


def ready(name: str, attempt: int = 1) -> Ready:
    return Ready(name=name, key=name, hint=Ask(name=name, seconds=1.0, model="h3"), attempt=attempt)


class Stage:
    """A lane with a clock of ours."""

    def __init__(self, force: Force, **options: Any) -> None:
        self.force, self.said, self.at = force, list[str](), 0.0
        self.lane = Places(force, say=self.said.append, now=lambda: self.at, **options)

    def begin(self) -> list[str]:
        names = []
        while turn := self.lane.next():
            names.append(turn.name)
        return names


def takes(force: Force) -> Stage:
    return Stage(force, resource="h3", fitness=Fitness(()))


def test_as_many_as_there_is_room_for_in_order() -> None:
    stage = takes(Force(ada=2, ben=1, cyd=0))
    for k in (3, 1, 2, 5, 4):
        stage.lane.offer(ready(f"take {k}"))
    stage.lane.rank = lambda r: r.name
    assert stage.begin() == ["take 3", "take 1", "take 2"]
    assert stage.force.allowed["take 1"] == (["tcp://ada", "tcp://ben"], "h3")
    stage.lane.end(ready("take 3"), None)
    stage.force.there.append(Force.hand("dan", 1))
    assert len(stage.begin()) == 2, "one place is free, and one more worker has come"


def test_work_without_a_resource_goes_to_anybody() -> None:
    stage = Stage(Force(ada=1, cyd=0))
    for k in range(9):
        stage.lane.offer(ready(f"look {k}"))
    assert len(stage.begin()) == 4
    assert stage.force.allowed["look 0"] == (["tcp://ada", "tcp://cyd"], "")


def test_a_worker_whose_server_is_away_gets_nothing_for_a_while() -> None:
    stage = takes(Force(ada=1, ben=1))
    stage.lane.offer(ready("take 1"))
    stage.begin()
    stage.force.blamed = "ben"
    assert stage.lane.end(ready("take 1"), Unreachable("http://ben: nobody answers"))
    assert stage.said == [f"ben: gets nothing for {SHUN_S:.0f} s: http://ben: nobody answers"]
    stage.lane.offer(ready("take 1", attempt=2))
    stage.begin()
    assert stage.force.allowed["take 1"][0] == ["tcp://ada"]
    stage.at += SHUN_S + 1
    stage.lane.offer(ready("take 2"))
    stage.begin()
    assert stage.force.allowed["take 2"][0] == ["tcp://ada", "tcp://ben"]


def test_the_only_worker_is_not_shunned_and_its_patience_ends() -> None:
    stage = takes(Force(ada=1))
    stage.force.blamed = "ada"
    for attempt in range(1, ATTEMPTS + 1):
        stage.lane.offer(ready("take 1", attempt))
        assert stage.begin() == ["take 1"]
        again = stage.lane.end(ready("take 1", attempt), Unreachable("nobody answers"))
        assert again is (attempt < ATTEMPTS)


def test_what_a_server_refuses_goes_to_others_and_then_to_nobody() -> None:
    stage = takes(Force(ada=1, ben=1))
    for k in (1, 2):
        stage.lane.offer(ready(f"take {k}"))
    stage.begin()
    stage.force.blamed = "ben"
    assert stage.lane.end(ready("take 1"), GraphRejected("ben: no such node"))
    stage.lane.offer(ready("take 3"))
    stage.begin()
    assert stage.force.allowed["take 3"][0] == ["tcp://ada"]
    stage.force.blamed = "ada"
    assert not stage.lane.end(ready("take 2"), GraphRejected("ada: no such node"))
    stage.lane.offer(ready("take 4"))
    assert [(one.name, str(error)) for one, error in stage.lane.dropped()] == [
        ("take 4", "ada: no such node")
    ]


@pytest.mark.parametrize("error", [RenderFailed("black"), MediaError("cannot be read"), ValueError("ours")])
def test_other_errors_are_not_tried_again(error: BaseException) -> None:
    stage = takes(Force(ada=1, ben=1))
    stage.force.blamed = "ada"
    assert not stage.lane.end(ready("take 1"), error)


def test_without_anybody_what_waits_is_given_up_in_time() -> None:
    stage = takes(Force(cyd=0))
    stage.lane.offer(ready("take 1"))
    assert stage.begin() == []
    assert stage.lane.dropped() == []
    assert stage.said == ["no worker with h3 is there: 1 pieces of work wait for one"]
    stage.at += FORSAKEN_S + 1
    ((lost, error),) = stage.lane.dropped()
    assert lost.name == "take 1"
    assert str(error) == "no worker with h3 for 30 minutes"
    assert stage.lane.dropped() == []


def test_a_worker_that_comes_ends_the_wait() -> None:
    stage = takes(Force(cyd=0))
    stage.lane.offer(ready("take 1"))
    stage.lane.dropped()
    stage.at += FORSAKEN_S - 1
    stage.force.there.append(Force.hand("ada", 1))
    assert stage.lane.dropped() == []
    assert stage.begin() == ["take 1"]
