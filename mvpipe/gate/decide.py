"""What follows from the verdicts on lips, all shots of a film together: use, mend, or take again. Pure.

One shot five frames late is a take that went wrong. Five shots late alike are a fault of the pipeline, or of
the gate: then no take is to blame, none is taken again, and no picture is moved without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mvpipe.film import Outcome
from mvpipe.gate.offset import STEP_MS
from mvpipe.wording import counted

COMMON = 5
"""Shots with the same offset from which it is the pipeline's (findings-sync, Gate)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of one take of a shot.

    Parameters
    ----------
    shot : its number
    outcome, reason : of the take as it is
    offset_ms : positive: the picture is late; None where nothing could be read
    slip : frames of the film by which its picture can be moved to mend that; 0 where it cannot
    mended : what is read once it is moved; empty where it would not pass
    """

    shot: int
    outcome: Outcome
    reason: str
    offset_ms: float | None = None
    slip: int = 0
    mended: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it has an offset that is sure, and not to be left."""
        return self.outcome is Outcome.FAIL and self.offset_ms is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What follows for a shot.

    Parameters
    ----------
    outcome, reason : pass, also where it was mended; cannot judge: it is kept, and looked at; fail: another
    slip : frames by which its picture is moved
    """

    outcome: Outcome
    reason: str
    slip: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The same offset in too many shots for it to be theirs.

    Parameters
    ----------
    shots : their numbers
    offset_ms : of the middle one
    """

    shots: tuple[int, ...]
    offset_ms: float

    def __str__(self) -> str:
        late = "late" if self.offset_ms > 0 else "early"
        names = ", ".join(map(str, self.shots))
        return f"shots {names}: the picture is about {abs(self.offset_ms):.0f} ms {late} in all of them"


def common_offsets(readings: Sequence[Reading]) -> tuple[Common, ...]:
    """Offsets that `COMMON` shots and more share within a frame, the most shared first.

    Parameters
    ----------
    readings : of all takes so far; a shot counts once for each offset
    """
    left = sorted((r.offset_ms, r.shot) for r in readings if r.wrong and r.offset_ms is not None)
    found = []
    while groups := [_within(left, low) for low, _ in left]:
        most = max(groups, key=lambda group: len({shot for _, shot in group}))
        shots = sorted({shot for _, shot in most})
        if len(shots) < COMMON:
            break
        found.append(Common(shots=tuple(shots), offset_ms=most[len(most) // 2][0]))
        left = [one for one in left if one not in most]
    return tuple(found)


def _within(sorted_offsets: Sequence[tuple[float, int]], low: float) -> list[tuple[float, int]]:
    return [(at, shot) for at, shot in sorted_offsets if low <= at <= low + STEP_MS]


def decide(
    readings: Sequence[Reading], common: Sequence[Common], *, control: str = "", mend_common: bool = False
) -> Mapping[int, Decision]:
    """What follows for each shot; the same whatever the order of the readings.

    Parameters
    ----------
    readings : of the takes that are to be decided on, one a shot
    common : as from `common_offsets`, over all takes so far
    control : why the control failed, which voids what was read; empty where it did not
    mend_common : whether offsets that many shots share are mended like others
    """
    return {reading.shot: _decide(reading, common, control, mend_common) for reading in readings}


def _decide(reading: Reading, common: Sequence[Common], control: str, mend_common: bool) -> Decision:
    if control and reading.outcome is not Outcome.CANNOT_JUDGE:
        return Decision(outcome=Outcome.CANNOT_JUDGE, reason=f"the control failed: {control}")
    as_it_is = Decision(outcome=reading.outcome, reason=reading.reason)
    if not reading.wrong:
        return as_it_is
    shared = next((one for one in common if _shares(reading, one)), None)
    if shared and not (mend_common and reading.mended):
        many = len(shared.shots)
        reason = f"{reading.reason}, as in {many} shots alike: a fault of the pipeline or of the gate"
        return replace(as_it_is, outcome=Outcome.CANNOT_JUDGE, reason=reason)
    if reading.mended:
        by = counted(reading.slip, "frame", form="+d")
        reason = f"slipped by {by}: {reading.reason}, and now {reading.mended}"
        return Decision(outcome=Outcome.PASS, reason=reason, slip=reading.slip)
    return as_it_is


def _shares(reading: Reading, one: Common) -> bool:
    near = reading.offset_ms is not None and abs(reading.offset_ms - one.offset_ms) <= STEP_MS
    return near and reading.shot in one.shots


def slip_for(offset_ms: float, rate: float, head: int, tail: int) -> int:
    """Frames by which a picture is moved to mend an offset; 0 where that would leave the handles.

    Parameters
    ----------
    offset_ms : positive: the picture is late, so it is shown from a later frame on
    head, tail : frames rendered before and after what is seen
    """
    slip = round(offset_ms * rate / 1000)
    return slip if -head <= slip <= tail else 0
