"""A Song and its vocal -> the accompaniment as a Stem: the song minus the vocal, sample by sample.

One way for every separator. Spleeter's two masks add up to one, so that what its band's mask gives is this
difference; of Demucs it is what its own `--two-stems` calls `minus`; a vocal the user brings has no other
half. What the vocal is not (its level, its effects, a weak separation) stays audible in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from mvpipe.errors import MediaError
from mvpipe.film import Song, Stem
from mvpipe.sound import read, wav
from mvpipe.sound.resample import Block

VERSION = 1
"""Bumped by hand when the same song and vocal would give other samples."""

Progress = Callable[[int, int], None]


def accompany(song: Song, vocals: Path, into: Path, *, separator: str, progress: Progress) -> Stem:
    """The song without its vocal, written to the file `into` (float32 WAV, RF64 where large).

    Parameters
    ----------
    song : the mix; folded to as many channels as the vocal has
    vocals : its vocal stem: as long as the song, at its rate
    separator : what made the vocal

    Raises
    ------
    MediaError : the song's file is not the one that was measured, or the vocal is not as long as it
    """
    shape = wav.shape(vocals)
    if shape.samples != song.samples:
        raise MediaError(f"{vocals}: {shape.samples} samples, where the song has {song.samples}")
    wav.write(
        into,
        _without(song, vocals, shape.channels, progress),
        sample_rate=song.sample_rate,
        channels=shape.channels,
        samples=song.samples,
    )
    return Stem(
        name="accompaniment",
        path=into,
        sample_rate=song.sample_rate,
        samples=song.samples,
        channels=shape.channels,
        separator=separator,
    )


def _without(song: Song, vocals: Path, channels: int, progress: Progress) -> Iterator[Block]:
    at = 0
    for mix in read.blocks(song, channels=channels):
        yield mix - wav.read(vocals, at, at + len(mix))
        at += len(mix)
        progress(at, song.samples)
