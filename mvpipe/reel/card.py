"""The grey card that stands where a take is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mvpipe import film
from mvpipe.clock import timecode
from mvpipe.wording import counted

if TYPE_CHECKING:
    from PIL import ImageFont
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]

GREY, RULE, DIM, INK = (88, 88, 90), (116, 116, 118), (168, 168, 170), (226, 226, 224)

LINES = 4
"""Of the reason, at most."""


@dataclass(frozen=True, slots=True)
class _Pen:
    """Writes lines of text into a column of the card.

    Parameters
    ----------
    canvas : what it draws on
    left, room : where lines start, and how long they may be, in pixels
    """

    canvas: ImageDraw
    left: float
    room: float

    def line(self, text: str, top: float, high: float, colour: Colour) -> None:
        """One line; what has no room ends in dots."""
        font = _font(high)
        while text and font.getlength(text) > self.room:
            text = text[:-5].rstrip() + "..." if len(text) > 5 else ""
        self.canvas.text((self.left, top), text, fill=colour, font=font)

    def paragraph(self, text: str, top: float, high: float, colour: Colour) -> None:
        """Four lines, broken between words."""
        font, lines = _font(high), [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if len(lines) == LINES or font.getlength(longer) <= self.room:
                lines[-1] = longer
            else:
                lines.append(word)
        for line in lines:
            self.line(line, top, high, colour)
            top += high * 1.5


def draw(slug: film.Slug, size: tuple[int, int]) -> bytes:
    """The card: shot number, from when to when, and why there is no picture; nothing else decides it.

    Returns
    -------
    rgb24, height x width x 3 bytes
    """
    from PIL import Image, ImageDraw

    card = Image.new("RGB", size, GREY)
    _write(_Pen(ImageDraw.Draw(card), size[0] * 0.08, size[0] * 0.84), slug, size)
    return card.tobytes()


def _write(pen: _Pen, slug: film.Slug, size: tuple[int, int]) -> None:
    unit, middle = min(size[0] / 28, size[1] / 24), size[1] * 0.48
    small, cut = max(6.0, unit * 1.2), slug.shot.cut
    rule = [(pen.left, middle), (pen.left + pen.room, middle)]
    pen.canvas.line(rule, fill=RULE, width=max(1, round(unit / 12)))
    pen.line(f"Shot {slug.shot.number}", middle - unit * 4.4, unit * 3.4, INK)
    span = f"{timecode(cut.start, cut.rate)} to {timecode(cut.stop, cut.rate)}   {counted(len(cut), 'frame')}"
    pen.line(span, middle + unit, small, DIM)
    pen.paragraph(slug.reason, middle + unit + small * 2, small, INK)


def _font(high: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own, so that a card is the same on every computer."""
    from PIL import ImageFont

    return ImageFont.load_default(max(6.0, high))
