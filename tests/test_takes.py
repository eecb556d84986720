"""Takes as the journal remembers them, also those that earlier versions noted."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from pathlib import Path

from mvpipe import takes
from mvpipe.build.journal import Journal
from mvpipe.clock import Span
from mvpipe.film import Card, Finding, Outcome, Shot, Verdict

CUT = Span(0, 120, Fraction(24))
GOOD = Verdict(findings=(Finding(check="lips", outcome=Outcome.PASS, value=0, limit=1, reason="together"),))


def test_what_earlier_versions_noted_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    old = {
        "number": 1,
        "key": "k",
        "family": "f",
        "seed": 7,
        "outcome": "pass",
        "reason": "every check passed",
    }
    journal.note("take", takes.cut_name(CUT), **old)
    [known] = takes.known_takes(journal, CUT)
    assert (known.lips, known.slip, known.findings) == ({}, 0, ())
    assert known.words == "every check passed"
    journal.close()


def test_a_verdict_is_kept_with_its_figures_and_noted_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    lips = {
        "offset_ms": 201.3,
        "reason": "slipped by +5 frames: late, and now together",
        "control": {"ok": True},
    }
    for _ in range(2):
        known = takes.record_take(journal, CUT, key="k", family="f", seed=7, verdict=GOOD, lips=lips, slip=5)
    assert len(journal.events("take")) == 1
    assert takes.known_takes(journal, CUT) == [known]
    assert known.words.startswith("slipped by +5 frames")
    assert known.findings[0]["check"] == "lips"
    takes.record_take(journal, CUT, key="k", family="f", seed=7, verdict=GOOD, lips={"unjudged": "why"})
    assert takes.known_takes(journal, CUT)[0].words == "every check passed; lips not judged: why"
    journal.close()


class TestWhatTheFilmAwaits:
    """The take that the next render puts in, where the film shows another."""

    SHOT = Shot(number=3, cut=CUT, window=Span(0, 124), card=Card(prompt=""))

    def journal(self, tmp_path: Path) -> Journal:
        """Of a film that shows take `a`; its clock ticks with every look."""
        journal = Journal(tmp_path / "journal.db", now=count(1).__next__)
        takes.record_used(journal, self.SHOT, key="a", family="f")
        takes.record_shown(journal)
        return journal

    def awaited(self, journal: Journal) -> str:
        found = takes.awaited(journal, self.SHOT, takes.last_shown(journal))
        journal.close()
        return found

    def test_nothing_where_it_shows_what_was_used(self, tmp_path: Path) -> None:
        assert self.awaited(self.journal(tmp_path)) == ""

    def test_a_pick_of_another_take(self, tmp_path: Path) -> None:
        journal = self.journal(tmp_path)
        takes.choose_pick(journal, CUT, "b", "f")
        assert self.awaited(journal) == "b"

    def test_no_pick_of_what_the_shot_does_not_ask_for_any_more(self, tmp_path: Path) -> None:
        journal = self.journal(tmp_path)
        takes.choose_pick(journal, CUT, "b", "of the prompt before")
        assert self.awaited(journal) == ""

    def test_a_take_used_after_the_film_was_made(self, tmp_path: Path) -> None:
        journal = self.journal(tmp_path)
        takes.record_used(journal, self.SHOT, key="c", family="g")
        assert self.awaited(journal) == "c"

    def test_nothing_in_a_project_that_never_noted_what_its_film_shows(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path / "journal.db")
        takes.record_used(journal, self.SHOT, key="a", family="f")
        assert self.awaited(journal) == ""
