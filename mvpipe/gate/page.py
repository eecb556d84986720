"""A verdict as one picture: what is said, the mouths as they were sung, and what was measured.

It is drawn from the measured values; only the strips of mouths are cut from the take's pixels (`strips`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mvpipe.errors import MediaError
from mvpipe.film import Finding, Outcome
from mvpipe.gate.charts import (
    BRIEF,
    COLUMN,
    GUIDE,
    INK,
    PANEL,
    PAPER,
    SOFT,
    UNMEASURED,
    Box,
    Colour,
    distances,
    lags,
    limit,
    odds,
    signals,
    told,
)
from mvpipe.gate.checklist import COLOURS, draw_checks, draw_findings, findings_height
from mvpipe.gate.look import Seen
from mvpipe.gate.opinions import Opinion
from mvpipe.gate.strips import Strip, strips
from mvpipe.gate.sync import STILL, Samples, SyncVerdict
from mvpipe.tools.lettering import Image, ImageDraw, fitting, font

WIDTH, MARGIN, HEAD = 1600, 56, 150
"""Pixels: of the picture, beside everything, and of the head."""

LABEL, STRIP, SIGNAL, GAP = 34, 62, 96, 18
"""Pixels of a face's row: its name, the mouths, the curves, and the space below it."""

PLOT, CHARTS, FOOT = Box(COLUMN, 312), 350, 30

WORDS = {Outcome.PASS: "PASS", Outcome.FAIL: "FAIL", Outcome.CANNOT_JUDGE: "CANNOT JUDGE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One face, as the picture shows it.

    Parameters
    ----------
    track : of `Seen.tracks`; None where no face was judged
    name, said : which it is, and what is said of it
    colour : of what is said
    """

    track: int | None
    name: str
    said: str
    colour: Colour


def judged_faces(seen: Seen, verdict: SyncVerdict) -> tuple[int, ...]:
    """Which of the tracks the verdict's opinions are about; without opinions, the one seen longest."""
    fit = [k for k, track in enumerate(seen.tracks) if track.coverage >= verdict.rules["coverage"]]
    return tuple(fit[: len(verdict.opinions)] if verdict.opinions else range(len(seen.tracks))[:1])


def show(  # noqa: PLR0913
    clip: Path,
    verdict: SyncVerdict,
    seen: Seen,
    voice: Samples,
    sample_rate: int,
    *,
    title: str,
    into: Path,
    findings: Sequence[Finding] = (),
) -> None:
    """Cut the mouths out of a take and draw its verdict; see `draw`.

    Raises
    ------
    MediaError : the take cannot be opened, or the picture not be written
    """
    mouths = strips(clip, seen, judged_faces(seen, verdict))
    draw(verdict, seen, voice, sample_rate, mouths, title=title, into=into, findings=findings)


def draw(  # noqa: PLR0913
    verdict: SyncVerdict,
    seen: Seen,
    voice: Samples,
    sample_rate: int,
    mouths: Sequence[Strip],
    *,
    title: str,
    into: Path,
    findings: Sequence[Finding] = (),
) -> None:
    """Write the picture, a PNG 1600 pixels wide.

    Parameters
    ----------
    seen, voice, sample_rate : what was judged
    mouths : strips of `judged_faces`
    title : which take this is
    into : the file to write
    findings : of every check of the take; with them, lips that were not measured get no empty charts

    Raises
    ------
    MediaError : the picture cannot be written
    """
    rows = _rows(verdict, seen)
    each = LABEL + STRIP + SIGNAL + GAP
    charts = CHARTS if verdict.opinions or not findings else 0
    listed = HEAD + len(rows) * each + charts
    page = Image.new("RGB", (WIDTH, listed + findings_height(findings) + FOOT), PAPER)
    pen = ImageDraw.Draw(page)
    _head(pen, verdict, title)
    wide = WIDTH - 2 * MARGIN
    for k, (row, strip) in enumerate(zip(rows, _in_order(rows, mouths, seen, verdict), strict=True)):
        top = HEAD + k * each
        _label(pen, row, top)
        _strip(page, strip, top + LABEL)
        track = None if row.track is None else seen.tracks[row.track]
        chart = signals(track, seen.times, voice, sample_rate, Box(wide, SIGNAL), last=k == len(rows) - 1)
        page.paste(chart, (MARGIN, top + LABEL + STRIP))
    if charts:
        _measured(page, verdict, HEAD + len(rows) * each)
    draw_findings(pen, findings, MARGIN, listed, wide)
    try:
        page.save(into, "PNG")
    except OSError as exc:
        raise MediaError(f"{into}: cannot be written: {exc.strerror or exc}") from exc


def headline(verdict: SyncVerdict) -> str:
    """The verdict in the words of who looks at films."""
    best = verdict.deciding
    if verdict.outcome is Outcome.PASS:
        return "Lips and voice are together." if best else "Every check passed."
    if instead := verdict.numbers.get("instead"):
        who = f"{instead} sings instead"
        return (
            f"The wrong mouth moves: {who}." if verdict.outcome is Outcome.FAIL else f"It seems that {who}."
        )
    if verdict.outcome is Outcome.FAIL and best is not None and best.outcome is Outcome.FAIL:
        way = "late: lips follow the voice" if best.offset_ms > 0 else "early: lips run ahead of the voice"
        return f"The picture is {abs(best.offset_ms):.0f} ms {way}."
    words = _doubt(verdict, best) if best is not None else ""
    return words or verdict.reason[:1].upper() + verdict.reason[1:] + "."


def _doubt(verdict: SyncVerdict, best: Opinion) -> str:
    """Why a face cannot be judged; empty where something else is the reason."""
    if verdict.reason.startswith(STILL):
        return "The mouth hardly moves while somebody is heard."
    if not verdict.reason.startswith(best.reason):
        return ""
    if not best.control.ok:
        who = "SyncNet" if best.method == "syncnet" else "The mouth"
        return f"{who} gives no steady reading: the mouth may be hidden."
    doubtful = best.p is not None and best.p > limit(best, verdict.rules)
    return "The mouth does not follow this voice." if doubtful else ""


def _head(pen: ImageDraw.ImageDraw, verdict: SyncVerdict, title: str) -> None:
    colour, word = COLOURS[verdict.outcome], WORDS[verdict.outcome]
    face = font(44, bold=True)
    wide = pen.textlength(word, face) + 56
    pen.rounded_rectangle((MARGIN, 36, MARGIN + wide, 108), 10, colour)
    pen.text((MARGIN + wide / 2, 72), word, PAPER, face, anchor="mm")
    left, room = MARGIN + wide + 30, WIDTH - 2 * MARGIN - wide - 30
    pen.text((left, 36), fitting(pen, headline(verdict), room, 34), INK, font(34))
    by = {"syncnet": "by SyncNet, the mouth beside it", "mouth": "by the mouth's movement"}
    method = by.get(verdict.method, "lips not measured")
    facts = f"{title}   /   {verdict.numbers['seconds']:.1f} s   /   {method}"
    pen.text((left, 82), fitting(pen, facts, room, 21), SOFT, font(21))


def _rows(verdict: SyncVerdict, seen: Seen) -> list[Row]:
    """The faces from the left, the judged one in colour."""
    faces = judged_faces(seen, verdict)
    if not faces:
        return [Row(track=None, name="the take", said="in whole pictures", colour=COLOURS[verdict.outcome])]
    if not verdict.opinions:
        return [Row(track=faces[0], name="the face", said="not judged", colour=COLOURS[verdict.outcome])]
    known = verdict.numbers.get("names") or [""] * len(faces)
    across = sorted(faces, key=lambda k: float(seen.tracks[k].points[..., 0].mean()))
    rows = []
    for place, face in enumerate(across):
        k = faces.index(face)
        name = ", ".join(filter(None, (_name(place, len(across)), known[k])))
        if k == verdict.track:
            colour = COLOURS[verdict.outcome]
            name += ", which is judged" if len(across) > 1 else ""
        else:
            colour = SOFT
        rows.append(
            Row(track=face, name=name, said=_said(verdict.opinions[k][0], verdict.rules), colour=colour)
        )
    return rows


def _in_order(rows: Sequence[Row], mouths: Sequence[Strip], seen: Seen, verdict: SyncVerdict) -> list[Strip]:
    """The strips as their faces stand in the rows: from the left."""
    of = dict(zip(judged_faces(seen, verdict), mouths, strict=False))
    return [mouths[0] if row.track is None else of[row.track] for row in rows]


def _name(place: int, faces: int) -> str:
    if faces == 1:
        return "the face"
    return ("left face", "right face")[place] if faces == 2 else f"face {place + 1} from the left"


def _said(opinion: Opinion, rules: Mapping[str, float]) -> str:
    """What a face does, in a line."""
    sure = f"SyncNet's confidence {opinion.confidence:.1f}"
    if opinion.p is not None:
        sure = f"as good by luck {odds(opinion.p)}"
        if opinion.p > limit(opinion, rules):
            return f"does not follow this voice   ({sure})"
    late = "late" if opinion.offset_ms > 0 else "early"
    what = {Outcome.PASS: "sings this", Outcome.FAIL: f"sings this, but {late}"}.get(
        opinion.outcome, opinion.reason
    )
    return f"{what}   ({opinion.offset_ms:+z.0f} ms, {sure})"


def _label(pen: ImageDraw.ImageDraw, row: Row, top: int) -> None:
    pen.rounded_rectangle((MARGIN, top + 5, MARGIN + 8, top + LABEL - 7), 3, row.colour)
    pen.text((MARGIN + 18, top + 2), row.name, INK, font(19, bold=True))
    left = MARGIN + 18 + pen.textlength(row.name, font(19, bold=True)) + 16
    pen.text((left, top + 2), fitting(pen, row.said, WIDTH - MARGIN - left, 19), SOFT, font(19))


def _strip(page: Image.Image, strip: Strip, top: int) -> None:
    """The pictures at their times: the middle of each lies over its moment in the curves below."""
    each = (WIDTH - 2 * MARGIN) / len(strip.pictures)
    for k, picture in enumerate(strip.pictures):
        left, right = round(MARGIN + k * each), round(MARGIN + (k + 1) * each)
        size = (right - left - 2, STRIP)
        if picture is None:
            ImageDraw.Draw(page).rectangle((left, top, left + size[0], top + STRIP - 1), PANEL)
        else:
            page.paste(_filling(Image.fromarray(picture), size), (left, top))


def _filling(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """As much of a picture's middle as fills a size."""
    scale = max(size[0] / picture.width, size[1] / picture.height)
    big = picture.resize(
        (max(size[0], round(picture.width * scale)), max(size[1], round(picture.height * scale)))
    )
    left, top = (big.width - size[0]) // 2, (big.height - size[1]) // 2
    return big.crop((left, top, left + size[0], top + size[1]))


def _measured(page: Image.Image, verdict: SyncVerdict, top: int) -> None:
    """The curves of both ways to measure, and what was held against which rule."""
    step = (WIDTH - 2 * MARGIN - 3 * COLUMN) // 2 + COLUMN
    panels, pen = list[Image.Image](), ImageDraw.Draw(page)
    opinions = {} if verdict.track is None else {one.method: one for one in verdict.opinions[verdict.track]}
    if "mouth" in opinions:
        panels.append(lags(opinions["mouth"], verdict.rules, PLOT))
        panels.append(
            distances(opinions["syncnet"], verdict.rules, PLOT)
            if "syncnet" in opinions
            else told("how to read this", GUIDE, PLOT)
        )
    else:
        panels.append(told("the mouth's movement", UNMEASURED, PLOT))
    for k, panel in enumerate(panels):
        page.paste(panel, (MARGIN + k * step, top))
    if "syncnet" in opinions:
        pen.text((MARGIN, top + PLOT.height + 4), BRIEF, SOFT, font(17))
    draw_checks(pen, verdict, MARGIN + len(panels) * step, top)
