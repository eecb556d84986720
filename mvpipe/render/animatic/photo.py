"""A reference picture of a cast member, pinned to the card like a print."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mvpipe.render.animatic import lettering, pillow, pixels
from mvpipe.render.animatic.fonts import REGULAR, tidy
from mvpipe.render.animatic.furniture import PAPER, SMALLEST_LETTERS, unit
from mvpipe.render.animatic.ground import cover
from mvpipe.render.animatic.panel import Panel

_LEAN = (-0.055, 0.045)  # radians


def pin(panel: Panel, pictures: list[tuple[str, Path]]) -> None:
    """Pin prints (name, picture) under the title, left to right."""
    u = unit(panel.size)
    wide, high = round(17 * u), round(21 * u)
    if wide < 24:
        return
    for n, (name, path) in enumerate(pictures):
        middle = (5.5 * u + wide * 0.55 + n * (wide + 3.5 * u), 17 * u + high * 0.5)
        _print(panel, name, path, (wide, high), middle, _LEAN[n % 2])


def _print(
    panel: Panel, name: str, path: Path, size: tuple[int, int], middle: tuple[float, float], lean: float
) -> None:
    wide, high = size
    edge = max(2, wide // 18)
    foot = max(3 * edge, round(3.6 * unit(panel.size)))
    sheet = np.empty((high, wide, 3), np.uint8)
    sheet[:] = PAPER
    inner = (wide - 2 * edge, high - edge - foot)
    sheet[edge : high - foot, edge : wide - edge] = cover(pillow.open_picture(path, inner), inner)
    _caption(sheet, name, foot, unit(panel.size))
    cos, sin = np.cos(lean), np.sin(lean)
    matrix = np.array([[cos, sin, 0], [-sin, cos, 0]], np.float32)
    matrix[:, 2] = (wide / 2, high / 2) - matrix[:, :2] @ np.array(middle, np.float32)
    mask = pixels.placed(np.full((high, wide), 255, np.uint8), matrix, panel.size)
    shadow = np.asarray(pixels.blur(np.roll(mask, (edge, edge // 2), (0, 1)), edge * 1.4), np.uint8)
    panel.lay(shadow, (0, 0, 0), 0.5)
    panel.paste(pixels.placed(sheet, matrix, panel.size), mask)


def _caption(sheet: pixels.Pixels, name: str, foot: int, u: float) -> None:
    size = round(2.5 * u)
    text = "".join(lettering.broken(tidy(name), REGULAR, max(size, 7), sheet.shape[1] * 0.86, 1))
    if size < SMALLEST_LETTERS or not text:
        return
    mask = np.zeros(sheet.shape[:2], np.uint8)
    x = (sheet.shape[1] - lettering.width_of(text, REGULAR, size)) / 2
    lettering.write(mask, text, (x, sheet.shape[0] - foot * 0.34), size=size)
    share = mask.astype(np.float32)[..., None] / 255
    sheet[:] = np.round(sheet * (1 - share) + np.array((58, 54, 60), np.float32) * share).astype(np.uint8)
