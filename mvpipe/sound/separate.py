"""Song -> the isolated vocal as a Stem: one door before every separator, streamed through.

A separator hears 44.1 kHz stereo, whatever the song is; its stem goes back to the song's own rate, in
place to the sample and exactly as long as the song. More than two channels are folded, for the voice stands
in the middle one; mono goes to both ears and comes back as mono. Memory does not grow with the song.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from mvpipe.errors import ToolError
from mvpipe.film import Song, Stem
from mvpipe.sound import read, wav
from mvpipe.sound.resample import Block, length_at, resample

NET_RATE = 44_100
"""Hz at which every network here was trained."""

Progress = Callable[[int, int], None]
"""Called with (done, of): stretches of the song a network has heard, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """A song as a network hears it: stereo at `NET_RATE`.

    Parameters
    ----------
    samples : its length
    blocks : the sound from its first sample on, float32, shape (n, 2); can be asked for again
    """

    samples: int
    blocks: Callable[[], Iterator[Block]]


class Separator(Protocol):
    """Finds the voice in a mix."""

    @property
    def name(self) -> str:
        """What a Stem and the report call it: `htdemucs`, `spleeter`, ..."""

    def identity(self) -> Mapping[str, str | int]:
        """All that decides the stem's samples: name, version of the method, digests of the weights."""

    def vocals(self, mix: Mix, progress: Progress) -> Iterator[Block]:
        """The voice, sample under sample.

        Yields
        ------
        float32, shape (n, 2); as many samples as the mix has

        Raises
        ------
        WeightsMissing, ToolError : the weights are not there, or not what they should be
        """


def separate(song: Song, into: Path, *, separator: Separator, progress: Progress) -> Stem:
    """The song's isolated vocal, written to the file `into` (float32 WAV, RF64 where large).

    Parameters
    ----------
    song : anything from 1 sample on; mono gives a mono stem, all else stereo
    into : the file to write; it is not there unless all went well
    separator : what finds the voice
    progress : called as the network works

    Raises
    ------
    MediaError : the song's file is gone, or is not the one that was measured
    WeightsMissing, ToolError : see `Separator.vocals`; or what came out is not finite
    VaultError : the disk is full or read-only
    """
    channels = min(song.channels, 2)
    mix = Mix(
        samples=length_at(song.samples, song.sample_rate, NET_RATE),
        blocks=lambda: read.blocks(song, channels=2, sample_rate=NET_RATE),
    )
    voice = _finite(separator.vocals(mix, progress), separator.name)
    if channels == 1:
        voice = (block.mean(axis=1, keepdims=True, dtype=np.float32) for block in voice)
    stem = resample(voice, NET_RATE, song.sample_rate, samples=song.samples, channels=channels)
    wav.write(into, stem, sample_rate=song.sample_rate, channels=channels, samples=song.samples)
    return Stem(
        name="vocals",
        path=into,
        sample_rate=song.sample_rate,
        samples=song.samples,
        channels=channels,
        separator=separator.name,
    )


def _finite(voice: Iterable[Block], separator: str) -> Iterator[Block]:
    """The voice, unless it is none: weights that overflow give NaN, and NaN spreads."""
    heard = 0
    for block in voice:
        if not np.isfinite(block).all():
            raise ToolError(
                f"{separator}: {heard / NET_RATE:.0f} s into the song: its output is not finite",
                hint="its weights may be damaged: fetch them again, or try --device cpu",
            )
        heard += len(block)
        yield block
