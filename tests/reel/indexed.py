"""Takes whose every frame says which shot and which frame it is, so that a film can be read back.

The address stands in two rows of twelve squares at the bottom: shot above frame, most significant bit
first, and behind each number one square that makes the count of white ones even. A picture that was
blended, scaled or taken from elsewhere does not read as an address by chance.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from subprocess import PIPE

import numpy as np
from numpy.typing import NDArray

from mvpipe import film
from mvpipe.clock import Span
from mvpipe.tools import frames as films
from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet

SIZE = (104, 64)
BITS = 12
RATE = Fraction(24)

Gray = NDArray[np.uint8]


def still(shot: int, frame: int, size: tuple[int, int] = SIZE) -> Gray:
    """A moving gradient above the address; uint8, shape (height, width)."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    gray = (120 + 60 * np.sin(x / 9 + frame / 4 + shot) * np.cos(y / 7 - frame / 9)).astype(np.uint8)
    square, row = width // (BITS + 1), height // 6
    for line, number in enumerate((shot, frame)):
        top = height - (2 - line) * row
        for bit, white in enumerate(_bits(number)):
            gray[top : top + row, bit * square : (bit + 1) * square] = 225 if white else 30
    return np.asarray(gray, np.uint8)


def address(luma: Gray) -> tuple[int, int]:
    """(shot, frame) as the picture says."""
    height, width = luma.shape
    square, row = width // (BITS + 1), height // 6
    numbers = []
    for line in range(2):
        top = height - (2 - line) * row
        cells = luma[top + 2 : top + row - 2, : (BITS + 1) * square].reshape(row - 4, BITS + 1, square)
        level = cells[:, :, 2:-2].mean(axis=(0, 2))
        assert ((level < 70) | (level > 185)).all(), f"no address: {level}"
        bits = [bool(white) for white in level > 128]
        assert sum(bits) % 2 == 0, f"an address with an odd count: {bits}"
        numbers.append(int("".join(str(int(bit)) for bit in bits[:-1]), 2))
    return numbers[0], numbers[1]


def addresses(path: Path) -> list[tuple[int, int]]:
    """What each frame of a film says."""
    seen: list[tuple[int, int]] = []
    films.read(path, see=lambda luma: seen.append(address(luma)))
    return seen


def write(
    path: Path,
    shot: int,
    frames: int,
    *,
    size: tuple[int, int] = SIZE,
    rate: Fraction = RATE,
    sound: bool = True,
) -> None:
    """A take as a backend might deliver it: long groups, B-frames, and AAC of its own."""
    raw = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "gray",
        "-s",
        f"{size[0]}x{size[1]}",
        "-r",
        str(rate),
        "-i",
        "pipe:0",
    ]
    tone = ["-f", "lavfi", "-t", f"{float(frames / rate):.6f}", "-i", f"sine=f={200 + shot}:r=48000"]
    coding = [
        "-c:v",
        "libx264",
        "-preset",
        "veryfast",
        "-crf",
        "16",
        "-bf",
        "3",
        "-g",
        "250",
        "-threads",
        "1",
    ]
    coding += ["-pix_fmt", "yuv420p", "-metadata", "comment=the prompt", "-f", "mp4", "-y", file(path)]
    with process.start(quiet(*raw, *(tone if sound else []), *coding), stdin=PIPE) as child:
        assert child.stdin is not None
        for frame in range(frames):
            child.stdin.write(still(shot, frame, size).tobytes())


def clip(path: Path, *, number: int = 1, start: int = 30, frames: int = 60, slip: int = 0) -> film.Clip:
    """The shot that sees `frames` frames from `start` on of a take of 124, with 12 frames before them."""
    window = film.window_length(frames)
    cut = Span(start, start + frames, RATE)
    head = min(12, start, window - frames)
    shot = film.Shot(
        number=number,
        cut=cut,
        window=Span(start - head, start - head + window, RATE),
        card=film.Card(prompt="a test"),
    )
    return film.Clip(shot=shot, take=take(path, window), slip=slip)


def take(path: Path, frames: int, *, rate: Fraction = RATE, size: tuple[int, int] = SIZE) -> film.Take:
    """A take of so many frames."""
    slate = film.Slate(
        shot=1, take=1, seed=0, backend="test/1", frames=frames, size=size, graph={}, inputs={}
    )
    return film.Take(slate=slate, key="0", path=path, digest="0", frames=frames, rate=rate, size=size)


def _bits(number: int) -> list[bool]:
    bits = [bool(number >> shift & 1) for shift in reversed(range(BITS))]
    return [*bits, sum(bits) % 2 == 1]
