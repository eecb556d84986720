"""Counts and lists as people say them."""

from __future__ import annotations

from mvpipe.wording import counted, listed, named


def test_one_thing_is_not_several() -> None:
    assert [counted(many, "shot") for many in (0, 1, 2)] == ["0 shots", "1 shot", "2 shots"]
    assert [counted(many, "entry", "entries") for many in (1, 2)] == ["1 entry", "2 entries"]
    assert [counted(k, "frame", form="+d") for k in (-2, -1, 0, 1)] == [
        "-2 frames", "-1 frame", "+0 frames", "+1 frame",
    ]  # fmt: skip


def test_of_many_things_the_first_are_named() -> None:
    assert listed([3, 7]) == "3, 7"
    assert listed([3, 7, 9], most=2) == "3, 7 and 1 more"
    assert (named("shot", [3]), named("shot", [3, 7])) == ("shot 3", "shots 3, 7")
