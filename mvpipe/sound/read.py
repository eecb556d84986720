"""Read a song: count and check it once, and give its samples again as often as they are needed.

What a song is, is what the bundled ffmpeg decodes; the same bytes are hashed each time they are read, so a
file that changes under a project is noticed. Memory stays flat, however long the song.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import log10
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import format_time
from mvpipe.errors import MediaError
from mvpipe.film import Song
from mvpipe.sound.fold import matrix
from mvpipe.sound.promise import Promise, lost_end, promise
from mvpipe.sound.resample import length_at, resample
from mvpipe.sound.tally import DTYPES, Native, Tally
from mvpipe.tools.sound import Damaged, StreamFacts, decode, probe

BLOCK = 1 << 16
"""Samples per channel that are held at once."""

AUDIBLE_OFFSET = Fraction(1, 25)
"""Seconds between picture and sound of a video below which its coder's priming explains it (21-26 ms)."""

Progress = Callable[[int, int], None]
"""Called with (done, of) in samples; `of` is 0 where the file does not say how long it is."""


def measure(
    path: Path, *, progress: Progress | None = None, block: int = BLOCK
) -> tuple[Song, tuple[str, ...]]:
    """The song in a sound or video file, decoded from end to end, and what its maker should know about it.

    Several sound streams: the first. A video whose sound starts later: the sound alone, from its first
    sample. A file that is damaged or cut off is read as players read it, and the notes say so.

    Parameters
    ----------
    path : anything the bundled ffmpeg decodes
    progress : told after every block
    block : samples per channel read at once; changes no result

    Returns
    -------
    the song, and notes in words, each `file: what: what was found`

    Raises
    ------
    MediaError : no such file, a folder, no sound in it, nothing that decodes, no samples, a sample that is
        NaN or infinite (named with its time), or a file that changed while it was read
    """
    facts = probe(path)
    before = _state(path)
    tally, complaint = _tally(path, facts, True, progress, block)
    damaged_at = tally.samples
    if complaint:  # once more, past the damage
        tally, _ = _tally(path, facts, False, progress, block)
    if _state(path) != before:
        raise MediaError(f"{path.name}: changed while it was read", hint="start again once it is written")
    if not tally.samples:
        raise MediaError(f"{path.name}: no sound in it: {complaint or '0 samples were decoded'}")
    song = Song(
        path=path,
        digest=tally.digest,
        sample_rate=facts.sample_rate,
        samples=tally.samples,
        channels=facts.channels,
        sample_format=facts.sample_format,
    )
    notes = [*_shape_notes(facts), *_length_notes(path, facts, tally, complaint, damaged_at)]
    return song, tuple(f"{path.name}: {note}" for note in (*notes, *_level_notes(facts, tally)))


def blocks(
    song: Song,
    *,
    start: int = 0,
    stop: int | None = None,
    block: int = BLOCK,
    channels: int | None = None,
    sample_rate: int | None = None,
) -> Iterator[NDArray[np.float32]]:
    """The song's samples, or a stretch of them, piece by piece; decoded from the start each time.

    The whole song is decoded and held against its digest even where `stop` comes earlier: whoever takes all
    that is given has taken the right song.

    Parameters
    ----------
    song : as `measure` found it
    start, stop : samples of the song, in [0, song.samples]; `None` is its end
    block : samples of the song decoded at once; a piece is about as long
    channels : 1 or 2 folds them (see `fold.matrix`); `None` leaves them
    sample_rate : Hz to convert to. n samples become `ceil(n * sample_rate / song.sample_rate)`, and so do
        `start` and `stop`, so that neighbouring stretches meet; `None` leaves it.

    Yields
    ------
    float32, shape (n, channels), nominally in [-1, 1]; n > 0

    Raises
    ------
    MediaError : the file is gone, or is not the one that was measured
    ValueError : a stretch outside the song
    """
    end = song.samples if stop is None else stop
    if not 0 <= start <= end <= song.samples:
        raise ValueError(f"samples {start}..{end} do not lie in a song of {song.samples}")
    rate = sample_rate or song.sample_rate
    first, last, whole = (length_at(n, song.sample_rate, rate) for n in (start, end, song.samples))
    sound = _floats(song, channels, block)
    given = resample(sound, song.sample_rate, rate, samples=whole, channels=channels or song.channels)
    return _between(given, first, last)


def _tally(
    path: Path, facts: StreamFacts, strict: bool, progress: Progress | None, block: int
) -> tuple[Tally, str]:
    """All that a pass over the file finds, and what the decoder complained of."""
    tally = Tally(path.name, facts)
    try:
        for samples in _native(path, facts, strict, block):
            tally.add(samples)
            if progress:
                progress(tally.samples, max(facts.declared, tally.samples) if facts.declared else 0)
    except Damaged as exc:
        return tally, exc.complaint
    return tally, ""


def _native(path: Path, facts: StreamFacts, strict: bool, block: int) -> Iterator[Native]:
    for piece in decode(path, facts.sample_format, strict=strict, block=block * facts.width):
        whole = len(piece) - len(piece) % facts.width
        yield np.frombuffer(piece[:whole], DTYPES[facts.sample_format]).reshape(-1, facts.channels)


def _length_notes(
    path: Path, facts: StreamFacts, tally: Tally, complaint: str, damaged_at: int
) -> Iterator[str]:
    said = promise(path, facts)
    there = _time(tally.samples, facts)
    if said and not said.is_kept(tally.samples):
        counts = f"{tally.samples} of {said.samples} samples"
        yield f"truncated or damaged: {there} of {_time(said.samples, facts)} can be decoded ({counts})"
    elif sign := lost_end(path, facts):
        yield f"may be truncated at {there}: {sign}"
    if complaint:
        yield from _damage_note(facts, tally.samples, said, complaint, damaged_at)
    elif tally.md5_differs:
        yield "damaged: the samples differ from the checksum that its encoder left in it"


def _damage_note(
    facts: StreamFacts, samples: int, said: Promise | None, complaint: str, at: int
) -> Iterator[str]:
    if facts.codec.startswith("pcm_") and (said or facts.container == "wav"):
        return  # plain samples cannot break, only end: that is said above, or a pipe's header knew no length
    if samples - at > facts.sample_rate // 4:  # more came after it than a decoder holds back
        after = "the film takes what can be decoded, and that may be out of place from there"
    elif said and said.is_kept(samples) and facts.container in ("mp3", "flac"):  # junk behind a whole song
        after = "nothing of the sound is missing"
    else:
        after = "nothing can be decoded after it"
    yield f"damaged near {_time(at, facts)}: {complaint}; {after}"


def _shape_notes(facts: StreamFacts) -> Iterator[str]:
    if facts.audio_streams > 1:
        yield f"{facts.audio_streams} sound streams: the first is taken"
    if abs(facts.start) > AUDIBLE_OFFSET:
        side = "after" if facts.start > 0 else "before"
        yield (
            f"its sound starts {float(abs(facts.start)):.3f} s {side} its picture: "
            "the film's clock starts with the sound"
        )


def _level_notes(facts: StreamFacts, tally: Tally) -> Iterator[str]:
    if tally.silent:
        yield "silent from the first sample to the last"
    if facts.bits and tally.peak > 1:
        yield f"goes {20 * log10(tally.peak):.1f} dB over full scale: a coded copy of the film will clip"
    elif tally.clipped:
        first = _time(tally.first_clipped, facts)
        yield f"clipped: {tally.clipped} samples stay at full scale, the first at {first}"


def _floats(song: Song, channels: int | None, block: int) -> Iterator[NDArray[np.float32]]:
    """The song as float32 in nominal [-1, 1], folded; the last piece is followed by the proof."""
    facts = probe(song.path)
    if (facts.sample_format, facts.sample_rate, facts.channels) != (
        song.sample_format,
        song.sample_rate,
        song.channels,
    ):
        raise _changed(song, f"{facts.channels} channels of {facts.sample_format} at {facts.sample_rate} Hz")
    fold = None if channels in (None, song.channels) else matrix(song.channels, facts.speakers, channels)
    sha, count = hashlib.sha256(), 0
    try:
        for samples in _native(song.path, facts, False, block):
            sha.update(samples.data)
            count += len(samples)
            sound = _to_float(samples)
            yield sound if fold is None else sound @ fold
    except Damaged:
        pass  # said when it was measured; what was decoded is held against the digest all the same
    if count != song.samples:
        raise _changed(song, f"{count} samples where {song.samples} were counted")
    if sha.hexdigest() != song.digest:
        raise _changed(song, "other samples")


def _to_float(samples: Native) -> NDArray[np.float32]:
    if samples.dtype.kind == "f":
        return samples.astype(np.float32)
    scale = 2.0 ** -(samples.dtype.itemsize * 8 - 1)
    if samples.dtype.itemsize < 4:
        middle = np.float32(128 if samples.dtype.kind == "u" else 0)
        return (samples.astype(np.float32) - middle) * np.float32(scale)
    return (samples * scale).astype(np.float32)  # in float64, for float32 would round before it scales


def _between(pieces: Iterator[NDArray[np.float32]], first: int, last: int) -> Iterator[NDArray[np.float32]]:
    """Samples [first, last) of the pieces; the rest are taken, too, so that their proof is heard."""
    at = 0
    for piece in pieces:
        kept = piece[max(first - at, 0) : max(last - at, 0)]
        at += len(piece)
        if len(kept):
            yield kept


def _changed(song: Song, found: str) -> MediaError:
    return MediaError(
        f"{song.path.name}: not the file that was read before: found {found}",
        hint="put the old file back, or run the command again to start from the new one",
    )


def _state(path: Path) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _time(samples: int, facts: StreamFacts) -> str:
    return format_time(Fraction(samples, facts.sample_rate))
