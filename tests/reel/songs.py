"""Songs of every kind of file, made on the spot: noise over a tone, so that every sample is its own."""

from __future__ import annotations

import hashlib
from pathlib import Path
from subprocess import PIPE

import numpy as np

from mvpipe import film
from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.sound import decode, probe


def write(
    path: Path,
    *coding: str,
    seconds: float = 2.51,
    sample_rate: int = 44_100,
    channels: int = 2,
    layout: str = "",
    seed: int = 440,
) -> Path:
    """A sound file, coded as the extension and `coding` say."""
    count = round(seconds * sample_rate)
    noise = np.random.default_rng(seed).standard_normal((count, channels))
    tone = np.sin(np.arange(count) * (2 * np.pi * 330 / sample_rate))[:, None]
    sound = 0.08 * noise + 0.3 * tone * np.linspace(0.3, 1, channels)
    raw = ["-f", "f64le", "-ar", str(sample_rate), "-ac", str(channels)]
    raw += ["-channel_layout", layout] if layout else []
    with process.start(quiet(*raw, "-i", "pipe:0", *coding, "-y", file(path)), stdin=PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(sound.tobytes())
    return path


def song(path: Path) -> film.Song:
    """The Song a file holds."""
    facts = probe(path)
    hasher, size = hashlib.sha256(), 0
    for block in decode(path, facts.sample_format):
        hasher.update(block)
        size += len(block)
    return film.Song(
        path=path,
        digest=hasher.hexdigest(),
        sample_rate=facts.sample_rate,
        samples=size // facts.width,
        channels=facts.channels,
        sample_format=facts.sample_format,
    )
