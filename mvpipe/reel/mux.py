"""The song, laid under the reel once, from the file the musician delivered.

The picture is copied. The master holds the song's decoded samples, bit for bit: as FLAC where that can
hold them, else as PCM in the decoder's own format. A coded song (mp3, aac, vorbis, opus) is stored decoded:
its packets, copied into Matroska, would decode to 1105 (mp3) or 1024 (aac) samples more, 23 ms late, in
every player that does not know its priming. Matroska holds even 64-bit integers, so nothing is reduced.

The phone's film holds the song coded once, as AAC, with its priming of 1024 samples hidden by an edit list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mvpipe import film
from mvpipe.tools import picture, process
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.sound import decode

TOLD = "MVPIPE_TAKES"
"""Tag of the master that holds what its takes were made from, if the user wants it there."""

PHONE_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
"""Hz that every phone's AAC decoder takes; a song at another rate is resampled to 48000."""

PACKET = 4096
"""Samples in a packet of the master: all alike, as FLAC's are, whatever the song's own coding had."""

PHONE_BITS = 128_000
"""AAC bits per second and channel."""


def lay(reel: film.Reel, song: film.Song, into: Path, *, title: str, told: str = "") -> None:
    """Write the master .mkv: the reel's packets, and the song's own samples.

    Parameters
    ----------
    reel : the silent picture
    song : re-decoded from its own file
    into : the film
    title : all the metadata it gets
    told : unless the user wants this as well: what the takes were made from, as JSON

    Raises
    ------
    ToolError : ffmpeg failed
    """
    coding = _coding(song)
    if not told:
        process.run(master_argv(reel.path, song, into, title=title, coding=coding))
        return
    tags = into.with_name(f".{into.name}.tags")  # too long for a command line
    tags.write_text(f";FFMETADATA1\n{TOLD}={_escaped(told)}\n", "utf-8")
    process.run(master_argv(reel.path, song, into, title=title, coding=coding, tags=tags))
    tags.unlink()


def _escaped(text: str) -> str:
    """As a value in ffmpeg's metadata files."""
    return re.sub(r"([=;#\\\n])", r"\\\1", text)


def phone(reel: film.Reel, song: film.Song, into: Path, *, title: str) -> None:
    """Write the .mp4 for phones: the reel's packets, and the song coded once as AAC, mono or stereo.

    More than two channels are mixed down, rates phones do not play are resampled to 48 kHz.

    Raises
    ------
    ToolError : ffmpeg failed
    """
    process.run(phone_argv(reel, song, into, title=title))


def master_argv(
    reel: Path,
    song: film.Song,
    into: Path,
    *,
    title: str,
    coding: Sequence[str],
    tags: Path | None = None,
) -> list[str]:
    """The argument list of the master, with the metadata in `tags` where there is such a file."""
    more = ("-f", "ffmetadata", "-i", file(tags)) if tags else ()
    return quiet(
        *_inputs(reel, song, more),
        "-af",
        _contiguous(song),
        *coding,
        *_plain(title, source="2" if tags else "-1"),
        "-f",
        "matroska",
        "-y",
        file(into),
    )


def phone_argv(reel: film.Reel, song: film.Song, into: Path, *, title: str) -> list[str]:
    """The argument list of the film for phones."""
    channels = min(2, song.channels)
    rate = phone_rate(song)
    fit = f",aresample={rate}:resampler=soxr" if rate != song.sample_rate else ""
    return quiet(
        *_inputs(reel.path, song),
        *("-af", f"{_contiguous(song)}{fit}", "-ac", str(channels)),
        *("-c:a", "aac", "-b:a", str(min(PHONE_BITS, 3 * rate) * channels)),
        *_plain(title),
        *("-movflags", "+faststart", "-movie_timescale", str(picture.timescale(reel.rate))),
        *("-f", "mp4", "-y", file(into)),
    )


def phone_rate(song: film.Song) -> int:
    """Hz of the sound of the phone's film."""
    return song.sample_rate if song.sample_rate in PHONE_RATES else 48_000


def _inputs(reel: Path, song: film.Song, more: Sequence[str] = ()) -> list[str]:
    both = ["-i", file(reel), "-i", file(song.path)]
    return [*both, *more, "-map", "0:V:0", "-map", "1:a:0", "-c:v", "copy"]


def _contiguous(song: film.Song) -> str:
    """Times counted from the first sample: a video's sound may start late, or have holes in its times."""
    return f"asettb=1/{song.sample_rate},asetpts=N,asetnsamples=n={PACKET}:p=0"


def _plain(title: str, source: str = "-1") -> list[str]:
    """Nothing but the title and what is in the input `source`; nothing that depends on day or ffmpeg."""
    return [
        *("-map_metadata", source, "-map_chapters", "-1", "-metadata", f"title={title}"),
        *("-disposition:v", "default", "-disposition:a", "default"),
        *("-fflags", "+bitexact", "-flags", "+bitexact", "-metadata:s:a:0", "encoder="),
    ]


def _coding(song: film.Song) -> list[str]:
    flac = song.channels <= 8 and (song.sample_rate <= 65_535 or song.sample_rate % 10 == 0)
    if flac and song.sample_format == "s16":
        return ["-c:a", "flac"]
    if flac and song.sample_format == "s32" and _low_byte_is_zero(song):
        return ["-c:a", "flac", "-bits_per_raw_sample", "24"]
    return ["-c:a", "pcm_u8" if song.sample_format == "u8" else f"pcm_{song.sample_format}le"]


def _low_byte_is_zero(song: film.Song) -> bool:
    """Whether samples the decoder gives as 32 bits are 24 bits, as those of a 24-bit file."""
    return not any(
        np.frombuffer(block, np.uint8)[::4].any() for block in decode(song.path, song.sample_format)
    )
