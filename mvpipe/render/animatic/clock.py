"""The running timecode."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mvpipe.clock import timecode
from mvpipe.render.animatic import lettering, pillow
from mvpipe.render.animatic.fonts import REGULAR
from mvpipe.render.animatic.furniture import PAPER, SMALLEST_LETTERS, unit
from mvpipe.render.animatic.panel import Panel, Sticker, put, sticker
from mvpipe.render.animatic.pixels import Pixels


@dataclass(frozen=True, slots=True)
class Clockface:
    """Ready-made characters of the running timecode, bright and dim, and where they are put."""

    bright: dict[str, Sticker]
    dim: dict[str, Sticker]
    at: tuple[int, int]
    cells: dict[str, int]

    def show(self, planes: tuple[Pixels, Pixels, Pixels], frame: int, rate: Fraction, *, seen: bool) -> None:
        """Write the timecode of a frame of the film."""
        x, y = self.at
        for char in timecode(frame, rate):
            put(planes, (self.bright if seen else self.dim)[char], (x, y))
            x += self.cells[char]


def clockface(size: tuple[int, int]) -> Clockface | None:
    """The timecode's characters, right and low; None where they would be too small to read."""
    u = unit(size)
    tall = round(4.6 * u)
    if tall < SMALLEST_LETTERS:
        return None
    digit = 2 * round(max(pillow.length(d, REGULAR, tall) for d in "0123456789") / 2 + 0.6)
    colon = 2 * round(pillow.length(":", REGULAR, tall) / 2 + 0.6)
    cells = {**dict.fromkeys("0123456789", digit), ":": colon}
    high = 2 * round(0.62 * tall)
    sets = []
    for colour in (PAPER, (150, 148, 150)):
        made = {}
        for char, wide in cells.items():
            panel = Panel.blank((wide, high))
            mask = panel.letters()
            middle = (wide - pillow.length(char, REGULAR, tall)) / 2
            lettering.write(mask, char, (middle, high - round(0.18 * tall)), style=REGULAR, size=tall)
            panel.lay(mask, colour)
            made[char] = sticker(panel.cut(), (0, 0))
        sets.append(made)
    wide = 8 * digit + 3 * colon
    x, y = size[0] - 4.6 * u - wide, size[1] - 6.2 * u + 0.18 * tall - high
    if size[0] < size[1]:  # upright pictures need their foot for the words
        y = 11.5 * u
    return Clockface(sets[0], sets[1], (2 * round(x / 2), 2 * round(y / 2)), cells)
