"""The lips of all shots, weighed together: what one take cannot say, the film can.

::

    lips 1.1 ─┐
    lips 2.1 ─┼──► control 1 ──► screening 1 ──► another take of the shots that failed ──► control 2 ──► ...
    lips 3.1 ─┘

A take that passes goes on to the film at once. The others wait until a take of every shot was judged: too
little evidence is pooled, the same offset in many shots is nobody's take, and the physical control comes
before anything is done about a verdict. So what is decided depends on the takes, and not on which of them
came first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mvpipe.build.graph import NO_GROWTH, Growth, Node, Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.film import Outcome, Shot, Verdict
from mvpipe.gate.decide import Common, Decision, Reading, common_offsets, decide
from mvpipe.lips import Lips, Part

NEIGHBOURS = 2
"""To either side of a shot, in the order of the film, that it is pooled with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A take whose pictures are whole, and what was found of its lips.

    Parameters
    ----------
    shot : the shot
    take, look, lips : entries of the vault
    number : of the attempt; 0 for a pick
    verdict : on everything but the lips
    slip : frames by which its picture could be moved, and `slipped` what is read then; 0 without
    """

    shot: Shot
    take: Entry
    look: Entry
    lips: Entry
    number: int
    verdict: Verdict
    slip: int = 0
    slipped: Entry | None = None

    @property
    def outcome(self) -> Outcome:
        """Of the lips, alone."""
        return Outcome(self.lips.facts["verdict"])

    @property
    def offset_ms(self) -> float | None:
        """By which its picture is late; None where it is not that which is wrong, but who sings."""
        facts = self.lips.facts
        return None if "instead" in facts["numbers"] else facts["offset_ms"]

    @property
    def mended(self) -> bool:
        """Whether it passes once its picture is moved."""
        return self.slipped is not None and self.slipped.facts["verdict"] == Outcome.PASS.value

    def reading(self, pooled: Mapping[str, Any] | None) -> Reading:
        """What is decided on: its own verdict, or where that is too thin the one it shares."""
        found = self.lips.facts
        outcome, reason, offset_ms = self.outcome, found["reason"], self.offset_ms
        if pooled and pooled["outcome"] != Outcome.CANNOT_JUDGE.value:
            outcome, offset_ms = Outcome(pooled["outcome"]), pooled["offset_ms"]
            reason = f"{pooled['reason']}, heard with shots {', '.join(map(str, pooled['with']))}"
        return Reading(
            shot=self.shot.number,
            outcome=outcome,
            reason=reason,
            offset_ms=offset_ms,
            slip=self.slip if self.mended else 0,
            mended=self.slipped.facts["reason"] if self.slipped and self.mended else "",
        )


class Judged(Protocol):
    """Whoever brought a candidate, and is told what follows."""

    def decided(self, candidate: Candidate, decision: Decision, pooled: Mapping[str, Any] | None) -> Growth:
        """Act on it; what to add to the graph."""

    def voided(self, candidate: Candidate, decision: Decision) -> None:
        """Remember that nothing is known of a take that is seen."""


@dataclass
class Screen:
    """Collects candidates, wave after wave, and decides when a wave is complete.

    Parameters
    ----------
    lips : judges
    mend_common : whether offsets that many shots share are mended like others
    expect : told of every node and what it costs
    """

    lips: Lips
    mend_common: bool
    expect: Callable[[str, int], None]
    wave: int = 1
    readings: list[Reading] = field(default_factory=list[Reading])
    latest: dict[int, Candidate] = field(default_factory=dict[int, Candidate])
    entered: dict[int, tuple[Candidate, Judged]] = field(default_factory=dict[int, tuple[Candidate, Judged]])
    apart: list[tuple[Candidate, Judged]] = field(default_factory=list[tuple[Candidate, Judged]])
    proof: Mapping[str, Any] = field(default_factory=dict[str, Any])
    controlled: Candidate | None = None

    @property
    def gate(self) -> str:
        """The node that waits for every verdict of this wave."""
        return f"control {self.wave}"

    @property
    def name(self) -> str:
        """The node that decides this wave."""
        return f"screening {self.wave}"

    @property
    def common(self) -> tuple[Common, ...]:
        """Offsets shared by many shots, over all takes so far."""
        return common_offsets(self.readings)

    def nodes(self, needs: Sequence[str] = ()) -> tuple[Node, Node]:
        """The nodes of this wave."""
        for name in (self.gate, self.name):
            self.expect(name, 1)
        control = Node(
            name=self.gate, needs=tuple(needs), bind=lambda _: self._control(), then=self._controlled
        )
        decides = Node(
            name=self.name, needs=(self.gate,), bind=lambda _: self._screening(), then=self._decide
        )
        return control, decides

    def enter(self, candidate: Candidate, judged: Judged) -> None:
        """A shot's candidate of this wave."""
        self.entered[candidate.shot.number] = candidate, judged
        self.latest[candidate.shot.number] = candidate

    def alone(self, candidate: Candidate, judged: Judged) -> Decision:
        """What follows for a take that cannot wait for the others: a shot that is chained to another."""
        self.apart.append((candidate, judged))
        reading = candidate.reading(None)
        self.readings.append(reading)
        return decide([reading], (), control=self._void)[reading.shot]

    def close(self) -> None:
        """Once all is done: a control that failed voids verdicts that did not wait for it, too."""
        if self._void:
            for candidate, judged in self.apart:
                decision = decide([candidate.reading(None)], (), control=self._void)
                judged.voided(candidate, decision[candidate.shot.number])

    @property
    def _void(self) -> str:
        return str(self.proof["reason"]) if self.proof.get("ok") is False else ""

    def _control(self) -> Work:
        """Of the take that is surest, so that only a fault of ours can make it fail."""
        sure = [one for one in self._candidates() if one.outcome is not Outcome.CANNOT_JUDGE]
        if self.controlled is None and sure:
            self.controlled = min(sure, key=_surest)
        if self.controlled is None:
            nothing = {"ok": None, "reason": "no take could be read, so there was nothing to control"}
            return Work(task=Task(name="control", version=1), make=lambda _folder, _progress: nothing)
        one = self.controlled
        return self.lips.control(one.shot, one.take, one.lips)

    def _controlled(self, entry: Entry) -> Growth:
        self.proof = entry.facts
        return NO_GROWTH

    def _candidates(self) -> list[Candidate]:
        return [candidate for _, (candidate, _) in sorted(self.entered.items())]

    def _screening(self) -> Work:
        """Pool what is too thin alone."""
        thin = [one for one in self._candidates() if one.lips.facts["thin"]]
        pools = {one.shot.number: self._neighbours(one) for one in thin}
        lips, parts = (
            self.lips,
            [(_part(one), [_part(other) for other in pools[one.shot.number]]) for one in thin],
        )

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            found = {own[0].number: lips.pool(own, others) for own, others in parts}
            return {"pooled": {str(number): pooled for number, pooled in found.items() if pooled}}

        members = {one.shot.number: one for group in pools.values() for one in group}
        members |= {one.shot.number: one for one in thin}
        inputs = {f"{number:05}": one.lips.key for number, one in sorted(members.items())}
        params = {str(number): [one.shot.number for one in group] for number, group in pools.items()}
        return Work(task=Task(name="screening", version=1, inputs=inputs, params=params), make=make)

    def _neighbours(self, own: Candidate) -> list[Candidate]:
        """Takes of the same performance beside a shot: of the same people, and not known to be wrong."""
        same = [
            one
            for number, one in sorted(self.latest.items())
            if number != own.shot.number
            and one.shot.card.cast == own.shot.card.cast
            and (one.outcome is Outcome.PASS or one.lips.facts["thin"])
        ]
        before = [one for one in same if one.shot.number < own.shot.number]
        behind = [one for one in same if one.shot.number > own.shot.number]
        return [*before[-NEIGHBOURS:], *behind[:NEIGHBOURS]]

    def _decide(self, entry: Entry) -> Growth:
        """Tell every shot of the wave what follows, and begin the next wave if there is one."""
        pooled = {int(number): found for number, found in entry.facts.get("pooled", {}).items()}
        readings = [one.reading(pooled.get(one.shot.number)) for one in self._candidates()]
        self.readings += readings
        decisions = decide(readings, self.common, control=self._void, mend_common=self.mend_common)
        entered, self.entered = self.entered, {}
        self.wave += 1
        grown = [
            judged.decided(candidate, decisions[number], pooled.get(number))
            for number, (candidate, judged) in sorted(entered.items())
        ]
        nodes = tuple(node for growth in grown for node in growth.nodes)
        waits = tuple(wait for growth in grown for wait in growth.waits)
        return Growth(nodes=(*self.nodes(), *nodes), waits=waits) if nodes else NO_GROWTH


def _surest(one: Candidate) -> tuple[float, float, int]:
    """Smaller: surer. By chance where it is known, then by confidence, then the earlier shot."""
    facts = one.lips.facts
    tracks, track = facts["numbers"]["tracks"], facts["numbers"]["track"]
    p = tracks[track][0]["p"] if track is not None and tracks else None
    return (p or 0.0, -(facts["confidence"] or 0.0), one.shot.number)


def _part(one: Candidate) -> Part:
    return one.shot, one.look, one.lips.facts
