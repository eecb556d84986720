"""Times are kept for the project and for the user: the next film begins with what this one taught."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mvpipe import stopwatch as module
from mvpipe.build.journal import Journal
from mvpipe.render.backend import Conditioning
from mvpipe.stopwatch import FILE, Stopwatch, read
from mvpipe.timing import Rendered

Open = Callable[[str], Journal]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    made: list[Journal] = []

    def journal(name: str) -> Journal:
        made.append(Journal(tmp_path / name / "journal.db"))
        return made[-1]

    yield journal
    for one in made:
        one.close()


def take(step_s: float, shot: int = 1) -> Rendered:
    return Rendered(
        shot=shot, host="http://a:1", frames=141, size=(960, 544), steps=4, step_s=step_s, seconds=60.0
    )


def test_another_film_begins_with_what_this_one_taught(opened: Open, tmp_path: Path) -> None:
    user = tmp_path / "user"
    first = Stopwatch(journal=opened("one"), folder=user)
    for k in range(3):
        first.note(take(20.0, shot=k), f"key {k}")
    other = Stopwatch(journal=opened("two"), folder=user)
    assert other.learnt().learnt == 3
    assert other.learnt().steps == first.learnt().steps
    assert other.since() == []
    assert Stopwatch(journal=opened("three")).learnt().learnt == 0
    assert 'shot": 2' not in (user / FILE).read_text("utf-8"), "nothing of a film is in it"


def test_a_take_counts_once_and_the_own_are_the_latest(opened: Open, tmp_path: Path) -> None:
    user = tmp_path / "user"
    Stopwatch(journal=opened("one"), folder=user).note(take(10.0), "old")
    own = Stopwatch(journal=opened("two"), folder=user)
    own.note(take(30.0), "own")
    assert own.learnt().learnt == 2


def test_what_a_take_followed_is_kept_and_an_earlier_version_said_nothing_of_it() -> None:
    filmed = replace(take(10.0), conditioning=Conditioning(rows=9_000, filmed=True))
    noted = json.loads(json.dumps(asdict(filmed)))
    assert read(noted) == filmed
    del noted["conditioning"]
    assert read(noted) == take(10.0)


def test_what_cannot_be_read_is_passed_over_and_what_cannot_be_written_is_said(
    opened: Open, tmp_path: Path
) -> None:
    user = tmp_path / "user"
    watch = Stopwatch(journal=opened("one"), folder=user)
    watch.note(take(10.0), "good")
    with (user / FILE).open("a") as file:
        file.write('{"key": "cut\n\x00\n[1]\n')
    assert Stopwatch(journal=opened("two"), folder=user).learnt().learnt == 1
    said: list[str] = []
    blocked = tmp_path / "file"
    blocked.write_text("")
    Stopwatch(journal=opened("three"), folder=blocked, say=said.append).note(take(10.0), "k")
    assert "other films do not learn" in said[0]


def test_it_does_not_grow_for_ever(opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2_000)
    monkeypatch.setattr(module, "KEPT", 4)
    watch = Stopwatch(journal=opened("one"), folder=tmp_path)
    for k in range(40):
        watch.note(take(10.0), f"key {k}")
    lines = (tmp_path / FILE).read_text("utf-8").splitlines()
    assert len(lines) < 12
    assert '"key 39"' in lines[-1]
