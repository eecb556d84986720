"""Find faces, trace their 468 points, cut them out: two small networks on OpenCV, and nothing else of it.

Images are uint8, BGR, shape (height, width, 3); points are (x, y) in pixels. How the networks' numbers are
read follows the MediaPipe authors' papers (see models/NOTICE) and their published graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.gate.bundled import BLAZEFACE, FACE_MESH, Bundled, verified

Pixels = NDArray[np.uint8]
Points = NDArray[np.float32]

SEEN = 0.5
"""Probability from which MediaPipe takes a face to be one, in both networks."""

APART = 0.3
"""Overlap from which two detections are one face (MediaPipe's non-maximum suppression)."""

ROOM = 1.5
"""Side of the square the mesh is given, over the longer side of the face (MediaPipe's graphs)."""

LEFT_EYE, RIGHT_EYE = 33, 263
"""Outer corners of the eyes, as the picture shows them."""

EYES, MOUTH = ((33, 133), (362, 263)), (61, 291, 0, 17)
"""The corners of each eye; the corners of the mouth, and its lips above and below."""

CHIP, CHIP_SCALE, CHIP_UP = 150, 0.45, 0.43
"""Of what the identity network is shown: pixels; from eyes to mouth over its side; how far from the top the
middle of eyes and mouth lies (face-api, after dlib's chips of 150 pixels)."""

PATCH = 256
"""Pixels of a patch: 3.2 half faces wide, so that SyncNet's square of 2.8 is 224 pixels of it."""

PATCH_HALVES, PATCH_UP = 3.2, 1.2
SQUARE_HALVES, SQUARE_UP, SQUARE = 2.8, 1.0, 224
"""The official crop in half faces: 1.4 to either side, 1.0 above the middle, 1.8 below; 224 pixels."""

BORDER = (110, 110, 110)
"""Grey where the official crop leaves the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where a face is looked for: a turned square.

    Parameters
    ----------
    centre : (x, y) in pixels
    side : pixels
    angle : of the eyes, in radians, positive clockwise as seen
    """

    centre: tuple[float, float]
    side: float
    angle: float

    def near(self, other: Region) -> bool:
        """Whether the two can only be one face."""
        apart = float(np.hypot(*np.subtract(self.centre, other.centre)))
        return apart < 0.3 * min(self.side, other.side)

    def matrix(self, pixels: int) -> NDArray[np.float32]:
        """From a square of `pixels` to the picture, shape (2, 3)."""
        scale = self.side / pixels
        turn = scale * np.array([[np.cos(self.angle), -np.sin(self.angle)],
                                 [np.sin(self.angle), np.cos(self.angle)]])  # fmt: skip
        shift = np.array(self.centre) - turn @ np.full(2, pixels / 2)
        return np.column_stack([turn, shift]).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A face cut out with room around it, small enough to be kept for every frame.

    Parameters
    ----------
    corner : (x, y) of its upper left in the picture
    side : pixels of the picture
    jpeg : 256 pixels a side, a tenth of their size: the official SyncNet is shown JPEG as well
    """

    corner: tuple[float, float]
    side: float
    jpeg: NDArray[np.uint8]

    @property
    def pixels(self) -> Pixels:
        """Uint8, BGR, shape (256, 256, 3)."""
        return np.asarray(cv2.imdecode(self.jpeg, cv2.IMREAD_COLOR), np.uint8)


class Finder:
    """BlazeFace for faces within about two metres of a phone: a twelfth of the picture and larger."""

    def __init__(self) -> None:
        self._net = _network(BLAZEFACE)
        grids = ((16, 2), (8, 6))  # cells a side, anchors a cell
        self._anchors = np.array(
            [((x + 0.5) / n, (y + 0.5) / n) for n, each in grids for y in range(n) for x in range(n)
             for _ in range(each)], np.float32,
        )  # fmt: skip

    def find(self, image: Pixels, *, closely: bool = False) -> list[Region]:
        """Regions of the faces in a picture, the surest first; `closely` looks at parts of it as well."""
        found = self._find(image, 0, 0)
        if closely:
            height, width = image.shape[:2]
            for side in (min(height, width), int(0.6 * min(height, width))):
                step = max(1, side // 2)
                for y in range(0, height - side + 1, step):
                    for x in range(0, width - side + 1, step):
                        found += self._find(image[y : y + side, x : x + side], x, y)
        return _apart(found)

    def _find(self, part: Pixels, left: int, top: int) -> list[tuple[float, Region]]:
        height, width = part.shape[:2]
        scale = 128 / max(height, width)
        shape = max(1, round(width * scale)), max(1, round(height * scale))
        square = np.zeros((128, 128, 3), np.float32)
        square[: shape[1], : shape[0]] = cv2.resize(part, shape, interpolation=cv2.INTER_AREA)
        square[: shape[1], : shape[0]] = square[: shape[1], : shape[0], ::-1] / 127.5 - 1
        self._net.setInput(np.ascontiguousarray(square.transpose(2, 0, 1)[None]))
        scores, boxes = self._net.forward(["classificators", "regressors"])
        sure = _probability(scores.reshape(-1))
        boxes = boxes.reshape(-1, 16)
        return [
            (float(sure[k]), self._region(boxes[k] / 128, self._anchors[k], 128 / scale, (left, top)))
            for k in np.flatnonzero(sure >= SEEN)
        ]

    def _region(
        self, box: NDArray[np.float32], anchor: NDArray[np.float32], scale: float, corner: tuple[int, int]
    ) -> Region:
        x, y = (box[:2] + anchor) * scale + corner
        right, down = (box[6:8] - box[4:6]) * scale
        side = ROOM * float(max(box[2:4])) * scale
        return Region(centre=(float(x), float(y)), side=side, angle=float(np.arctan2(down, right)))


class Mesh:
    """468 points on a face, and whether there is one."""

    def __init__(self) -> None:
        self._net = _network(FACE_MESH)
        self._names = self._net.getUnconnectedOutLayersNames()

    def trace(self, image: Pixels, region: Region) -> Points | None:
        """The points of the face in a region, float32, shape (468, 2); None if there is none."""
        matrix = region.matrix(192)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        crop = cv2.warpAffine(image, matrix, (192, 192), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        crop = crop[..., ::-1].astype(np.float32) / 255
        self._net.setInput(np.ascontiguousarray(crop.transpose(2, 0, 1)[None]))
        answers = {answer.size: answer for answer in self._net.forward(self._names)}
        if _probability(answers[1].reshape(-1))[0] < SEEN:
            return None
        points = answers[468 * 3].reshape(468, 3)[:, :2]
        return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], np.float32)


def open_picture(path: Path) -> Pixels:
    """A picture from a file, set upright; uint8, BGR, shape (height, width, 3).

    Raises
    ------
    MediaError : not a picture that can be read
    """
    try:
        raw = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as exc:
        raise MediaError(f"{path}: cannot be read: {exc.strerror}") from exc
    image = cv2.imdecode(raw, cv2.IMREAD_COLOR) if raw.size else None
    if image is None:
        raise MediaError(f"{path}: not a picture that can be read")
    return np.asarray(image, np.uint8)


def region_of(points: Points) -> Region:
    """Where the face of one frame is looked for in the next."""
    right, down = points[RIGHT_EYE] - points[LEFT_EYE]
    angle = float(np.arctan2(down, right))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = points @ turn.T
    low, high = upright.min(0), upright.max(0)
    x, y = turn.T @ ((low + high) / 2)
    return Region(centre=(float(x), float(y)), side=ROOM * float((high - low).max()), angle=angle)


def box_of(points: Points) -> tuple[float, float, float]:
    """(x, y) of the middle of a face's upright box, and half its longer side, as the official crop wants."""
    low, high = points.min(0), points.max(0)
    x, y = (low + high) / 2
    return float(x), float(y), float((high - low).max()) / 2


def keep(image: Pixels, points: Points) -> Patch:
    """Cut out a face with room to move the crop in."""
    x, y, half = box_of(points)
    left, top, side = (
        round(x - PATCH_HALVES / 2 * half),
        round(y - PATCH_UP * half),
        round(PATCH_HALVES * half),
    )
    height, width = image.shape[:2]
    inside = image[max(0, top) : max(0, top + side), max(0, left) : max(0, left + side)]
    whole = cv2.copyMakeBorder(
        inside,
        max(0, -top), max(0, min(side, top + side - height)),
        max(0, -left), max(0, min(side, left + side - width)),
        cv2.BORDER_CONSTANT, value=BORDER,
    )  # fmt: skip
    smaller = cv2.INTER_AREA if side > PATCH else cv2.INTER_LINEAR
    pixels = cv2.resize(whole, (PATCH, PATCH), interpolation=smaller)
    _, jpeg = cv2.imencode(".jpg", pixels, (cv2.IMWRITE_JPEG_QUALITY, 95))
    return Patch(corner=(left, top), side=side, jpeg=np.asarray(jpeg, np.uint8))


def crop(patch: Patch, box: tuple[float, float, float]) -> Pixels:
    """The square that SyncNet is shown, from a box smoothed over the frames; uint8, shape (224, 224, 3)."""
    x, y, half = box
    scale = PATCH / patch.side
    left = (x - SQUARE_HALVES / 2 * half - patch.corner[0]) * scale
    top = (y - SQUARE_UP * half - patch.corner[1]) * scale
    zoom = SQUARE_HALVES * half * scale / SQUARE
    # pixel centres: the first of the square lies half a pixel inside it
    matrix = np.array([[zoom, 0, left + zoom / 2 - 0.5], [0, zoom, top + zoom / 2 - 0.5]], np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(
            patch.pixels,
            matrix,
            (SQUARE, SQUARE),
            flags=flags,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=BORDER,
        )
    )


def chip(image: Pixels, points: Points) -> Pixels:
    """A face set upright as the identity network wants it; uint8, BGR, shape (150, 150, 3)."""
    left, right = (points[list(eye)].mean(0) for eye in EYES)
    mouth = points[list(MOUTH)].mean(0)
    down = (np.hypot(*(left - mouth)) + np.hypot(*(right - mouth))) / 2
    side = float(down) / CHIP_SCALE
    angle = float(np.arctan2(*(right - left)[::-1]))
    middle = (left + right + mouth) / 3
    below = (0.5 - CHIP_UP) * side
    x, y = middle + np.array([-np.sin(angle), np.cos(angle)]) * below
    matrix = Region(centre=(float(x), float(y)), side=side, angle=angle).matrix(CHIP)
    flags = (cv2.INTER_AREA if side > CHIP else cv2.INTER_LINEAR) | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(image, matrix, (CHIP, CHIP), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    )


def _network(one: Bundled) -> Any:
    [path] = verified(one)
    # OpenCV 5's new engine silently drops one of BlazeFace's two outputs, and from a buffer it is taken
    # whatever is asked for; 4.12 knows no engines
    classic = getattr(cv2.dnn, "ENGINE_CLASSIC", None)
    read = cv2.dnn.readNetFromTFLite
    return read(str(path)) if classic is None else read(str(path), classic)


def _probability(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -50, 50))), np.float32)


def _apart(found: list[tuple[float, Region]]) -> list[Region]:
    kept: list[Region] = []
    for _, region in sorted(found, key=lambda one: -one[0]):
        if all(_overlap(region, other) < APART for other in kept):
            kept.append(region)
    return kept


def _overlap(a: Region, b: Region) -> float:
    """Intersection over union, or over the smaller where one lies in the other, of upright squares."""
    sides = [
        max(0.0, min(p + a.side / 2, q + b.side / 2) - max(p - a.side / 2, q - b.side / 2))
        for p, q in zip(a.centre, b.centre, strict=True)
    ]
    shared = sides[0] * sides[1]
    return shared / (min(a.side, b.side) ** 2) if shared else 0.0
