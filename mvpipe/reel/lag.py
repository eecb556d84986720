"""How late a coded copy of a song is, and how like it, measured where the song is loud."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import IO, TYPE_CHECKING

from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sound = NDArray[np.float32]

BLOCK_S = 10
"""Seconds that are compared at once."""

LOUD = 10 ** (-50 / 20)
"""RMS from which a block is worth comparing."""

REACH_S = 0.25
"""How far a shift is looked for: ten times the priming of AAC or MP3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Two stretches of sound, held against each other.

    Parameters
    ----------
    at : second in which the stretch starts
    lag : samples by which the copy trails
    likeness : normalised correlation at that lag, in [-1, 1]
    """

    at: int
    lag: int
    likeness: float


def compare(copy: Path, song: Path, *, sample_rate: int, channels: int) -> tuple[Match, ...]:
    """The first and the last loud 10 s of a song, held against its copy.

    Parameters
    ----------
    copy, song : files with sound
    sample_rate, channels : the copy's own; the song is brought to them

    Returns
    -------
    two matches, one if the song is short; none if it is silent throughout

    Raises
    ------
    ToolError : one of the two cannot be decoded
    """
    found: list[tuple[int, Sound, Sound]] = []
    for at, one, other in _blocks(copy, song, sample_rate, channels):
        if _rms(other) >= LOUD and len(one):
            found = [*found[:1], (at, one, other)]
    return tuple(match(one, other, at=at, reach=round(REACH_S * sample_rate)) for at, one, other in found)


def match(late: Sound, early: Sound, *, at: int = 0, reach: int) -> Match:
    """The shift within `reach` samples at which two stretches are most alike.

    Parameters
    ----------
    late, early : float32, shape (samples, channels)
    """
    import numpy as np

    size = 1 << (len(late) + len(early)).bit_length()
    spectra = np.fft.rfft(late, size, axis=0) * np.conj(np.fft.rfft(early, size, axis=0))
    both = np.fft.irfft(spectra.sum(axis=1), size)
    near = np.concatenate([both[-reach:], both[: reach + 1]])
    best = int(np.argmax(near))
    power = float(np.sqrt(np.square(late, dtype=np.float64).sum() * np.square(early, dtype=np.float64).sum()))
    return Match(at=at, lag=best - reach, likeness=float(near[best]) / power if power else 0.0)


def sound_argv(path: Path, *, sample_rate: int, channels: int) -> list[str]:
    """The argument list that writes a file's sound to stdout: float32, interleaved."""
    form = ["-ar", str(sample_rate), "-ac", str(channels), "-f", "f32le", "pipe:1"]
    return quiet("-i", file(path), "-map", "0:a:0", *form)


def _rms(sound: Sound) -> float:
    return float((sound.astype("f8") ** 2).mean() ** 0.5) if sound.size else 0.0


def _blocks(copy: Path, song: Path, sample_rate: int, channels: int) -> Iterator[tuple[int, Sound, Sound]]:
    """(second, copy, song), ten seconds each; a last one of less than two is left out unless it is all."""
    import numpy as np

    size = BLOCK_S * sample_rate * channels * 4
    with ExitStack() as stack:
        pipes = [
            stack.enter_context(
                process.start(sound_argv(path, sample_rate=sample_rate, channels=channels), stdout=PIPE)
            ).stdout
            for path in (copy, song)
        ]
        number = 0
        while True:
            one, other = (np.frombuffer(_fill(pipe, size), "<f4").reshape(-1, channels) for pipe in pipes)
            if not len(other) or (number and len(other) < 2 * sample_rate):
                break
            yield number * BLOCK_S, one, other
            number += 1
        for pipe in pipes:
            _drain(pipe)


def _fill(pipe: IO[bytes] | None, size: int) -> bytes:
    assert pipe is not None
    return pipe.read(size)


def _drain(pipe: IO[bytes] | None) -> None:
    while _fill(pipe, 1 << 20):
        pass
