"""A photograph whose mouth opens and closes as it is told.

Any picture with a face in it will do: the mesh says where lips and chin are, the picture below the lower lip
is moved, and what opens between the lips is painted.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.faces import LEFT_EYE, RIGHT_EYE, Finder, Mesh, Points, region_of
from tests.gate.faces_synth import HEAD, Floats, Image, cover

UPPER = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308)
LOWER = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308)
CHIN = 152
"""Points of the mesh: inner edges of both lips from corner to corner, and the chin."""

EYES = 100
"""Pixels between the eyes' outer corners in the square, as in a drawn head."""

DROP = 26.0
"""Pixels by which the mouth opens at 1, as in a drawn head."""

CAVITY = np.array([38.0, 22, 52])


class Photo:
    """A sitter made of a picture; see `faces_synth.Sitter`.

    Parameters
    ----------
    picture : uint8, BGR, with a face

    Raises
    ------
    ValueError : no face is found in it
    """

    def __init__(self, picture: Image) -> None:
        points = trace(picture)
        if points is None:
            raise ValueError("no face in this picture")
        matrix = _upright(points)
        flags = cv2.INTER_AREA if np.hypot(*matrix[0, :2]) < 1 else cv2.INTER_CUBIC
        head = cv2.warpAffine(picture, matrix, (HEAD, HEAD), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        self._head = head.astype(np.float32)
        self._still = np.dstack([head, _feathered().astype(np.uint8)])
        at = points @ matrix[:, :2].T + matrix[:, 2]
        column = np.arange(HEAD)
        self._upper = np.interp(column, *_rising(at[list(UPPER)]))
        self._lower = np.maximum(np.interp(column, *_rising(at[list(LOWER)])), self._upper)
        self._left, self._right = at[UPPER[0], 0], at[UPPER[-1], 0]
        self._chin = float(at[CHIN, 1])
        self._middle = float(self._left + self._right) / 2
        self._mouth = round(self._middle), round(float(self._lower[int(self._middle)]))
        self._part = self._moving()
        self._y, self._x = np.mgrid[self._part].astype(np.float32)

    def _moving(self) -> tuple[slice, slice]:
        """Rows and columns outside of which nothing moves."""
        wide = 3.5 * (self._right - self._left) / 2
        top, low = self._upper.min() - 60, 2.3 * self._chin - self._lower.min()
        edges = np.clip([top, low, self._middle - wide, self._middle + wide], 0, HEAD).astype(int)
        return slice(edges[0], edges[1]), slice(edges[2], edges[3])

    def __call__(self, opening: float, width: float, blink: float, covered: str) -> Image:
        """The head; it does not blink."""
        half = (self._right - self._left) / 2
        far = np.exp(
            -(((self._x - self._middle) / (2.2 * half)) ** 4) - ((self._y - self._mouth[1]) / 50) ** 4
        )
        x = self._middle + (self._x - self._middle) * (1 + (1 / (0.85 + 0.3 * width) - 1) * far)
        y, gap = self._drop(x, opening)
        shown = cv2.remap(self._head, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
        image = self._still.copy()
        image[..., :3][self._part] = (shown * (1 - gap[..., None]) + CAVITY * gap[..., None]).clip(0, 255)
        cover(image, self._mouth, covered)
        return image

    def _drop(self, x: Floats, opening: float) -> tuple[Floats, Floats]:
        """Where each pixel comes from, and how much of the open mouth it shows."""
        column = np.clip(x, 0, HEAD - 1).astype(int)
        upper, lower = self._upper[column], self._lower[column]
        beside = (x - self._middle) / ((self._right - self._left) / 2)
        arch = np.sqrt(np.clip(1 - beside**2, 0, 1))
        lip = (0.5 + DROP * opening) * arch - (lower - upper)
        middle = int(self._middle)
        widest = 0.5 + DROP * opening - (self._lower - self._upper)[middle]
        jaw = 0.7 * widest * np.exp(-((np.abs(beside) / 1.9) ** 4))
        edge = lower + lip
        down = np.clip((self._y - edge) / (self._chin - lower), 0, 1)
        moved = (lip * (1 - down) + jaw * down) * np.clip(2 - (self._y - edge) / (self._chin - lower), 0, 1)
        below = self._y >= edge
        soft = np.clip(self._y - lower, 0, 1) * np.clip(edge - self._y, 0, 1) * (arch > 0)
        return np.where(below, self._y - moved, np.minimum(self._y, edge)), soft


def trace(picture: Image) -> Points | None:
    """The mesh of a picture's surest face."""
    mesh = Mesh()
    for region in Finder().find(picture, closely=True):
        points = mesh.trace(picture, region)
        if points is not None:
            return mesh.trace(picture, region_of(points))
    return None


def _upright(points: Points) -> NDArray[np.float64]:
    """From the picture to the square: the eyes level, where a drawn head has them."""
    right, down = points[RIGHT_EYE] - points[LEFT_EYE]
    scale, angle = EYES / np.hypot(right, down), np.arctan2(down, right)
    turn = scale * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    middle = (points[LEFT_EYE] + points[RIGHT_EYE]) / 2
    return np.column_stack([turn, np.array([HEAD / 2, 0.445 * HEAD]) - turn @ middle])


def _rising(points: NDArray[np.floating[Any]]) -> tuple[Floats, Floats]:
    order = np.argsort(points[:, 0])
    return points[order, 0].astype(float), points[order, 1].astype(float)


def _feathered() -> Floats:
    """Alpha that fades over the last pixels of the square."""
    inward = np.minimum(np.arange(HEAD), np.arange(HEAD)[::-1])
    return np.asarray(255 * np.clip(np.minimum.outer(inward, inward) / 24, 0, 1))
