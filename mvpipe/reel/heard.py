"""Whether what is heard in a film is the song."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from mvpipe.clock import format_time
from mvpipe.errors import MediaError, ToolError
from mvpipe.film import Song
from mvpipe.reel.lag import Match, compare
from mvpipe.tools.picture import SoundTimes, sound_times
from mvpipe.tools.sound import WIDTHS, decode
from mvpipe.wording import counted

CODED = frozenset({
    *("aac", "ac3", "dca", "eac3", "libopus", "libvorbis"),
    *("mp2", "mp2float", "mp3", "mp3float", "opus", "vorbis", "wmav2"),
})  # fmt: skip
"""Decoders whose sound is like what was coded, but not the same samples."""

ALIKE = 0.6
"""Least likeness of a coded copy to its song. Measured for AAC at 128 kbit/s and channel: tones 0.999, white
noise, the worst there is, 0.89; another song below 0.1."""

PADDING = 2048
"""Samples by which a coded copy may be longer than the song: its last packet is always whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A film's sound, held against the song.

    Parameters
    ----------
    kind : `exact`, `coded copy`, `different` or `none`
    codec : of the film's sound
    digest : of its samples, decoded in the song's sample format
    samples : per channel
    matches : for a coded copy, how it lies against the song
    problems : what is wrong, a line each
    """

    kind: str
    codec: str = ""
    digest: str = ""
    samples: int = 0
    matches: tuple[Match, ...] = ()
    problems: tuple[str, ...] = ()


SILENT = Heard(kind="none", problems=("sound: none",))


def hear(film: Path, song: Song) -> Heard:
    """Decode a film's first sound stream and compare it with the song.

    Raises
    ------
    MediaError : the film cannot be opened, or has no sound
    """
    times = sound_times(film)
    try:
        digest, size = _digest(film, song.sample_format)
    except (MediaError, ToolError) as exc:
        return Heard(kind="different", codec=times.codec, problems=(f"sound: cannot be decoded: {exc}",))
    samples = size // (WIDTHS[song.sample_format] * times.channels)
    heard = Heard(kind="exact", codec=times.codec, digest=digest, samples=samples)
    placed = tuple(_placed(times, samples))
    if digest == song.digest and (times.sample_rate, times.channels) == (song.sample_rate, song.channels):
        return replace(heard, problems=placed)
    if times.codec in CODED:
        return _coded(heard, film, song, times, placed)
    return replace(heard, kind="different", problems=(*placed, *_different(film, song, times, samples)))


def _digest(path: Path, sample_format: str) -> tuple[str, int]:
    hasher, size = hashlib.sha256(), 0
    for block in decode(path, sample_format):
        hasher.update(block)
        size += len(block)
    return hasher.hexdigest(), size


def _placed(times: SoundTimes, samples: int) -> Iterator[str]:
    """The sound starts with the picture and has no holes, to within two ticks of the container's clock."""
    slack = 2 * max(times.base, Fraction(1, times.sample_rate))
    if times.start != 0:
        yield f"sound: starts at {_ms(times.start)}, not with the picture"
    if times.hole > slack:
        yield f"sound: a hole of {_ms(times.hole)} between two packets"
    longer = times.stop - Fraction(samples, times.sample_rate)
    if not -slack <= longer <= slack + Fraction(PADDING if times.codec in CODED else 0, times.sample_rate):
        yield f"sound: lasts {_ms(longer)} longer by its times than by its samples"


def _coded(heard: Heard, film: Path, song: Song, times: SoundTimes, placed: tuple[str, ...]) -> Heard:
    wanted = -(-song.samples * times.sample_rate // song.sample_rate)
    problems = list(placed)
    if not -1 <= heard.samples - wanted <= PADDING:
        problems.append(f"sound: {counted(heard.samples, 'sample')} where {wanted} are wanted")
    try:
        matches = compare(film, song.path, sample_rate=times.sample_rate, channels=times.channels)
    except (MediaError, ToolError) as exc:
        return replace(heard, kind="different", problems=(*problems, f"song: cannot be decoded: {exc}"))
    unlike = [match for match in matches if match.likeness < ALIKE]
    problems += [f"sound: is not the song at {format_time(m.at)}: likeness {m.likeness:.2f}" for m in unlike]
    problems += [
        f"sound: {counted(abs(m.lag), 'sample')} {'late' if m.lag > 0 else 'early'} at {format_time(m.at)}"
        for m in matches
        if m.lag and m not in unlike
    ]
    kind = "different" if unlike else "coded copy"
    return replace(heard, kind=kind, matches=matches, problems=tuple(problems))


def _different(film: Path, song: Song, times: SoundTimes, samples: int) -> Iterator[str]:
    """Where a sound that should be the song is not."""
    if (times.sample_rate, times.channels) != (song.sample_rate, song.channels):
        yield (
            f"sound: {counted(times.channels, 'channel')} at {times.sample_rate} Hz "
            f"where {song.channels} at {song.sample_rate} Hz are wanted"
        )
        return
    if samples != song.samples:
        yield f"sound: {counted(samples, 'sample')} where {song.samples} are wanted"
    try:
        first = _first_difference(film, song)
    except (MediaError, ToolError) as exc:
        yield f"sound: is not the song's; where it differs cannot be said: {exc}"
        return
    at = format_time(Fraction(first, song.sample_rate))
    if first < min(samples, song.samples):
        yield f"sound: sample {first} ({at}) is not the song's; it is the first that differs"
    elif samples == song.samples:
        yield f"sound: is what {song.path.name} holds now, which is not what was read from it before"


def _first_difference(film: Path, song: Song) -> int:
    """The first sample at which two files differ, or the length of the shorter."""
    import numpy as np

    one, other = (_chopped(path, song.sample_format) for path in (film, song.path))
    at = 0
    for left, right in zip(one, other, strict=False):
        size = min(len(left), len(right))
        differ = np.frombuffer(left[:size], np.uint8) != np.frombuffer(right[:size], np.uint8)
        if differ.any() or len(left) != len(right):
            at += int(differ.argmax()) if differ.any() else size
            break
        at += size
    return at // (WIDTHS[song.sample_format] * song.channels)


def _chopped(path: Path, sample_format: str, size: int = 1 << 20) -> Iterator[bytes]:
    """Blocks of one size, whatever sizes the decoder gives; the last may be shorter."""
    rest = b""
    for block in decode(path, sample_format):
        rest += block
        while len(rest) >= size:
            yield rest[:size]
            rest = rest[size:]
    if rest:
        yield rest


def _ms(seconds: Fraction) -> str:
    return f"{float(seconds) * 1000:.3f} ms"
