"""The cheapest way to cut a stretch of frames into shots: exact, by dynamic programming over the frame grid.

The price of a plan is the sum of what each cut costs where it falls, what each shot costs by its length, and
a little for every shot in the same class of length as the one before. The state is the frame and the class of
the shot that ends there, so the last part is exact too. Prices are integers: the optimum is the same on every
machine, and equal plans are told apart by a rule, not by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Prices = NDArray[np.int64]

NEVER = 1 << 60
"""The price of what may not be; the sum of four still fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The lengths a shot may have.

    Parameters
    ----------
    first : the shortest, in frames; the others follow one by one
    price : int64 (k,), of each length
    group : int64 (k,), the class of each length, ascending from 0 without holes
    same : price of a shot in the class of the one before
    """

    first: int
    price: Prices
    group: NDArray[np.int64]
    same: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """All of them, in frames."""
        return np.arange(self.first, self.first + len(self.price))

    @property
    def groups(self) -> int:
        """How many classes there are."""
        return int(self.group[-1]) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """The cheapest plan of a stretch, and what any other would cost.

    Parameters
    ----------
    cuts : frames of the cuts, without both ends
    price : of the plan
    through : int64 (frames + 1,), price of the cheapest plan with a cut at each frame
    """

    cuts: tuple[int, ...]
    price: int
    through: Prices


def tile_cheapest(cut: Prices, steps: Steps) -> Tiling | None:
    """The cheapest plan of a stretch; None if none fits. Of equal plans, that with the longest shots first.

    Parameters
    ----------
    cut : int64 (frames + 1,), price of a cut at each frame, `NEVER` where none may be; the ends are free
    steps : the lengths a shot may have
    """
    free = np.minimum(cut, NEVER)
    free[[0, -1]] = 0
    after = _after(free, steps)
    price = int(_onward(after, steps, 0).min())  # nothing comes before the first shot
    if price >= NEVER:
        return None
    both = _before(free, steps) + after[: len(cut)] - free[:, None]
    through = np.where(free < NEVER, np.minimum(both.min(axis=1), NEVER), NEVER)
    return Tiling(cuts=_walk(after, len(cut) - 1, steps), price=price, through=through)


def _before(cut: Prices, steps: Steps) -> Prices:
    """Price of the cheapest plan up to each frame, by the class of its last shot: (frames + 1, groups)."""
    groups, edges, pad = steps.groups, _edges(steps), int(steps.lengths[-1])
    best = np.full((len(cut), groups), NEVER, np.int64)
    onward = np.full((pad + len(cut), groups), NEVER, np.int64)  # the same, if a shot of that class follows
    onward[pad] = 0
    from_ = (pad - steps.lengths) * groups + steps.group
    for low in range(steps.first, len(cut), steps.first):  # none of these frames can be reached from another
        at = np.arange(low, min(low + steps.first, len(cut)))
        came = onward.ravel().take(at[:, None] * groups + from_) + steps.price
        reached = np.minimum.reduceat(came, edges, axis=1) + cut[at, None]
        best[at] = np.minimum(reached, NEVER)
        onward[pad + at] = _cheapest_other(best[at], steps.same)
    return best


def _after(cut: Prices, steps: Steps) -> Prices:
    """Price of the cheapest plan from each frame on, by the class of the shot before.

    int64 (frames + 1 + the longest length, groups); the rows past the last frame hold `NEVER`. The cut at
    each frame is part of it, that at the start and end being free.
    """
    groups, edges, pad = steps.groups, _edges(steps), int(steps.lengths[-1])
    best = np.full((len(cut) + pad, groups), NEVER, np.int64)
    best[len(cut) - 1] = 0
    to = steps.lengths * groups + steps.group
    for high in range(len(cut) - 1 - steps.first, -1, -steps.first):
        at = np.arange(max(high - steps.first + 1, 0), high + 1)
        came = best.ravel().take(at[:, None] * groups + to) + steps.price
        other = _cheapest_other(np.minimum.reduceat(came, edges, axis=1), steps.same)
        best[at] = np.minimum(other + cut[at, None], NEVER)
    return best


def _onward(after: Prices, steps: Steps, frame: int) -> Prices:
    """Price from a frame on if a shot of each length comes next, without that of being like the last."""
    return after[frame + steps.lengths, steps.group] + steps.price


def _cheapest_other(best: Prices, same: int) -> Prices:
    """Least over the columns, each column's own costing `same` more: what the shot beside it makes of it."""
    order = np.sort(best, axis=1)
    second = order[:, 1] if best.shape[1] > 1 else np.full(len(best), NEVER, np.int64)
    first_is_own = best == order[:, :1]
    alone = first_is_own & (first_is_own.sum(axis=1) == 1)[:, None]
    others = np.where(alone, second[:, None], order[:, :1])
    return np.minimum(np.minimum(best + same, others), NEVER)


def _edges(steps: Steps) -> NDArray[np.int64]:
    return np.searchsorted(steps.group, np.arange(steps.groups))


def _walk(after: Prices, frames: int, steps: Steps) -> tuple[int, ...]:
    """The cuts of the cheapest plan, from the first frame on; of equal lengths the longest."""
    frame, group, cuts = 0, -1, []
    while frame < frames:
        total = _onward(after, steps, frame) + steps.same * (steps.group == group)
        chosen = len(total) - 1 - int(np.argmin(total[::-1]))
        frame, group = frame + int(steps.lengths[chosen]), int(steps.group[chosen])
        cuts.append(frame)
    return tuple(cuts[:-1])
