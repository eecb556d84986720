"""Every second of every server is accounted for: the parts add up to the whole, whatever happened."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from mvpipe import account as module
from mvpipe import fleet as fleets
from mvpipe.account import Account, Use, account, end_cut
from mvpipe.build.journal import Journal
from mvpipe.errors import RenderFailed, Unreachable
from mvpipe.ledger import Ledger, State
from mvpipe.schedule import Ask
from tests.night import Night, song


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.db")
    yield made
    made.close()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def seconds(found: Account, server: str = "a") -> dict[str, float]:
    """Use -> seconds, of one server."""
    (told,) = [one for one in found.as_json()["servers"] if one["server"] == server]
    return {use: length for use, length in told["uses"].items() if length}


def tiled(found: Account) -> bool:
    """Whether no moment is missing and none counts twice."""
    return all(
        a.stop == b.start and a.length > 0 for watch in found.watches for a, b in pairwise(watch.stretches)
    )


def test_a_take_is_what_the_server_did_and_the_rest_is_waiting(journal: Journal) -> None:
    clock = Clock()
    ledger = Ledger(journal.note, clock)
    ledger.state("a", State.IDLE, "nothing waits")
    clock.now = 1010.0
    ledger.state("a", State.BUSY)
    clock.now = 1100.0
    parts = {"text": 6.0, "load": 20.0, "sample": 50.0}
    ledger.ran("a", name="take 1.1", key="k", begun=1012.0, ended=1098.0, age_s=90.0, parts=parts)
    ledger.state("a", State.IDLE, "nothing waits")
    clock.now = 1130.5
    ledger.close(["a"])
    found = account(journal)
    assert tiled(found)
    assert seconds(found) == {"takes": 86.0, "between takes": 4.0, "idle": 40.5}
    (told,) = found.as_json()["servers"]
    assert told["seconds"] == 130.5
    assert told["rendering"] == {"files": 10.0, "load": 20.0, "sample": 50.0, "text": 6.0}
    assert told["reasons"] == [{"use": "idle", "why": "nothing waits", "seconds": 40.5}]


def test_an_attempt_that_failed_is_told_from_a_take_and_from_one_the_gate_refused(journal: Journal) -> None:
    clock = Clock()
    ledger = Ledger(journal.note, clock)
    ledger.state("a", State.BUSY)
    for k, (key, why) in enumerate([("good", ""), ("bad", ""), ("none", "out of memory")]):
        clock.now = 1100.0 + 100 * k
        ledger.ran("a", name=f"take {k}.1", key=key, begun=None, age_s=100.0, why=why)
    ledger.close(["a"])
    journal.note("take", "0-9@24", key="bad", outcome="fail")
    found = account(journal)
    assert seconds(found) == {
        "takes": 100.0,
        "takes that failed the gate": 100.0,
        "attempts without a take": 100.0,
    }
    assert "attempts without a take: take 2.1" in found.text()


def test_a_run_that_was_killed_ends_with_its_last_sign_of_life(journal: Journal) -> None:
    clock = Clock()
    first = Ledger(journal.note, clock)
    first.state("a", State.BUSY)
    clock.now = 1050.0
    first.ran("a", name="take 1.1", key="k", begun=1000.0, ended=1050.0, age_s=50.0)
    end_cut(journal, 1080.0)
    clock.now = 5000.0
    second = Ledger(journal.note, clock)
    second.state("a", State.IDLE, "nothing waits")
    clock.now = 5001.0
    second.close(["a"])
    found = account(journal)
    assert len(found.watches) == 2
    assert seconds(found) == {"takes": 50.0, "cut off": 30.0, "idle": 1.0}
    end_cut(journal, 9999.0)
    assert account(journal) == found, "a run that has ended was not killed"


def test_a_run_at_work_counts_until_now(journal: Journal) -> None:
    Ledger(journal.note, Clock()).state("a", State.AWAY, "no answer")
    assert seconds(account(journal, 1007.0)) == {"away": 7.0}
    assert not account(journal).watches, "nothing has passed for one that died at once"


@pytest.mark.parametrize("seed", range(6))
def test_of_a_wild_night_every_millisecond_is_there(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(fleets, "PROBE_S", 0.0)
    dice = random.Random(seed)
    tries: dict[str, int] = {}

    def fails(_server: str, ask: Ask, _now: float) -> BaseException | None:
        tries[ask.name] = tries.get(ask.name, 0) + 1
        if tries[ask.name] > 2 or dice.random() > 0.3:
            return None
        return dice.choice([Unreachable("gone"), RenderFailed("a node failed")])

    night = Night([1.0, 0.6, 0.3], fails=fails, text_s=60.0, note=journal.note).run(song(seed, 30))
    night.fleet.close()
    found = account(journal)
    assert tiled(found)
    for watch in found.watches:
        assert sum(one.length for one in watch.stretches) == watch.stop - watch.start
        assert (watch.start, watch.stop) == (0, round(night.now * 1000))
        done = sum(end - begun for name, at, begun, end in night.done if at == watch.server)
        spent = sum(one.length for one in watch.stretches if one.use in module.RENDERING)
        assert spent / 1000 == pytest.approx(done, abs=0.05 * max(done, 1))
    names = [one.name for watch in found.watches for one in watch.stretches if one.use is Use.TAKE]
    assert sorted(names) == sorted({*names}), "a take is there once"
