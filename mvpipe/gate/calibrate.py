"""Floors learnt from takes that a person has called good or bad, and the error they would make. Pure.

What is learnt is how sure a measurement has to be: the chance at which the mouth still passes, or SyncNet's
confidence. How far apart lips and voice may be is never learnt: that is what viewers see. The error is that
of leaving each take out in turn, learning from the others, and judging it (Stone, "Cross-validatory choice
and assessment of statistical predictions", 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from mvpipe.errors import SettingsError
from mvpipe.gate.rules import RULES
from mvpipe.gate.sync import SyncVerdict
from mvpipe.wording import counted

FEWEST = 3
"""Takes of either kind, below which nothing can be left out and learnt from the rest."""

ENOUGH = 20
"""Takes of either kind from which the error is known to better than one in six: with none wrong of 20, the
true share lies below 17 % (95 %)."""

SURE = 0.05
"""What is left to chance in the ranges of shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A take as a person called it, and what was measured on it.

    Parameters
    ----------
    name : for the table
    good : whether lips and voice are together in it
    rule : the floor it was held against: `pass_p` or `syncnet_floor`
    value : what was held against it; None where nothing could be measured
    offset_ms : positive: the picture is late; None where nothing could be measured
    placed : the offset is within the tolerance, and the control is in order
    reason : of the verdict by the rules as they are
    """

    name: str
    good: bool
    rule: str
    value: float | None
    offset_ms: float | None
    placed: bool
    reason: str

    @classmethod
    def of(cls, name: str, good: bool, verdict: SyncVerdict) -> Labelled:
        """From a take's verdict."""
        best = verdict.deciding
        if best is None:
            rule = "pass_p" if verdict.method != "syncnet" else "syncnet_floor"
            return cls(
                name=name,
                good=good,
                rule=rule,
                value=None,
                offset_ms=None,
                placed=False,
                reason=verdict.reason,
            )
        return cls(
            name=name,
            good=good,
            rule="syncnet_floor" if best.method == "syncnet" else "pass_p",
            value=best.confidence if best.p is None else best.p,
            offset_ms=best.offset_ms,
            placed=best.control.ok and abs(best.offset_frames_25) <= verdict.rules["offset_frames"],
            reason=verdict.reason,
        )

    def passes(self, floor: float) -> bool:
        """Whether it would pass with this floor."""
        if self.value is None or not self.placed:
            return False
        return self.value <= floor if self.rule == "pass_p" else self.value >= floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """So many of so many, and where the true share lies (95 %, Clopper and Pearson, 1934)."""

    count: int
    total: int

    @property
    def between(self) -> tuple[float, float]:
        """The least and the largest share of which this count is not too unlikely."""
        k, n = self.count, self.total
        low = 0.0 if k == 0 else _solve(lambda p: _at_least(k, n, p) - SURE / 2)
        high = 1.0 if k == n else _solve(lambda p: SURE / 2 - _at_least(n - k, n, 1 - p))
        return low, high

    def __str__(self) -> str:
        low, high = self.between
        return f"{self.count} of {self.total} (true share {low:.0%} to {high:.0%})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was learnt, and how well it would do.

    Parameters
    ----------
    rule, floor : the figure, for `gate: rules:`
    now : what it is, by the rules as they are
    why : in words
    missed : good takes that a floor learnt without them does not pass
    let_through : bad takes that a floor learnt without them passes
    missed_now, let_through_now : the same by the rules as they are
    lean_ms : middle offset of the good takes
    few : what there is too little of; empty if there is enough
    """

    rule: str
    floor: float
    now: float
    why: str
    missed: Share
    let_through: Share
    missed_now: Share
    let_through_now: Share
    lean_ms: float | None
    few: str


def calibrate(takes: Sequence[Labelled], values: Mapping[str, float]) -> Calibration:
    """Learn the floor of a set of labelled takes.

    Parameters
    ----------
    takes : all measured in the same way
    values : of all rules as they are

    Raises
    ------
    SettingsError : too few takes of a kind, or measured in different ways
    """
    good, bad = ([one for one in takes if one.good is kind] for kind in (True, False))
    for kind, held in (("good", good), ("bad", bad)):
        if len(held) < FEWEST:
            raise SettingsError(
                f"--{kind}: {counted(len(held), 'take')}: at least {FEWEST} are needed, {ENOUGH} are better",
                hint="label more takes; of one person and one song is enough, but not of one shot",
            )
    measured = {one.rule for one in takes if one.value is not None}
    if len(measured) != 1:
        what = "different measurements" if measured else "nothing that could be measured"
        raise SettingsError(f"takes: {what}: {'; '.join(sorted({one.reason for one in takes}))[:200]}")
    rule = measured.pop()
    now = values[rule]
    floor, why = learn(takes, rule, now)
    left = [(one, learn([other for other in takes if other is not one], rule, now)[0]) for one in takes]
    offsets = [one.offset_ms for one in good if one.placed and one.offset_ms is not None]
    return Calibration(
        rule=rule,
        floor=floor,
        now=now,
        why=why,
        missed=Share(count=sum(not one.passes(at) for one, at in left if one.good), total=len(good)),
        let_through=Share(count=sum(one.passes(at) for one, at in left if not one.good), total=len(bad)),
        missed_now=Share(count=sum(not one.passes(now) for one in good), total=len(good)),
        let_through_now=Share(count=sum(one.passes(now) for one in bad), total=len(bad)),
        lean_ms=float(np.median(offsets)) if offsets else None,
        few=_few(good, bad),
    )


def learn(takes: Sequence[Labelled], rule: str, now: float) -> tuple[float, str]:
    """The floor that lets the fewest bad takes through, and of those the one that misses fewest good ones.

    It lies between the last good take it passes and the next bad one, in the middle of their logarithms. It
    is looser than the one there is only where `ENOUGH` bad takes in the right place speak for that.
    """
    strict = -1 if rule == "pass_p" else 1  # which way a floor gets stricter
    placed = [one for one in takes if one.placed and one.value is not None]
    good = sorted(strict * _value(one) for one in placed if one.good)
    bad = sorted(strict * _value(one) for one in placed if not one.good)
    limit = RULES[rule]
    if not bad:
        return now, "no bad take has its lips in the right place, so nothing speaks for another floor"
    best = max(bad)
    over = [value for value in good if value > best]
    if not over:
        strictest = limit.low if rule == "pass_p" else limit.high
        return strictest, "no good take is surer than the surest bad one: the strictest there is"
    floor = float(np.sqrt(abs(best * min(over))))
    looser = strict * floor < strict * now
    if looser and len(bad) < ENOUGH:
        return (
            now,
            f"a looser floor would need {ENOUGH} bad takes with lips in the right place: {len(bad)}",
        )
    floor = round(min(max(floor, limit.low), limit.high), 4)
    between = f"{counted(len(bad), 'bad take')} and {counted(len(over), 'good one')}"
    return floor, f"between the surest of {between}"


def _value(one: Labelled) -> float:
    assert one.value is not None
    return one.value


def _few(good: Sequence[Labelled], bad: Sequence[Labelled]) -> str:
    short = [
        counted(len(held), f"{kind} take")
        for kind, held in (("good", good), ("bad", bad))
        if len(held) < ENOUGH
    ]
    return f"{' and '.join(short)} are few: {ENOUGH} of each narrow the error to a sixth" if short else ""


def _at_least(k: int, n: int, p: float) -> float:
    """Chance of `k` or more of `n`."""
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def _solve(rising: Callable[[float], float]) -> float:
    """Where a rising function of a share crosses zero."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
