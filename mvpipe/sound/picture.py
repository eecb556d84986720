"""The timeline as a picture: the song's waveform, where somebody sings, and every cut with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import format_time
from mvpipe.film import BoundaryKind
from mvpipe.sound.cutting import Cutting, PlannedShot
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.spectrum import HOPS
from mvpipe.sound.voice import covered
from mvpipe.tools.lettering import Image, ImageDraw, count, fitting, font, plain

Colour = tuple[int, int, int]

WIDTH, MARGIN, HEAD, FOOT = 1920, 64, 132, 36
"""Pixels: of the picture, beside the rows, above them, and below."""

ROW, RIBBON = 204, 22
"""Pixels from row to row, and of the names of sections on top of each."""

WAVE_TOP, WAVE, VOICE_TOP, VOICE = RIBBON + 28, 84, RIBBON + 118, 24
"""Pixels from the top of a row to the waveform, its height, and the same of the voice below it."""

ROW_SECONDS = ((120, 30), (900, 60))
"""(seconds of song up to which, seconds in a row, about): two minutes in a row of a longer song."""

TICKS = (1, 2, 5, 10, 15)
"""Seconds between the moments written below a row: the first that gives no more than 16."""

FINE = 2
"""Rows are drawn twice as large and scaled down, for smooth edges."""

BAR = 3
"""Pixels from one bar of the waveform to the next."""

PAPER, PANEL, PANEL_2 = (14, 17, 22), (22, 27, 35), (27, 33, 42)
INK, SOFT, FAINT = (231, 235, 240), (139, 149, 163), (58, 67, 80)
BAND, SUNG, VOICED = (74, 86, 104), (94, 205, 190), (38, 92, 92)

KINDS: dict[BoundaryKind, tuple[str, Colour]] = {
    BoundaryKind.SILENCE: ("pause", (137, 160, 255)),
    BoundaryKind.PHRASE_END: ("phrase end", (118, 214, 140)),
    BoundaryKind.BREATH: ("breath", (190, 226, 130)),
    BoundaryKind.SECTION: ("section", (255, 207, 102)),
    BoundaryKind.BAR: ("bar", (240, 168, 96)),
    BoundaryKind.BEAT: ("beat", (205, 145, 105)),
    BoundaryKind.WORD_GAP: ("word gap", (244, 140, 150)),
    BoundaryKind.VALLEY: ("dip", (240, 104, 120)),
    BoundaryKind.FORCED: ("no evidence", (255, 64, 96)),
}
"""What each kind is called in the legend, and its colour: the redder, the worse for the voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the storyboard adds to the picture.

    Parameters
    ----------
    title : of the film
    sections : (first frame, name), in order
    shots : shot number -> a few words
    """

    title: str = ""
    sections: tuple[tuple[int, str], ...] = ()
    shots: Mapping[int, str] = field(default_factory=dict)


NO_LABELS = Labels()


def draw(hearing: Hearing, cutting: Cutting, labels: Labels = NO_LABELS, *, into: Path) -> None:
    """Write the timeline to a PNG, 1920 pixels wide; of a song of common length a row holds a minute.

    Parameters
    ----------
    hearing, cutting : of the same song
    labels : what the storyboard adds
    into : the file to write
    """
    seconds = float(hearing.seconds)
    about = next((held for most, held in ROW_SECONDS if seconds <= most), 120)
    rows = max(round(seconds / about), 1)
    row = _Row(
        hearing=hearing,
        shots=cutting.shots,
        labels=labels,
        seconds=max(ceil(seconds / rows), 1),
        sung=covered(hearing.phrases, hearing.hops),
        full=max(float(np.percentile(hearing.peak, 99.5)), 1e-3),
    )
    page = Image.new("RGB", (WIDTH, HEAD + rows * ROW + FOOT), PAPER)
    _head(ImageDraw.Draw(page), hearing, cutting, labels)
    for number in range(rows):
        page.paste(row.image(number * row.seconds), (0, HEAD + number * ROW))
    page.save(into, "PNG")


def _head(pen: ImageDraw.ImageDraw, hearing: Hearing, cutting: Cutting, labels: Labels) -> None:
    """The title, the sums, and what the colours mean."""
    pen.text(
        (MARGIN, 30),
        fitting(pen, plain(labels.title) or "timeline", WIDTH - 2 * MARGIN, 34),
        INK,
        font(34),
    )
    bad = cutting.inside_voice
    facts = (
        format_time(hearing.seconds),
        count(len(cutting.shots), "shot"),
        f"{count(bad, 'cut')} inside the voice" if bad else "no cut inside the voice",
        f"sung {hearing.voice_share:.0%}",
        f"beats sure in {hearing.beat_confidence:.0%}" if len(hearing.beats) else "no beats to trust",
    )
    pen.text((MARGIN, 80), "   /   ".join(facts), SOFT, font(20))
    used = {shot.boundary.kind for shot in cutting.shots if shot.boundary}
    right = float(WIDTH - MARGIN)
    for name, colour in reversed([KINDS[kind] for kind in KINDS if kind in used]):
        right -= pen.textlength(name, font(17))
        pen.text((right, 82), name, SOFT, font(17))
        pen.rounded_rectangle((right - 18, 86, right - 8, 96), 3, colour)
        right -= 42


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Draws the rows of a page, each with its own few seconds of the song.

    Parameters
    ----------
    hearing, shots, labels : what there is to draw
    seconds : a row holds
    sung : bool (hops,)
    full : the peak that fills the height of a waveform
    """

    hearing: Hearing
    shots: tuple[PlannedShot, ...]
    labels: Labels
    seconds: int
    sung: NDArray[np.bool_]
    full: float

    def image(self, start: float) -> Image.Image:
        """The row that begins so many seconds into the song."""
        fine = Image.new("RGB", (WIDTH * FINE, ROW * FINE), PAPER)
        pen = ImageDraw.Draw(fine)
        stop = min(start + self.seconds, float(self.hearing.seconds))
        shots = [s for s in self.shots if _s(s.cut.stop, s) > start and _s(s.cut.start, s) < stop]
        for shot in shots:
            self._panel(pen, shot, start, stop)
        self._sections(pen, start, stop)
        self._wave(pen, start, stop)
        self._ruler(pen, start, stop)
        for shot in shots:
            if _s(shot.cut.start, shot) >= start:
                self._cut(pen, shot, start)
        return fine.reduce(FINE)

    def _x(self, seconds: float, start: float) -> float:
        return FINE * (MARGIN + (WIDTH - 2 * MARGIN) * (seconds - start) / self.seconds)

    def _panel(self, pen: ImageDraw.ImageDraw, shot: PlannedShot, start: float, stop: float) -> None:
        """The ground of a shot, its number and what is written about it."""
        left, right = max(_s(shot.cut.start, shot), start), min(_s(shot.cut.stop, shot), stop)
        box = (self._x(left, start), FINE * RIBBON, self._x(right, start), FINE * (VOICE_TOP + VOICE))
        pen.rectangle(box, PANEL if shot.number % 2 else PANEL_2)
        room = box[2] - box[0] - 16 * FINE
        words = self.labels.shots.get(shot.number, "")
        top = FINE * (RIBBON + 5)
        pen.text(
            (box[0] + 8 * FINE, top), fitting(pen, f"{shot.number}", room, 15 * FINE), INK, font(15 * FINE)
        )
        number = pen.textlength(f"{shot.number}  ", font(15 * FINE))
        shown = fitting(pen, words, room - number, 13 * FINE)
        pen.text((box[0] + 8 * FINE + number, top + 2 * FINE), shown, SOFT, font(13 * FINE))

    def _sections(self, pen: ImageDraw.ImageDraw, start: float, stop: float) -> None:
        """Their names above the row, each from where it begins."""
        rate = self.shots[0].cut.rate
        named = [(float(frame / rate), name) for frame, name in self.labels.sections]
        ends = [*(at for at, _ in named[1:]), float(self.hearing.seconds)]
        for (first, name), last in zip(named, ends, strict=False):
            left, right = max(first, start), min(last, stop)
            if left < right:
                a, b = self._x(left, start) + 2 * FINE, self._x(right, start) - 2 * FINE
                pen.line((a, FINE * (RIBBON - 4), b, FINE * (RIBBON - 4)), FAINT, 2 * FINE)
                pen.text((a, FINE * 2), fitting(pen, name.upper(), b - a, 12 * FINE), SOFT, font(12 * FINE))

    def _wave(self, pen: ImageDraw.ImageDraw, start: float, stop: float) -> None:
        """The waveform, bright where somebody sings, and below it how much voice there is."""
        edges = np.arange(self._x(start, start), self._x(stop, start), BAR * FINE)
        at = ((edges / FINE - MARGIN) / (WIDTH - 2 * MARGIN) * self.seconds + start) * HOPS
        first = np.minimum(at.astype(int), self.hearing.hops - 1)
        peak = np.maximum.reduceat(self.hearing.peak, first)[: len(first)]
        peak[-1] = self.hearing.peak[first[-1]]  # the last bin of reduceat runs to the song's end
        voice = self.hearing.effort[first]
        middle, half = FINE * (WAVE_TOP + WAVE / 2), FINE * WAVE / 2
        for x, high, effort, sung in zip(edges, peak, voice, self.sung[first], strict=True):
            reach = max(half * min(float(high) / self.full, 1.0) ** 0.8, FINE)
            pen.rounded_rectangle(
                (x, middle - reach, x + 2 * FINE, middle + reach), FINE, SUNG if sung else BAND
            )
            if effort > 0:
                low = FINE * (VOICE_TOP + VOICE)
                pen.rectangle(
                    (x, low - effort * VOICE * FINE, x + BAR * FINE, low), VOICED if sung else FAINT
                )

    def _ruler(self, pen: ImageDraw.ImageDraw, start: float, stop: float) -> None:
        """Seconds below the row, and a point on every bar."""
        top = FINE * (VOICE_TOP + VOICE + 4)
        step = next((s for s in TICKS if self.seconds <= 16 * s), TICKS[-1])
        for second in range(int(start), int(stop) + 1):
            x, long = self._x(second, start), second % step == 0
            pen.line((x, top, x, top + FINE * (7 if long else 3)), SOFT if long else FAINT, FINE)
            if long:
                text = format_time(second).removesuffix(".000")
                pen.text((x, top + 9 * FINE), text, SOFT, font(13 * FINE), anchor="ma")
        for hop in self.hearing.bars[(self.hearing.bars >= start * HOPS) & (self.hearing.bars < stop * HOPS)]:
            x = self._x(float(hop) / HOPS, start)
            pen.ellipse((x - 2 * FINE, top - 3 * FINE, x + 2 * FINE, top + FINE), SOFT)

    def _cut(self, pen: ImageDraw.ImageDraw, shot: PlannedShot, start: float) -> None:
        """The cut a shot begins with, in the colour of what speaks for it; pins carry a diamond."""
        if shot.boundary is None:
            return
        x, colour = self._x(_s(shot.cut.start, shot), start), KINDS[shot.boundary.kind][1]
        top, low = FINE * RIBBON, FINE * (VOICE_TOP + VOICE)
        pen.line((x, top, x, low), colour, 2 * FINE)
        r = 6 * FINE
        if shot.pinned:
            pen.polygon([(x, top - r), (x + r, top), (x, top + r), (x - r, top)], INK)
        else:
            pen.polygon([(x - r, top), (x + r, top), (x, top + r)], colour)


def _s(frame: int, shot: PlannedShot) -> float:
    return float(frame / shot.cut.rate)
