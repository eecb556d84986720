"""Portraits: the faces of a take and of the cast's pictures as the identity network describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate import faces, identity
from mvpipe.gate.faces import Pixels, Points

Faces = NDArray[np.float32]

EVERY = 12
"""Frames between two pictures of a face that are kept while a take is looked at."""

MANY = 6
"""Of them are described, half from either half of the time it is seen: 20 ms of CPU each."""

NOSE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A face set upright, as the identity network is shown it.

    Parameters
    ----------
    frame : of the take
    turned : how far it looks aside, 0 to about 1
    pixels : uint8, BGR, shape (150, 150, 3)
    """

    frame: int
    turned: float
    pixels: Pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Portraits:
    """One face of a take at several moments.

    Parameters
    ----------
    frames : of the take, rising; int, shape (n,)
    faces : float32, shape (n, 128)
    """

    frames: NDArray[np.int64]
    faces: Faces


def cut(frame: int, image: Pixels, points: Points) -> Chip:
    """The chip of a face in a frame."""
    left, right, nose = points[faces.LEFT_EYE], points[faces.RIGHT_EYE], points[NOSE]
    along = (right - left) / max(1e-6, float(np.hypot(*(right - left))))
    before, behind = float((nose - left) @ along), float((right - nose) @ along)
    turned = abs(before - behind) / max(1e-6, before + behind)
    return Chip(frame=frame, turned=turned, pixels=faces.chip(image, points))


def portray(chips: Sequence[Chip]) -> Portraits:
    """Describe the chips that look most into the camera."""
    middle = len(chips) // 2
    kept = [one for half in (chips[:middle], chips[middle:]) for one in _frontal(half)]
    kept.sort(key=lambda chip: chip.frame)
    pixels = np.stack([chip.pixels for chip in kept]) if kept else np.empty((0, 150, 150, 3), np.uint8)
    frames = np.array([chip.frame for chip in kept], np.int64)
    return Portraits(frames=frames, faces=identity.describe(pixels))


def portrait_of(picture: Path) -> Faces:
    """The largest face of a picture; shape (1, 128), or (0, 128) where none is found.

    Raises
    ------
    MediaError : not a picture that can be read
    """
    image = faces.open_picture(picture)
    mesh = faces.Mesh()
    for region in sorted(faces.Finder().find(image, closely=True), key=lambda one: -one.side):
        points = mesh.trace(image, region)
        if points is not None:
            points = mesh.trace(image, faces.region_of(points))
        if points is not None:
            return identity.describe(faces.chip(image, points)[None])
    return np.empty((0, 128), np.float32)


def distances(one: Faces, other: Faces) -> float:
    """How far a face is from another: the middle over its portraits of the nearest; infinite without any."""
    if not len(one) or not len(other):
        return float("inf")
    apart = np.linalg.norm(one[:, None] - other[None], axis=-1)
    return float(np.median(apart.min(axis=1)))


def _frontal(chips: Sequence[Chip]) -> list[Chip]:
    return sorted(chips, key=lambda chip: chip.turned)[: MANY // 2]
