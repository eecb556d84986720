"""A film strip: frames of a film side by side between perforations, as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mvpipe.errors import MediaError
from mvpipe.render.animatic import pillow, pixels
from mvpipe.render.animatic.pixels import Pixels
from mvpipe.tools import encode, picture
from mvpipe.wording import counted

BASE = (22, 20, 24)
HOLE = (244, 241, 234)


def strip(frames: Sequence[Pixels]) -> bytes:
    """A PNG of frames side by side, with perforations above and below.

    Parameters
    ----------
    frames : RGB images of one size, shape (h, w, 3), in order
    """
    height, width = frames[0].shape[:2]
    gap, edge = max(2, height // 40), round(height * 0.17)
    sheet = np.empty((height + 2 * edge, len(frames) * (width + gap) + gap, 3), np.uint8)
    sheet[:] = BASE
    for n, frame in enumerate(frames):
        x = gap + n * (width + gap)
        sheet[edge : edge + height, x : x + width] = frame
    _perforate(sheet, edge)
    return pillow.png(sheet)


def _perforate(sheet: Pixels, edge: int) -> None:
    tall, wide = edge * 0.46, edge * 0.62
    pitch = sheet.shape[1] / max(1, round(sheet.shape[1] / (edge * 1.25)))
    for n in range(round(sheet.shape[1] / pitch)):
        for y in (edge / 2, sheet.shape[0] - edge / 2):
            middle = ((n + 0.5) * pitch, y)
            pixels.fill(sheet, _rounded(middle, wide / 2, tall / 2), HOLE)


def _rounded(middle: tuple[float, float], half_w: float, half_h: float) -> pixels.Points:
    t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x, y = np.cos(t), np.sin(t)
    # a superellipse: straight sides, round corners
    return np.stack(
        [
            middle[0] + half_w * np.sign(x) * np.abs(x) ** 0.35,
            middle[1] + half_h * np.sign(y) * np.abs(y) ** 0.35,
        ],
        1,
    )


def film_strip(film: Path, *, frames: int = 5, height: int = 180) -> bytes:
    """The strip of a film: so many frames, evenly spread over its length.

    Raises
    ------
    MediaError : there are fewer frames than wanted
    ToolError : the film cannot be decoded
    """
    there, (wide, high) = len(picture.times(film)), picture.facts(film).size
    if there < frames:
        raise MediaError(f"{film}: film strip: {counted(frames, 'frame')} wanted of a film of {there}")
    wanted = [(2 * n + 1) * there // (2 * frames) for n in range(frames)]
    return strip(encode.read_frames(film, (2 * round(wide * height / high / 2), height), wanted))
