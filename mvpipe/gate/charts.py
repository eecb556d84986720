"""The curves of a verdict's picture: how well lips fit the voice at each offset, and both over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.mouth import HOPS, mouth_curves, voice_curves
from mvpipe.gate.offset import LEAD_MS, STEP_MS
from mvpipe.gate.offset import REACH as HOPS_SEARCHED
from mvpipe.gate.opinions import Opinion
from mvpipe.gate.pairs import REACH as FRAMES_SEARCHED
from mvpipe.gate.tracks import Track
from mvpipe.tools.lettering import Image, ImageDraw, fitting, font

Floats = NDArray[np.float64]
Colour = tuple[int, int, int]

PAPER, PANEL, INK, SOFT, FAINT = (14, 17, 22), (24, 29, 37), (231, 235, 240), (139, 149, 163), (58, 67, 80)
GREEN, RED, AMBER = (118, 214, 140), (255, 92, 104), (255, 196, 92)
VOICE, MOUTH, CONTROL, ZONE = (52, 116, 116), (255, 214, 150), (120, 140, 220), (30, 58, 44)

COLUMN = 470
"""Pixels: width of the three columns below the faces."""

FINE = 2
"""Curves are drawn twice as large and scaled down, for smooth edges."""

LOW, HIGH = 3, 97
"""Percentiles of a curve over time that are its floor and its ceiling."""

STIRS = 0.08
"""Height of the lips over the distance of the eyes by which a mouth that fills its chart moves at least: four
times the deviation of the stillest mouth that sings (gate/people.py). A closed mouth is a flat line."""

GUIDE = (
    "Yellow: how well this mouth fits the voice, were the",
    "picture moved. Its top belongs into the green, and",
    "above the broken line, as far up as luck gets.",
    "",
    "Blue: the same take, moved on purpose. Its top has to",
    "move as far, or nothing here is believed.",
    "",
    "SyncNet was not asked: its weights are not here.",
)
"""What stands where SyncNet has nothing to say."""

BRIEF = (
    "In a good take yellow has its top in the green and above the broken line, and blue, moved on purpose, "
    "as far away as it was moved. Faint: SyncNet's official figure."
)
"""The same below both."""

UNMEASURED = ("Nothing was measured: what is missing", "is marked beside.")

SOFTNESS = 5
"""Hops over which curves over time are averaged: 50 ms, so that the eye sees syllables."""


@dataclass(frozen=True, slots=True)
class Box:
    """Pixels of a chart."""

    width: int
    height: int


def signals(
    track: Track | None, times: Sequence[Fraction], voice: NDArray[np.float32], sample_rate: int, box: Box,
    *, last: bool,
) -> Image.Image:  # fmt: skip
    """The voice as ground and the mouth as a line over it, at the times at which they are heard and seen.

    The natural lead of a mouth is taken off, so that in a good take the two rise together.
    """
    seconds = float(times[-1]) * len(times) / max(1, len(times) - 1) if times else 1.0
    image, pen = _canvas(box)
    floor, roof = FINE * (box.height - (24 if last else 4)), FINE * 6
    heard = _scaled(voice_curves(voice[: int(seconds * sample_rate)], sample_rate).sum(0), 1e-6)
    _area(pen, np.arange(len(heard)) / HOPS, heard, seconds, (floor, roof), box)
    if track is not None:
        moved = _scaled(mouth_curves(track, times)[0], STIRS)
        at = np.arange(len(moved)) / HOPS + LEAD_MS / 1000
        x, y = at / seconds * FINE * box.width, floor - moved * (floor - roof)
        pen.line(list(zip(x.tolist(), y.tolist(), strict=True)), MOUTH, 2 * FINE, joint="curve")
    image = image.reduce(FINE)
    if last:
        _seconds(ImageDraw.Draw(image), seconds, box, mouth=track is not None)
    return image


def tried(opinion: Opinion) -> float:
    """Among how many faces a mouth was picked: so many times is its chance larger."""
    alone = float(opinion.numbers.get("p") or 0)
    return round(opinion.p / alone) if opinion.p and alone else 1


def limit(opinion: Opinion, rules: Mapping[str, float]) -> float:
    """The chance up to which a mouth passes."""
    return rules["several_p" if tried(opinion) > 1 else "pass_p"]


def odds(p: float) -> str:
    """A chance in words: 1 in so many, or so many in ten."""
    return f"{round(10 * p)} in 10" if p >= 0.15 else f"1 in {round(1 / p)}"


def lags(opinion: Opinion, rules: Mapping[str, float], box: Box) -> Image.Image:
    """How well the mouth's movement fits the voice at each offset, and how well chance would."""
    n = opinion.numbers
    at = (np.arange(2 * HOPS_SEARCHED + 1) - HOPS_SEARCHED) * 1000 / HOPS + LEAD_MS
    lucky = n.get("chance", ())
    rank = int(limit(opinion, rules) / tried(opinion) * 10 * len(lucky)) - 1
    luck = lucky[rank] if 0 <= rank < len(lucky) else None
    curve, control = np.array(n["curve"]), np.array(n["control_curve"])
    top = max(0.6, float(curve.max()), float(control.max())) * 1.12
    chart = _Chart("how well the mouth fits the voice, if the picture were moved", box, rules, (-0.25, top))
    chart.line(at, control, CONTROL, 1)
    chart.line(at, curve, MOUTH, 2)
    if luck is not None:
        chart.level(luck, "luck reaches this", aside=min(opinion.offset_ms, n["control_ms"]))
    chart.peak(opinion.offset_ms, float(curve.max()), MOUTH)
    return chart.done(_legend(opinion.offset_ms, n["control_ms"], opinion.control.delay_frames))


def distances(opinion: Opinion, rules: Mapping[str, float], box: Box) -> Image.Image:
    """SyncNet's distances, turned over so that up is better."""
    n = opinion.numbers
    at = (FRAMES_SEARCHED - np.arange(2 * FRAMES_SEARCHED + 1)) * STEP_MS
    curves = {name: -np.array(n[name]["curve"]) for name in ("valid", "official", "control")}
    middle = float(np.median(curves["valid"]))
    low = min(float(curve.min()) for curve in (curves["valid"], curves["control"]))
    top = max(float(curve.max()) for curve in (curves["valid"], curves["control"]))
    high = max(top, middle + (opinion.floor or 0.0))
    control_ms = n["control"]["offset"] * STEP_MS
    chart = _Chart("how near SyncNet finds lips and voice", box, rules, (low, high + 0.12 * (high - low)))
    chart.line(at, curves["control"], CONTROL, 1)
    chart.line(at, curves["official"], FAINT, 1)
    chart.line(at, curves["valid"], MOUTH, 2)
    if opinion.floor is not None:
        chart.level(middle + opinion.floor, "sure from here", aside=min(opinion.offset_ms, control_ms))
    chart.peak(opinion.offset_ms, float(curves["valid"].max()), MOUTH)
    return chart.done(_legend(opinion.offset_ms, control_ms, opinion.control.delay_frames))


def _legend(found: float, control: float, delay: int) -> tuple[tuple[str, Colour], ...]:
    moved = delay * STEP_MS
    return (f"as it is: {found:+z.0f} ms", MOUTH), (
        f"control, moved by {moved:+z.0f} ms: {control:+z.0f} ms",
        CONTROL,
    )


class _Chart:
    """Something over the offset in ms, from picture early to picture late."""

    SIDE, TOP, LOW = 8, 34, 62
    """Pixels beside, above and below the plot."""

    ENDS_MS, LEFT_MS = (-640.0, 640.0), -250.0
    """What is shown, and up to where a peak would be in the way of a name on the left."""

    def __init__(self, title: str, box: Box, rules: Mapping[str, float], values: tuple[float, float]) -> None:
        self._box, self._values, self._title = box, values, title
        self._image, self._pen = _canvas(box)
        self._marks: list[tuple[float, float, str, Colour, str]] = []
        reach = (rules["offset_frames"] + 0.5) * STEP_MS
        bottom = FINE * (box.height - self.LOW)
        self._pen.rectangle((0, FINE * self.TOP, FINE * box.width, bottom), PANEL)
        self._pen.rectangle((self._x(-reach), FINE * self.TOP, self._x(reach), bottom), ZONE)

    def _x(self, ms: float) -> float:
        low, high = self.ENDS_MS
        room = self._box.width - 2 * self.SIDE
        return FINE * (self.SIDE + room * (ms - low) / (high - low))

    def _y(self, value: float) -> float:
        low, high = self._values
        room = self._box.height - self.TOP - self.LOW
        return FINE * (self.TOP + room * (1 - (min(max(value, low), high) - low) / (high - low)))

    def line(
        self, at: NDArray[np.floating[Any]], values: NDArray[np.floating[Any]], colour: Colour, wide: int
    ) -> None:
        """A curve."""
        points = [(self._x(float(ms)), self._y(float(value))) for ms, value in zip(at, values, strict=True)]
        self._pen.line(points, colour, wide * FINE, joint="curve")

    def level(self, value: float, name: str, *, aside: float) -> None:
        """A broken line that the peak must be above; its name stands on the left unless a peak does (ms)."""
        y = self._y(value)
        for x in range(0, FINE * self._box.width, 12 * FINE):
            self._pen.line((x, y, x + 6 * FINE, y), SOFT, FINE)
        x, anchor = (self.SIDE, "ls") if aside > self.LEFT_MS else (self._box.width - self.SIDE, "rs")
        self._marks.append((x, y / FINE - 4, name, SOFT, anchor))

    def peak(self, ms: float, value: float, colour: Colour) -> None:
        """Where the curve is highest, down to the scale."""
        x, y = self._x(ms), self._y(value)
        self._pen.line((x, y, x, FINE * (self._box.height - self.LOW)), colour, FINE)
        self._pen.ellipse((x - 5 * FINE, y - 5 * FINE, x + 5 * FINE, y + 5 * FINE), colour)

    def done(self, legend: Sequence[tuple[str, Colour]]) -> Image.Image:
        """The chart with its words."""
        image = self._image.reduce(FINE)
        pen = ImageDraw.Draw(image)
        pen.text((0, 0), fitting(pen, self._title, self._box.width, 19), INK, font(19, bold=False))
        for x, y, text, colour, anchor in self._marks:
            pen.text((x, y), text, colour, font(15), anchor=anchor)
        low = self._box.height - self.LOW + 5
        for ms in (-400, -200, 0, 200, 400):
            pen.text((self._x(ms) / FINE, low), f"{ms:+d}" if ms else "0 ms", SOFT, font(15), anchor="ma")
        pen.text((0, low), "early", SOFT, font(15))
        pen.text((self._box.width, low), "late", SOFT, font(15), anchor="ra")
        x = 0.0
        for text, colour in legend:
            pen.rounded_rectangle((x, low + 32, x + 16, low + 37), 2, colour)
            pen.text((x + 24, low + 24), text, SOFT, font(17))
            x += 24 + pen.textlength(text, font(17)) + 26
        return image


def told(title: str, lines: Sequence[str], box: Box) -> Image.Image:
    """A panel of words."""
    image = Image.new("RGB", (box.width, box.height), PAPER)
    pen = ImageDraw.Draw(image)
    pen.text((0, 0), title, INK, font(19))
    pen.rectangle((0, _Chart.TOP, box.width, box.height - _Chart.LOW), PANEL)
    for k, line in enumerate(lines):
        text = fitting(pen, line, box.width - 2 * _Chart.SIDE, 18)
        pen.text((_Chart.SIDE + 6, _Chart.TOP + 12 + 25 * k), text, SOFT, font(18))
    return image


def _canvas(box: Box) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (box.width * FINE, box.height * FINE), PAPER)
    return image, ImageDraw.Draw(image)


def _scaled(curve: Floats, least: float) -> Floats:
    """Averaged over a few hops, and from 0 to 1 between its ends, or over `least` where they are nearer."""
    bell = np.hanning(SOFTNESS + 2)[1:-1]
    soft = np.convolve(np.pad(curve, SOFTNESS // 2, mode="edge"), bell / bell.sum(), "valid")
    low, high = np.percentile(soft, [LOW, HIGH])
    return np.asarray(np.clip((soft - low) / max(high - low, least), -0.03, 1.03))


def _area(
    pen: ImageDraw.ImageDraw, at: Floats, values: Floats, seconds: float, ends: tuple[int, int], box: Box
) -> None:
    floor, roof = ends
    pen.rectangle((0, 0, FINE * box.width, floor), PANEL)
    x = at / seconds * FINE * box.width
    y = floor - np.clip(values, 0, 1) * (floor - roof)
    pen.polygon([(0, floor), *zip(x.tolist(), y.tolist(), strict=True), (float(x[-1]), floor)], VOICE)


def _seconds(pen: ImageDraw.ImageDraw, seconds: float, box: Box, *, mouth: bool) -> None:
    """A scale, and what is what."""
    top = box.height - 22
    for second in range(1, int(seconds) + 1):
        x = second / seconds * box.width
        if x < box.width - 260:
            pen.text((x, top), f"{second} s", SOFT, font(15), anchor="ma")
    x = box.width - 232.0
    for name, colour in (("voice", VOICE), ("mouth, how open", MOUTH))[: 2 if mouth else 1]:
        pen.rounded_rectangle((x, top + 6, x + 16, top + 13), 2, colour)
        pen.text((x + 24, top), name, SOFT, font(15))
        x += 24 + pen.textlength(name, font(15)) + 22
