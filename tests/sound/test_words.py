"""Lyrics on the song: given times are checked, lines without times are laid along the phrases."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.film import Line, SungLine, Timing, Word
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.verse import syllables, tokens, weight
from mvpipe.sound.words import Aligned, align
from tests.sound.cuttings import plan, starts
from tests.sound.hearings import by_hand

PHRASES = [(2.0, 5.0), (6.0, 8.0), (9.0, 12.5), (14.0, 15.5), (17.0, 20.0)]
TEXTS = (
    "under the harbour light we wait",
    "nobody calls",
    "morning is breaking over the water",
    "all alone",
    "counting the windows of the train",
)


def song() -> Hearing:
    return by_hand(24, PHRASES)


def timed(shift: float = 0.0, phrases: Sequence[tuple[float, float]] = PHRASES) -> list[Line]:
    return [
        Line(text, Fraction(a + shift), Fraction(b + shift))
        for text, (a, b) in zip(TEXTS, phrases, strict=True)
    ]


def worded(shift: float = 0.0) -> list[Line]:
    lines = []
    for line in timed(shift):
        assert line.start is not None
        assert line.stop is not None
        parts = line.text.split()
        step = (line.stop - line.start) / len(parts)
        words = tuple(
            Word(p, line.start + k * step, line.start + (k + 1) * step) for k, p in enumerate(parts)
        )
        lines.append(replace(line, words=words))
    return lines


def check_in_order(lines: Sequence[SungLine]) -> None:
    for line in lines:
        assert all(a.stop is not None and a.stop <= b.start for a, b in pairwise(line.words))
        assert all(line.start <= w.start and w.stop is not None and w.stop <= line.stop for w in line.words)


def test_given_words_are_checked_and_trusted() -> None:
    found = align(worded(), song())
    assert found.trusted
    assert not found.notes
    assert [line.sure for line in found.lines] == [1] * 5
    assert len(found.words) == sum(len(text.split()) for text in TEXTS)
    check_in_order(found.lines)


def test_given_lines_have_guessed_words_that_decide_no_cut() -> None:
    found = align(timed(), song())
    assert found.trusted
    assert found.words == ()
    assert {line.word_timing for line in found.lines} == {Timing.GUESSED}
    assert [w.text for w in found.lines[0].words] == TEXTS[0].split()
    check_in_order(found.lines)


def test_words_where_nobody_sings_are_not_trusted() -> None:
    apart = [(0.0, 1.9), (5.1, 5.9), (8.1, 8.9), (12.6, 13.9), (15.6, 16.9)]
    found = align(timed(phrases=apart), song(), name="wrong.lrc")
    assert not found.trusted
    assert found.words == ()
    assert "wrong.lrc: the times do not fit the voice" in found.notes[0]


def test_lyrics_of_another_song_decide_no_cut() -> None:
    apart = [(0.0, 1.9), (5.1, 5.9), (8.1, 8.9), (12.6, 13.9), (15.6, 16.9)]
    lines = [
        replace(line, words=(Word(line.text, line.start or Fraction(0), line.stop),))
        for line in timed(phrases=apart)
    ]
    found = align(lines, song(), name="other.lrc")
    assert "other.lrc: the times do not fit the voice" in found.notes[0]
    assert starts(plan(song(), words=found.words)) == starts(plan(song()))


def test_lines_of_another_song_without_times_are_laid_with_little_trust() -> None:
    other = [Line("one two three four five six seven eight nine ten eleven " * 2), Line("oh")] * 3
    own, foreign = (align(lines, song()) for lines in ([Line(text) for text in TEXTS], other))
    assert not foreign.trusted
    assert foreign.words == ()
    said = [float(found.notes[0].split()[-2].strip("%")) for found in (own, foreign)]
    assert said[1] <= said[0] / 2


def test_a_file_that_is_late_as_a_whole_is_told_by_how_much() -> None:
    late = [(2.0, 4.0), (12.0, 14.0), (31.0, 33.0), (44.0, 46.0), (59.0, 61.0)]
    found = align(timed(shift=6, phrases=late), by_hand(80, late), name="late.srt")
    assert not found.trusted
    assert "moved by -6 s they would (100%)" in found.notes[0]


def test_one_line_in_silence_is_named_and_the_rest_stays_trusted() -> None:
    lines = [*timed(), Line("la la", Fraction(22), Fraction(23))]
    found = align(lines, song())
    assert found.trusted
    assert found.notes == ("lyrics: 1 of 6 lines are stamped where hardly anybody sings: 0:22.000",)


def test_times_past_the_end_are_an_error() -> None:
    with pytest.raises(
        MediaError, match=r"x.lrc: 1 of 6 lines begin after the song has ended at 0:24.000: found"
    ):
        align([*timed(), Line("one more", Fraction(99))], song(), name="x.lrc")


def test_lyrics_without_a_voice_are_not_used() -> None:
    found = align(worded(), by_hand(24))
    assert found == Aligned(notes=("lyrics: 5 lines, but nobody is heard singing: not used",))


def test_lines_without_times_are_laid_along_the_phrases() -> None:
    found = align([Line(text) for text in TEXTS], song())
    assert [float(line.start) for line in found.lines] == [a for a, _ in PHRASES]
    assert [float(line.stop) for line in found.lines] == [b for _, b in PHRASES]
    assert all(0.2 < line.sure <= 0.5 for line in found.lines)
    assert "laid along the phrases by length alone" in found.notes[0]
    assert not found.trusted
    check_in_order(found.lines)


def test_a_line_may_take_two_phrases_and_two_lines_one() -> None:
    one = [f"{TEXTS[0]} {TEXTS[1]}", *TEXTS[2:]]
    found = align([Line(text) for text in one], song())
    assert (float(found.lines[0].start), float(found.lines[0].stop)) == (2, 8)
    two = ["under the harbour", "light we wait", *TEXTS[1:]]
    dipped = by_hand(24, PHRASES, dips=[3.6])
    first, second, *_ = align([Line(text) for text in two], dipped).lines
    assert float(first.start) == 2
    assert float(first.stop) == float(second.start) == pytest.approx(3.6, abs=0.05)
    assert float(second.stop) == 5


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["la la"] * 2000, "other.txt: 86 syllables for every second that is sung: lyrics of another song?"),
        (["oh"] * 250, "no times, and 58 of 250 lines find a place in what is sung: lyrics of another song?"),
        ([f"{TEXTS[2]} {n} and again" for n in range(70)], "21 syllables for every second that is sung"),
    ],
)
def test_more_lines_than_song_are_of_another_song_and_take_no_time(lines: list[str], said: str) -> None:
    song = by_hand(60, [(k, k + 0.8) for k in range(58)])
    began = time.process_time()
    found = align([Line(text) for text in lines], song, name="other.txt")
    assert time.process_time() - began < 2
    assert found.lines == ()
    assert len(found.notes) == 1
    assert said in found.notes[0]


def test_two_thousand_lines_with_times_are_of_another_song_too() -> None:
    step = Fraction(3, 100)
    lines = [Line(f"line {n}", n * step, words=(Word("line", n * step),)) for n in range(1990)]
    found = align(lines, by_hand(60, [(0, 60)]), name="x.lrc")
    assert not found.trusted
    assert found.words == ()
    assert "syllables for every second that is sung: lyrics of another song?" in found.notes[0]


def test_a_few_lines_that_are_not_sung_leave_the_others_where_they_are() -> None:
    found = align([Line("oh")] * 80, by_hand(60, [(k, k + 0.8) for k in range(58)]))
    assert len(found.lines) == 58
    assert found.notes[1] == "lyrics: 22 of 80 lines found no place in what is sung"


@pytest.mark.parametrize(
    ("text", "words", "weight_"),
    [
        ("no way home", ["no", "way", "home"], 3),
        ("", [], 0),
        ("\U0001f339 \u2014 \u266a", [], 0),
        ("rain \U0001f327\ufe0f falls", ["rain", "falls"], 2),
        ("\u591c\u306b\u5149\u308b", ["\u591c", "\u306b", "\u5149", "\u308b"], 4),
        ("\ube44\uac00 \uc640", ["\ube44", "\uac00", "\uc640"], 3),
        ("\u05e9\u05dc\u05d5\u05dd", ["\u05e9\u05dc\u05d5\u05dd"], 2),
        (
            "\u0645\u0631\u062d\u0628\u0627 \u064a\u0627",
            ["\u0645\u0631\u062d\u0628\u0627", "\u064a\u0627"],
            4,
        ),
        (
            "\u0414\u043e\u0436\u0434\u044c \u0438\u0434\u0451\u0442",
            ["\u0414\u043e\u0436\u0434\u044c", "\u0438\u0434\u0451\u0442"],
            3,
        ),
    ],
)
def test_words_of_any_script(text: str, words: list[str], weight_: int) -> None:
    assert tokens(text) == words
    assert weight(text) == weight_


def test_syllables_are_counted_roughly() -> None:
    assert [syllables(w) for w in ("home", "over", "the", "little", "strength", "R&B", "1984")] == [
        1,
        2,
        1,
        2,
        1,
        1,
        2,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\u591c\u306b\u5149\u308b\u6d77",
        "\u05e9\u05dc\u05d5\u05dd \u05dc\u05da",
        "rain \U0001f327\ufe0f falls",
    ],
)
def test_lines_of_any_script_are_laid(text: str) -> None:
    found = align([Line(text), Line("\U0001f339"), Line(text)], by_hand(12, [(1, 4), (6, 9)]))
    assert [float(line.start) for line in found.lines] == [1, 6]
    check_in_order(found.lines)


def test_a_held_vowel_is_no_reason_to_fail() -> None:
    hearing = by_hand(30, [(0, 30)])
    found = align([Line("oh"), Line("oh no")], replace(hearing, voice_db=np.full_like(hearing.voice_db, -15)))
    assert len(found.lines) == 2
