"""What follows from the verdicts of a whole film: known readings, known answers."""

from __future__ import annotations

import random

import pytest

from mvpipe.film import Outcome
from mvpipe.gate.decide import Decision, Reading, common_offsets, decide, slip_for

PASS, FAIL, UNSURE = Outcome.PASS, Outcome.FAIL, Outcome.CANNOT_JUDGE


def late(shot: int, ms: float, *, mended: bool = True) -> Reading:
    slip = round(ms * 24 / 1000)
    return Reading(
        shot=shot,
        outcome=FAIL,
        reason=f"{ms:.0f} ms late",
        offset_ms=ms,
        slip=slip if mended else 0,
        mended="together" if mended else "",
    )


def good(shot: int) -> Reading:
    return Reading(shot=shot, outcome=PASS, reason="together", offset_ms=3.0)


def test_a_take_that_passes_is_used_and_one_that_cannot_be_judged_is_kept() -> None:
    unsure = Reading(shot=2, outcome=UNSURE, reason="no face is seen")
    decisions = decide([good(1), unsure], ())
    assert decisions == {
        1: Decision(outcome=PASS, reason="together"),
        2: Decision(outcome=UNSURE, reason="no face is seen"),
    }


def test_an_offset_is_mended_where_it_can_be_and_else_the_take_fails() -> None:
    decisions = decide([late(1, 200), late(2, 320, mended=False)], ())
    assert (decisions[1].outcome, decisions[1].slip) == (PASS, 5)
    assert "slipped by +5 frames: 200 ms late, and now together" in decisions[1].reason
    assert (decisions[2].outcome, decisions[2].slip) == (FAIL, 0)


@pytest.mark.parametrize(("many", "common"), [(4, False), (5, True), (9, True)])
def test_the_same_offset_in_five_shots_is_nobodys_take(many: int, common: bool) -> None:
    readings = [late(shot, 200 + 5 * (shot % 3), mended=shot % 2 == 0) for shot in range(1, many + 1)]
    readings += [good(20), late(21, -360)]
    found = common_offsets(readings)
    assert bool(found) is common
    decisions = decide(readings, found)
    if common:
        assert found[0].shots == tuple(range(1, many + 1))
        assert found[0].offset_ms == pytest.approx(205, abs=5)
        assert {decisions[shot].outcome for shot in found[0].shots} == {UNSURE}
        assert {decisions[shot].slip for shot in found[0].shots} == {0}, "nothing is moved in silence"
    assert decisions[20].outcome is PASS
    assert decisions[21].slip == -9, "another offset is this shot's own"


def test_offsets_of_more_than_a_frame_apart_are_not_the_same() -> None:
    assert common_offsets([late(shot, 100 + 45 * shot) for shot in range(1, 9)]) == ()


def test_one_shot_taken_five_times_is_one_shot() -> None:
    assert common_offsets([late(1, 200)] * 9) == ()


def test_common_offsets_can_be_mended_by_wish() -> None:
    readings = [late(shot, 200, mended=shot != 3) for shot in range(1, 7)]
    decisions = decide(readings, common_offsets(readings), mend_common=True)
    assert [decisions[shot].slip for shot in range(1, 7)] == [5, 5, 0, 5, 5, 5]
    assert decisions[3].outcome is UNSURE


def test_the_order_in_which_takes_come_in_decides_nothing() -> None:
    readings = [late(shot, ms) for shot, ms in enumerate((200, 210, 222, 238, 241, 262, 195, -80), 1)]
    wanted = common_offsets(readings), decide(readings, common_offsets(readings))
    for seed in range(50):
        mixed = random.Random(seed).sample(readings, len(readings))
        assert (common_offsets(mixed), decide(mixed, common_offsets(mixed))) == wanted


def test_a_failed_control_voids_what_was_read() -> None:
    unsure = Reading(shot=3, outcome=UNSURE, reason="no face is seen")
    decisions = decide([good(1), late(2, 200), unsure], (), control="read at +2")
    assert [one.outcome for one in decisions.values()] == [UNSURE] * 3
    assert "the control failed: read at +2" in decisions[1].reason
    assert decisions[2].slip == 0
    assert decisions[3].reason == "no face is seen"


@pytest.mark.parametrize(
    ("ms", "slip"), [(200, 5), (-200, -5), (333, 8), (334, 8), (355, 0), (-250, -6), (-320, 0), (10, 0)]
)
def test_a_slip_stays_within_the_handles(ms: float, slip: int) -> None:
    assert slip_for(ms, 24, head=6, tail=8) == slip
