"""Pillow with the project's typeface, for pictures of measurements: the timeline's and a verdict's."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import as_file, files

from PIL import Image, ImageDraw, ImageFont

__all__ = ["Image", "ImageDraw", "count", "fitting", "font", "plain"]

FONTS = "render/animatic/fonts"
"""Below the package: Latin, Greek and Cyrillic."""


@cache
def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The typeface, so many pixels high."""
    name = f"FiraSansCondensed-{'SemiBold' if bold else 'Regular'}.ttf"
    with as_file(files("mvpipe") / FONTS / name) as path:
        return ImageFont.truetype(path, size)


def fitting(pen: ImageDraw.ImageDraw, text: str, room: float, size: int) -> str:
    """As much of a text as there is room for, on one line."""
    line, face = plain(text), font(size)
    if pen.textlength(line, face) <= room:
        return line
    while line and pen.textlength(line + "...", face) > room:
        line = line[:-1]
    return line.rstrip() + "..." if line else ""


def plain(text: str) -> str:
    """The text in one line, accents and letters as one; scripts the typeface does not have leave a gap."""
    whole = unicodedata.normalize("NFC", text)
    return " ".join(
        "".join(
            letter if ord(letter) < 0x530 or 0x1E00 <= ord(letter) < 0x2070 else " " for letter in whole
        ).split()
    )


def count(number: int, name: str) -> str:
    """`1 shot`, `2 shots`."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
