"""What better cuts cost: only plans worth choosing from, and what the storyboard asks for among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mvpipe.cutting import CuttingRoom
from mvpipe.frontier import frontier
from mvpipe.sound.cutting import NO_PINS
from mvpipe.sound.words import Aligned
from tests.sound.hearings import by_hand


def steep(frames: int) -> float:
    """As attention does: with the square."""
    return (frames / 100) ** 2


def room(price: Callable[[int], float] = steep) -> CuttingRoom:
    phrases = [(0.2, 9.5), (10.2, 19.0), (20.0, 24.6), (25.2, 29.8), (30.4, 41.0), (41.6, 47.8)]
    hearing = by_hand(48, phrases, dips=[5.1, 14.8, 35.0])
    return CuttingRoom(
        hearing=hearing, lyrics=(), aligned=Aligned(), frames=48 * 24, pins=NO_PINS, price=price
    )


def test_every_choice_is_better_in_something() -> None:
    choices = frontier(room(), longest=15, thrift=1)
    assert len(choices) >= 3
    assert [one.seconds for one in choices] == sorted(one.seconds for one in choices)
    for one in choices:
        others = [other for other in choices if other is not one and not one.chosen]
        assert not any(
            other.seconds <= one.seconds and other.inside <= one.inside and other.quality > one.quality + 0.01
            for other in others
        )
    assert choices[0].inside > choices[-1].inside


def test_what_the_storyboard_asks_for_is_there_even_if_others_are_better() -> None:
    choices = frontier(room(), longest=5, thrift=777)
    (asked,) = [one for one in choices if one.chosen]
    assert (asked.longest, asked.thrift) == (5, 777)


def test_a_choice_says_what_its_plan_is() -> None:
    held = room()
    for one in frontier(held, longest=15, thrift=1):
        from mvpipe.sound.cutting import at_most

        shots = held.cut(at_most(one.longest, thrift=one.thrift)).shots
        assert one.shots == len(shots)
        assert one.seconds == pytest.approx(sum(steep(len(shot.window)) for shot in shots))
        assert max(len(shot.cut) for shot in shots) <= one.longest * 24


def test_thrift_saves_time() -> None:
    held = replace(room())
    dear, cheap = (frontier(held, longest=15, thrift=weight) for weight in (0, 1000))
    seconds = [next(one.seconds for one in choices if one.chosen) for choices in (dear, cheap)]
    assert seconds[1] < seconds[0]
