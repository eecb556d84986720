"""Which takes a shot gets: seeds, what the user chose, and what was made before.

A shot is known by its cut, not by its number: a number may belong to another shot tomorrow. Takes are
numbered per cut in the order in which they first came to be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mvpipe.build.journal import Journal
from mvpipe.build.key import Task, digest
from mvpipe.clock import Span
from mvpipe.film import Outcome, Shot, Slate, Verdict

TAKE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A take as the journal remembers it.

    Parameters
    ----------
    number : within its cut, from 1
    key : of its slate
    family : digest of its slate without the seed: what was asked for
    seed : its seed
    outcome, reason : what the gate said
    lips : its verdict on the lips: offset, confidence, method, control, ... as JSON values; `unjudged` says
        why there is none; empty for takes of earlier versions
    slip : frames by which its picture is moved where it is seen
    findings : every check with its figures, as JSON values
    """

    number: int
    key: str
    family: str
    seed: int
    outcome: Outcome
    reason: str
    lips: Mapping[str, Any] = field(default_factory=dict[str, Any])
    slip: int = 0
    findings: tuple[Mapping[str, Any], ...] = ()

    @property
    def words(self) -> str:
        """What the gate said, for people: of a take that passed, how, or that nobody judged its lips."""
        if self.outcome is not Outcome.PASS or not self.lips:
            return self.reason
        why = self.lips.get("unjudged")
        return f"{self.reason}; lips not judged: {why}" if why else str(self.lips["reason"])


def cut_name(cut: Span) -> str:
    """How the journal knows a shot."""
    return f"{cut.start}-{cut.stop}@{cut.rate}"


def derive_seed(storyboard_seed: int, cut: Span, attempt: int) -> int:
    """The seed of a shot's attempt, in [0, 2**32); it does not depend on the shot's number."""
    return int(digest("seed", [storyboard_seed, cut.start, cut.stop, str(cut.rate), attempt])[:8], 16)


def take_task(slate: Slate) -> Task:
    """The task that makes a slate's take. The shot's number and the attempt stay out of its key."""
    return Task(
        name="take",
        version=TAKE_VERSION,
        inputs=dict(slate.inputs),
        params={
            "backend": slate.backend,
            "frames": slate.frames,
            "size": list(slate.size),
            "seed": slate.seed,
            "graph": slate.graph,
        },
    )


def family(task: Task) -> str:
    """What was asked for, whatever the seed."""
    params = {name: value for name, value in task.params.items() if name != "seed"}
    return digest("family", [task.name, task.version, dict(task.inputs), params])


def known_takes(journal: Journal, cut: Span) -> list[Known]:
    """The takes a cut has had, by number; each with what the gate said last."""
    by_key: dict[str, Known] = {}
    for event in journal.events("take", cut_name(cut)):
        by_key[event.data["key"]] = _known(event.data)
    return sorted(by_key.values(), key=lambda known: known.number)


def record_take(  # noqa: PLR0913
    journal: Journal,
    cut: Span,
    *,
    key: str,
    family: str,
    seed: int,
    verdict: Verdict,
    lips: Mapping[str, Any] | None = None,
    slip: int = 0,
) -> Known:
    """Remember a judged take with every figure; the same take keeps its number."""
    takes = known_takes(journal, cut)
    same = next((known for known in takes if known.key == key), None)
    number = same.number if same else max((known.number for known in takes), default=0) + 1
    data = {
        "number": number,
        "key": key,
        "family": family,
        "seed": seed,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "lips": dict(lips or {}),
        "slip": slip,
        "findings": [asdict(finding) for finding in verdict.findings],
    }
    known = _known(json.loads(json.dumps(data)))
    if known != same:
        journal.note("take", cut_name(cut), **data)
    return known


def record_used(journal: Journal, shot: Shot, *, key: str, family: str, reason: str = "") -> None:
    """Remember which take is seen in a shot; an empty key means a slug, for the reason."""
    data = {"cut": cut_name(shot.cut), "key": key, "family": family, "reason": reason}
    if last_used(journal, shot.number) != data:
        journal.note("used", f"shot {shot.number}", **data)


def last_used(journal: Journal, number: int) -> Mapping[str, Any] | None:
    """What was last seen in the shot of this number: {cut, key, family, reason}."""
    events = journal.events("used", f"shot {number}")
    return events[-1].data if events else None


def record_shown(journal: Journal) -> None:
    """Remember that the films show the takes that were last used."""
    journal.note("shown", "film")


def last_shown(journal: Journal) -> float:
    """When that was last so, in Unix seconds; 0 where no film was made, or by an earlier version."""
    events = journal.events("shown")
    return events[-1].at if events else 0.0


def awaited(journal: Journal, shot: Shot, shown: float) -> str:
    """Key of the take that the next render puts into the films, where they show something else; else empty.

    A pick is waited for as long as the shot asks for what it asked for when it was picked.

    Parameters
    ----------
    shown : when the films were last as the takes used, as `last_shown` has it
    """
    events = journal.events("used", f"shot {shot.number}")
    if not events or events[-1].data["cut"] != cut_name(shot.cut):
        return ""
    used, pick = events[-1].data, picked(journal, shot.cut)
    if pick and pick["family"] == used["family"] and pick["key"] != used["key"]:
        return pick["key"]
    return str(used["key"]) if 0 < shown < events[-1].at else ""


def choose_pick(journal: Journal, cut: Span, key: str, family: str) -> None:
    """The user wants this take; it holds as long as the shot asks for the same."""
    journal.choose(f"pick {cut_name(cut)}", {"key": key, "family": family})


def picked(journal: Journal, cut: Span) -> Mapping[str, str] | None:
    """The user's pick: {key, family}."""
    choice: Mapping[str, str] | None = journal.choice(f"pick {cut_name(cut)}")
    return choice


def choose_again(journal: Journal, cut: Span, seed: int | None) -> None:
    """The user wants a new take: what was made before is passed over, a pick is forgotten."""
    first = len(known_takes(journal, cut)) + 1
    journal.choose(f"again {cut_name(cut)}", {"first": first, "seed": seed})
    journal.choose(f"pick {cut_name(cut)}", None)


def attempts(journal: Journal, cut: Span, *, storyboard_seed: int, many: int) -> list[int]:
    """Seeds of the attempts a shot gets, in order."""
    again = journal.choice(f"again {cut_name(cut)}") or {"first": 1, "seed": None}
    seeds = [derive_seed(storyboard_seed, cut, again["first"] + i) for i in range(many)]
    return seeds if again["seed"] is None else [again["seed"], *seeds[1:]]


def _known(data: Mapping[str, Any]) -> Known:
    return Known(
        number=data["number"],
        key=data["key"],
        family=data["family"],
        seed=data["seed"],
        outcome=Outcome(data["outcome"]),
        reason=data["reason"],
        lips=data.get("lips", {}),
        slip=data.get("slip", 0),
        findings=tuple(data.get("findings", ())),
    )


def forget_pick(journal: Journal, cut: Span) -> None:
    """The user's pick does not hold any more."""
    journal.choose(f"pick {cut_name(cut)}", None)
