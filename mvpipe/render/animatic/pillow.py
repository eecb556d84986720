"""Pillow, and nothing else: pictures in and out, and letters into masks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, ImageOps, UnidentifiedImageError, features

from mvpipe.errors import StoryboardError

Pixels = NDArray[np.uint8]

SMALLEST, LARGEST = 64, 16_384
"""Sides of a reference picture, in pixels."""

MOST_PIXELS = 100_000_000

BUNDLED = Path(__file__).parent / "fonts"


def check_picture(path: Path) -> None:
    """Refuse a picture that cannot be drawn.

    Raises
    ------
    StoryboardError : it is missing, is no picture, is damaged, or is too small or too large
    """
    _open(path)


def open_picture(path: Path, at_least: tuple[int, int]) -> Pixels:
    """A picture the right way up: RGB, shape (h, w, 3); halved while it stays larger than needed.

    Transparent parts lie on mid grey; of an animation the first picture is taken.

    Raises
    ------
    StoryboardError : as `check_picture`
    """
    picture = _open(path)
    while picture.width >= 2 * at_least[0] and picture.height >= 2 * at_least[1]:
        picture = picture.reduce(2)
    return np.asarray(picture, np.uint8)


def _open(path: Path) -> Image.Image:
    try:
        with warnings.catch_warnings():
            # Pillow warns of large pictures and odd metadata; what we refuse, we refuse below
            warnings.simplefilter("ignore")
            with Image.open(path) as found:
                _fits(path, found.size)
                found.draft("RGB", None)
                return _flat(ImageOps.exif_transpose(found))
    except UnidentifiedImageError as exc:
        raise StoryboardError(
            f"{path}: picture: not a picture that can be read", hint="use a PNG, JPEG or WebP file"
        ) from exc
    except OSError as exc:
        raise StoryboardError(f"{path}: picture: {exc.strerror or exc}") from exc
    except (SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as exc:
        raise StoryboardError(f"{path}: picture: damaged: {exc}", hint="save it again") from exc


def _fits(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if min(size) < SMALLEST:
        raise StoryboardError(
            f"{path}: picture: too small: {width}x{height}", hint=f"at least {SMALLEST} pixels a side"
        )
    if max(size) > LARGEST or width * height > MOST_PIXELS:
        raise StoryboardError(
            f"{path}: picture: too large: {width}x{height}",
            hint=f"at most {LARGEST} pixels a side and {MOST_PIXELS // 1_000_000} million in all",
        )


def _flat(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith(("I;16", "I")):
        deep = np.asarray(picture.convert("I"), np.float64)
        return Image.fromarray((deep / max(255.0, deep.max()) * 255).astype(np.uint8)).convert("RGB")
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        cut = picture.convert("RGBA")
        ground = Image.new("RGBA", cut.size, (118, 118, 122, 255))
        return Image.alpha_composite(ground, cut).convert("RGB")
    return picture.convert("RGB")


def png(rgb: Pixels) -> bytes:
    """An RGB image as a PNG file."""
    out = BytesIO()
    Image.fromarray(rgb).save(out, "PNG", optimize=True)
    return out.getvalue()


@lru_cache(maxsize=1)
def shapes_text() -> bool:
    """Whether this Pillow joins and orders Arabic and Indic letters by itself."""
    return bool(features.check("raqm"))


@lru_cache(maxsize=128)
def _font(path: Path, size: int) -> ImageFont.FreeTypeFont | None:
    engine = ImageFont.Layout.RAQM if shapes_text() else ImageFont.Layout.BASIC
    try:
        return ImageFont.truetype(str(path), size, layout_engine=engine)
    except OSError:  # not a font, or one of bitmaps that has no such size (colour emoji)
        return None


@lru_cache(maxsize=4096)
def covers(path: Path, character: str) -> bool:
    """Whether the font in `path` has a glyph of its own for the character."""
    font = _font(path, 24)
    if font is None:
        return False
    if character.isspace():
        return True
    drawn, absent = (font.getmask(text) for text in (character, NOWHERE))
    return (drawn.size, bytes(drawn)) != (absent.size, bytes(absent)) and drawn.size[1] > 0


NOWHERE = "\uffff"  # never a character, so every font draws its mark for a missing glyph


def length(text: str, path: Path, size: int, *, leftwards: bool = False) -> float:
    """How far the pen moves for the text, in pixels."""
    fine = _fineness(size)
    font = _font(path, size * fine)
    assert font is not None, path
    return float(font.getlength(_ordered(text, leftwards), direction=_direction(leftwards))) / fine


@dataclass(frozen=True, slots=True)
class Stamp:
    """Letters as a mask, and where its top left corner lies against the pen on the baseline."""

    mask: Pixels
    left: int
    top: int


def stamp(text: str, path: Path, size: int, *, leftwards: bool = False) -> Stamp:
    """The text's letters: 255 where there is ink."""
    fine = _fineness(size)
    font = _font(path, size * fine)
    assert font is not None, path
    text, direction = _ordered(text, leftwards), _direction(leftwards)
    left, top, right, bottom = (
        int(np.floor(side / fine)) for side in font.getbbox(text, anchor="ls", direction=direction)
    )
    image = Image.new("L", ((right - left + 3) * fine, (bottom - top + 3) * fine))
    ImageDraw.Draw(image).text(
        ((1 - left) * fine, (1 - top) * fine), text, fill=255, font=font, anchor="ls", direction=direction
    )
    return Stamp(np.asarray(image.reduce(fine), np.uint8), left - 1, top - 1)


def _fineness(size: int) -> int:
    """Small letters are drawn larger and averaged down: Pillow puts each on a whole pixel."""
    return 4 if size < 40 else 1


def _direction(leftwards: bool) -> str | None:
    return ("rtl" if leftwards else "ltr") if shapes_text() else None


def _ordered(text: str, leftwards: bool) -> str:
    return text[::-1] if leftwards and not shapes_text() else text
