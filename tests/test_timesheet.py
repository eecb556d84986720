"""Every millisecond of a cluster's renderers is accounted for, whoever dies."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from mvpipe.account import Use, account, end_cut
from mvpipe.build.graph import Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.lane import Ready
from mvpipe.build.places import NOBODY, Hand, Places, Stint
from mvpipe.build.vault import Entry
from mvpipe.errors import RenderFailed, Unreachable
from mvpipe.fitness import Fitness
from mvpipe.fleet import NOTHING
from mvpipe.ledger import Ledger
from mvpipe.render.backend import UNHEARD, Ran
from mvpipe.schedule import Ask
from mvpipe.timesheet import LEFT, ON_ITS_WAY, SHUNNED, Timesheet


class Force:
    """Workers on paper, each with room for one take."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.by: dict[str, str] = {}
        self.stints: dict[str, Stint] = {}
        self.blamed = ""

    def hands(self) -> list[Hand]:
        return [Hand(address=name, name=name, threads=1, resources={"h3": 1}) for name in self.names]

    def allow(self, key: str, workers: Collection[str], resource: str) -> None: ...

    def blame(self, key: str) -> str:
        return self.blamed

    def took(self, key: str) -> Stint:
        return self.stints.get(key, NOBODY)

    def where(self, name: str) -> str:
        return self.by.get(name, "")

    def make(self, ready: Ready, work: Work, progress: Progress) -> Entry:
        raise NotImplementedError

    def stop(self) -> None: ...

    def tidy(self) -> None: ...


class Night:
    """A lane of takes, a clock of ours, and a journal."""

    def __init__(self, journal: Journal, *names: str) -> None:
        self.journal, self.force, self.at = journal, Force(*names), 1000.0
        self.told: dict[str, Ran] = {}
        self.lane = Places(self.force, resource="h3", fitness=Fitness(()), now=lambda: self.at)
        self.open()

    def open(self) -> None:
        ledger = Ledger(self.journal.note, lambda: self.at)
        self.sheet = Timesheet(
            self.lane, self.force, ledger, lambda key: self.told.get(key, UNHEARD), lambda: self.at
        )

    def begin(self, name: str, worker: str) -> Ready:
        """A take is given out, and half a second later its worker says so."""
        self.sheet.offer(ready(name))
        turn = self.sheet.next()
        assert turn
        assert turn.name == name
        self.rest(0.5)
        self.force.by[name] = worker
        self.look()
        return turn

    def rest(self, seconds: float) -> None:
        self.at += seconds

    def look(self) -> None:
        assert self.sheet.next() is None

    def end(self, turn: Ready, by: str, seconds: float, error: Exception | None = None) -> bool:
        del self.force.by[turn.name]
        self.force.stints[turn.key] = Stint(by=by, seconds=seconds, ended=self.at, ahead_s=100.0)
        return self.sheet.end(turn, error)

    def found(self) -> dict[str, list[tuple[str, int, str]]]:
        """Worker -> use, seconds times ten and reason of each stretch; they tile its time."""
        told = account(self.journal)
        assert told.unexplained == 0
        return {
            watch.server: [(one.use.value, round(one.length / 100), one.why) for one in watch.stretches]
            for watch in told.watches
        }


def ready(name: str) -> Ready:
    return Ready(name=name, key=f"key of {name}", hint=Ask(name=name, seconds=10.0, model="h3"))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.db")
    yield made
    made.close()


def test_a_night_of_two(journal: Journal) -> None:
    night = Night(journal, "ada", "ben")
    night.rest(1)
    one, two = night.begin("take 1.1", "ada"), night.begin("take 2.1", "ben")
    night.rest(9)
    night.told[one.key] = Ran(begun=1102.0, ended=1110.0, parts={"text": 2.0, "steps": 6.0})
    night.rest(1)
    assert not night.end(one, "ada", 9.5)
    night.rest(3)
    assert not night.end(two, "ben", 12.5, RenderFailed("node 7 failed"))
    night.rest(2)
    night.sheet.close()
    assert night.found() == {
        "ada": [
            ("idle", 10, NOTHING), ("idle", 5, ON_ITS_WAY), ("between takes", 5, ""), ("takes", 80, ""),
            ("between takes", 20, ""), ("idle", 50, NOTHING),
        ],
        "ben": [
            ("idle", 10, NOTHING), ("idle", 5, ON_ITS_WAY), ("idle", 5, ON_ITS_WAY), ("between takes", 5, ""),
            ("attempts without a take", 125, "node 7 failed"), ("idle", 20, NOTHING),
        ],
    }  # fmt: skip
    take = next(one for watch in account(journal).watches for one in watch.stretches if one.use is Use.TAKE)
    assert take.parts == {"text": 2000, "steps": 6000}


def test_a_worker_that_is_lost_and_one_that_takes_over(journal: Journal) -> None:
    night = Night(journal, "ada")
    turn = night.begin("take 1.1", "ada")
    night.rest(4)
    night.force.names, night.force.by = ["ben"], {}
    night.look()
    night.rest(1)
    night.force.names.append("ada")
    night.force.by = {turn.name: "ben"}
    night.look()
    night.rest(10)
    night.end(turn, "ben", 10.0)
    night.sheet.close()
    assert night.found() == {
        "ada": [
            ("idle", 5, ON_ITS_WAY), ("attempts without a take", 40, LEFT), ("away", 10, LEFT),
            ("idle", 100, NOTHING),
        ],
        "ben": [("idle", 10, ON_ITS_WAY), ("takes", 100, "")],
    }  # fmt: skip


def test_what_was_there_already_kept_nobody_busy(journal: Journal) -> None:
    night = Night(journal, "ada")
    night.sheet.offer(ready("take 1.1"))
    turn = night.sheet.next()
    assert turn
    night.rest(1)
    night.sheet.end(turn, None)
    night.sheet.close()
    assert night.found() == {"ada": [("idle", 10, ON_ITS_WAY)]}


def test_a_take_that_goes_on_when_its_run_is_killed_belongs_to_both(journal: Journal) -> None:
    night = Night(journal, "ada")
    turn = night.begin("take 1.1", "ada")
    end_cut(journal, night.at + 3)
    night.rest(60)
    night.lane = Places(night.force, resource="h3", fitness=Fitness(()), now=lambda: night.at)
    night.open()
    night.sheet.offer(turn)
    assert night.sheet.next() == turn
    night.rest(5)
    night.end(turn, "ada", 68.0)
    night.sheet.close()
    told = account(journal)
    assert told.unexplained == 0
    first, second = ([(one.use, one.length) for one in watch.stretches] for watch in told.watches)
    assert first == [(Use.TAKE, 3500)], "it went on when the run was dead, so that nothing was cut off"
    assert second == [(Use.TAKE, 5000)], "what lies in this run"


def test_a_take_that_nobody_finished_is_cut_off_with_its_run(journal: Journal) -> None:
    night = Night(journal, "ada")
    night.begin("take 1.1", "ada")
    end_cut(journal, night.at + 3)
    assert night.found() == {"ada": [("idle", 5, ON_ITS_WAY), ("cut off", 30, "")]}


def test_why_nobody_works(journal: Journal) -> None:
    night = Night(journal, "ada", "ben")
    turn = night.begin("take 1.1", "ben")
    night.rest(1)
    night.force.blamed = "ben"
    assert night.end(turn, "ben", 1.0, Unreachable("http://ben: nobody answers"))
    night.lane.fitness = None
    night.begin("take 2.1", "ada")
    night.sheet.offer(ready("take 3.1"))
    night.lane.resource = "none has it"
    night.look()
    night.rest(2)
    night.sheet.held = lambda: "the time is up"
    night.look()
    night.rest(3)
    night.sheet.close()
    assert night.found()["ben"][-2:] == [("idle", 20, SHUNNED), ("idle", 30, "the time is up")]
