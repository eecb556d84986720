"""Plans for tests, and what every plan must be."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from mvpipe.clock import FILM_RATE, frames_in
from mvpipe.film import LONGEST_WINDOW, Card, Shot
from mvpipe.sound.cut import cut
from mvpipe.sound.cutting import HANDLES, Cutting
from mvpipe.sound.hearing import Hearing


def plan(hearing: Hearing, rate: Fraction = FILM_RATE, **kw: Any) -> Cutting:
    return cut(hearing, frames=frames_in(hearing.samples, hearing.sample_rate, rate), rate=rate, **kw)


def starts(cutting: Cutting) -> list[int]:
    return [shot.cut.start for shot in cutting.shots[1:]]


def check_is_a_plan(cutting: Cutting, frames: int, rate: Fraction) -> None:
    """It tiles the film, and every shot is one that can be rendered."""
    assert cutting.spans[0].start == 0
    assert cutting.spans[-1].stop == frames
    assert all(a.meets(b) for a, b in pairwise(cutting.spans))
    for shot in cutting.shots:
        Shot(number=shot.number, cut=shot.cut, window=shot.window, card=Card(prompt=""), voice=shot.voice)
        assert shot.window.stop <= frames or shot.window.start == 0
        handles = min(HANDLES, (LONGEST_WINDOW - len(shot.cut)) // 2)
        assert shot.cut.start - shot.window.start >= min(handles, shot.cut.start)
        assert shot.window.stop - shot.cut.stop >= min(handles, frames - shot.cut.stop)
