"""Read and write float32 WAV: streamed, sample for sample, and the same bytes for the same samples.

Reading goes through libsndfile. Writing does not: libsndfile puts the time of day into every float WAV
(its `PEAK` chunk), and a file whose digest enters a key must not know what time it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import soundfile
from numpy.typing import NDArray

from mvpipe.errors import MediaError, VaultError

BLOCK = 1 << 16
"""Samples per channel that are held at once while streaming."""

LARGEST_WAV = 3_900_000_000
"""Bytes of sound above which the file becomes an RF64; RIFF sizes end at 2**32 - 1."""

_IEEE_FLOAT = 3
_UNKNOWN = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a sound file holds: Hz, channels, and samples per channel."""

    sample_rate: int
    channels: int
    samples: int


def shape(path: Path) -> Shape:
    """What a sound file written by mvpipe (or any libsndfile reads) holds.

    Raises
    ------
    MediaError : it cannot be opened
    """
    with _open(path) as sound:
        return Shape(sample_rate=sound.samplerate, channels=sound.channels, samples=sound.frames)


def length(path: Path) -> int:
    """Samples per channel in a sound file."""
    return shape(path).samples


def read(path: Path, start: int = 0, stop: int | None = None, *, mono: bool = False) -> NDArray[np.float32]:
    """Samples [start, stop) of a sound file; zeros stand only where the file has no samples.

    Parameters
    ----------
    path : a WAV, RF64 or anything else libsndfile reads
    start, stop : samples from the file's first; they may lie outside it. `None` is the file's end.
    mono : give the mean of the channels

    Returns
    -------
    float32, shape (stop - start, channels), or (stop - start,) if `mono`

    Raises
    ------
    MediaError : it cannot be opened, or ends before its header says
    ValueError : `stop` lies before `start`
    """
    with _open(path) as sound:
        end = sound.frames if stop is None else stop
        if end < start:
            raise ValueError(f"samples {start}..{end} run backwards")
        out = np.zeros((end - start, sound.channels), np.float32)
        first, last = max(start, 0), min(end, sound.frames)
        if first < last:
            sound.seek(first)
            out[first - start : last - start] = _read_exactly(path, sound, last - first)
    return out.mean(axis=1, dtype=np.float32) if mono else out


def blocks(path: Path, *, block: int = BLOCK, mono: bool = False) -> Iterator[NDArray[np.float32]]:
    """A sound file from its first to its last sample, in pieces of at most `block` samples.

    Yields
    ------
    float32, shape (n, channels), or (n,) if `mono`; 0 < n <= block

    Raises
    ------
    MediaError : it cannot be opened, or ends before its header says
    """
    with _open(path) as sound:
        left = sound.frames
        while left:
            piece = _read_exactly(path, sound, min(block, left))
            left -= len(piece)
            yield piece.mean(axis=1, dtype=np.float32) if mono else piece


def write(
    path: Path, pieces: Iterable[NDArray[np.float32]], *, sample_rate: int, channels: int, samples: int
) -> None:
    """Write a float32 WAV from pieces of sound; see `Writer`."""
    with Writer(path, sample_rate=sample_rate, channels=channels, samples=samples) as out:
        for piece in pieces:
            out.write(piece)


class Writer:
    """A float32 WAV (RF64 where large) that is written piece by piece, and is complete or not there.

    Leaving the `with` block by an error removes the file.

    Parameters
    ----------
    path : the file to write
    sample_rate : Hz
    channels : 1 or more
    samples : per channel, as many as will be written: the header is written once, first
    """

    def __init__(self, path: Path, *, sample_rate: int, channels: int, samples: int) -> None:
        if min(sample_rate, channels) < 1 or samples < 0:
            raise ValueError(f"not a sound: {samples} x {channels} at {sample_rate} Hz")
        self.path = path
        self.channels = channels
        self.samples = samples
        self.written = 0
        with _disk(path):
            self._file = path.open("wb")
            self._file.write(_header(sample_rate, channels, samples))

    def write(self, piece: NDArray[np.float32]) -> None:
        """Append samples: float32, shape (n, channels), or (n,) for one channel.

        Raises
        ------
        MediaError : a sample is NaN or infinite
        VaultError : the disk is full or read-only
        ValueError : another dtype or shape, or more samples than were announced
        """
        columns = piece[:, None] if piece.ndim == 1 else piece
        if columns.dtype != np.float32 or columns.ndim != 2 or columns.shape[1] != self.channels:
            raise ValueError(f"want float32 (n, {self.channels}), not {piece.dtype} {piece.shape}")
        if self.written + len(columns) > self.samples:
            raise ValueError(f"{self.path.name}: more than the {self.samples} samples announced")
        finite = np.isfinite(columns).all(axis=1)
        if not finite.all():
            at = self.written + int(np.argmin(finite))
            raise MediaError(f"{self.path.name}: sample {at}: not a finite number")
        with _disk(self.path):
            self._file.write(np.ascontiguousarray(columns, "<f4").data)
        self.written += len(columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        whole = kind is None and self.written == self.samples
        try:
            with _disk(self.path):
                self._file.close()
        except VaultError:
            self.path.unlink(missing_ok=True)
            raise
        if not whole:
            self.path.unlink(missing_ok=True)
        if not whole and kind is None:
            raise ValueError(f"{self.path.name}: {self.written} of {self.samples} samples were written")


def _header(sample_rate: int, channels: int, samples: int) -> bytes:
    data = samples * channels * 4
    form = struct.pack(
        "<4sIHHIIHHH", b"fmt ", 18, _IEEE_FLOAT, channels, sample_rate, sample_rate * channels * 4,
        channels * 4, 32, 0,
    )  # fmt: skip
    if data <= LARGEST_WAV:
        fact = struct.pack("<4sII", b"fact", 4, samples)
        body = b"WAVE" + form + fact + struct.pack("<4sI", b"data", data)
        return struct.pack("<4sI", b"RIFF", len(body) + data) + body
    # EBU Tech 3306: the true sizes stand in ds64, and the 32-bit fields say so
    tail = form + struct.pack("<4sI", b"data", _UNKNOWN)
    riff = len(b"WAVE") + 36 + len(tail) + data
    sizes = struct.pack("<4sIQQQI", b"ds64", 28, riff, data, samples, 0)
    return struct.pack("<4sI", b"RF64", _UNKNOWN) + b"WAVE" + sizes + tail


@contextmanager
def _open(path: Path) -> Iterator[soundfile.SoundFile]:
    try:
        sound = soundfile.SoundFile(str(path.absolute()))  # absolute, for libsndfile reads `-` as stdin
    except (soundfile.LibsndfileError, TypeError) as exc:
        if not path.exists():
            raise MediaError(f"{path.name}: no such file") from exc
        raise MediaError(f"{path.name}: not a sound file that can be read: {exc}") from exc
    with sound:
        yield sound


def _read_exactly(path: Path, sound: soundfile.SoundFile, samples: int) -> NDArray[np.float32]:
    piece: NDArray[np.float32] = sound.read(samples, dtype="float32", always_2d=True)
    if len(piece) != samples:
        raise MediaError(f"{path.name}: ends early: {samples - len(piece)} samples are missing")
    return piece


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise VaultError(
            f"{path}: cannot be written: {exc.strerror or exc}", hint="free some space, or use --into DIR"
        ) from exc
