"""Where a take's pictures break off: flashes, which come back, and cuts, which do not. Pure.

A break is a frame strange to the one before (see `structure` for what was measured). In a shot that pans,
shakes or is thrown about many frames in a row are; at a break one stands alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mvpipe.film import Finding, Outcome
from mvpipe.gate.pictures import BACK, Sight
from mvpipe.gate.rules import figures
from mvpipe.wording import counted, named

STRANGE = 0.3
"""From which a frame may be a break: a shaken picture has 0.23, the same speaker nearer by a seventh 0.42."""

WIDELY = 0.25
"""Share of the picture that changes in a break: a thing in it that jumps from side to side is none."""

ALONE = 2.0
"""Times as strange as the frames about it: in whip pans and handheld shots the next is nearly as strange."""

ABOUT = 4
"""Frames before and after that are about it."""

ALIKE = 0.5
"""Of the strangeness of a flash, what the frame behind it has left to the frame before it."""

BARE = 12.0
"""Standard deviation of luma under which a frame shows nothing to be told apart: white, black, night."""

LIGHT = 0.9
"""How many more squares a light makes brighter than darker (or darker than brighter), of all."""

GLOW = 8.0
"""Levels by which the frame behind a flash differs from the one before where light dies away."""

STROBE = 3
"""Flashes of light or darkness from which they are lights that flash, and belong."""

BURNT = 0.7
"""Strangeness up to which what is drawn shows through a light: a lamp, or a camera's flash."""


@dataclass(frozen=True, slots=True)
class Flash:
    """Frames [start, stop) that break in, and behind which all is as before.

    Parameters
    ----------
    start, stop : frames
    light : whether all became brighter, or all darker
    belongs : whether it is a light that dies away
    shines : whether it is a light through which the picture shows
    """

    start: int
    stop: int
    light: bool
    belongs: bool
    shines: bool


def flashes(sight: Sight) -> list[Flash]:
    """Every flash of up to four frames (`BACK` less one)."""
    found: list[Flash] = []
    for start in range(1, sight.frames):
        if (found and start <= found[-1].stop) or _strange(sight, start) < STRANGE:
            continue
        for stop in range(start + 1, min(start + BACK, sight.frames)):
            if _comes_back(sight, start, stop):
                found.append(_flash(sight, start, stop))
                break
    return found


def cuts(sight: Sight) -> list[int]:
    """The first frame behind every cut; a lamp that goes on or off is none."""
    flashing = {frame for one in flashes(sight) for frame in (one.start, one.stop)}
    return [
        k
        for k in range(1, sight.frames)
        if k not in flashing
        and _strange(sight, k) >= STRANGE
        and sight.strange[k] >= ALONE * _about(sight, k, k)
        and min(sight.spread[k - 1 : k + 1]) >= BARE
        and not (abs(sight.lift[k]) >= LIGHT and sight.strange[k] < BURNT)
    ]


def judge_flashes(
    sight: Sight, shown: range | None = None, rules: Mapping[str, float] | None = None
) -> Finding:
    """Whether single frames break in that are neither of the shot nor of its light.

    Parameters
    ----------
    shown : frames that the film shows, and those beside them; None for all
    rules : every figure to judge by, of `figures`; None for those that nobody changed
    """
    limit = round((rules or figures())["flashes"])
    found = [one for one in flashes(sight) if shown is None or one.start in shown]
    strobing = sum(one.light for one in found) >= STROBE
    left = [one for one in found if not one.belongs and not (one.light and strobing)]
    odd = [one.start for one in left if not one.shines]
    if len(odd) > limit:
        outcome, what = Outcome.FAIL, f"a single picture breaks in at {_listed(odd)}"
    elif len(left) > limit:
        outcome = Outcome.CANNOT_JUDGE
        what = f"a light flashes at {_listed([one.start for one in left])}; whether it belongs is for the eye"
    else:
        outcome = Outcome.PASS
        what = f"lights flash {counted(len(found), 'time')}" if found else "no picture breaks in"
        what = f"breaks in at {_listed([one.start for one in left])}, as it may" if left else what
    return Finding(check="flash", outcome=outcome, value=len(odd) or len(left), limit=limit, reason=what)


def judge_cuts(sight: Sight, shown: range | None = None, rules: Mapping[str, float] | None = None) -> Finding:
    """Whether the picture jumps to another inside the shot; `shown` and `rules` as for `judge_flashes`."""
    limit = round((rules or figures())["cuts"])
    found = [frame for frame in cuts(sight) if shown is None or frame in shown]
    what = f"cuts inside the shot at {_listed(found)}" if found else "one shot without a cut in it"
    outcome = Outcome.FAIL if len(found) > limit else Outcome.PASS
    return Finding(check="cut in the shot", outcome=outcome, value=len(found), limit=limit, reason=what)


def _comes_back(sight: Sight, start: int, stop: int) -> bool:
    """Whether a picture breaks in at `start` and the one before goes on at `stop`."""
    least = min(_strange(sight, start), _strange(sight, stop))
    return (
        least >= STRANGE
        and sight.returned[stop] <= ALIKE * least
        and least >= ALONE * _about(sight, start, stop)
    )


def _strange(sight: Sight, frame: int) -> float:
    """How strange a frame is to the one before, where that is so of more than a thing in it."""
    return sight.strange[frame] if sight.changed[frame] >= WIDELY else 0.0


def _about(sight: Sight, first: int, last: int) -> float:
    """The strangest of the frames before `first` and after `last`."""
    before = sight.strange[max(1, first - ABOUT) : first]
    return max((*before, *sight.strange[last + 1 : last + 1 + ABOUT]), default=0.0)


def _flash(sight: Sight, start: int, stop: int) -> Flash:
    light = abs(sight.lift[start]) >= LIGHT
    left = sight.level[stop] - sight.level[start - 1]
    dies = left >= GLOW if sight.lift[start] > 0 else left <= -GLOW
    shines = light and min(sight.strange[start], sight.strange[stop]) < BURNT
    return Flash(start, stop, light=light, belongs=light and dies, shines=shines)


def _listed(frames: Sequence[int]) -> str:
    """Frame numbers in words, not more than four."""
    return named("frame", frames, most=4)
