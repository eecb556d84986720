"""The timeline picture shows the song, the voice and the cuts where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mvpipe.film import BoundaryKind
from mvpipe.sound.cut import cut
from mvpipe.sound.cutting import Pins
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.picture import (
    BAND,
    HEAD,
    INK,
    KINDS,
    MARGIN,
    RIBBON,
    ROW,
    SUNG,
    VOICE,
    VOICE_TOP,
    WIDTH,
    Labels,
    draw,
)
from tests.sound.hearings import by_hand, heard


def drawn(
    hearing: Hearing, into: Path, labels: Labels | None = None, pins: Pins | None = None
) -> NDArray[np.uint8]:
    cutting = cut(hearing, frames=-(-hearing.samples * 24 // hearing.sample_rate), pins=pins or Pins())
    draw(hearing, cutting, labels or Labels(title="Neon Rain"), into=into)
    with Image.open(into) as page:
        return np.asarray(page.convert("RGB"))


def columns(page: NDArray[np.uint8], colour: tuple[int, int, int], low: int, high: int) -> NDArray[np.int64]:
    """The columns between two rows of pixels that hold a colour, or nearly."""
    near = np.abs(page[low:high].astype(int) - colour).max(axis=2) <= 12
    return np.flatnonzero(near.mean(axis=0) > 0.5)


def at(seconds: float, in_row: float) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * seconds / in_row


FOOT_OF_CUTS = slice(HEAD + VOICE_TOP - 4, HEAD + VOICE_TOP + VOICE)


def test_a_cut_is_a_line_of_its_kinds_colour_where_it_falls(tmp_path: Path) -> None:
    hearing = by_hand(12, [(0.3, 5.5), (6.3, 11.8)])
    page = drawn(hearing, tmp_path / "page.png")
    found = columns(page, KINDS[BoundaryKind.PHRASE_END][1], HEAD + RIBBON + 20, HEAD + VOICE_TOP + VOICE)
    where = cut(hearing, frames=288).shots[1].cut.start / 24
    assert len(found)
    assert found.mean() == pytest.approx(at(where, 12), abs=1.5)
    assert not len(columns(page, KINDS[BoundaryKind.FORCED][1], HEAD + RIBBON + 20, HEAD + VOICE_TOP + VOICE))


def test_a_cut_in_a_held_note_is_red(tmp_path: Path) -> None:
    page = drawn(by_hand(20, [(0, 20)]), tmp_path / "page.png")
    assert len(columns(page, KINDS[BoundaryKind.FORCED][1], HEAD + RIBBON + 20, HEAD + VOICE_TOP + VOICE))


def test_the_waveform_is_bright_where_somebody_sings_and_only_there(tmp_path: Path) -> None:
    page = drawn(by_hand(12, [(3, 7)]), tmp_path / "page.png")
    middle = HEAD + RIBBON + 28 + 42
    bright = np.flatnonzero((np.abs(page[middle].astype(int) - SUNG).max(axis=1)) <= 12)
    dull = np.flatnonzero((np.abs(page[middle].astype(int) - BAND).max(axis=1)) <= 12)
    assert bright.min() == pytest.approx(at(3, 12), abs=6)
    assert bright.max() == pytest.approx(at(7, 12), abs=6)
    assert ((dull < at(3, 12) + 6) | (dull > at(7, 12) - 6)).all()


def test_a_pinned_cut_carries_a_diamond(tmp_path: Path) -> None:
    hearing = by_hand(14)
    x = round(at(6, 14))
    free = drawn(hearing, tmp_path / "free.png")[HEAD + RIBBON, x]
    pinned = drawn(hearing, tmp_path / "pinned.png", pins=Pins(keep=(144,)))[HEAD + RIBBON, x]
    assert np.abs(pinned.astype(int) - INK).max() <= 12
    assert np.abs(free.astype(int) - INK).max() > 12


@pytest.mark.parametrize(
    ("seconds", "rows"), [(0.2, 1), (9, 1), (40, 1), (100, 3), (184, 3), (240, 4), (3600, 30)]
)
def test_rows_hold_about_a_minute_and_none_is_a_stub(tmp_path: Path, seconds: float, rows: int) -> None:
    page = drawn(by_hand(seconds), tmp_path / "page.png")
    assert page.shape[1] == WIDTH
    assert (page.shape[0] - HEAD) // ROW == rows


def test_the_same_plan_is_the_same_picture(tmp_path: Path) -> None:
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    drawn(heard(seed=1), first)
    drawn(heard(seed=1), second)
    assert first.read_bytes() == second.read_bytes()


def test_accents_are_written_and_scripts_the_font_has_not_leave_a_gap(tmp_path: Path) -> None:
    def titled(title: str) -> NDArray[np.uint8]:
        return drawn(by_hand(10), tmp_path / "title.png", Labels(title=title))

    assert not np.array_equal(titled("Uber die Brucke"), titled("Über die Brücke"))
    assert np.array_equal(titled("U\u0308ber"), titled("Über")), "composed or not, it is one letter"
    assert np.array_equal(titled("Ночь 夜"), titled("Ночь"))
    assert not np.array_equal(titled("Ночь"), titled("Νύχτα"))


def test_any_words_may_stand_on_it(tmp_path: Path) -> None:
    labels = Labels(
        title="Ümläut, 雨, \N{ROCKET} and a title that is far too long " * 5,
        sections=((0, "verse 1"), (100, ""), (101, "a name that cannot fit in a frame")),
        shots={1: "Mira walks towards us\nand sings", 2: "", 99: "not there"},
    )
    assert drawn(by_hand(30, [(1, 8)]), tmp_path / "page.png", labels).any()
