"""Hearing -> the shots of the film: where each cut falls, why, what was second best, and what is rendered.

What is seen is 5 to 8 s long. The rules where that cannot be:

* A shot may go down to 4.5 s at a small price (`costs`), since two-bar phrases at 100 bpm last 4.8 s.
* Where that would cut a sung line, it may go down to 2.5 s, or up to the longest window that H3 was trained
  on, from 14.4 s on by borrowing from its handles: the further out, the dearer, and always cheaper than
  one more cut in the voice. Lines of 4.3 s, of which neither one nor two fit, stay whole this way.
* A film, or a stretch between two pins, that no such shots can fill (under 2.5 s) may hold others, but no
  more of them than it must. The window that is rendered never gets shorter than H3's shortest, and what is
  seen never longer than its longest.
* Pins that leave no such way are an error that says which they are.

Stretches between pins know nothing of each other. A shot that was moved by hand (`Pins.at`) changes itself
and the shot before it: the rest stays as it would be without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import FILM_RATE, Span
from mvpipe.film import Word
from mvpipe.sound.boundaries import Marks, marks
from mvpipe.sound.costs import OUT_OF_RANGE, UNIT, micro
from mvpipe.sound.cutting import (
    NO_PINS,
    WANTED,
    Cost,
    Cutting,
    Lengths,
    Pins,
    PlannedShot,
    PriceOf,
    RunnerUp,
    window,
)
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.pins import check, moved, stuck
from mvpipe.sound.ruler import Ruler
from mvpipe.sound.spectrum import HOPS
from mvpipe.sound.tiling import NEVER, Prices, Tiling, tile_cheapest
from mvpipe.sound.voice import covered

SECOND_BEST_APART = 12
"""Frames a runner-up is away from the cut, at least: the same gap a little later is not another idea."""


def cut(
    hearing: Hearing,
    *,
    frames: int,
    rate: Fraction = FILM_RATE,
    pins: Pins = NO_PINS,
    lengths: Lengths = WANTED,
    price: PriceOf = float,
    words: Sequence[Word] = (),
) -> Cutting:
    """The cheapest plan for a film: a global optimum of the cost written in `costs`, the same on every run.

    Parameters
    ----------
    hearing : what was heard in the song
    frames : length of the film, > 0
    rate : pictures per second
    price : predicted seconds to render a window of so many frames; only its proportions count
    words : those whose times are known, in order: no cut falls inside one if that can be

    Raises
    ------
    PlanError : pins that cannot be
    """
    check(pins, frames, rate)
    known = marks(hearing, frames=frames, rate=rate, words=words)
    ruler = Ruler.of(lengths, rate, price)
    ends, pinned = [0], dict.fromkeys(pins.keep, "keep")
    second: dict[int, tuple[int, int]] = {}
    for start, stop in pairwise([0, *sorted(set(pins.keep)), frames]):
        tiling = _tile(known.price, Span(start, stop, rate), pins, ruler)
        ends += [*(start + c for c in tiling.cuts), stop]
        second |= {start + c: (start + other, more) for c, other, more in _second_best(tiling)}
    last = moved(ends, pins, ruler.limit, rate)
    for was, now in zip(ends, last, strict=True):
        if was != now:
            pinned[now], second[now] = "at", (was, 0)
    return Cutting(tuple(_shots(last, known, ruler, pinned, second, _sung(hearing, frames, rate))))


def _tile(price: Prices, stretch: Span, pins: Pins, ruler: Ruler) -> Tiling:
    """The cheapest plan of a stretch between two pins, with no more shots out of range than it must have."""
    cost = price[stretch.start : stretch.stop + 1].copy()
    for span in pins.avoid:
        cost[max(span.start - stretch.start, 0) : max(span.stop - stretch.start, 0)] = NEVER
    for steps in ruler.ladder(len(stretch)):
        tiling = tile_cheapest(cost, steps)
        if tiling is not None:
            return tiling
    raise stuck(stretch, pins, ruler.limit, _nearest(price, stretch, pins, ruler))


def _nearest(price: Prices, stretch: Span, pins: Pins, ruler: Ruler) -> list[int]:
    """Cuts of the plan that goes least far into what was to be avoided."""
    cost = price[stretch.start : stretch.stop + 1].copy()
    for span in pins.avoid:
        first, last = max(span.start, stretch.start), min(span.stop, stretch.stop)
        at = np.arange(first, last)
        into = np.minimum(at - span.start, span.stop - at) + 1
        cost[first - stretch.start : last - stretch.start] += into * micro(OUT_OF_RANGE)
    tilings = (tile_cheapest(cost, steps) for steps in ruler.ladder(len(stretch)))
    tiling = next(t for t in tilings if t)
    return [stretch.start + c for c in tiling.cuts]


def _second_best(tiling: Tiling) -> Iterator[tuple[int, int, int]]:
    """(cut, the best other frame nearer to it than to the cuts beside it, what a plan there costs more)."""
    ends = [0, *tiling.cuts, len(tiling.through) - 1]
    for before, at, after in zip(ends, ends[1:], ends[2:], strict=False):
        low, high = (before + at) // 2 + 1, (at + after + 1) // 2
        through = tiling.through[low:high].copy()
        through[max(at - low - SECOND_BEST_APART + 1, 0) : at - low + SECOND_BEST_APART] = NEVER
        other = int(np.argmin(through))
        if through[other] < NEVER:
            yield at, low + other, int(through[other]) - tiling.price


def _sung(hearing: Hearing, frames: int, rate: Fraction) -> NDArray[np.float64]:
    """Seconds sung before each frame, from 0 to `frames`."""
    sums = np.concatenate([[0], np.cumsum(covered(hearing.phrases, hearing.hops))]) / HOPS
    at = np.arange(frames + 1) * float(HOPS / rate)
    return np.asarray(np.interp(at, np.arange(len(sums)), sums), np.float64)


def _shots(
    ends: list[int],
    known: Marks,
    ruler: Ruler,
    pinned: dict[int, str],
    second: dict[int, tuple[int, int]],
    sung: NDArray[np.float64],
) -> Iterator[PlannedShot]:
    before = -1
    for number, (start, stop) in enumerate(pairwise(ends), 1):
        seen = Span(start, stop, known.rate)
        group = ruler.window(len(seen))
        same = group == before and pinned.get(start) != "keep"
        before = group
        other = second.get(start)
        yield PlannedShot(
            number=number,
            cut=seen,
            window=window(seen, ends[-1], ruler.handles),
            boundary=known.at(start) if start else None,
            pinned=pinned.get(start, ""),
            inside=bool(start and known.inside[start]),
            harm=known.harm(start) if start else "",
            voice=min(float(sung[stop] - sung[start]) / float(seen.seconds), 1.0),
            cost=_cost(known, ruler, start, len(seen), same=same),
            runner_up=RunnerUp(frame=other[0], boundary=known.at(other[0]), more=other[1]) if other else None,
        )


def _cost(known: Marks, ruler: Ruler, start: int, length: int, *, same: bool) -> Cost:
    return Cost(
        voice=int(known.voice[start]) if start else 0,
        boundary=round((1 - float(known.weight[start])) * UNIT) if start else 0,
        length=ruler.out_of_length(length),
        render=ruler.render(length),
        sameness=ruler.same if same else 0,
    )
