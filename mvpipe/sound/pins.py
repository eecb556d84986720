"""What the editor pinned, held against the film: each pin that cannot be is said with what could."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from mvpipe.clock import Span, format_time
from mvpipe.errors import PlanError
from mvpipe.sound.cutting import Pins


def check(pins: Pins, frames: int, rate: Fraction) -> None:
    """Raise PlanError for a pin that no plan can honour."""
    for frame in pins.keep:
        where = f"cuts.keep: {_time(frame, rate)}"
        _inside(where, frame, frames, rate)
        _allowed(where, frame, pins, rate)
    for number, frame in pins.at.items():
        where = f"cuts.at: shot {number} at {_time(frame, rate)}"
        if number < 2:
            raise PlanError(
                f"{where}: the first shot starts with the film", hint="move shot 2 or a later one"
            )
        _inside(where, frame, frames, rate)
        _allowed(where, frame, pins, rate)


def stuck(stretch: Span, pins: Pins, limit: int, nearest: Sequence[int]) -> PlanError:
    """The error for a stretch that cannot be cut: only spans to avoid can do that.

    Parameters
    ----------
    nearest : cuts of the plan that goes least far into the spans to avoid
    """
    rate = stretch.rate
    names = ", ".join(
        f"{_time(span.start, rate)} - {_time(span.stop, rate)}"
        for span in pins.avoid
        if span.overlaps(stretch)
    )
    ends = f"{_time(stretch.start, rate)} and {_time(stretch.stop, rate)}"
    return PlanError(
        f"cuts.avoid: {names}: no way to cut between {ends}",
        hint=f"a shot shows at most {_time(limit, rate)}; the nearest plan that can be has "
        + _way_out(nearest, pins, rate),
    )


def _way_out(nearest: Sequence[int], pins: Pins, rate: Fraction) -> str:
    """What would have to give, in words."""
    gives = []
    for frame in nearest:
        for span in pins.avoid:
            if frame in span:
                into = min(frame - span.start, span.stop - frame)
                gives.append(f"a cut at {_time(frame, rate)}, {_time(into, rate)} inside")
    return ", ".join(gives)


def moved(ends: list[int], pins: Pins, limit: int, rate: Fraction) -> list[int]:
    """The ends of all shots after the editor moved some; only those beside a moved cut change.

    Parameters
    ----------
    ends : 0, every cut, and the length of the film
    limit : the most frames a shot can show

    Raises
    ------
    PlanError : a shot that is not there, a cut that is kept, a shot that would vanish or get too long
    """
    out = list(ends)
    for number, frame in pins.at.items():
        where = f"cuts.at: shot {number} at {_time(frame, rate)}"
        if number >= len(ends):
            raise PlanError(f"{where}: the plan has {len(ends) - 1} shots", hint="see `mvpipe plan`")
        if ends[number - 1] in pins.keep and frame != ends[number - 1]:
            kept = _time(ends[number - 1], rate)
            raise PlanError(f"{where}: its cut is kept at {kept}", hint="remove one of the two pins")
        out[number - 1] = frame
    for number, frame in pins.at.items():
        low = max(out[number - 2] + 1, out[number] - limit)
        high = min(out[number] - 1, out[number - 2] + limit)
        if not low <= frame <= high:
            room = f"between {_time(low, rate)} and {_time(high, rate)}" if low <= high else "nowhere"
            raise PlanError(
                f"cuts.at: shot {number} at {_time(frame, rate)}: the shots beside it leave it no room there",
                hint=f"it can start {room}",
            )
    assert all(a < b for a, b in pairwise(out))
    return out


def _inside(where: str, frame: int, frames: int, rate: Fraction) -> None:
    if not 0 < frame < frames:
        raise PlanError(
            f"{where}: outside the film of {_time(frames, rate)}",
            hint=f"a cut can fall from {_time(1, rate)} to {_time(frames - 1, rate)}" if frames > 1 else "",
        )


def _allowed(where: str, frame: int, pins: Pins, rate: Fraction) -> None:
    for span in pins.avoid:
        if frame in span:
            raise PlanError(
                f"{where}: inside cuts.avoid {_time(span.start, rate)} - {_time(span.stop, rate)}",
                hint=f"remove one of the two pins; the nearest that can be kept: "
                f"{_time(span.start - 1, rate)} or {_time(span.stop, rate)}",
            )


def _time(frame: int, rate: Fraction) -> str:
    return format_time(frame / rate)
