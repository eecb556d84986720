"""The grey card that stands where a take is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mvpipe import film
from mvpipe.clock import timecode

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

GREY, RULE, DIM, INK = (88, 88, 90), (116, 116, 118), (168, 168, 170), (226, 226, 224)


def draw(slug: film.Slug, size: tuple[int, int]) -> bytes:
    """The card: shot number, from when to when, and why there is no picture; nothing else decides it.

    Returns
    -------
    rgb24, height x width x 3 bytes
    """
    from PIL import Image
    from PIL import ImageDraw as Draw

    card = Image.new("RGB", size, GREY)
    _write(Draw.Draw(card), slug, size)
    return card.tobytes()


def _write(pen: ImageDraw, slug: film.Slug, size: tuple[int, int]) -> None:
    width, height = size
    unit, left, room = height / 24, width * 0.08, width * 0.84
    shot, cut = slug.shot, slug.shot.cut
    pen.line([(left, unit * 11.6), (left + room, unit * 11.6)], fill=RULE, width=max(1, round(unit / 12)))
    _line(pen, f"Shot {shot.number}", (left, unit * 7.2), unit * 3.4, INK, room)
    span = f"{timecode(cut.start, cut.rate)} to {timecode(cut.stop, cut.rate)}   {len(cut)} frames"
    _line(pen, span, (left, unit * 12.6), unit * 1.2, DIM, room)
    _paragraph(pen, slug.reason, (left, unit * 15), unit * 1.2, INK, room)


def _paragraph(
    pen: ImageDraw, text: str, at: tuple[float, float], high: float, colour: tuple[int, int, int], room: float
) -> None:
    """At most four lines."""
    from PIL import ImageFont

    font, lines = ImageFont.load_default(high), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    for line in lines[:4]:
        _line(pen, line, at, high, colour, room)
        at = (at[0], at[1] + high * 1.5)


def _line(
    pen: ImageDraw, text: str, at: tuple[float, float], high: float, colour: tuple[int, int, int], room: float
) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(max(6.0, high))
    while text and font.getlength(text) > room:
        text = text[:-5].rstrip() + "..." if len(text) > 5 else ""
    pen.text(at, text, fill=colour, font=font)
