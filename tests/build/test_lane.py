"""Lanes: who begins next, who is held back, and who is told that it never will."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build import run as walking
from mvpipe.build.graph import NO_GROWTH, Graph, Growth, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.lane import Pool, Ready
from mvpipe.build.run import run
from mvpipe.build.vault import Vault
from mvpipe.errors import BackendError, MvpipeError, Unreachable


@dataclass
class Log:
    """What was made, in order, by nodes that may be told to fail."""

    made: list[str] = field(default_factory=list)
    fail: dict[str, list[MvpipeError]] = field(default_factory=dict)

    def node(self, name: str, *, hint: Any = None, rescue: Any = None) -> Node:
        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            self.made.append(name)
            if self.fail.get(name):
                raise self.fail[name].pop(0)
            return {}

        task = Task(name=name, version=1)
        return Node(name=name, bind=lambda _: Work(task=task, make=make), hint=hint, rescue=rescue)


@dataclass
class Gate:
    """A lane with one place that opens after it was asked a few times, or never and says so."""

    asked_before: int
    never: bool = False
    waiting: list[Ready] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    width = 1

    def offer(self, ready: Ready) -> None:
        self.waiting.append(ready)
        self.seen.append(f"offer {ready.name} {ready.attempt}")

    def next(self) -> Ready | None:
        self.asked_before -= 1
        return self.waiting.pop(0) if self.waiting and self.asked_before < 0 and not self.never else None

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        self.seen.append(f"end {ready.name} {type(error).__name__}")
        return error is not None

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        gone = self.waiting if self.never else []
        self.waiting = [] if self.never else self.waiting
        return [(ready, BackendError("nobody is left")) for ready in gone]


@pytest.fixture
def log() -> Log:
    return Log()


def walk(tmp_path: Path, nodes: list[Node], lane: Any) -> Any:
    vault, journal = Vault(tmp_path / "vault"), Journal(tmp_path / "journal.db")
    try:
        return run(Graph(nodes), vault, journal, lanes={"cpu": lane})
    finally:
        journal.close()


def test_a_pool_begins_the_smallest_rank_first(tmp_path: Path, log: Log) -> None:
    nodes = [log.node(name, hint=rank) for name, rank in (("a", 3), ("b", 1), ("c", 2), ("d", 1))]
    walk(tmp_path, nodes, Pool(1, rank=lambda ready: ready.hint))
    assert log.made == ["b", "d", "c", "a"]


def test_a_pool_has_no_more_places_than_it_says() -> None:
    pool = Pool(2)
    for name in "abc":
        pool.offer(Ready(name=name, key=name))
    first = pool.next()
    assert first
    assert pool.next()
    assert pool.next() is None
    pool.end(first, None)
    third = pool.next()
    assert third
    assert third.name == "c"


def test_a_lane_that_holds_back_is_asked_again(
    tmp_path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "GLANCE_S", 0.01)
    walk(tmp_path, [log.node("a")], Gate(asked_before=5))
    assert log.made == ["a"]


def test_what_a_lane_drops_fails_with_its_reason(tmp_path: Path, log: Log) -> None:
    outcome = walk(tmp_path, [log.node("a")], Gate(asked_before=0, never=True))
    assert log.made == []
    assert str(outcome.failures["a"]) == "nobody is left"


def test_what_a_lane_drops_can_be_rescued(tmp_path: Path, log: Log) -> None:
    told: list[str] = []

    def rescue(error: MvpipeError) -> Growth:
        told.append(str(error))
        return NO_GROWTH

    outcome = walk(tmp_path, [log.node("a", rescue=rescue)], Gate(asked_before=0, never=True))
    assert told == ["nobody is left"]
    assert not outcome.failures


def test_a_retry_queues_again_and_frees_its_place_meanwhile(
    tmp_path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PAUSE_S", 0.5)
    log.fail["a"] = [Unreachable("away")]
    gate = Gate(asked_before=0)
    outcome = walk(tmp_path, [log.node("a"), log.node("b")], gate)
    assert not outcome.failures
    assert log.made == ["a", "b", "a"]
    assert gate.seen == [
        "offer a 1", "offer b 1", "end a Unreachable", "end b NoneType", "offer a 2", "end a NoneType",
    ]  # fmt: skip
