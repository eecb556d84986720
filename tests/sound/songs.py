"""Songs as they really arrive: every format, and every way of being broken.

What a file holds is known from the samples that went into it; mvpipe's reader is only asked in the last two
functions.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

from mvpipe.film import Song
from mvpipe.sound import read
from mvpipe.tools import ffmpeg, process

Pcm = NDArray[Any]

LENGTH = 44_117
"""Samples of `sound`, a prime: no coder's frame, block or picture divides it."""

LONG = 150_001
"""Samples of `long16`."""


def music(samples: int, sample_rate: int = 44_100, channels: int = 2) -> NDArray[np.float64]:
    """A chord under noise that no codec can collapse; float64, shape (samples, channels), below 0.7."""
    rng = np.random.default_rng(440)
    time = np.arange(samples)[:, None] / sample_rate
    pitches = 220 * 2 ** (np.arange(channels) / 5)
    return 0.4 * np.sin(2 * np.pi * pitches * time) + rng.uniform(-0.25, 0.25, (samples, channels))


def integers(sound: NDArray[np.float64], bits: int) -> Pcm:
    """The sound as integers of so many bits, in the lowest of a numpy type that holds them."""
    kind = {8: np.int8, 16: np.int16, 24: np.int32, 32: np.int32, 64: np.int64}[bits]
    whole: Pcm = np.round(sound * (2.0 ** (bits - 1) - 2 ** max(bits - 53, 0))).astype(kind)
    return whole


def digest(samples: Pcm) -> str:
    """The digest of the samples as mvpipe defines it, computed from an array."""
    little = samples.astype(samples.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


def pcm_wav(path: Path, samples: Pcm, *, bits: int, sample_rate: int = 44_100) -> Path:
    """A plain RIFF of integer or float samples of so many bits, header and all by hand."""
    floating = np.issubdtype(samples.dtype, np.floating)
    channels = samples.shape[1]
    if floating or bits in (16, 32, 64):
        data = np.ascontiguousarray(samples).tobytes()
    elif bits == 8:
        data = (samples.astype(np.int16) + 128).astype(np.uint8).tobytes()
    else:  # three bytes of each four
        data = np.ascontiguousarray(samples, "<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    width = channels * bits // 8
    form = struct.pack(
        "<HHIIHH", 3 if floating else 1, channels, sample_rate, sample_rate * width, width, bits
    )
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    return path


def sound_file(path: Path, samples: Pcm, *, subtype: str, kind: str, sample_rate: int = 44_100) -> Path:
    """A file written by libsndfile: AIFF, W64, RF64, FLAC, OGG, ..."""
    soundfile.write(str(path), samples, sample_rate, subtype=subtype, format=kind)
    return path


def encode(source: Path, target: Path, *options: str) -> Path:
    """The source through ffmpeg, with its options."""
    process.run(ffmpeg.quiet("-y", "-i", ffmpeg.file(source), *options, ffmpeg.file(target)))
    return target


def cover(path: Path) -> Path:
    """A picture to stick on a song."""
    process.run(
        ffmpeg.quiet("-y", "-f", "lavfi", "-i", "testsrc=s=64x64", "-frames:v", "1", ffmpeg.file(path))
    )
    return path


def encode_with_cover(source: Path, target: Path, *options: str) -> Path:
    """The source through ffmpeg with an attached picture."""
    picture = cover(target.with_name("cover.png"))
    argv = ["-y", "-i", ffmpeg.file(source), "-i", ffmpeg.file(picture), "-map", "0:a", "-map", "1:v"]
    argv += ["-c:v", "mjpeg", "-disposition:v:0", "attached_pic", *options, ffmpeg.file(target)]
    process.run(ffmpeg.quiet(*argv))
    return target


def film(target: Path, *sources: Path, delay_s: str = "0", options: tuple[str, ...] = ()) -> Path:
    """A video with one audio stream for each source, all starting `delay_s` after the picture."""
    argv = ["-y", "-f", "lavfi", "-i", "testsrc=s=64x64:r=24:d=2"]
    for source in sources:
        argv += ["-itsoffset", delay_s, "-i", ffmpeg.file(source)]
    argv += [part for i in range(len(sources) + 1) for part in ("-map", str(i))]
    process.run(ffmpeg.quiet(*argv, "-c:v", "libx264", "-preset", "ultrafast", *options, ffmpeg.file(target)))
    return target


def shorten(path: Path, keep: float) -> Path:
    """The file with only this share of its bytes left."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    return path


def damage(path: Path, at: float, *, size: int = 400) -> Path:
    """The file with some bytes in the middle of it overwritten."""
    data = bytearray(path.read_bytes())
    start = int(len(data) * at)
    data[start : start + size] = np.random.default_rng(440).bytes(size)
    path.write_bytes(bytes(data))
    return path


def sound(channels: int = 2, sample_rate: int = 44_100) -> NDArray[np.float64]:
    """A second of music of awkward length."""
    return music(LENGTH, sample_rate, channels)


def wav16(folder: Path, name: str = "song.wav", channels: int = 2, sample_rate: int = 44_100) -> Path:
    """`sound` as a 16-bit WAV."""
    samples = integers(sound(channels, sample_rate), 16)
    return pcm_wav(folder / name, samples, bits=16, sample_rate=sample_rate)


def long16(folder: Path) -> Path:
    """Three seconds and a bit, so that every coder has several blocks to lose."""
    return pcm_wav(folder / "long.wav", integers(music(LONG), 16), bits=16)


def as_decoded(bits: int) -> Pcm:
    """What a decoder gives for `sound` in integers of so many bits: 24 sit in the upper bytes of 32."""
    exact = integers(sound(), bits)
    if bits == 8:
        return (exact.astype(np.int16) + 128).astype(np.uint8)
    shifted: Pcm = exact << 8 if bits == 24 else exact
    return shifted


def whole(song: Song, **options: Any) -> NDArray[np.float32]:
    """All that `read.blocks` gives."""
    return np.concatenate(list(read.blocks(song, **options)))


def clean(path: Path) -> Song:
    """The song in a file that deserves no note."""
    song, notes = read.measure(path)
    assert notes == ()
    return song
