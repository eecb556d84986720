"""OpenCV, and nothing else: polygons, blurs, warps, and RGB to the planes H.264 is made of.

Images are uint8, shape (h, w) or (h, w, 3) in RGB order. Planes are BT.709, limited range (Y 16..235,
U and V 16..240 around 128), as ITU-R BT.709-6 defines them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Points = NDArray[np.float64]
Field = NDArray[np.float32]

_SUBPIXEL = 4  # binary digits behind the point that OpenCV keeps of a vertex

_KR, _KB = 0.2126, 0.0722
_TO_Y = np.array([_KR, 1 - _KR - _KB, _KB])
_TO_U = (np.array([0, 0, 1]) - _TO_Y) / (2 * (1 - _KB))
_TO_V = (np.array([1, 0, 0]) - _TO_Y) / (2 * (1 - _KR))


def fill(image: Pixels, points: Points, colour: tuple[int, ...]) -> None:
    """Paint a polygon with smooth edges, in place; `points` are (x, y) in pixels, shape (n, 2)."""
    # pixel centres lie on whole numbers for OpenCV, on halves for us
    vertices = np.round((points - 0.5) * (1 << _SUBPIXEL)).astype(np.int32)
    cv2.fillPoly(image, [vertices], colour, lineType=cv2.LINE_AA, shift=_SUBPIXEL)


def blur(image: Any, sigma: float) -> Any:
    """A Gaussian blur of `sigma` pixels; wide ones are made on a smaller copy."""
    if sigma <= 0.3:
        return image
    height, width = image.shape[:2]
    if sigma > 4 and min(height, width) > sigma:
        small = (max(2, round(width * 2.5 / sigma)), max(2, round(height * 2.5 / sigma)))
        soft = cv2.GaussianBlur(cv2.resize(image, small, interpolation=cv2.INTER_AREA), (0, 0), 2.4)
        return cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.GaussianBlur(image, (0, 0), sigma)


def blend(rgb: Pixels, colour: tuple[int, int, int], mask: Pixels) -> None:
    """Lay a colour over part of an image through a mask of 0..255, in place."""
    wide = cv2.merge([mask, mask, mask])
    kept = cv2.multiply(rgb, cv2.bitwise_not(wide), scale=1 / 255)
    tint = cv2.merge([cv2.convertScaleAbs(mask, alpha=c / 255) for c in colour])
    cv2.add(kept, tint, dst=rgb)


def shrink(mask: Pixels, by: int) -> Pixels:
    """A mask whose white has lost `by` pixels all round."""
    return np.asarray(cv2.erode(mask, np.ones((2 * by + 1, 2 * by + 1), np.uint8)), np.uint8)


def resize(image: Any, size: tuple[int, int]) -> Any:
    """The image at another (width, height): averaged when smaller, cubic when larger."""
    height, width = image.shape[:2]
    if (width, height) == size:
        return image
    smaller = size[0] < width and size[1] < height
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_CUBIC)


def stretch(field: Field, size: tuple[int, int]) -> Field:
    """A smooth field at another (width, height), linearly."""
    return np.asarray(cv2.resize(field, size, interpolation=cv2.INTER_LINEAR), np.float32)


def affine(plane: Pixels, matrix: Field, size: tuple[int, int]) -> Pixels:
    """The plane seen through `matrix`, shape (2, 3), which maps a seen pixel to the plane's."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(plane, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8
    )


def remap(image: Pixels, x: Field, y: Field) -> Pixels:
    """The image where pixel (i, j) shows `image` at (x[i, j], y[i, j]); nothing outside it."""
    return np.asarray(
        cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0), np.uint8
    )


def _linear(image: Pixels, row: list[float]) -> Pixels:
    return np.asarray(cv2.transform(image, np.array([row])), np.uint8).reshape(image.shape[:2])


def luma(rgb: Pixels) -> Pixels:
    """The Y plane, shape (h, w), 16..235."""
    return _linear(rgb, [*(_TO_Y * 219 / 255), 16])


def chroma(rgb: Pixels) -> tuple[Pixels, Pixels]:
    """The U and V planes at half the image's resolution, 16..240."""
    half = resize(rgb, (rgb.shape[1] // 2, rgb.shape[0] // 2))
    return _linear(half, [*(_TO_U * 224 / 255), 128]), _linear(half, [*(_TO_V * 224 / 255), 128])


@dataclass(frozen=True, slots=True)
class Cutout:
    """Something cut out, its colours already multiplied by its coverage.

    Parameters
    ----------
    y, a : luma and coverage, shape (h, w)
    uva : both chroma and coverage, the last one twice, shape (h / 2, w / 2, 4)
    """

    y: Pixels
    a: Pixels
    uva: Pixels

    def chroma(self) -> tuple[Pixels, Pixels, Pixels]:
        """U, V and coverage, each shape (h / 2, w / 2)."""
        u, v, a, _ = cv2.split(self.uva)
        return np.asarray(u, np.uint8), np.asarray(v, np.uint8), np.asarray(a, np.uint8)


def cutout(rgb: Pixels, alpha: Pixels) -> Cutout:
    """Planes of an RGB image already multiplied by `alpha`; width and height even."""
    image = np.dstack([rgb, alpha])
    half = resize(image, (image.shape[1] // 2, image.shape[0] // 2))
    y = _linear(image, [*(_TO_Y * 219 / 255), 16 / 255, 0])
    u = _linear(half, [*(_TO_U * 224 / 255), 128 / 255, 0])
    v = _linear(half, [*(_TO_V * 224 / 255), 128 / 255, 0])
    return Cutout(y, np.ascontiguousarray(alpha), np.dstack([u, v, half[..., 3], half[..., 3]]))


def scaled(mask: Pixels, by: float) -> Pixels:
    """A mask times a number of 0..1, rounded."""
    return np.asarray(cv2.convertScaleAbs(mask, alpha=by), np.uint8)


def times(image: Pixels, mask: Pixels) -> Pixels:
    """The image times a mask of 0..255, rounded."""
    return np.asarray(cv2.multiply(image, mask, scale=1 / 255), np.uint8)


def over(base: Pixels, premultiplied: Pixels, mask: Pixels) -> None:
    """Lay a plane that is already multiplied by its mask over `base`, in place."""
    kept = cv2.multiply(base, cv2.bitwise_not(mask), scale=1 / 255)
    cv2.add(kept, premultiplied, dst=base)


def tinted(rgb: Pixels, light: tuple[int, int, int]) -> Pixels:
    """The image in coloured light: each channel times its share of 255."""
    return np.asarray(cv2.transform(rgb, np.diag([c / 255 for c in light])), np.uint8)


def add(base: Pixels, light: Pixels) -> None:
    """Brighten a plane, in place; it saturates."""
    cv2.add(base, light, dst=base)


def placed(image: Pixels, matrix: Field, size: tuple[int, int]) -> Pixels:
    """An image somewhere on an empty sheet of `size`; `matrix` maps the sheet's pixels to the image's."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(image, matrix, size, flags=flags), np.uint8)


def black(size: tuple[int, int]) -> Pixels:
    """A black picture as the planes of yuv420p, in one array."""
    width, height = size
    out = np.full(width * height + 2 * (width // 2) * (height // 2), 128, np.uint8)
    out[: width * height] = 16
    return out


def without(mask: Pixels, other: Pixels) -> Pixels:
    """What a mask has and the other has not."""
    return np.asarray(cv2.subtract(mask, other), np.uint8)


def enlarge(plane: Pixels, into: Pixels) -> None:
    """Fill a plane with a smaller one, linearly."""
    cv2.resize(plane, into.shape[::-1], dst=into, interpolation=cv2.INTER_LINEAR)


def laid(ground: Pixels, premultiplied: Pixels, mask: Pixels) -> Pixels:
    """An RGB image with another, already multiplied by its mask, over it."""
    out = ground.copy()
    over(out, premultiplied, np.dstack([mask, mask, mask]))
    return out
