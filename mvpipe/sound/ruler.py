"""What each length of a shot costs: how far it is from what is wanted, and how long it takes to render."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from mvpipe.film import LONGEST_WINDOW, window_length
from mvpipe.sound.costs import (
    BORROWED,
    BRIEF,
    BRIEF_SECOND,
    LONGER,
    LONGER_SECOND,
    OUT_OF_RANGE,
    OUT_OF_RANGE_FRAME,
    RENDER,
    SAME_LENGTH,
    SHORT,
    SHORTER,
    micro,
)
from mvpipe.sound.cutting import Lengths, PriceOf
from mvpipe.sound.tiling import Steps

BRISK = 24
"""Where no rule fits, a second is tried as the shortest before any length is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """The prices of lengths, all in frames at one rate.

    Parameters
    ----------
    brief, least, shortest, longest, most, limit : of what is seen; see `Lengths`
    handles : frames before and after
    rate : frames per second
    price : predicted seconds of a window
    thrift : how much that weighs
    """

    brief: int
    least: int
    shortest: int
    longest: int
    most: int
    limit: int
    handles: int
    rate: Fraction
    price: PriceOf
    thrift: Fraction

    def __post_init__(self) -> None:
        order = [1, self.brief, self.least, self.shortest, self.longest, self.most, self.limit]
        if order != sorted(order):
            raise ValueError(f"no shot can be {self.least}..{self.longest} frames of at most {self.limit}")

    @staticmethod
    def of(lengths: Lengths, rate: Fraction, price: PriceOf) -> Ruler:
        """The prices at a rate; what is wanted is rounded inwards to whole frames."""
        return Ruler(
            brief=ceil(lengths.brief * rate),
            least=ceil(lengths.least * rate),
            shortest=ceil(lengths.shortest * rate),
            longest=floor(lengths.longest * rate),
            most=min(floor(lengths.most * rate), lengths.limit),
            limit=lengths.limit,
            handles=lengths.handles,
            rate=rate,
            price=price,
            thrift=lengths.thrift,
        )

    @property
    def same(self) -> int:
        """Price of a shot whose window is as long as the one before."""
        return micro(SAME_LENGTH)

    def window(self, length: int) -> int:
        """Frames of the window of a shot."""
        return window_length(min(length + 2 * self.handles, LONGEST_WINDOW))

    def render(self, length: int) -> int:
        """Price of rendering its window."""
        share = self.price(self.window(length)) / self.price(self.window(self.longest))
        return micro(RENDER, share * float(self.thrift))

    def out_of_length(self, length: int) -> int:
        """Price of being shorter or longer than wanted."""
        out = max(self.brief - length, length - self.most)
        if out > 0:
            return micro(OUT_OF_RANGE) + micro(OUT_OF_RANGE_FRAME, out)
        if length > self.longest:
            lacking = max(length + 2 * self.handles - LONGEST_WINDOW, 0)
            over = float((length - self.longest) / self.rate)
            return micro(LONGER) + micro(LONGER_SECOND, over) + micro(BORROWED, lacking)
        if length < self.least:
            return micro(BRIEF) + micro(BRIEF_SECOND, float((self.least - length) / self.rate))
        if length >= self.shortest:
            return 0
        return micro(SHORT) + micro(SHORTER, (self.shortest - length) / max(self.shortest - self.least, 1))

    def ladder(self, frames: int) -> Iterator[Steps]:
        """The lengths to try on a stretch, one set after the other until a plan fits."""
        for first, last in ((self.brief, self.most), (min(BRISK, self.brief), self.limit), (1, self.limit)):
            if first <= frames:
                yield self._steps(first, min(last, frames))

    def _steps(self, first: int, last: int) -> Steps:
        lengths = range(first, last + 1)
        _, group = np.unique([self.window(n) for n in lengths], return_inverse=True)
        price = [self.out_of_length(n) + self.render(n) for n in lengths]
        return Steps(first=first, price=np.array(price, np.int64), group=group, same=self.same)
