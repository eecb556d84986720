"""History and choices survive the process; losing the file loses nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.build.journal import Journal
from mvpipe.errors import VaultError


def clock() -> object:
    ticks = iter(range(100))
    return lambda: float(next(ticks))


def test_attempts_events_and_choices_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", now=clock())  # type: ignore[arg-type]
    first = journal.begin("take 1.1", "aa")
    journal.end(first, "done")
    journal.begin("take 2.1", "bb")
    journal.note("verdict", "take 1.1", outcome="pass")
    journal.choose("pick 0-120", {"key": "aa"})
    journal.close()

    again = Journal(tmp_path / "journal.db")
    done, died = again.jobs()
    assert (done.name, done.key, done.outcome, done.started, done.ended) == (
        "take 1.1",
        "aa",
        "done",
        0.0,
        1.0,
    )
    assert (died.name, died.outcome, died.ended) == ("take 2.1", None, None)
    assert [job.name for job in again.jobs(key="bb")] == ["take 2.1"]
    assert [event.data for event in again.events("verdict", "take 1.1")] == [{"outcome": "pass"}]
    assert again.events("verdict", "take 9.9") == []
    assert again.choice("pick 0-120") == {"key": "aa"}
    again.choose("pick 0-120", None)
    assert again.choice("pick 0-120") is None
    again.close()


def test_a_file_that_is_no_journal_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"not a database, but long enough to be read as a header" * 40)
    said: list[str] = []
    journal = Journal(path, on_damage=said.append)
    assert journal.jobs() == []
    assert "history begins anew" in said[0]
    assert len(list(tmp_path.glob("journal.db.damaged-*"))) == 1
    journal.close()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultError, match="cannot be used"):
        Journal(tmp_path / "file" / "journal.db")


def test_one_subject_among_many_is_looked_up_by_its_index(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    asked = list[str]()
    journal._db.set_trace_callback(asked.append)
    journal.events("used", "shot 7")
    journal.jobs(key="k")
    journal._db.set_trace_callback(None)
    plans = [journal._db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in asked]
    journal.close()
    assert [plan[0][-1] for plan in plans] == [
        "SEARCH events USING INDEX events_by_subject (kind=? AND subject=?)",
        "SEARCH jobs USING INDEX jobs_by_key (key=?)",
    ]
