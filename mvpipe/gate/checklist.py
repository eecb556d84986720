"""The lists of a verdict's picture: what its lips were held against, and every other check of the take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mvpipe.film import Finding, Outcome
from mvpipe.gate.charts import AMBER, FAINT, GREEN, INK, RED, SOFT, limit, odds
from mvpipe.gate.opinions import Opinion
from mvpipe.gate.sync import SyncVerdict
from mvpipe.tools.lettering import ImageDraw, fitting, font
from mvpipe.wording import counted

COLOURS = {Outcome.PASS: GREEN, Outcome.FAIL: RED, Outcome.CANNOT_JUDGE: AMBER}

LINE, TITLE = 31, 40
"""Pixels of a line and of what is above the first."""


def draw_checks(pen: ImageDraw.ImageDraw, verdict: SyncVerdict, left: int, top: int) -> None:
    """What the lips were held against."""
    pen.text((left, top), "what it was held against", INK, font(19, bold=True))
    for k, (what, found, asked, good) in enumerate(checks(verdict)):
        y = top + 40 + 33 * k
        colour = FAINT if good is None else GREEN if good else RED
        pen.ellipse((left, y + 5, left + 13, y + 18), colour)
        pen.text((left + 26, y), what, SOFT if good is None else INK, font(19))
        pen.text((left + 290, y), found, INK if good is not None else SOFT, font(19), anchor="ra")
        pen.text((left + 310, y), asked, SOFT, font(19))


def findings_height(findings: Sequence[Finding]) -> int:
    """Pixels that `draw_findings` needs; 0 without any."""
    return TITLE + LINE * len(_lines(findings)) + LINE // 2 if findings else 0


def draw_findings(
    pen: ImageDraw.ImageDraw, findings: Sequence[Finding], left: int, top: int, room: int
) -> None:
    """Every other check of the take: what is wrong with its figures, and the names of the rest."""
    if not findings:
        return
    pen.text((left, top), "all checks of this take", INK, font(19, bold=True))
    for k, (outcome, what, said) in enumerate(_lines(findings)):
        y = top + TITLE + LINE * k
        pen.ellipse((left, y + 5, left + 13, y + 18), COLOURS[outcome])
        pen.text((left + 26, y), what, INK, font(19))
        at = left + 200
        pen.text((at, y), fitting(pen, said, left + room - at, 19), SOFT, font(19))


def _lines(findings: Sequence[Finding]) -> list[tuple[Outcome, str, str]]:
    """(outcome, check, what was found), the worst first; those that pass share a line."""
    worst = [one for bad in (Outcome.FAIL, Outcome.CANNOT_JUDGE) for one in findings if one.outcome is bad]
    lines = [
        (one.outcome, one.check, f"{one.reason}   (found {one.value}, limit {one.limit})") for one in worst
    ]
    good = ", ".join(one.check for one in findings if one.outcome is Outcome.PASS)
    return [*lines, (Outcome.PASS, "others pass" if lines else "all pass", good)] if good else lines


def checks(verdict: SyncVerdict) -> list[tuple[str, str, str, bool | None]]:
    """(what, found, limit, held) of each condition, None where it was not measured."""
    n, rules, best = verdict.numbers, verdict.rules, verdict.deciding
    sure = _sure(best, rules)
    rows: list[tuple[str, str, str, bool | None]] = [
        _offset(best, rules, believed=bool(sure[-1])),
        sure,
        _control(best, rules),
        _held("face is seen", n.get("coverage"), rules["coverage"], "{:.0%}"),
        _held("between the eyes", n.get("eyes_px"), rules["eyes_px"], "{:.0f} px"),
        _held("voice is heard", n.get("voiced_s"), rules["voiced_s"], "{:.1f} s"),
        _held("length", n.get("seconds"), rules["shortest_s"], "{:.1f} s"),
    ]  # fmt: skip
    return rows


def _offset(
    best: Opinion | None, rules: Mapping[str, float], *, believed: bool
) -> tuple[str, str, str, bool | None]:
    """Of a reading that may be luck, it is not said whether it is good."""
    what, allowed = "picture early or late", f"at most {rules['offset_frames']:.0f}, of 40 ms"
    if best is None:
        return what, "-", allowed, None
    frames = best.offset_frames_25
    held = abs(frames) <= rules["offset_frames"] if believed else None
    return what, counted(frames, "frame", form="+d") if frames else "0 frames", allowed, held


def _held(what: str, found: float | None, limit: float, form: str) -> tuple[str, str, str, bool | None]:
    asked = f"at least {form.format(limit)}"
    if found is None:
        return what, "-", asked, None
    return what, form.format(found), asked, bool(found >= limit)


def _sure(best: Opinion | None, rules: Mapping[str, float]) -> tuple[str, str, str, bool | None]:
    what = "as good by luck"
    if best is None:
        return what, "-", f"at most {odds(rules['pass_p'])}", None
    if best.p is None:
        floor = best.floor or 0.0
        return (
            "SyncNet's confidence", f"{best.confidence:.2f}", f"at least {floor:.2f}",
            best.confidence >= floor,
        )  # fmt: skip
    most = limit(best, rules)
    return what, odds(best.p), f"at most {odds(most)}", best.p <= most


def _control(best: Opinion | None, rules: Mapping[str, float]) -> tuple[str, str, str, bool | None]:
    slack = f"give or take {rules['control_slack']:.0f}"
    if best is None:
        return "control, moved by 10", "-", slack, None
    moved = best.control.offset_frames_25 - best.offset_frames_25
    return (
        f"control, moved by {best.control.delay_frames:+d}",
        counted(moved, "frame", form="+d"),
        slack,
        best.control.ok,
    )
