"""The answers as tables: goals beside figures, the gate beside the findings' estimator, both halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mvpipe.film import Outcome
from tests.benchmarks.sync.measure import LATES_MS, Said, share
from tests.benchmarks.sync.recipes import MEANING

STILL = ("closed", "frozen", "covered", "nobody")
ALL_MEANINGS = MEANING | {"chance": "`sync` with voices of other clips", "crowd": "two or three of those"}
STRANGE = ("other", "chance")
MANY = ("two", "crowd")


Answer = tuple[str, float | None, int, str]
"""Outcome, offset in ms, by how much the picture is late, and whose voice it is."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A line of the first table.

    Parameters
    ----------
    asked : what was set as the goal
    rows : which answers count
    figure : of them, by outcome and offset, which the baseline has as well
    good : whether a figure reaches it
    form : of the figure
    """

    what: str
    asked: str
    rows: Callable[[Said], bool]
    figure: Callable[[Sequence[Answer]], float]
    good: Callable[[float], bool]
    form: str = "{:.3f}"


SHARES = f"{'n':>5} {'pass':>6} {'fail':>6} {'cannot':>7} {'baseline pass':>14}"


def _share(outcome: Outcome) -> Callable[[Sequence[Answer]], float]:
    return lambda rows: float(np.mean([said == outcome for said, *_ in rows]))


def _not_passed(rows: Sequence[Answer]) -> float:
    return float(np.mean([said != Outcome.PASS for said, *_ in rows]))


def _error(rows: Sequence[Answer]) -> float:
    return float(np.median([abs(ms - late) for _, ms, late, _ in rows if ms is not None]))


def _spread(rows: Sequence[Answer]) -> float:
    """The same, once the lean of each voice is taken off: how early a mouth is its voice's own affair."""
    errors: dict[str, list[float]] = {}
    for _, ms, late, voice in rows:
        if ms is not None:
            errors.setdefault(voice, []).append(ms - late)
    return float(np.median(np.concatenate([np.abs(np.array(e) - np.median(e)) for e in errors.values()])))


PASS, FAIL = _share(Outcome.PASS), _share(Outcome.FAIL)


def _sync(low: int, high: int = 400) -> Callable[[Said], bool]:
    return lambda r: r.name == "sync" and low <= abs(r.late_ms) <= high


def _of(*names: str) -> Callable[[Said], bool]:
    return lambda r: r.name in names


def _pair(low: int, high: int = 400) -> Callable[[Said], bool]:
    return lambda r: r.name == "pair" and low <= abs(r.late_ms) <= high


def _window(seconds: int, late_ms: int) -> Callable[[Said], bool]:
    return lambda r: (r.name, r.kind, r.late_ms) == ("real", f"{seconds} s", late_ms)


def _windows(seconds: int) -> tuple[Goal, ...]:
    """Of a real clip; what is asked is asked of 8 s."""
    now, late = _window(seconds, 0), _window(seconds, 400)
    pass_, fail, late_pass, late_fail = (">= 0.90", "0", "0", ">= 0.85") if seconds == 8 else "----"
    return (
        Goal(f"real, {seconds} s: pass", pass_, now, PASS, lambda f: f >= 0.9),
        Goal(f"real, {seconds} s: fail", fail, now, FAIL, lambda f: f == 0),
        Goal(f"real, {seconds} s, 400 ms late: pass", late_pass, late, PASS, lambda f: f == 0),
        Goal(f"real, {seconds} s, 400 ms late: fail", late_fail, late, FAIL, lambda f: f >= 0.85),
    )


GOALS = (
    Goal("median offset error, all offsets", "<= 6 ms", _sync(0), _error, lambda f: f <= 6, "{:.1f}"),
    Goal("the same, each voice's own lean off", "<= 6 ms", _sync(0), _spread, lambda f: f <= 6, "{:.1f}"),
    Goal("true zero: pass", ">= 0.97", _sync(0, 0), PASS, lambda f: f >= 0.97),
    Goal("true zero: fail", "-", _sync(0, 0), FAIL, lambda f: f == 0),
    Goal("two frames or more: not passed", ">= 0.99", _sync(80), _not_passed, lambda f: f >= 0.99),
    Goal("120 ms or more: pass", "0", _sync(120), PASS, lambda f: f == 0),
    Goal("120 ms or more: fail", "-", _sync(120), FAIL, lambda f: f >= 0.85),
    Goal("unrelated mouth: pass", "<= 0.005", _of(*STRANGE), PASS, lambda f: f <= 0.005),
    Goal("closed, frozen, covered, nobody: pass", "0", _of(*STILL), PASS, lambda f: f == 0),
    Goal("two or three unrelated faces: pass", "<= 0.005", _of(*MANY), PASS, lambda f: f <= 0.005),
    Goal("two faces, one sings: pass", "-", _pair(0, 0), PASS, lambda f: f >= 0.9),
    Goal("two faces, one 80 ms or more late: pass", "<= 0.01", _pair(80), PASS, lambda f: f <= 0.01),
    *(goal for seconds in (8, 6, 5) for goal in _windows(seconds)),
)


def _voice(one: Said) -> str:
    return one.kind.split(" / ")[0]


def _answer(one: Said) -> Answer:
    return one.outcome, one.offset_ms, one.late_ms, _voice(one)


def goals(rows: Sequence[Said]) -> Iterable[str]:
    """Goals beside figures; the baseline was measured on the odd half in the same run."""
    yield f"{'':40} {'goal':>9} {'even half (n)':>16} {'odd half (n)':>16} {'baseline, odd':>14}"
    for goal in GOALS:
        picked = [one for one in rows if goal.rows(one)]
        if not picked:
            continue
        halves = [[one for one in picked if one.number % 2 == half] for half in (0, 1)]
        figures = [goal.figure([_answer(r) for r in half]) if half else None for half in halves]
        plain = [(r.plain_outcome, r.plain_ms, r.late_ms, _voice(r)) for r in halves[1]]
        cells = [_cell(goal, figure, len(half)) for figure, half in zip(figures, halves, strict=True)]
        beside = goal.form.format(goal.figure(plain)) if plain else "-"
        asked = goal.asked != "-" and figures[1] is not None
        reached = "  <- missed" if asked and not goal.good(figures[1] or 0.0) else ""
        yield f"{goal.what:40} {goal.asked:>9} {cells[0]:>16} {cells[1]:>16} {beside:>14}{reached}"


def _cell(goal: Goal, figure: float | None, count: int) -> str:
    return "-" if figure is None else f"{goal.form.format(figure)} ({count})"


def offsets(rows: Sequence[Said]) -> Iterable[str]:
    """What is said at each offset, of both halves."""
    yield f"{'ms late':>8} {SHARES} {'median error':>13}"
    for late in LATES_MS:
        at = [one for one in rows if one.name == "sync" and one.late_ms == late]
        if at:
            shares = " ".join(f"{share(at, o):{w}.3f}" for o, w in zip(Outcome, (6, 6, 7), strict=True))
            plain = share(at, Outcome.PASS, lambda one: one.plain_outcome)
            error = _error([_answer(r) for r in at])
            yield f"{late:8} {len(at):5} {shares} {plain:14.3f} {error:13.1f}"


def kinds(rows: Sequence[Said]) -> Iterable[str]:
    """True zero by voice and by face: what passes, how large the error is, and which way it leans."""
    yield f"{'true zero, by voice and by face':40} {'n':>5} {'pass':>6} {'error, ms':>10} {'lean, ms':>9}"
    zero = [one for one in rows if one.name == "sync" and not one.late_ms]
    for part in (0, 1):
        for kind in sorted({one.kind.split(" / ")[part] for one in zero}):
            of = [one for one in zero if one.kind.split(" / ")[part] == kind]
            found = [one.offset_ms for one in of if one.offset_ms is not None]
            if found:
                yield (
                    f"{kind:40} {len(of):5} {share(of, Outcome.PASS):6.3f} "
                    f"{np.median(np.abs(found)):10.1f} {np.median(found):+9.1f}"
                )


def negatives(rows: Sequence[Said]) -> Iterable[str]:
    """Sets that must not pass, each alone."""
    yield f"{'must not pass':40} {SHARES}"
    for name in (*STRANGE, *STILL, *MANY):
        at = [one for one in rows if one.name == name]
        if at:
            shares = " ".join(f"{share(at, o):{w}.3f}" for o, w in zip(Outcome, (6, 6, 7), strict=True))
            plain = share(at, Outcome.PASS, lambda one: one.plain_outcome)
            yield f"{ALL_MEANINGS[name]:40} {len(at):5} {shares} {plain:14.3f}"
