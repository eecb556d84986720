"""Framings in words, held against each other."""

from __future__ import annotations

import pytest

from mvpipe.storyboard.framing import Framing, framing, like
from mvpipe.storyboard.variety import B_ROLL, SINGING, SINGING_TOGETHER


@pytest.mark.parametrize(
    ("words", "size", "angle"),
    [
        ("medium close-up, front", 4, 8),
        ("Extreme Wide, low angle", 0, 6),
        ("close-up, three-quarter from the left", 5, 0),
        ("detail, shallow focus", 6, None),
        ("from behind", None, 2),
        ("medium two-shot, front", 3, 8),
        ("", None, None),
        ("enclosed frontier", None, None),
    ],
)
def test_words_are_understood(words: str, size: int | None, angle: int | None) -> None:
    assert framing(words) == Framing(size, angle)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("close-up, front", "close up, front", True),
        ("close-up, front", "close-up, three-quarter from the left", False),
        ("close-up, front", "medium, front", False),
        ("wide", "wide", True),
        ("strange", "strange", True),
        ("strange", "stranger", False),
        ("", "", False),
    ],
)
def test_like_pictures(one: str, other: str, alike: bool) -> None:
    assert like(one, other) is alike
    assert like(other, one) is alike


@pytest.mark.parametrize("table", [SINGING, SINGING_TOGETHER, B_ROLL])
def test_the_tables_hold_no_two_alike(table: tuple[str, ...]) -> None:
    assert not [(a, b) for a in table for b in table if a != b and like(a, b)]
