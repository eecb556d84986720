"""Too little of one shot, heard with its neighbours: what it gains, and what it must never gain."""

from __future__ import annotations

import numpy as np
import pytest

from mvpipe.film import Outcome
from mvpipe.gate.offset import Performance
from mvpipe.gate.pool import pool
from mvpipe.gate.rules import figures
from tests.gate.test_offset import take, unrelated


def neighbours(rng: np.random.Generator, late: float = 0.0) -> list[Performance]:
    return [take(rng, late, noise=0.5, seconds=6) for _ in range(2)]


@pytest.mark.parametrize(("late", "outcome"), [(0.0, Outcome.PASS), (0.2, Outcome.FAIL)])
def test_a_short_shot_is_judged_where_its_neighbours_are(
    rng: np.random.Generator, late: float, outcome: Outcome
) -> None:
    found = pool(take(rng, late, noise=0.5, seconds=4), neighbours(rng, late), figures())
    assert found is not None
    assert found.outcome is outcome, found.reason
    assert found.offset_ms == pytest.approx(1000 * late, abs=20)
    assert abs(found.moved) in (9, 10, 11)


def test_good_neighbours_carry_no_mouth_that_sings_something_else(rng: np.random.Generator) -> None:
    """Of ten such mouths none passes; one in a hundred may, by `fail_p`."""
    for _ in range(10):
        found = pool(unrelated(rng, seconds=4), neighbours(rng), figures())
        assert found is not None
        assert found.outcome is Outcome.CANNOT_JUDGE
        assert found.own_p > 0.01 or found.p > 0.05


def test_alone_or_too_short_there_is_nothing_to_pool(rng: np.random.Generator) -> None:
    assert pool(take(rng, seconds=4), [], figures()) is None
    assert pool(take(rng, seconds=2.9), neighbours(rng), figures()) is None
