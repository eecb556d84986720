"""Budgets: the night ends when it was told to, what runs is finished, and what was left out says why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mvpipe.budget import Budget, Budgeted, until
from mvpipe.build.graph import Graph, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.lane import Pool, Ready
from mvpipe.build.run import Outcome, run
from mvpipe.build.vault import Vault
from mvpipe.errors import NotRendered, SettingsError

NOON = datetime(2026, 11, 30, 12, 0).astimezone().timestamp()


def night(tmp_path: Path, many: int, budget: Budget, **options: Any) -> tuple[Outcome, list[str]]:
    """So many takes within a budget, one at a time."""
    made: list[str] = []

    def node(name: str) -> Node:
        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            made.append(name)
            return {}

        return Node(name=name, bind=lambda _: Work(task=Task(name=name, version=1), make=make))

    journal = Journal(tmp_path / "journal.db")
    try:
        lanes = {"cpu": Budgeted(Pool(1), budget, **options)}
        nodes = [node(f"take {k}.1") for k in range(many)]
        return run(Graph(nodes), Vault(tmp_path / "vault"), journal, lanes=lanes), made
    finally:
        journal.close()


def test_without_limits_all_is_made(tmp_path: Path) -> None:
    outcome, made = night(tmp_path, 5, Budget())
    assert len(made) == 5
    assert not outcome.failures


def test_so_many_takes_and_no_more(tmp_path: Path) -> None:
    outcome, made = night(tmp_path, 5, Budget(takes=2))
    assert made == ["take 0.1", "take 1.1"]
    assert sorted(outcome.failures) == ["take 2.1", "take 3.1", "take 4.1"]
    error = outcome.failures["take 2.1"]
    assert isinstance(error, NotRendered)
    assert str(error) == "not rendered: 2 takes were allowed, and are made"
    again, more = night(tmp_path, 5, Budget(takes=2))
    assert more == ["take 2.1", "take 3.1"]
    assert list(again.failures) == ["take 4.1"]


def test_no_take_is_begun_that_cannot_end_in_time(tmp_path: Path) -> None:
    clock = iter(range(0, 10_000, 100))
    budget = Budget(until=NOON + 1000)
    outcome, made = night(tmp_path, 20, budget, foresee_s=lambda _: 300.0, now=lambda: NOON + next(clock))
    assert 1 <= len(made) <= 8
    assert "the time is up at 12:16" in str(outcome.failures["take 19.1"])


def test_a_stop_from_outside_lets_what_runs_finish(tmp_path: Path) -> None:
    asked = iter(["", "", "", "a stop was asked for"])
    outcome, made = night(tmp_path, 9, Budget(stop=lambda: next(asked, "a stop was asked for")))
    assert 1 <= len(made) <= 3
    assert len(outcome.failures) == 9 - len(made)
    assert str(outcome.failures["take 8.1"]) == "not rendered: a stop was asked for"


def test_a_second_attempt_is_no_new_take() -> None:
    lane = Budgeted(Pool(1), Budget(takes=1))
    first = Ready(name="a", key="a")
    lane.offer(first)
    assert lane.next() == first
    lane.end(first, None)
    again = Ready(name="a", key="a", attempt=2)
    lane.offer(again)
    assert lane.next() is None
    assert [ready for ready, _ in lane.dropped()] == [again]


@pytest.mark.parametrize(
    ("clock", "hours", "ends"),
    [
        ("", None, None),
        ("13:30", None, NOON + 5400),
        ("07:00", None, NOON + 19 * 3600),
        ("12:00", None, NOON + 24 * 3600),
        ("", 2.5, NOON + 9000),
        ("13:00", 8, NOON + 3600),
        ("23:00", 1, NOON + 3600),
    ],
)
def test_when_a_run_ends(clock: str, hours: float | None, ends: float | None) -> None:
    assert until(clock, hours, now=NOON) == ends


@pytest.mark.parametrize(
    ("clock", "hours"), [("7", None), ("25:00", None), ("07:60", None), ("", 0.0), ("", -1.0)]
)
def test_what_is_no_time(clock: str, hours: float | None) -> None:
    with pytest.raises(SettingsError, match=r"--(until|max-hours): not a"):
        until(clock, hours, now=NOON)


def test_no_negative_number_of_takes() -> None:
    with pytest.raises(SettingsError, match="--max-takes"):
        Budget(takes=-1)
