"""Songs for separators: as they hear them, and as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from mvpipe.film import Song
from mvpipe.sound import read
from mvpipe.sound.separate import Mix, Separator

Sound = NDArray[np.float32]


def mix(sound: Sound, block: int = 10_007) -> Mix:
    """Float32 sound, shape (n, 2), as a separator is given it."""
    return Mix(samples=len(sound), blocks=lambda: pieces(sound, block))


def pieces(sound: Sound, block: int) -> Iterator[Sound]:
    return (sound[start : start + block] for start in range(0, len(sound), block))


def voice(separator: Separator, sound: Sound, block: int = 10_007) -> Sound:
    """All that a separator finds in it."""
    return np.concatenate(list(separator.vocals(mix(sound, block), lambda *_: None)))


def song(path: Path, sound: Sound, sample_rate: int = 44_100) -> Song:
    """The sound in a float WAV, as mvpipe reads it."""
    soundfile.write(path, sound, sample_rate, "FLOAT")
    return read.measure(path)[0]


def contents(path: Path) -> Sound:
    """Float32, shape (n, channels)."""
    sound: Sound = soundfile.read(path, dtype="float32", always_2d=True)[0]
    return sound
