"""What a picture is made of, whatever its brightness: by which two pictures are held against each other.

An outline is a picture's luma in squares, without what is broader than seven of them: light that goes on or
off leaves it. How strange one is to another (per frame, 320 pixels wide) was measured:

| | strangeness |
|---|---|
| native H3 speech; a cartoon; a telephone camera in a car | 0.02 or less |
| the same, shaken by up to 8 pixels each frame; a whip pan of 20 or 40 | 0.23; 0.16 or 0.49 |
| cuts in a cycling film | 0.53-0.90 |
| a cut to the same speaker nearer by 1.15, 1.6, 2.2, or mirrored | 0.42, 0.71, 0.65, 0.83 |

A picture is coherent where a point tells of the point a fortieth of the width away, and even where no part of
it is calmer than the others. Noise is even and not coherent, at the scale of pixels or of the latents (one
in 16 pixels):

| | coherence, luma and colour |
|---|---|
| H3, bicycles, cartoon, car, photograph; grain of sigma 40 in each colour | 0.72-0.82 and 0.51-0.93 |
| noise a pixel or 8, 16, 32 pixels wide | 0.00-0.14 and 0.00-0.14 |
| half a photograph, half latent noise | 0.53 and 0.06 |
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SQUARE = 8
"""Pixels of a square of an outline: 1/40 of a picture 320 wide, a mouth's size."""

LEAST = 8
"""Squares that an outline has to either side at least: of a picture of 64 pixels nothing can be told."""

BROAD = 7
"""Squares about each that are its surroundings."""

REACH = 4
"""Squares by which a picture may have moved and still be the same: a tenth of its width in a frame."""

HARDLY = 0.1
"""Strangeness under which a picture has hardly moved."""

UNLIT = 2.0
"""Levels of luma by which a square changes without being lit."""

TILES = (5, 8)
"""Parts (down, across) in which a picture's calm is looked for."""


def squares(picture: Floats, side: int) -> Floats:
    """Means of squares of `side` pixels; shape (height // side, width // side)."""
    high, wide = (length // side for length in picture.shape)
    cut = picture[: high * side, : wide * side].reshape(high, side, wide, side)
    return np.asarray(cut.mean(axis=(1, 3)), np.float32)


def outline(small: Floats) -> Floats:
    """What is drawn in a picture, its light taken away; float32, in squares, of mean 0.

    Parameters
    ----------
    small : luma in squares of `SQUARE` pixels, float32
    """
    drawn = small - _surroundings(small)
    return np.asarray(drawn - drawn.mean(), np.float32)


def strangeness(one: Floats, other: Floats) -> float:
    """How little of an outline is found in another a tenth of the width about, in [0, 2]: 0 is all of it.

    Of a picture in which nothing is drawn, 1; between pictures too small to be told apart, 0. A picture that
    has hardly moved is not looked for elsewhere.
    """
    if min(one.shape) < LEAST:
        return 0.0
    size = float(np.sqrt((one * one).sum() * (other * other).sum()))
    if size < 1e-3 * one.size:
        return 1.0
    if (here := 1 - float((one * other).sum()) / size) < HARDLY:
        return here
    both = np.fft.irfft2(np.fft.rfft2(one) * np.conj(np.fft.rfft2(other)), one.shape)
    down, across = (min(REACH, (side - 1) // 2) for side in one.shape)
    near = np.roll(both, (down, across), (0, 1))[: 2 * down + 1, : 2 * across + 1]
    return 1 - float(near.max()) / size


def lift(before: Floats, now: Floats) -> float:
    """How many more squares became brighter than darker, of all, in [-1, 1]: a light is near 1 or -1."""
    change = now - before
    return float(np.mean(change > UNLIT)) - float(np.mean(change < -UNLIT))


def changed(before: Floats, now: Floats) -> float:
    """Share of the squares that became brighter or darker, in [0, 1]."""
    return float(np.mean(np.abs(now - before) > UNLIT))


def coherence(plane: Floats) -> float:
    """Correlation of a plane with itself a fortieth of its width to the side or below, the larger of both."""
    step = max(1, plane.shape[1] // 40)
    aside = _correlation(plane[:, step:], plane[:, :-step])
    return max(aside, _correlation(plane[step:], plane[:-step]))


def evenness(plane: Floats) -> float:
    """How lively the calmer parts of a plane are, over the middling ones, in [0, 1]: noise is near 1."""
    down, across = TILES
    high, wide = plane.shape[0] // down, plane.shape[1] // across
    tiles = plane[: high * down, : wide * across].reshape(down, high, across, wide)
    lively = tiles.std(axis=(1, 3))
    middling = float(np.median(lively))
    return min(1.0, float(np.percentile(lively, 10)) / middling) if middling > 1e-3 else 0.0


def _surroundings(small: Floats) -> Floats:
    high, wide = small.shape
    return np.asarray(_means(high) @ small @ _means(wide).T, np.float32)


@cache
def _means(length: int) -> Floats:
    """The matrix that takes means over `BROAD` neighbours, the ends repeated."""
    place = np.arange(length)[:, None] + np.arange(-(BROAD // 2), BROAD // 2 + 1)
    rows = np.zeros((length, length), np.float32)
    np.add.at(rows, (np.arange(length)[:, None], np.clip(place, 0, length - 1)), 1 / BROAD)
    return rows


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 1e-3 * a.size else 0.0
