"""Takes with known faults, and takes without that come near to looking faulty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mvpipe.gate.look import look
from mvpipe.gate.pictures import Sight
from mvpipe.gate.sync import Samples, SyncVerdict, judge_sync
from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet

if TYPE_CHECKING:
    from mvpipe.gate.syncnet import SyncNet

SIZE = (320, 192)
FRAMES = 124

Gray = NDArray[np.uint8]


def write(
    path: Path, pictures: Iterable[Gray], *, crf: int = 18, rate: str = "24", more: tuple[str, ...] = ()
) -> Path:
    """A take of pictures: uint8, grey of shape (height, width) or RGB of shape (height, width, 3)."""
    iterator = iter(pictures)
    first = next(iterator)
    depth = "gray" if first.ndim == 2 else "rgb24"
    form = ["-f", "rawvideo", "-pix_fmt", depth, "-s", f"{first.shape[1]}x{first.shape[0]}", "-r", rate]
    coding = ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf), "-pix_fmt", "yuv420p"]
    argv = quiet(*form, "-i", "pipe:0", *coding, "-threads", "1", *more, "-f", "mp4", "-y", file(path))
    with process.start(argv, stdin=PIPE) as child:
        assert child.stdin is not None
        for picture in chain([first], iterator):
            child.stdin.write(picture.tobytes())
    return path


def sight(path: Path) -> Sight:
    """What is seen in a take, faces left out."""
    return look(path, faces=False).sight


def check_sync(clip: Path, voice: Samples, sample_rate: int, network: SyncNet | None = None) -> SyncVerdict:
    """A clip judged from its file."""
    return judge_sync(look(clip, network=network).seen, voice, sample_rate, network=network)


def unremarkable(frames: int) -> dict[str, Any]:
    """Of what a Sight holds, what is measured of pictures that are like each other and no noise."""
    ordinary = {
        "lift": 0.0,
        "changed": 0.2,
        "strange": 0.01,
        "returned": 0.02,
        "coherence": 0.8,
        "evenness": 0.3,
        "tint": 10.0,
    }
    ordinary |= {"tint_coherence": 0.8, "tint_evenness": 0.3}
    return {name: (value,) * frames for name, value in ordinary.items()}


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


def broken(start: int, length: int, by: Callable[[Gray, int], Gray]) -> Iterator[Gray]:
    """A picture that pans slowly, and `length` frames of something else in it from `start` on."""
    base = photo((SIZE[0] + FRAMES, SIZE[1])).astype(np.uint8)
    for k in range(FRAMES):
        picture = base[:, k // 2 : k // 2 + SIZE[0]]
        yield np.ascontiguousarray(by(picture, k) if start <= k < start + length else picture)


def mirrored(picture: Gray, frame: int) -> Gray:
    """Another picture of the same light."""
    return picture[:, ::-1]


def nearer(picture: Gray, frame: int) -> Gray:
    """A cut to a closer framing."""
    large = ndimage.zoom(picture.astype(np.float32), 1.6, order=1)
    return np.asarray(np.clip(large[40 : 40 + SIZE[1], 90 : 90 + SIZE[0]], 0, 255), np.uint8)


def white(picture: Gray, frame: int) -> Gray:
    """Nothing but light."""
    return np.full_like(picture, 250)


def dark(picture: Gray, frame: int) -> Gray:
    """Nothing at all."""
    return np.full_like(picture, 16)


def garbage(picture: Gray, frame: int) -> Gray:
    """What an autoencoder makes of nothing."""
    return np.random.default_rng(frame).integers(0, 256, picture.shape).astype(np.uint8)


def lit(when: Callable[[int], float]) -> Iterator[Gray]:
    """A picture that pans slowly under a light of changing strength; above 1 it burns out."""
    return broken(0, FRAMES, lambda p, k: np.clip(p.astype(float) * when(k), 0, 255).astype(np.uint8))


def thrown(by: Callable[[int], tuple[int, int]]) -> Iterator[Gray]:
    """A picture moved so many pixels (down, right) by frame number."""
    base = photo((3 * SIZE[0], 2 * SIZE[1])).astype(np.uint8)
    for k in range(FRAMES):
        down, right = by(k)
        top, left = SIZE[1] // 2 + down, SIZE[0] + right
        yield np.ascontiguousarray(base[top : top + SIZE[1], left : left + SIZE[0]])


def latent(cell: int, sigma: float, *, over: float = 0.0, colours: int = 3) -> Iterator[Gray]:
    """Noise a latent wide, in RGB, with so much of a photograph below it."""
    rng = np.random.default_rng(440)
    base = photo()[..., None] * over + 128 * (1 - over)
    cells = (SIZE[1] // cell, SIZE[0] // cell, colours)
    for _ in range(FRAMES):
        noise = ndimage.zoom(rng.normal(0, sigma, cells), (cell, cell, 1), order=1)
        yield np.clip(base + noise + np.zeros(3), 0, 255).astype(np.uint8)


def tinted(picture: Gray, colour: tuple[float, float, float], sigma: float = 0.0) -> Gray:
    """A picture in colour, under grain of each colour."""
    rng = np.random.default_rng(int(picture[0, 0]))
    shaded = picture[..., None] * np.array(colour) + np.linspace(-30, 30, picture.shape[1])[:, None] * (
        1,
        0,
        -1,
    )
    return np.asarray(np.clip(shaded + rng.normal(0, sigma, shaded.shape), 0, 255), np.uint8)


def confetti(count: int) -> Iterator[Gray]:
    """Coloured paper falling through a picture."""
    rng = np.random.default_rng(440)
    at = rng.uniform(0, 1, (count, 2)) * (SIZE[1], SIZE[0])
    colours = rng.integers(0, 256, (count, 3))
    for k, picture in enumerate(moving()):
        coloured = tinted(picture, (1, 0.95, 0.9))
        for (y, x), colour in zip(at, colours, strict=True):
            top, left = int(y + 2 * k) % SIZE[1], int(x)
            coloured[top : top + 3, left : left + 5] = colour
        yield coloured
