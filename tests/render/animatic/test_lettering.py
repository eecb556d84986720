"""Lines of text: what fits, in which order they are read, and what no font has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.render.animatic import fonts, lettering
from mvpipe.render.animatic.fonts import BOLD, REGULAR, tidy

LONG = "She walks through the rain without looking back, " * 12


@pytest.fixture
def no_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A computer with no fonts but ours."""
    monkeypatch.setattr(fonts, "folders", lambda: [])
    fonts._installed.cache_clear()
    fonts._elsewhere.cache_clear()
    yield
    fonts._installed.cache_clear()
    fonts._elsewhere.cache_clear()


def test_a_long_text_ends_in_an_ellipsis_and_fits() -> None:
    lines = lettering.broken(LONG, REGULAR, 17, 300, 2)
    assert len(lines) == 2
    assert lines[-1].endswith("…")
    assert all(lettering.width_of(line, REGULAR, 17) <= 300 for line in lines)
    assert not lines[-1].removesuffix("…").endswith((" ", ","))


def test_a_short_text_stays_whole() -> None:
    assert lettering.broken("no way home", REGULAR, 17, 300, 2) == ["no way home"]
    assert lettering.broken("", REGULAR, 17, 300, 2) == []
    assert lettering.broken(" \n\t ", REGULAR, 17, 300, 2) == []


def test_a_word_wider_than_the_line_is_broken() -> None:
    lines = lettering.broken("a" * 200, REGULAR, 17, 100, 3)
    assert len(lines) == 3
    assert all(lettering.width_of(line, REGULAR, 17) <= 100 for line in lines)


@given(text=st.text(max_size=80), width=st.integers(40, 400), lines=st.integers(1, 3))
@settings(max_examples=60)
def test_whatever_is_written_fits(text: str, width: int, lines: int) -> None:
    made = lettering.broken(text, REGULAR, 14, width, lines)
    assert len(made) <= lines
    assert all(lettering.width_of(line, REGULAR, 14) <= width for line in made)
    mask = np.zeros((40, 400), np.uint8)
    for line in made:
        lettering.write(mask, line, (2, 28), size=14)


def test_text_becomes_one_line_of_composed_characters() -> None:
    assert tidy("a\n b\t\tc\r\n") == "a b c"
    assert tidy("re\u0301veil") == "réveil"
    assert tidy("zero\u200bwidth\ufeff \u202eturned\u202c") == "zerowidth turned"
    assert tidy("\ud800broken") == "broken"
    assert tidy("❤️") == "❤"


@pytest.mark.usefixtures("no_fonts")
@pytest.mark.parametrize(
    "text", ["Łódź crème brûlée", "Ωμέγα", "Ночь, улица", "Tiếng Việt", "“quoted” — 5 € …"]
)
def test_the_bundled_font_has_the_letters_of_europe_and_vietnam(text: str) -> None:
    for style in (REGULAR, BOLD, fonts.ITALIC):
        assert all(run.font == style for run in lettering.runs(text, style)), text
    assert fonts.missing([text]) == ""
    assert fonts.borrowed([text]) == {}


@pytest.mark.usefixtures("no_fonts")
def test_what_no_font_has_is_named_and_drawn_as_boxes() -> None:
    assert fonts.missing(["霓虹 rain 霓", "🎸"]) == "霓虹🎸"
    assert [run.font is None for run in lettering.runs("虹 rain", REGULAR)] == [True, False]
    mask = np.zeros((40, 200), np.uint8)
    end = lettering.write(mask, "虹", (4, 30), size=24)
    assert end > 4
    assert mask.any()


def test_hebrew_runs_from_right_to_left() -> None:
    runs = lettering.runs("שלום abc 12", REGULAR)
    assert [run.text.strip() for run in runs] == ["abc 12", "שלום"]
    assert [run.leftwards for run in runs] == [False, True]
    within = lettering.runs("say שלום now", REGULAR)
    assert "".join(run.text for run in within) == "say שלום now"
    assert [run.text for run in within if run.leftwards] == ["שלום"]


def test_letters_land_on_the_baseline_and_at_the_pen() -> None:
    mask = np.zeros((60, 200), np.uint8)
    end = lettering.write(mask, "HI", (20, 40), size=24)
    rows, columns = np.nonzero(mask > 128)
    assert rows.max() in (39, 40)
    assert 20 <= columns.min() <= 24
    assert columns.max() < end
    assert abs(end - 20 - lettering.width_of("HI", REGULAR, 24)) < 1e-6


def test_letters_outside_the_mask_are_cut_off() -> None:
    mask = np.zeros((20, 20), np.uint8)
    for at in ((-50, 10), (100, 10), (5, -30), (5, 90), (-8, 12), (15, 24)):
        lettering.write(mask, "WWW", at, size=18)
    assert mask.shape == (20, 20)


def test_tracking_widens_a_line() -> None:
    plain = lettering.write(np.zeros((40, 300), np.uint8), "VERSE", (0, 30), size=20)
    tracked = lettering.write(np.zeros((40, 300), np.uint8), "VERSE", (0, 30), size=20, tracking=4)
    assert 4 * 4 - 3 < tracked - plain < 4 * 5 + 3
