"""Takes as the journal remembers them, also those that earlier versions noted."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from mvpipe import takes
from mvpipe.build.journal import Journal
from mvpipe.clock import Span
from mvpipe.film import Finding, Outcome, Verdict

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
