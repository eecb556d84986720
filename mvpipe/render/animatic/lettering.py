"""Lines of text: broken to a width, each run in a font that has its letters, in the order they are read."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from mvpipe.render.animatic import pillow
from mvpipe.render.animatic.fonts import REGULAR, font_for, tidy
from mvpipe.render.animatic.pixels import Pixels

ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring characters of one font and one direction; without a font they are drawn as boxes."""

    text: str
    font: Path | None
    leftwards: bool


def runs(text: str, style: Path) -> list[Run]:
    """The runs of a line from left to right, as the eye meets them (UAX #9, two levels)."""
    found, levels = [], []
    for (font, level), group in groupby(_marked(text, style), key=lambda mark: mark[1:]):
        found.append(Run("".join(char for char, *_ in group), font, level % 2 == 1))
        levels.append(level)
    for floor in (2, 1):
        found, levels = _reversed_from(found, levels, floor)
    return found


def _marked(text: str, style: Path) -> list[tuple[str, Path | None, int]]:
    """Each character with its font and its level: even goes right, odd goes left."""
    ways = [_way(char) for char in text]
    base = next((way for way in ways if way), 1)
    marked, last = [], style
    for i, char in enumerate(text):
        before = next((way for way in reversed(ways[:i]) if way), base)
        after = next((way for way in ways[i:] if way), base)
        way = ways[i] or (before if before == after else base)
        level = {(1, 1): 0, (1, -1): 1, (-1, -1): 1, (-1, 1): 2}[base, way]
        font = last if char == " " and last else font_for(char, style)
        marked.append((char, font, level))
        last = font or style
    return marked


def _way(char: str) -> int:
    kind = unicodedata.bidirectional(char)
    return -1 if kind in ("R", "AL") else 1 if kind in ("L", "EN", "AN") else 0


def _reversed_from(found: list[Run], levels: list[int], floor: int) -> tuple[list[Run], list[int]]:
    order: list[int] = []
    for high, group in groupby(range(len(found)), key=lambda i: levels[i] >= floor):
        part = list(group)
        order += reversed(part) if high else part
    return [found[i] for i in order], [levels[i] for i in order]


def width_of(text: str, style: Path, size: int, *, tracking: float = 0.0) -> float:
    """The width of a line in pixels."""
    wide = sum(_advance(run, size) for run in runs(text, style))
    return wide + tracking * max(0, len(text) - 1)


def _advance(run: Run, size: int) -> float:
    if run.font is None:
        return len(run.text) * size * 0.62
    return pillow.length(run.text, run.font, size, leftwards=run.leftwards)


def broken(text: str, style: Path, size: int, width: float, lines: int) -> list[str]:
    """The text in at most so many lines of a width; what is left over ends in an ellipsis."""
    out: list[str] = []
    line = ""
    for word in _pieces(tidy(text), style, size, width):
        if line and width_of((line + word).rstrip(), style, size) > width:
            if len(out) == lines - 1:
                return [*out, _shortened(line + word, style, size, width)]
            out.append(line.rstrip())
            line = word.lstrip()
        else:
            line += word
    return [*out, line.rstrip()] if line.strip() else out


def _pieces(text: str, style: Path, size: int, width: float) -> list[str]:
    """What a line may not break inside: words with the space behind them, and single wide characters."""
    pieces: list[str] = []
    for word in text.split(" "):
        start = len(pieces)
        for wide, group in groupby(word, key=_wide):
            part = "".join(group)
            pieces += list(part) if wide or width_of(part, style, size) > width else [part]
        if len(pieces) > start:
            pieces[-1] += " "
    return pieces


def _wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _shortened(line: str, style: Path, size: int, width: float) -> str:
    while line and width_of(line.rstrip() + ELLIPSIS, style, size) > width:
        line = line[:-1]
    if " " in line.strip():
        line = line[: line.rstrip().rindex(" ")] if not line.endswith(" ") else line
    return line.rstrip(" ,;:.") + ELLIPSIS


def write(
    mask: Pixels,
    text: str,
    at: tuple[float, float],
    *,
    style: Path = REGULAR,
    size: int,
    tracking: float = 0.0,
) -> float:
    """Add a line to a mask, its pen starting at (x, baseline); where the pen ends.

    Parameters
    ----------
    mask : uint8, shape (h, w), 255 where there is ink; changed in place
    tracking : pixels between letters, for words in capitals
    """
    x = at[0]
    for run in runs(text, style):
        if run.font is None:
            x = _boxes(mask, len(run.text), (x, at[1]), size)
        elif tracking and not run.leftwards:
            for char in run.text:
                _press(mask, pillow.stamp(char, run.font, size), (x, at[1]))
                x += pillow.length(char, run.font, size) + tracking
        else:
            _press(mask, pillow.stamp(run.text, run.font, size, leftwards=run.leftwards), (x, at[1]))
            x += _advance(run, size)
    return x


def _press(mask: Pixels, stamp: pillow.Stamp, at: tuple[float, float]) -> None:
    left, top = round(at[0]) + stamp.left, round(at[1]) + stamp.top
    height, width = stamp.mask.shape
    x0, y0, x1, y1 = (
        max(0, left),
        max(0, top),
        min(mask.shape[1], left + width),
        min(mask.shape[0], top + height),
    )
    if x0 < x1 and y0 < y1:
        part = stamp.mask[y0 - top : y1 - top, x0 - left : x1 - left]
        np.maximum(mask[y0:y1, x0:x1], part, out=mask[y0:y1, x0:x1])


def _boxes(mask: Pixels, count: int, at: tuple[float, float], size: int) -> float:
    """A box for each character that no font has."""
    wide, tall, pen = round(size * 0.46), round(size * 0.62), max(1, size // 16)
    for i in range(count):
        box = np.full((tall, wide), 150, np.uint8)
        box[pen:-pen, pen:-pen] = 0
        _press(mask, pillow.Stamp(box, round(size * 0.08), -tall), (at[0] + i * size * 0.62, at[1]))
    return at[0] + count * size * 0.62
