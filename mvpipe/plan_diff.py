"""What has changed from one plan to the next: cuts moved, come or gone, shots that say something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from mvpipe.clock import format_time
from mvpipe.errors import PlanError
from mvpipe.film import Card, Shot
from mvpipe.plan import Plan, load_plan, voice_from
from mvpipe.wording import counted

NEAR = 48
"""Frames within which a cut that is gone and one that is new are one cut that moved: two seconds."""


def last_plan(path: Path) -> Plan | None:
    """The plan as last made; None where there is none that this mvpipe reads."""
    try:
        return load_plan(path)
    except PlanError:
        return None


def compare(before: Plan, after: Plan) -> list[str]:
    """What has changed, a line each, in the order of the film; empty where nothing has."""
    facts = (
        ("title", before.title, after.title),
        ("song", before.song.digest[:12], after.song.digest[:12]),
        ("voice", voice_from(before.separator), voice_from(after.separator)),
        ("frames", before.frames, after.frames),
    )
    lines = [f"{name}: {old} -> {new}" for name, old, new in facts if old != new]
    return [*lines, *_cuts(before, after), *_cards(before, after)]


def _cuts(before: Plan, after: Plan) -> Iterator[str]:
    old = {shot.cut.start for shot in before.shots[1:]}
    new = {shot.cut.start for shot in after.shots[1:]}
    come = sorted(new - old)
    for frame in sorted(old - new):
        near = [other for other in come if abs(other - frame) <= NEAR]
        if near:
            moved = min((abs(other - frame), other) for other in near)[1]
            come.remove(moved)
            by = counted(moved - frame, "frame", form="+d")
            yield f"cut moved: {_time(before, frame)} -> {_time(after, moved)}, {by}"
        else:
            yield f"cut gone: {_time(before, frame)}"
    yield from (f"cut new: {_time(after, frame)}" for frame in come)


def _cards(before: Plan, after: Plan) -> Iterator[str]:
    """Shots that say something else than the one did that showed most of the same."""
    for shot in after.shots:
        shares = [_shared(shot, other) for other in before.shots]
        if not max(shares):
            continue
        held = before.shots[shares.index(max(shares))]
        was = f", was {held.number}" if held.number != shot.number else ""
        for name, old, new in _differences(held.card, shot.card):
            yield f"shot {shot.number}{was}: {name}: {old or 'nothing'} -> {new or 'nothing'}"


def _shared(one: Shot, other: Shot) -> int:
    return max(min(one.cut.stop, other.cut.stop) - max(one.cut.start, other.cut.start), 0)


def _differences(old: Card, new: Card) -> Iterator[tuple[str, str, str]]:
    for field in fields(Card):
        a, b = getattr(old, field.name), getattr(new, field.name)
        if a != b and field.compare:
            yield field.name, _shown(a), _shown(b)


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _time(plan: Plan, frame: int) -> str:
    return format_time(frame / plan.rate)
