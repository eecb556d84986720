"""Single values."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.storyboard import scalars
from mvpipe.storyboard.scalars import Size, Stretch, Wrong, file_stem
from tests.storyboard.making import steady


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Neon Rain", "Neon Rain"),
        ("AC/DC: Live?", "AC-DC- Live"),
        ("Où vas-tu, été", "Où vas-tu, été"),
        ("Cafe\u0301", "Café"),
        ("東京の夜 ☔", "東京の夜 ☔"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ('100% "real"', "100% -real"),
        ("two\nlines\tand\x07more", "two lines and more"),
        ("ends with dots...", "ends with dots"),
        ("con", "_con"),
        ("COM1.final", "_COM1.final"),
        ("\u202egnp.exe", "gnp.exe"),
        ("///", "film"),
        ("?!", "!"),
        ("\u200b", "film"),
    ],
)
def test_a_title_as_a_file_name(title: str, stem: str) -> None:
    assert file_stem(title) == stem


@steady
@given(st.text(max_size=300))
def test_every_title_gives_a_name_that_every_system_takes(
    tmp_path_factory: pytest.TempPathFactory, title: str
) -> None:
    stem = file_stem(title)
    assert stem == file_stem(stem)
    assert 0 < len(stem.encode()) <= 200
    assert not set(stem) & set('/\\:*?"<>|\0\n')
    path: Path = tmp_path_factory.getbasetemp() / f"{stem}.mp4"
    path.touch()
    path.unlink()


def test_values_from_code_are_taken_as_they_are() -> None:
    assert scalars.time(5) == scalars.time(Fraction(5)) == scalars.time("5")
    assert scalars.size(Size(64, 64)) == scalars.size("64x64") == scalars.size("64 × 64")
    span = Stretch(Fraction(62), Fraction("63.5"))
    for written in ("1:02 - 1:03.5", "1:02-1:03.5", "1:02 – 1:03.500", "62 — 63.5"):
        assert scalars.stretch(written) == scalars.stretch(span) == span


@pytest.mark.parametrize(
    "value", [12.4, True, None, "٣", "1:2:3:4", "", " ", "9" * 61, "-0", "1:", ":1", "1e3"]
)
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(Wrong, match="not a time"):
        scalars.time(value)


@pytest.mark.parametrize("value", [2.0, True, "2.0", "0x2", "٣", "", "1_0", None])
def test_what_is_no_whole_number(value: object) -> None:
    with pytest.raises(Wrong, match="not a whole number"):
        scalars.whole(0, 10)(value)


@steady
@given(st.tuples(st.integers(1, 9999), st.integers(1, 9999)))
def test_the_nearest_size_that_is_offered_is_one(asked: tuple[int, int]) -> None:
    try:
        scalars.size(str(Size(*asked)))
    except Wrong as exc:
        scalars.size(exc.hint.removeprefix("the nearest is "))
    else:
        assert all(side % 32 == 0 and 64 <= side <= 2048 for side in asked)


def test_a_long_find_is_shortened() -> None:
    assert scalars.show("a" * 500) == f'"{"a" * 57}..."'
    assert scalars.show("a\u202eb") == '"a\\u202eb"'
    assert scalars.show("café") == '"café"'
