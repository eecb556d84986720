"""What is lettered over the picture: the lower third, the labels at the top, the timecode and the line.

Sizes are in hundredths of the picture's shorter measure, so that a card reads alike at every size; letters
that would be under seven pixels are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mvpipe.render.animatic import lettering, pixels
from mvpipe.render.animatic.canvas import Colour, mix
from mvpipe.render.animatic.fonts import BOLD, ITALIC, REGULAR, tidy
from mvpipe.render.animatic.palette import Palette
from mvpipe.render.animatic.panel import Panel

SMALLEST_LETTERS = 7

PAPER: Colour = (247, 243, 236)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is lettered on a card."""

    number: int
    title: str
    look: str
    section: str
    prompt: str
    lyric: str
    slug: str


def unit(size: tuple[int, int]) -> float:
    """Pixels of one hundredth."""
    return min(size[1], size[0] * 0.9) / 100


def letter(panel: Panel, words: Words, palette: Palette) -> None:
    """Letter everything on the card that stands still."""
    _scrims(panel, palette)
    _lower_third(panel, words, palette)
    _top(panel, words, palette)


def _scrims(panel: Panel, palette: Palette) -> None:
    width, height = panel.size
    u = unit(panel.size)
    y = np.arange(height, dtype=np.float32)[:, None]
    low = np.clip((y - (height - 46 * u)) / (34 * u), 0, 1) ** 1.3
    high = np.clip(1 - y / (17 * u), 0, 1) ** 1.6
    x = np.linspace(0, 1, width, dtype=np.float32)[None]
    side = 1 - 0.30 * np.clip((x - 0.45) / 0.4, 0, 1)
    shade = np.maximum(low * 0.90 * side, high * 0.62)
    panel.lay(shade * 255, mix(palette.ink, (0, 0, 0), 0.25))


def _written(
    panel: Panel,
    text: str,
    at: tuple[float, float],
    colour: Colour,
    *,
    style: Path,
    tall: float,
    tracking: float = 0.0,
) -> float:
    """Letter a line whose letters are `tall` hundredths; where the pen ends."""
    size = round(tall * unit(panel.size))
    if size < SMALLEST_LETTERS or not text:
        return at[0]
    mask = panel.letters()
    end = lettering.write(mask, text, at, style=style, size=size, tracking=tracking * size)
    shadow = np.asarray(pixels.blur(np.roll(mask, max(1, size // 16), 0), size / 9), np.float32)
    panel.lay(np.minimum(shadow * 1.2, 255), (0, 0, 0), 0.55)
    panel.lay(mask, colour)
    return end


def _lower_third(panel: Panel, words: Words, palette: Palette) -> None:
    width, height = panel.size
    u = unit(panel.size)
    if round(4.3 * u) < SMALLEST_LETTERS:
        return
    left, base = 4.6 * u, height - 6.2 * u
    number = f"{words.number:02}"
    size = round(14.5 * u)
    right = left + max(lettering.width_of(number, BOLD, max(size, 7)), 11.5 * u)
    _written(panel, number, (left, base), PAPER, style=BOLD, tall=14.5)
    rule = panel.letters()
    x = round(right + 2.4 * u)
    rule[round(base - 13.5 * u) : round(base + 0.8 * u), x : x + max(2, round(0.5 * u))] = 255
    panel.lay(rule, palette.accent)
    column = x + 3.0 * u
    wide = (0.64 if width > height else 0.97) * width - column
    _column(panel, words, palette, (column, base, wide))


def _column(panel: Panel, words: Words, palette: Palette, at: tuple[float, float, float]) -> None:
    """Section, prompt and lyric, from the lowest line up."""
    u, (x, y, wide) = unit(panel.size), at
    size = round(4.3 * u)
    lyric = lettering.broken(f"“{words.lyric}”", ITALIC, size, wide, 1) if words.lyric else []
    prompt = lettering.broken(words.prompt, REGULAR, size, wide, 2 if lyric else 3)
    for line in lyric:
        _written(panel, line, (x, y), mix(palette.accent, PAPER, 0.45), style=ITALIC, tall=4.3)
        y -= 6.0 * u
    for line in reversed(prompt):
        _written(panel, line, (x, y), PAPER, style=REGULAR, tall=4.3)
        y -= 5.4 * u
    if words.section:
        line = lettering.broken(words.section.upper(), BOLD, round(3.2 * u), wide * 0.7, 1)[0]
        _written(
            panel,
            line,
            (x, y - 0.3 * u),
            mix(palette.accent, PAPER, 0.15),
            style=BOLD,
            tall=3.2,
            tracking=0.14,
        )


def _top(panel: Panel, words: Words, palette: Palette) -> None:
    width, _ = panel.size
    u = unit(panel.size)
    left, base = 4.6 * u, 7.6 * u
    tag = _tag(panel, palette)
    room = tag - left - 4 * u
    title = "".join(lettering.broken(words.title.upper(), BOLD, max(7, round(3.0 * u)), room * 0.42, 1))
    end = _written(panel, title, (left, base), PAPER, style=BOLD, tall=3.0, tracking=0.16)
    look = "".join(lettering.broken(words.look, REGULAR, max(7, round(2.7 * u)), room * 0.5, 1))
    if width > panel.size[1]:
        _written(panel, look, (left, base + 4.3 * u), mix(PAPER, palette.mid, 0.35), style=REGULAR, tall=2.7)
        slug = tidy(words.slug).upper()
        wide = lettering.width_of(slug, REGULAR, max(7, round(2.7 * u)), tracking=0.1 * 2.7 * u)
        if tag - 3 * u - wide > end + 4 * u:
            _written(
                panel,
                slug,
                (tag - 3 * u - wide, base),
                mix(PAPER, palette.mid, 0.2),
                style=REGULAR,
                tall=2.7,
                tracking=0.1,
            )


def _tag(panel: Panel, palette: Palette) -> float:
    """The word that says what this is, in a box; its left edge."""
    width, height = panel.size
    u = unit(panel.size)
    size = max(SMALLEST_LETTERS, round(2.7 * u))
    tracking = 0.14 * size
    wide = lettering.width_of("ANIMATIC", BOLD, size, tracking=tracking)
    right, pad = width - max(3.0, 4.6 * u), 0.55 * size
    left = max(1.0, right - wide - 2 * pad)
    top = min(max(2.0, 7.6 * u - 0.70 * size - pad), height / 4)
    bottom = top + 0.70 * size + 2 * pad
    box = panel.letters()
    box[round(top) : round(bottom), round(left) : round(right)] = 255
    panel.lay(box, palette.accent, 0.92)
    mask = panel.letters()
    lettering.write(mask, "ANIMATIC", (left + pad, bottom - pad), style=BOLD, size=size, tracking=tracking)
    panel.lay(mask, mix(palette.ink, (0, 0, 0), 0.4))
    return left
