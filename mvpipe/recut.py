"""Cuts a director moves by hand, as pins of the storyboard that change these cuts and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from mvpipe.clock import FILM_RATE, format_time, snap
from mvpipe.cutting import lengths
from mvpipe.errors import PlanError, SettingsError
from mvpipe.plan import Plan
from mvpipe.storyboard import writing
from mvpipe.storyboard.change import Change, Drop, Insert, Put
from mvpipe.storyboard.check import CLOSEST_CUTS
from mvpipe.storyboard.load import Loaded

Cuts = list[int]
"""The frame every shot but the first begins at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recut:
    """A wish about cuts, and the ways to write it down, the fewest pins first.

    Parameters
    ----------
    wanted : the cuts it comes to
    ways : changes of the storyboard, each tried until one gives exactly the wanted cuts
    """

    wanted: Cuts
    ways: Callable[[], Iterator[list[Change]]]


def cuts(plan: Plan) -> Cuts:
    """The cuts of a plan."""
    return [shot.cut.start for shot in plan.shots[1:]]


def move(loaded: Loaded, plan: Plan, shot: int, moment: Fraction) -> Recut:
    """Shot `shot` begins at another moment; only the shots beside the cut change.

    Raises
    ------
    SettingsError : the first shot, or a moment outside the two shots beside the cut
    """
    old = _begins(plan, shot)
    frame = snap(moment)
    low, high = plan.shots[shot - 2].cut.start, plan.shots[shot - 1].cut.stop
    _between(f"move: shot {shot}", frame, low, high)
    wanted = [frame if cut == old else cut for cut in cuts(plan)]
    if old in {snap(kept) for kept in loaded.storyboard.cuts.keep}:
        return Recut(wanted=wanted, ways=lambda: _ways(loaded, wanted, {frame}))
    put = Put(("cuts", "at", str(shot)), _written(frame))
    return Recut(wanted=wanted, ways=lambda: iter([[put]]))


def split(loaded: Loaded, plan: Plan, shot: int, moment: Fraction) -> Recut:
    """Shot `shot` becomes two, the second from `moment` on.

    Raises
    ------
    SettingsError : the moment lies outside the shot, or too near to its ends
    """
    whole, frame = plan.shots[shot - 1].cut, snap(moment)
    _between(f"split: shot {shot}", frame, whole.start, whole.stop)
    wanted = sorted({*cuts(plan), frame})
    return Recut(wanted=wanted, ways=lambda: _ways(loaded, wanted, {whole.start, frame, whole.stop}))


def merge(loaded: Loaded, plan: Plan, shot: int) -> Recut:
    """Shot `shot` and the one behind it become one.

    Raises
    ------
    SettingsError : there is none behind it
    PlanError : together they are longer than a shot can be
    """
    if shot >= len(plan.shots):
        raise SettingsError(f"merge: shot {shot}: no shot behind it: the plan has {len(plan.shots)}")
    first, second = plan.shots[shot - 1].cut, plan.shots[shot].cut
    limit = lengths(loaded).limit
    if second.stop - first.start > limit:
        together, most = (frames / FILM_RATE for frames in (second.stop - first.start, limit))
        raise PlanError(
            f"merge: shots {shot} and {shot + 1}: together {format_time(together)}: a shot shows at most "
            f"{format_time(most)}",
            hint="move the cut between them instead: mvpipe edit move",
        )
    wanted = [cut for cut in cuts(plan) if cut != second.start]
    return Recut(wanted=wanted, ways=lambda: _ways(loaded, wanted, {first.start, second.stop}))


def pin(loaded: Loaded, plan: Plan, shot: int) -> Recut:
    """The cut shot `shot` begins with stays where it is, whatever else changes.

    Raises
    ------
    SettingsError : the first shot, or pinned already
    """
    frame = _begins(plan, shot)
    if frame in {snap(kept) for kept in loaded.storyboard.cuts.keep}:
        raise SettingsError(f"pin: shot {shot}: its cut is kept already, at {_written(frame)}")
    wanted = cuts(plan)
    return Recut(wanted=wanted, ways=lambda: _ways(loaded, wanted, {frame}))


def unpin(loaded: Loaded, plan: Plan, shot: int) -> list[Change]:
    """The cut shot `shot` begins with may fall where it is best again.

    Raises
    ------
    SettingsError : it is not pinned
    """
    frame, pins = _begins(plan, shot), loaded.storyboard.cuts
    changes: list[Change] = [Drop(("cuts", "at", str(shot)))] if shot in pins.at else []
    kept = [at for at, moment in enumerate(pins.keep) if snap(moment) == frame]
    changes += [Drop(("cuts", "keep", at)) for at in reversed(kept)]
    if not changes:
        raise SettingsError(f"unpin: shot {shot}: its cut is not pinned")
    return changes


def _begins(plan: Plan, shot: int) -> int:
    if shot < 2:
        raise SettingsError("shot 1: begins with the song: its first cut cannot be changed")
    return plan.shots[shot - 1].cut.start


def _between(where: str, frame: int, low: int, high: int) -> None:
    """Refuse a cut that leaves less than a second on one of its sides."""
    apart = snap(CLOSEST_CUTS)
    if low + apart <= frame <= high - apart:
        return
    room = f"from {_written(low + apart)} to {_written(high - apart)}"
    hint = f"it can fall {room}" if low + apart <= high - apart else "there is no room for a cut here"
    raise SettingsError(f"{where}: no cut can fall at {_written(frame)}", hint=hint)


def _ways(loaded: Loaded, wanted: Cuts, needed: set[int]) -> Iterator[list[Change]]:
    """Pins for the needed cuts, then for one more neighbour on either side, until all are pinned."""
    at = [wanted.index(frame) for frame in needed if frame in wanted]
    first, last = (min(at), max(at)) if at else (0, -1)
    for reach in range(len(wanted) + 1):
        kept = wanted[max(first - reach, 0) : last + 1 + reach]
        yield _pins(loaded, wanted, kept, _long(needed, wanted, lengths(loaded).longest))
        if len(kept) == len(wanted):
            return


def _long(needed: set[int], wanted: Cuts, longest: Fraction) -> list[tuple[int, int]]:
    """Stretches between needed cuts that the planner would cut again if it were not told."""
    edges = sorted(needed)
    most = longest * FILM_RATE
    return [(a, b) for a, b in pairwise(edges) if b - a > most and not any(a < cut < b for cut in wanted)]


def _pins(loaded: Loaded, wanted: Cuts, kept: Sequence[int], whole: list[tuple[int, int]]) -> list[Change]:
    """From the pins that are there to those that are wanted."""
    pins = loaded.storyboard.cuts
    there = {snap(moment) for moment in pins.keep}
    gone = [at for at, moment in enumerate(pins.keep) if snap(moment) not in wanted]
    changes: list[Change] = [Drop(("cuts", "keep", at)) for at in reversed(gone)]
    room = len(pins.keep) - len(gone)
    for frame in kept:
        if frame not in there:
            changes.append(_item(("cuts", "keep"), room, _written(frame)))
            room += 1
    changes += _avoids(loaded, wanted, whole)
    return changes + _numbers(loaded, wanted, kept)


def _avoids(loaded: Loaded, wanted: Cuts, whole: list[tuple[int, int]]) -> list[Change]:
    spans = [(snap(span.start), snap(span.stop)) for span in loaded.storyboard.cuts.avoid]
    over = [
        at
        for at, (start, stop) in enumerate(spans)
        if any(start <= cut < stop for cut in wanted) or any(start < b and a < stop for a, b in whole)
    ]
    changes: list[Change] = [Drop(("cuts", "avoid", at)) for at in reversed(over)]
    room = len(spans) - len(over)
    for a, b in whole:
        changes.append(_item(("cuts", "avoid"), room, f"{_written(a + 1)} - {_written(b)}"))
        room += 1
    return changes


def _numbers(loaded: Loaded, wanted: Cuts, kept: Sequence[int]) -> list[Change]:
    """Cuts moved by hand keep their place under the numbers that the shots have then."""
    old = {number: snap(moment) for number, moment in loaded.storyboard.cuts.at.items()}
    new = {wanted.index(frame) + 2: frame for frame in old.values() if frame in wanted and frame not in kept}
    changes: list[Change] = [Drop(("cuts", "at", str(number))) for number in old if number not in new]
    return changes + [
        Put(("cuts", "at", str(number)), _written(frame))
        for number, frame in new.items()
        if old.get(number) != frame
    ]


def _item(path: tuple[str, str], at: int, text: str) -> Change:
    return Insert((*path, at), text) if at else Put(path, [text])


def _written(frame: int) -> str:
    return writing.moment(frame / FILM_RATE)
