"""The optimum against every plan there is, on stretches small enough to try them all."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.sound.tiling import NEVER, Steps, tile_cheapest

Plan = tuple[int, ...]


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], Steps]:
    frames = draw(st.integers(1, 12))
    price = draw(st.lists(st.integers(0, 20), min_size=1, max_size=6))
    rises = draw(st.lists(st.booleans(), min_size=len(price) - 1, max_size=len(price) - 1))
    steps = Steps(
        first=draw(st.integers(1, 4)),
        price=np.array(price, np.int64),
        group=np.cumsum([0, *rises]),
        same=draw(st.integers(0, 8)),
    )
    cut = draw(st.lists(st.integers(0, 30) | st.just(NEVER), min_size=frames + 1, max_size=frames + 1))
    return cut, steps


def plans(frames: int, steps: Steps, start: int = 0) -> list[Plan]:
    """The cuts of every plan, whatever it costs."""
    if start == frames:
        return [()]
    out: list[Plan] = []
    for length in steps.lengths.tolist():
        stop = start + length
        if stop == frames:
            out.append(())
        elif stop < frames:
            out += [(stop, *rest) for rest in plans(frames, steps, stop)]
    return out


def price(cut: list[int], steps: Steps, plan: Plan) -> int:
    """What a plan costs, added up without any cleverness."""
    total, before = sum(cut[frame] for frame in plan), -1
    for a, b in zip((0, *plan), (*plan, len(cut) - 1), strict=True):
        i = b - a - steps.first
        total += int(steps.price[i]) + (steps.same if steps.group[i] == before else 0)
        before = int(steps.group[i])
    return total


@given(problems())
@settings(deadline=None, max_examples=300)
def test_no_plan_is_cheaper(problem: tuple[list[int], Steps]) -> None:
    cut, steps = problem
    legal = [p for p in plans(len(cut) - 1, steps) if all(cut[f] < NEVER for f in p)]
    tiling = tile_cheapest(np.array(cut, np.int64), steps)
    if not legal:
        assert tiling is None
        return
    assert tiling is not None
    assert tiling.price == min(price(cut, steps, p) for p in legal)
    assert tiling.price == price(cut, steps, tiling.cuts)


@given(problems())
@settings(deadline=None, max_examples=200)
def test_the_price_of_any_other_cut_is_that_of_the_best_plan_through_it(
    problem: tuple[list[int], Steps],
) -> None:
    cut, steps = problem
    tiling = tile_cheapest(np.array(cut, np.int64), steps)
    if tiling is None:
        return
    legal = [p for p in plans(len(cut) - 1, steps) if all(cut[f] < NEVER for f in p)]
    for frame in range(1, len(cut) - 1):
        through = [price(cut, steps, p) for p in legal if frame in p]
        assert tiling.through[frame] == (min(through) if through else NEVER)


def test_of_equal_plans_the_longest_shots_come_first() -> None:
    steps = Steps(first=2, price=np.zeros(2, np.int64), group=np.array([0, 1]), same=0)
    tiling = tile_cheapest(np.zeros(6, np.int64), steps)
    assert tiling is not None
    assert tiling.cuts == (3,)


def test_a_shot_like_the_one_before_costs_more() -> None:
    def cuts(same: int) -> Plan:
        steps = Steps(first=2, price=np.array([0, 1, 0]), group=np.array([0, 1, 2]), same=same)
        tiling = tile_cheapest(np.zeros(7, np.int64), steps)
        assert tiling is not None
        return tiling.cuts

    assert cuts(0) == (4,)
    assert cuts(5) == (4,)
    steps = Steps(first=3, price=np.zeros(2, np.int64), group=np.array([0, 1]), same=5)
    tiling = tile_cheapest(np.zeros(11, np.int64), steps)
    assert tiling is not None
    assert np.diff([0, *tiling.cuts, 10]).tolist() == [3, 4, 3]
