from __future__ import annotations

import numpy as np
import pytest

from mvpipe.errors import SettingsError
from mvpipe.gate.calibrate import ENOUGH, Labelled, Share, calibrate, learn
from mvpipe.gate.rules import figures

VALUES = figures()


def take(
    good: bool, value: float | None, *, placed: bool = True, rule: str = "pass_p", ms: float = 10
) -> Labelled:
    return Labelled(
        name="t.mp4", good=good, rule=rule, value=value, offset_ms=ms, placed=placed, reason="as measured"
    )


def takes(good: list[float], bad: list[float], rule: str = "pass_p") -> list[Labelled]:
    return [take(True, v, rule=rule) for v in good] + [take(False, v, rule=rule) for v in bad]


def test_a_floor_lies_between_the_bad_takes_and_the_good() -> None:
    found = calibrate(takes([0.002, 0.002, 0.004, 0.01], [0.02, 0.3, 0.6, 0.8]), VALUES)
    assert found.rule == "pass_p"
    assert found.floor == pytest.approx(np.sqrt(0.01 * 0.02), abs=1e-4)
    assert (found.let_through_now.count, found.missed_now.count) == (1, 0)
    assert "4 good takes and 4 bad takes are few" in found.few


def test_of_confidence_more_is_surer() -> None:
    found = calibrate(takes([5, 6, 7], [1, 2, 4.2], "syncnet_floor"), VALUES)
    assert found.floor == pytest.approx(np.sqrt(5 * 4.2), abs=1e-3)
    assert not take(False, 4.2, rule="syncnet_floor").passes(found.floor)
    assert take(True, 5, rule="syncnet_floor").passes(found.floor)


def test_a_looser_floor_needs_many_bad_takes_that_speak_for_it() -> None:
    """Three bad takes with p 0.9 do not show that p 0.09 is good enough."""
    good, bad = [0.002, 0.03, 0.07], [0.4, 0.6, 0.9]
    floor, why = learn(takes(good, bad), "pass_p", VALUES["pass_p"])
    assert floor == VALUES["pass_p"]
    assert "would need 20" in why
    floor, _ = learn(takes(good, bad + [0.5] * ENOUGH), "pass_p", VALUES["pass_p"])
    assert 0.07 < floor <= 0.1


def test_late_takes_say_nothing_about_a_floor() -> None:
    late = [take(False, 0.002, placed=False, ms=200) for _ in range(4)]
    found = calibrate([*takes([0.002, 0.01, 0.03], []), *late], VALUES)
    assert found.floor == found.now
    assert "nothing speaks" in found.why
    assert found.let_through.count == 0


def test_when_bad_takes_look_like_good_ones_it_says_how_wrong_it_would_be() -> None:
    rng = np.random.default_rng(440)
    same = rng.uniform(0.002, 0.2, 40)
    found = calibrate(takes(list(same[:20]), list(same[20:])), VALUES)
    assert found.missed.count >= 15, "learnt from the others, hardly a good take is surer than all bad ones"
    assert found.few == ""


def test_the_error_is_not_that_of_the_takes_it_learnt_from() -> None:
    """The surest bad take is let through by a floor learnt without it."""
    found = calibrate(takes([0.002, 0.004, 0.02, 0.04], [0.03, 0.4, 0.5, 0.6]), VALUES)
    assert not take(False, 0.03).passes(found.floor)
    assert found.let_through.count == 1


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (takes([0.01] * 2, [0.5] * 5), "--good: 2 takes"),
        (takes([0.01] * 5, [0.5] * 2), "--bad: 2 takes"),
        ([take(k < 3, None, placed=False) for k in range(6)], "nothing that could be measured"),
        (takes([0.01] * 3, [0.5] * 3) + takes([4.0], [], "syncnet_floor"), "different measurements"),
    ],
    ids=["good", "bad", "unmeasured", "mixed"],
)
def test_what_cannot_be_learnt_from_is_refused(held: list[Labelled], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        calibrate(held, VALUES)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 20, 0.0, 0.168), (20, 20, 0.832, 1.0), (1, 20, 0.0013, 0.249), (5, 10, 0.187, 0.813)],
)
def test_a_share_has_the_range_of_clopper_and_pearson(
    count: int, total: int, low: float, high: float
) -> None:
    """Figures from the published tables."""
    found = Share(count=count, total=total).between
    assert found == pytest.approx((low, high), abs=1e-3)
