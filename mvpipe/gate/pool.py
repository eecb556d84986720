"""Shots too short or too sparsely sung to be judged alone, heard together with others of the performance.

The others say where the mouth of this performance lies against its voice; the shot's own mouth is then asked
there alone, where chance has one place to be lucky in and not a hundred. So good neighbours never carry a
mouth that sings something else: on its own it has to fit better than `fail_p` of the voices of chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mvpipe.film import Outcome
from mvpipe.gate.look import Look
from mvpipe.gate.mouth import voice_curves
from mvpipe.gate.offset import CONTROL_FRAMES, SHORTEST, Performance, chance_near, estimate
from mvpipe.gate.sync import Samples, performance
from mvpipe.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """What several takes of one performance say of one of them.

    Parameters
    ----------
    outcome, reason : what, and why in words
    offset_ms, offset_frames_25 : of all together; positive: the picture is late
    r, p : correlation of all together, and its chance
    own_p : chance of the shot's own mouth at that offset
    moved : frames by which the reading moves where the pictures are moved by ten
    """

    outcome: Outcome
    reason: str
    offset_ms: float
    offset_frames_25: int
    r: float
    p: float
    own_p: float
    moved: int


def performance_of(look: Look, voice: Samples, sample_rate: int, facts: Mapping[str, Any]) -> Performance:
    """The curves of the face a verdict was about, or of the one seen longest.

    Parameters
    ----------
    facts : of the verdict, as JSON values
    """
    numbers = facts["numbers"]
    fit = [k for k, one in enumerate(look.seen.tracks) if one.coverage >= numbers["rules"]["coverage"]]
    face = fit[numbers["track"] or 0] if fit else 0
    return performance(look.seen.tracks[face], look.seen.times, voice_curves(voice, sample_rate))


def pool(own: Performance, others: Sequence[Performance], values: Mapping[str, float]) -> Pooled | None:
    """Judge a shot with its neighbours; None where there is too little of it to be laid over a voice."""
    if own.hops < SHORTEST or not others:
        return None
    takes = (own, *others)
    found = estimate(*takes)
    delay = -CONTROL_FRAMES if found.offset_ms > 0 else CONTROL_FRAMES
    moved = estimate(*(take.delayed(delay) for take in takes), surrogates=0).frames - found.frames
    own_p = chance_near(own, found.offset_ms)
    outcome, reason = _rule(found.frames, found.p, own_p, values)
    if found.edge or abs(moved - delay) > values["control_slack"]:
        outcome, reason = Outcome.CANNOT_JUDGE, "heard together they have no steady offset either"
    return Pooled(
        outcome=outcome, reason=reason, offset_ms=found.offset_ms, offset_frames_25=found.frames,
        r=found.r, p=round(found.p, 4), own_p=round(own_p, 4), moved=moved,
    )  # fmt: skip


def _rule(offset: int, p: float, own_p: float, values: Mapping[str, float]) -> tuple[Outcome, str]:
    if p > values["pass_p"]:
        return Outcome.CANNOT_JUDGE, f"together they do not follow the voice more than chance (p {p:.3f})"
    if own_p > values["fail_p"]:
        return (
            Outcome.CANNOT_JUDGE,
            f"where the others are, this mouth may be by chance (p {own_p:.3f})",
        )
    if abs(offset) <= values["offset_frames"]:
        return Outcome.PASS, f"lips and voice are together ({counted(offset, 'frame', form='+d')})"
    if abs(offset) >= values["fail_frames"] and p <= values["fail_p"]:
        late = "late" if offset > 0 else "early"
        return Outcome.FAIL, f"the picture is {counted(abs(offset), 'frame')} {late} (25 a second)"
    return Outcome.CANNOT_JUDGE, f"{counted(offset, 'frame', form='+d')}, but not beyond doubt"
