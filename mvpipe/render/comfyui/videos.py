"""Reference films as they are uploaded: H3's rate, no larger than H3 looks at, silent, named by their source.

As with pictures the name comes from the digest of the director's own file: another encoder may pack the same
pictures into other bytes, and no shot is rendered anew for that. `VERSION` is raised when the pictures would
differ, and stands in the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from pathlib import Path

from mvpipe.errors import MediaError, StoryboardError
from mvpipe.render.comfyui.ends import FOLDER
from mvpipe.tools import footage

VERSION = 1

RATE = 24
LEAST_S, MOST_S = 2, 15
"""Seconds that H3's reference node names (ComfyUI 0.33.0); T8's policy `official_2_to_15s` holds to them."""

STEP, SHORT_EDGE, MOST_PIXELS = 32, 768, 768 * 1344
"""The node scales a film down to a short edge of 768 and this area, in sides of whole 32 pixels, never up."""

SMALLEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A film ready to be sent.

    Parameters
    ----------
    size : (width, height) in pixels, as it is sent
    seconds : as long as it is sent
    notes : what the user should know
    """

    size: tuple[int, int]
    seconds: Fraction
    notes: tuple[str, ...] = ()


def upload_name(digest: str) -> str:
    """The name of an uploaded film.

    Parameters
    ----------
    digest : sha256 (hex) of the director's file
    """
    return f"{FOLDER}/{digest}-v{VERSION}.mp4"


@lru_cache(maxsize=32)
def motion(path: Path, digest: str) -> Motion:
    """A reference film as it will be sent; only its first picture is decoded.

    Parameters
    ----------
    digest : sha256 (hex) of the file

    Raises
    ------
    StoryboardError : missing, no film, damaged, too short, or too small
    """
    try:
        found = footage.look(path)
    except MediaError as exc:
        raise StoryboardError(_said(path, exc), hint="use an MP4, MOV, MKV or WebM file") from exc
    if min(found.size) < SMALLEST:
        raise StoryboardError(
            f"{path}: video: too small: {found.size[0]}x{found.size[1]}",
            hint=f"at least {SMALLEST} pixels a side",
        )
    if found.seconds < LEAST_S:
        raise StoryboardError(
            f"{path}: video: {float(found.seconds):.1f} s: H3 takes references of {LEAST_S} to {MOST_S} s",
            hint="a longer film, or a picture from it under pictures",
        )
    return Motion(
        size=canvas(*found.size),
        seconds=min(found.seconds, Fraction(MOST_S)),
        notes=tuple(f"{path}: {says}" for says in _odd(found)),
    )


@lru_cache(maxsize=8)
def sent(path: Path, digest: str) -> bytes:
    """The film as it is sent.

    Raises
    ------
    StoryboardError : as `motion`; something in it cannot be decoded
    """
    try:
        return footage.recoded(path, size=motion(path, digest).size, rate=RATE, most=MOST_S * RATE)
    except MediaError as exc:
        raise StoryboardError(_said(path, exc), hint="save it again") from exc


def canvas(width: int, height: int) -> tuple[int, int]:
    """The size at which H3's node looks at a film of this size, in pixels."""
    scale = SHORT_EDGE / min(width, height)
    scale = min(1.0, scale, scale * sqrt(MOST_PIXELS / (width * height * scale**2)))
    wide, high = (max(STEP, round(side * scale / STEP) * STEP) for side in (width, height))
    return wide, high


def _odd(found: footage.Footage) -> list[str]:
    odd = []
    if found.seconds > MOST_S:
        odd.append(f"{float(found.seconds):.1f} s: H3 looks at the first {MOST_S} s")
    if abs(found.rate - RATE) > Fraction(1, 20):
        odd.append(f"{float(found.rate):.4g} pictures a second: brought to {RATE}, the rate H3 counts in")
    if found.hdr:
        odd.append(f"HDR ({found.hdr}): its colours will be pale: export it for an ordinary screen")
    return odd


def _said(path: Path, exc: MediaError) -> str:
    return f"{path}: video: {str(exc).removeprefix(f'{path}: ')}"
