"""Shots tied to a sung line: which time is meant, and how well its place has to be known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.clock import tile
from mvpipe.errors import StoryboardError
from mvpipe.film import Line, SungLine, Timing
from mvpipe.storyboard.tying import Known, Tied, check_lyrics, tie
from tests.storyboard.making import loaded

TIMED = (Line("No way home", Fraction(1)), Line("the rain", Fraction(7)), Line("no way home!", Fraction(20)))
PLAIN = tuple(Line(line.text) for line in TIMED)
SPANS = tile(range(144, 576, 144), 576)


def aligned(timing: Timing, sure: float, lines: tuple[Line, ...] = TIMED) -> tuple[SungLine, ...]:
    return tuple(
        SungLine(
            text=PLAIN[TIMED.index(line)].text,
            start=line.start or Fraction(0),
            stop=(line.start or 0) + Fraction(2),
            words=(),
            timing=timing,
            word_timing=timing,
            sure=sure,
        )
        for line in lines
    )


def tied(folder: Path, lyric: str, known: Known) -> Tied:
    film = loaded(folder, f'sections: [{{name: v, shots: [{{prompt: a}}, {{prompt: b, lyric: "{lyric}"}}]}}]')
    return tie(film, SPANS, known)[0]


def refused(folder: Path, lyric: str, known: Known) -> str:
    with pytest.raises(StoryboardError) as caught:
        tied(folder, lyric, known)
    assert caught.value.hint
    return str(caught.value).partition("lyric: ")[2]


@pytest.mark.parametrize(("lyric", "span"), [("no way home#1", 0), ("THE rain", 1), ("No way, home #2", 3)])
def test_a_line_places_its_shot(tmp_path: Path, lyric: str, span: int) -> None:
    assert tied(tmp_path, lyric, Known(lyrics=TIMED)).spans == {span: (0, 1)}


def test_a_line_that_is_sung_twice_is_an_error_that_names_both_places(tmp_path: Path) -> None:
    assert refused(tmp_path, "no way home", Known(lyrics=TIMED)) == (
        'sung 2 times, at 0:01.000 "No way home", at 0:20.000 "no way home!": which is meant'
    )
    assert refused(tmp_path, "no way home", Known(lyrics=PLAIN)) == (
        'sung 2 times, line 1 "No way home", line 3 "no way home!": which is meant'
    )


def test_it_is_said_before_anybody_has_listened(tmp_path: Path) -> None:
    shots = "{prompt: a, lyric: rain}, {prompt: b, lyric: no way}, {prompt: c, lyric: no way, at: 1}"
    film = loaded(tmp_path, f"sections: [{{name: v, shots: [{shots}]}}]")
    with pytest.raises(StoryboardError, match=r"shots\[1\].lyric: sung 2 times") as caught:
        check_lyrics(film, PLAIN)
    assert len(str(caught.value).splitlines()) == 1
    check_lyrics(film, PLAIN[:2])


def test_a_time_that_does_not_come_is_an_error_that_says_how_many_do(tmp_path: Path) -> None:
    said = refused(tmp_path, "no way home#3", Known(lyrics=TIMED))
    assert said.startswith("time 3 of a line that is sung 2 times, at 0:01.000")


def test_many_places_are_not_all_named(tmp_path: Path) -> None:
    lines = tuple(Line("la", Fraction(n)) for n in range(9))
    assert "sung 9 times" in (said := refused(tmp_path, "la", Known(lyrics=lines)))
    assert said.count('"la"') == 4
    assert said.endswith("and more: which is meant")


def test_lines_without_times_place_a_shot_where_a_network_heard_them(tmp_path: Path) -> None:
    known = Known(lyrics=PLAIN, placed=aligned(Timing.ALIGNED, 0.93))
    assert tied(tmp_path, "no way home#2", known).spans == {3: (0, 1)}


@pytest.mark.parametrize(("timing", "sure"), [(Timing.ALIGNED, 0.6), (Timing.GUESSED, 0.31)])
def test_a_place_that_is_not_sure_is_refused_and_says_how_sure_it_is(
    tmp_path: Path, timing: Timing, sure: float
) -> None:
    known = Known(lyrics=PLAIN, placed=aligned(timing, sure))
    said = f"the lyrics have no times, and that it is sung at 0:07.000 is only {sure:.0%} sure"
    assert refused(tmp_path, "the rain", known) == said


def test_a_line_of_which_one_time_was_not_found_is_refused(tmp_path: Path) -> None:
    known = Known(lyrics=PLAIN, placed=aligned(Timing.ALIGNED, 0.93, TIMED[1:]))
    assert "no place was found" in refused(tmp_path, "no way home#1", known)


def test_a_line_of_no_lyrics_ties_to_nothing_and_is_only_said(tmp_path: Path) -> None:
    assert tied(tmp_path, "no way home#2", Known()) == Tied()
