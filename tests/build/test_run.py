"""The walk makes what is missing, once, in any order, and grows as results come in."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.build import run as run_module
from mvpipe.build.graph import Graph, Growth, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.run import Outcome, Step, run
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import Cancelled, PlanError, RenderFailed, Unreachable, VaultError

Make = Callable[[Path, Progress], Mapping[str, Any]]


class Kitchen:
    """A vault, a journal, and nodes that count how often each was made."""

    def __init__(self, folder: Path) -> None:
        self.vault = Vault(folder / "vault")
        self.journal = Journal(folder / "journal.db")
        self.made: Counter[str] = Counter()
        self.steps: list[Step] = []

    def node(self, name: str, *needs: str, make: Make | None = None, **options: Any) -> Node:
        def cook(folder: Path, progress: Progress) -> Mapping[str, Any]:
            self.made[name] += 1
            if make:
                return make(folder, progress)
            (folder / "dish").write_text(name)
            return {}

        def bind(entries: Mapping[str, Entry]) -> Work:
            inputs = {need: entry.digest("dish") for need, entry in entries.items()}
            return Work(task=Task(name="cook", version=1, inputs=inputs, params={"name": name}), make=cook)

        return Node(name=name, needs=needs, bind=bind, **options)

    def run(self, *nodes: Node, stop: Callable[[], None] = lambda: None) -> Outcome:
        lanes = {"cpu": 2, "render": 1}
        return run(Graph(nodes), self.vault, self.journal, lanes=lanes, watch=self.steps.append, stop=stop)


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path)


class Heavy:
    """Something that a node holds, such as a graph of a hundred nodes."""

    def __call__(self, entry: Entry) -> Growth:
        return Growth()


def test_what_a_node_was_to_do_is_let_go_when_it_has_ended(kitchen: Kitchen) -> None:
    held: list[weakref.ref[Heavy]] = []
    gone: list[bool] = []

    def grow(_: Entry) -> Growth:
        heavy = Heavy()
        held.append(weakref.ref(heavy))
        return Growth(nodes=(kitchen.node("b", then=heavy), kitchen.node("c", "b", then=look)))

    def look(_: Entry) -> Growth:
        gone.append(held[0]() is None)
        return Growth()

    assert set(kitchen.run(kitchen.node("a", then=grow)).entries) == {"a", "b", "c"}
    assert gone == [True]


def test_needs_come_first_and_the_second_run_makes_nothing(kitchen: Kitchen) -> None:
    nodes = [kitchen.node("c", "b"), kitchen.node("b", "a"), kitchen.node("a")]
    nodes = [nodes[2], nodes[1], nodes[0]]
    first = kitchen.run(*nodes)
    assert list(first.entries) == ["a", "b", "c"]
    assert kitchen.run(*nodes).entries == first.entries
    assert kitchen.made == {"a": 1, "b": 1, "c": 1}
    assert [s.what for s in kitchen.steps[-3:]] == ["hit", "hit", "hit"]
    assert [job.outcome for job in kitchen.journal.jobs()] == ["done"] * 3


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sets(st.integers(0, 11), max_size=3), min_size=1, max_size=12))
def test_any_graph_is_made_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, needs: list[set[int]]
) -> None:
    kitchen = Kitchen(tmp_path_factory.mktemp("kitchen"))
    nodes = [kitchen.node(str(i), *(str(n) for n in sorted(below) if n < i)) for i, below in enumerate(needs)]
    outcome = kitchen.run(*nodes)
    assert set(outcome.entries) == {node.name for node in nodes}
    ended = [step.name for step in kitchen.steps if step.what == "end"]
    for node in nodes:
        assert all(ended.index(need) < ended.index(node.name) for need in node.needs)


def test_equal_work_is_done_once(kitchen: Kitchen) -> None:
    gate = threading.Event()

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        gate.wait(0.2)
        (folder / "dish").write_text("same")
        return {}

    def bind(_: Mapping[str, Entry]) -> Work:
        kitchen.made["bound"] += 1
        return Work(task=Task(name="same", version=1), make=make)

    outcome = kitchen.run(Node(name="one", bind=bind), Node(name="two", bind=bind))
    assert outcome.entries["one"] == outcome.entries["two"]
    assert kitchen.made["bound"] == 2
    assert len(kitchen.journal.jobs()) == 1


def test_a_failure_stops_only_what_needs_it(kitchen: Kitchen) -> None:
    def fail(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise RenderFailed("shot 2: burnt")

    outcome = kitchen.run(
        kitchen.node("a", make=fail), kitchen.node("b", "a"), kitchen.node("c", "b"), kitchen.node("d")
    )
    assert set(outcome.entries) == {"d"}
    assert str(outcome.failures["a"]) == "shot 2: burnt"
    assert "a failed" in str(outcome.failures["b"])
    assert "b failed" in str(outcome.failures["c"])
    assert kitchen.made == {"a": 1, "d": 1}


def test_a_take_that_fails_grows_the_next_one(kitchen: Kitchen) -> None:
    def take(number: int) -> Node:
        def retake(error: object) -> Growth:
            new = take(number + 1)
            return Growth(nodes=(new,), waits=(("plate", new.name),))

        def cook(folder: Path, progress: Progress) -> Mapping[str, Any]:
            if number < 3:
                raise RenderFailed(f"take {number}: burnt")
            (folder / "dish").write_text("good")
            return {}

        return kitchen.node(f"take {number}", make=cook, lane="render", rescue=retake)

    outcome = kitchen.run(take(1), kitchen.node("plate", "take 1"))
    assert set(outcome.entries) == {"take 3", "plate"}
    assert outcome.failures == {}
    assert kitchen.made == {"take 1": 1, "take 2": 1, "take 3": 1, "plate": 1}
    assert list(outcome.entries["plate"].task["inputs"]) == ["take 3"]


def test_only_what_may_help_is_tried_again(kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "PAUSE_S", 0.01)

    def shaky(folder: Path, progress: Progress) -> Mapping[str, Any]:
        if kitchen.made["a"] < 3:
            raise Unreachable("server: no answer")
        (folder / "dish").write_text("a")
        return {}

    def gone(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise Unreachable("server: no answer")

    outcome = kitchen.run(kitchen.node("a", make=shaky), kitchen.node("b", make=gone))
    assert set(outcome.entries) == {"a"}
    assert kitchen.made == {"a": 3, "b": 3}
    assert [job.outcome for job in kitchen.journal.jobs(key=outcome.entries["a"].key)] == [
        "failed",
        "failed",
        "done",
    ]


def test_a_vault_that_cannot_be_written_ends_the_run(kitchen: Kitchen) -> None:
    def full(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise VaultError("disk full")

    stopped: list[bool] = []
    with pytest.raises(VaultError, match="disk full"):
        kitchen.run(kitchen.node("a", make=full), kitchen.node("b", "a"), stop=lambda: stopped.append(True))
    assert stopped == [True]


def test_ctrl_c_keeps_what_is_done_and_nothing_half(kitchen: Kitchen) -> None:
    def interrupt(step: Step) -> None:
        if step.what == "progress":
            raise KeyboardInterrupt

    def slow(folder: Path, progress: Progress) -> Mapping[str, Any]:
        (folder / "dish").write_text("half")
        while True:
            progress(1, 2)
            threading.Event().wait(0.005)

    nodes = [kitchen.node("a"), kitchen.node("b", "a", make=slow)]
    with pytest.raises(Cancelled):
        run(Graph(nodes), kitchen.vault, kitchen.journal, lanes={"cpu": 2}, watch=interrupt)
    assert [entry.task["params"]["name"] for entry in kitchen.vault.entries()] == ["a"]
    assert [job.outcome for job in kitchen.journal.jobs()] == ["done", "stopped"]
    assert kitchen.run(kitchen.node("a"), kitchen.node("b", "a")).failures == {}


def test_a_mistake_of_ours_is_not_swallowed(kitchen: Kitchen) -> None:
    def wrong(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kitchen.run(kitchen.node("a", make=wrong))


def test_a_graph_that_cannot_be_walked_is_refused(kitchen: Kitchen) -> None:
    with pytest.raises(PlanError, match="circle"):
        Graph([kitchen.node("a"), kitchen.node("b", "a")]).grow(Growth(waits=(("a", "b"),)))
    with pytest.raises(PlanError, match="not in the graph"):
        Graph([kitchen.node("a", "nobody")])
    with pytest.raises(PlanError, match="twice"):
        Graph([kitchen.node("a"), kitchen.node("a")])
