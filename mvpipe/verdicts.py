"""A verdict on lips, as a finding beside the others and as the journal keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mvpipe.film import Finding
from mvpipe.gate.decide import Decision
from mvpipe.screening import Candidate


def lips_record(candidate: Candidate, decision: Decision, pooled: Mapping[str, Any] | None) -> dict[str, Any]:
    """The verdict on lips as the journal keeps it: every figure but the curves, which the vault has."""
    found = candidate.lips.facts
    numbers = {name: value for name, value in found["numbers"].items() if name != "tracks"}
    tracks, track = found["numbers"]["tracks"], found["numbers"]["track"]
    best = tracks[track][0] if tracks and track is not None else {}
    kept = ("offset_ms", "offset_frames_25", "confidence", "control", "method")
    record = {"verdict": decision.outcome.value, "reason": decision.reason} | {k: found[k] for k in kept}
    record |= {"p": best.get("p"), "floor": best.get("floor"), "numbers": numbers, "alone": found["verdict"]}
    if pooled:
        record["pooled"] = dict(pooled)
    if candidate.slipped is not None and decision.slip:
        after = candidate.slipped.facts
        record["slipped"] = {"frames": decision.slip} | {k: after[k] for k in ("offset_ms", "confidence")}
    return record


def lips_finding(candidate: Candidate, decision: Decision) -> Finding:
    """What is said of a take's lips, beside what is said of its pictures."""
    found = candidate.lips.facts
    offset = found["offset_frames_25"]
    return Finding(
        check="lips",
        outcome=decision.outcome,
        value="none" if offset is None else offset,
        limit=found["numbers"]["rules"]["offset_frames"],
        reason=decision.reason,
    )


def by_score(failed: tuple[Candidate, Decision]) -> tuple[float, float, int]:
    """Smaller: better. The nearer, then the surer, then the earlier."""
    candidate, _ = failed
    found = candidate.lips.facts
    return abs(found["offset_ms"] or 0.0), -(found["confidence"] or 0.0), candidate.number
