"""What one way of measuring says of one face: an offset, how sure it is, and its own control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvpipe.film import Outcome
from mvpipe.gate.offset import CONTROL_FRAMES, STEP_MS, Estimate, Performance, estimate, finer
from mvpipe.gate.pairs import Match
from mvpipe.wording import counted

UNDECIDED = 3
"""Times what several mouths are held against, up to which a p out of 500 voices may be another out of 5000:
of 20 singers beside another face, two read 0.006 of 500 voices, and 0.002 and 0.0012 of 5000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The same measurement with the picture moved by a known amount.

    Parameters
    ----------
    delay_frames : 10 pictures at 25/s later, or -10 where later would leave the search
    offset_frames_25 : what was read
    ok : the reading moved by as much, give or take what the rules allow
    """

    delay_frames: int
    offset_frames_25: int
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one method says of one face.

    Parameters
    ----------
    method : `syncnet` or `mouth`
    outcome, reason : what it says, and why in words
    offset_ms, offset_frames_25 : positive: the picture is late
    confidence : LSE-C, or the correlation of the mouth
    floor : what the confidence was held against; of the mouth, p is, and this is empty
    p : chance of such a correlation; SyncNet has none
    control : of this measurement
    numbers : all else that was measured
    """

    method: str
    outcome: Outcome
    reason: str
    offset_ms: float
    offset_frames_25: int
    confidence: float
    floor: float | None
    p: float | None
    control: Control
    numbers: Mapping[str, Any]


def mouth_opinion(take: Performance, values: Mapping[str, float], *, tried: int = 1) -> Opinion:
    """What the mouth curve says.

    Parameters
    ----------
    tried : faces among which this may be picked: p is that many times as large, and has to be smaller, for
        mouths that sing something else pass more often than chance (`several_p`)
    """
    found = estimate(take)
    if tried > 1 and found.p <= UNDECIDED * values["several_p"]:
        found = finer(take, found)
    delay = -CONTROL_FRAMES if found.offset_ms > 0 else CONTROL_FRAMES
    moved = estimate(take.delayed(delay), surrogates=0)
    p = min(1.0, found.p * tried)
    control = _control(delay, moved.frames, found.frames, values)
    outcome, reason = _rule(
        found.frames, control, values, edge=found.edge,
        passes=p <= values["several_p" if tried > 1 else "pass_p"], fails=p <= values["fail_p"],
        doubt=f"the mouth does not follow the voice more than chance would (p {p:.3f})",
    )  # fmt: skip
    return Opinion(
        method="mouth", outcome=outcome, reason=reason, offset_ms=found.offset_ms,
        offset_frames_25=found.frames, confidence=found.r, floor=None, p=round(p, 4),
        control=control, numbers=_mouth_numbers(found, moved),
    )  # fmt: skip


def syncnet_opinion(found: Match, chance: Sequence[float], values: Mapping[str, float]) -> Opinion:
    """What SyncNet says.

    Parameters
    ----------
    chance : LSE-C of the same pictures with voices sung elsewhere; with too few, speech's floor is used
    """
    floor, learnt = values["syncnet_floor"], len(chance) >= values["syncnet_voices"]
    if learnt:
        floor = float(np.percentile(chance, values["syncnet_chance"]))
    sure = found.valid.confidence >= floor and found.control.confidence >= floor
    edge = any(abs(lag.offset) >= values["syncnet_edge"] for lag in (found.valid, found.control))
    control = _control(found.delay, found.control.offset, found.valid.offset, values)
    outcome, reason = _rule(
        found.valid.offset, control, values, edge=edge, passes=sure, fails=sure,
        doubt=f"SyncNet's confidence {found.valid.confidence:.2f} is below {floor:.2f}",
    )  # fmt: skip
    return Opinion(
        method="syncnet", outcome=outcome, reason=reason, offset_ms=found.valid.offset * STEP_MS,
        offset_frames_25=found.valid.offset, confidence=round(found.valid.confidence, 3),
        floor=round(floor, 3), p=None, control=control,
        numbers={**found.as_json(), "floor_learnt": learnt, "chance": [round(c, 3) for c in chance]},
    )  # fmt: skip


def _control(delay: int, moved: int, offset: int, values: Mapping[str, float]) -> Control:
    ok = abs(moved - offset - delay) <= values["control_slack"]
    return Control(delay_frames=delay, offset_frames_25=moved, ok=ok)


def _mouth_numbers(found: Estimate, moved: Estimate) -> dict[str, Any]:
    return {
        "p": found.p, "curve": found.curve, "chance": found.chance,
        "control_ms": moved.offset_ms, "control_curve": moved.curve,
    }  # fmt: skip


def _rule(
    offset: int, control: Control, values: Mapping[str, float],
    *, edge: bool, passes: bool, fails: bool, doubt: str,
) -> tuple[Outcome, str]:  # fmt: skip
    """Pass, fail, or neither: what an offset means that may be believed or not."""
    late = f"the picture is {counted(abs(offset), 'frame')} {'late' if offset > 0 else 'early'} (25 a second)"
    if edge:
        return Outcome.CANNOT_JUDGE, "the offset found is the end of the search"
    if not control.ok:
        moved = control.offset_frames_25 - offset
        return (
            Outcome.CANNOT_JUDGE,
            f"moved by {counted(control.delay_frames, 'frame')}, the reading moves by {moved}",
        )
    if abs(offset) <= values["offset_frames"] and passes:
        return Outcome.PASS, f"lips and voice are together ({counted(offset, 'frame', form='+d')})"
    if abs(offset) >= values["fail_frames"] and fails:
        return Outcome.FAIL, late
    if abs(offset) > values["offset_frames"] and passes:
        return Outcome.CANNOT_JUDGE, f"{late}, but not beyond doubt"
    return Outcome.CANNOT_JUDGE, doubt
