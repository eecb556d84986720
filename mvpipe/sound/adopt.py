"""A voice the user brings -> the Stem of a song: checked for length and place, then taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mvpipe.clock import format_time
from mvpipe.errors import MediaError
from mvpipe.film import Song, Stem
from mvpipe.sound import align, read, wav
from mvpipe.sound.resample import Block

SPARE_MS = 100
"""How much longer or shorter than the song a stem may be: coders pad a file's end by up to 50 ms."""

LATE_MS = 3
"""How far from its place a stem may lie; a tenth of a picture frame is 4 ms."""

SILENT = 1e-4
"""A stem that never rises above this (-80 dB) holds no voice."""

HINT = "export it from the same session as the mix, from the first sample on; or leave --vocals out"


def adopt(song: Song, vocals: Path, into: Path, *, say: Callable[[str], None] = lambda _: None) -> Stem:
    """The voice in the file `vocals` as a Stem of the song, written to the file `into`.

    It is brought to the song's rate; up to `SPARE_MS` are cut off or filled with silence at its end.

    Parameters
    ----------
    song : the mix
    vocals : anything the bundled ffmpeg decodes
    into : the file to write; it is not there unless all went well
    say : told what its maker should know about the file

    Raises
    ------
    MediaError : it cannot be decoded, is silent, of another length, moved against the song, or not in it
    """
    given, notes = read.measure(vocals)
    for note in notes:
        say(note)
    _check_length(given, song)
    _check_heard(given)
    _check_place(given, song)
    channels = min(given.channels, song.channels, 2)
    wav.write(
        into,
        _fit(given, song, channels),
        sample_rate=song.sample_rate,
        channels=channels,
        samples=song.samples,
    )
    return Stem(
        name="vocals",
        path=into,
        sample_rate=song.sample_rate,
        samples=song.samples,
        channels=channels,
        separator="given",
    )


def _check_length(given: Song, song: Song) -> None:
    if abs(given.seconds - song.seconds) * 1000 > SPARE_MS:
        raise MediaError(
            f"{given.path.name}: length: {format_time(given.seconds)}, but the song lasts "
            f"{format_time(song.seconds)}; {SPARE_MS} ms more or less would do",
            hint=HINT,
        )


def _check_heard(given: Song) -> None:
    peak = max(float(np.abs(block).max()) for block in read.blocks(given, channels=1))
    if peak < SILENT:
        raise MediaError(f"{given.path.name}: voice: silent: its peak is {peak:.1e}", hint=HINT)


def _check_place(given: Song, song: Song) -> None:
    for lag in align.lags(_listen(given), _listen(song)):
        if not lag.clear:
            raise MediaError(
                f"{given.path.name}: place: this voice is not found in {song.path.name} within 2 s of where "
                f"it should be: peak {lag.clearness:.1f} times the next, want {align.CLEAR:g}",
                hint=HINT,
            )
        if abs(lag.ms) > LATE_MS:
            raise MediaError(
                f"{given.path.name}: place: it looks shifted: {abs(float(lag.ms)):.1f} ms "
                f"{'late' if lag.ms > 0 else 'early'} against {song.path.name}",
                hint=HINT,
            )


def _listen(song: Song) -> align.Listen:
    return lambda: read.blocks(song, channels=1, sample_rate=align.RATE)


def _fit(given: Song, song: Song, channels: int) -> Iterator[Block]:
    """The voice at the song's rate, exactly as long as the song."""
    left = song.samples
    for block in read.blocks(given, channels=channels, sample_rate=song.sample_rate):
        kept = block[:left]
        left -= len(kept)
        if len(kept):
            yield kept
    if left:
        yield np.zeros((left, channels), np.float32)
