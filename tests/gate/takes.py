"""Takes with known faults, and takes without that come near to looking faulty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet

SIZE = (320, 192)
FRAMES = 124

Gray = NDArray[np.uint8]


def write(
    path: Path, pictures: Iterable[Gray], *, crf: int = 18, rate: str = "24", more: tuple[str, ...] = ()
) -> Path:
    """A take of grey pictures; uint8, shape (height, width)."""
    iterator = iter(pictures)
    first = next(iterator)
    form = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{first.shape[1]}x{first.shape[0]}", "-r", rate]
    coding = ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf), "-pix_fmt", "yuv420p"]
    argv = quiet(*form, "-i", "pipe:0", *coding, "-threads", "1", *more, "-f", "mp4", "-y", file(path))
    with process.start(argv, stdin=PIPE) as child:
        assert child.stdin is not None
        for picture in chain([first], iterator):
            child.stdin.write(picture.tobytes())
    return path


@cache
def photo(size: tuple[int, int] = SIZE) -> NDArray[np.float64]:
    """Something like a photograph: soft shapes at all scales, edges, and a fine texture; 0..255."""
    rng = np.random.default_rng(440)
    width, height = size
    layers = [ndimage.gaussian_filter(rng.standard_normal((height, width)), s) * s for s in (2, 8, 24)]
    soft = sum(layers) * 45 + 120
    y, x = np.mgrid[0:height, 0:width]
    soft[(x - width * 0.6) ** 2 + (y - height / 2) ** 2 < (height * 0.3) ** 2] += 50
    soft[:, : width // 6] -= 40
    return np.asarray(np.clip(soft, 16, 235), np.float64)


def still() -> Iterator[Gray]:
    """One picture, again and again."""
    return (photo().astype(np.uint8) for _ in range(FRAMES))


def push_in(per_frame: float) -> Iterator[Gray]:
    """A slow push-in: so much larger every frame."""
    base = photo()
    height, width = base.shape
    for k in range(FRAMES):
        zoom = 1 + per_frame * k
        offset = [(1 - 1 / zoom) * side / 2 for side in (height, width)]
        yield ndimage.affine_transform(base, [1 / zoom] * 2, offset, order=1).astype(np.uint8)


def grainy(sigma: float) -> Iterator[Gray]:
    """One picture under film grain."""
    rng = np.random.default_rng(440)
    base = photo()
    for _ in range(FRAMES):
        yield np.clip(base + rng.normal(0, sigma, base.shape), 0, 255).astype(np.uint8)


def talking() -> Iterator[Gray]:
    """A locked-off picture in which only a small mouth moves, and rests for a second between phrases."""
    base = photo()
    for k in range(FRAMES):
        picture = base.copy()
        opening = 0 if 50 <= k < 74 else round(4 + 4 * np.sin(k))
        picture[110 : 111 + opening, 150:166] = 20
        yield picture.astype(np.uint8)


def moving(level: Callable[[Gray, int], NDArray[Any]] | None = None) -> Iterator[Gray]:
    """A picture that pans; `level` changes it by frame number."""
    base = photo((SIZE[0] + FRAMES, SIZE[1]))
    for k in range(FRAMES):
        picture = base[:, k : k + SIZE[0]]
        yield (level(picture.astype(np.uint8), k) if level else picture).astype(np.uint8)


def frozen_from(start: int) -> Iterator[Gray]:
    """A picture that pans and then stops."""
    pictures = list(moving())
    return (pictures[min(k, start)] for k in range(FRAMES))
