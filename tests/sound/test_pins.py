"""What the editor pinned is honoured, or refused by name."""

from __future__ import annotations

import pytest

from mvpipe.clock import FILM_RATE, Span
from mvpipe.errors import PlanError
from mvpipe.sound.cutting import Pins
from tests.sound.cuttings import check_is_a_plan, plan, starts
from tests.sound.hearings import by_hand, heard


def test_pins_are_kept() -> None:
    hearing = heard(seed=1)
    free = plan(hearing)
    avoided = Span(starts(free)[3] - 3, starts(free)[3] + 4)
    pins = Pins(keep=(500, 1300), avoid=(avoided,))
    cutting = plan(hearing, pins=pins)
    assert {500, 1300} <= set(starts(cutting))
    assert not any(frame in avoided for frame in starts(cutting))
    assert {s.cut.start for s in cutting.shots if s.pinned == "keep"} == {500, 1300}


def test_stretches_between_pins_know_nothing_of_each_other() -> None:
    hearing = heard(seed=1)
    both, one = plan(hearing, pins=Pins(keep=(500, 1300))), plan(hearing, pins=Pins(keep=(1300,)))
    assert [f for f in starts(both) if f >= 1300] == [f for f in starts(one) if f >= 1300]


def test_a_moved_cut_changes_the_two_shots_beside_it_and_nothing_else() -> None:
    hearing = heard(seed=1)
    free = plan(hearing)
    number, frame = 5, free.shots[4].cut.start + 9
    moved = plan(hearing, pins=Pins(at={number: frame}))
    assert moved.shots[4].cut.start == frame
    assert moved.shots[4].pinned == "at"
    changed = [
        a.number
        for a, b in zip(free.shots, moved.shots, strict=True)
        if (a.cut, a.window) != (b.cut, b.window)
    ]
    assert changed == [4, 5]
    assert moved.shots[4].runner_up is not None
    assert moved.shots[4].runner_up.frame == free.shots[4].cut.start


@pytest.mark.parametrize(
    ("pins", "said"),
    [
        (Pins(keep=(0,)), r"cuts\.keep: 0:00\.000: outside the film"),
        (Pins(keep=(2400,)), r"cuts\.keep: 1:40\.000: outside the film of 1:30\.000"),
        (Pins(keep=(500,), avoid=(Span(490, 510),)), r"cuts\.keep: 0:20\.833: inside cuts\.avoid 0:20\.416"),
        (Pins(avoid=(Span(300, 720),)), r"cuts\.avoid: 0:12\.500 - 0:30\.000: no way to cut between"),
        (Pins(at={1: 30}), r"cuts\.at: shot 1 .*the first shot starts with the film"),
        (Pins(at={99: 30}), r"cuts\.at: shot 99 at 0:01\.250: the plan has \d+ shots"),
        (Pins(at={3: 2000}), r"cuts\.at: shot 3 at 1:23\.333: the shots beside it leave it no room"),
        (Pins(at={3: 260}, avoid=(Span(250, 270),)), r"cuts\.at: shot 3 at 0:10\.833: inside cuts\.avoid"),
    ],
)
def test_pins_that_cannot_be_are_named(pins: Pins, said: str) -> None:
    with pytest.raises(PlanError, match=said) as error:
        plan(heard(seed=1), pins=pins)
    assert error.value.hint


def test_the_nearest_plan_that_can_be_is_named() -> None:
    with pytest.raises(PlanError) as error:
        plan(by_hand(60), pins=Pins(avoid=(Span(300, 720),)))
    assert error.value.hint
    assert "the nearest plan that can be has a cut at 0:15.083, 0:02.583 inside" in error.value.hint
    with pytest.raises(PlanError) as error:
        plan(by_hand(60), pins=Pins(keep=(500,), avoid=(Span(490, 510),)))
    assert error.value.hint
    assert "the nearest that can be kept: 0:20.375 or 0:21.250" in error.value.hint


def test_a_kept_cut_cannot_be_moved() -> None:
    with pytest.raises(PlanError, match=r"its cut is kept at 0:06\.000"):
        plan(by_hand(30), pins=Pins(keep=(144,), at={2: 150}))


def test_pins_a_frame_apart_are_the_editors_wish() -> None:
    cutting = plan(by_hand(30), pins=Pins(keep=(144, 145)))
    assert Span(144, 145) in cutting.spans
    check_is_a_plan(cutting, 720, FILM_RATE)
