"""What films say of themselves, and what is read from them, against films whose answers we wrote."""

from __future__ import annotations

import hashlib
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.tools import frames, picture, process
from mvpipe.tools.ffmpeg import file, quiet


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 frames of 98x54 with B-frames, a tone, cover art and a title."""
    folder = tmp_path_factory.mktemp("clip")
    source = ["-f", "lavfi", "-i", "testsrc2=s=98x54:r=24", "-f", "lavfi", "-i", "sine=r=48000"]
    process.run(quiet("-f", "lavfi", "-i", "testsrc2=s=32x32", "-frames:v", "1", file(folder / "c.png")))
    maps = [
        "-map",
        "0:v",
        "-map",
        "1:a",
        "-map",
        "2:v",
        "-t",
        "2",
        "-c:v:0",
        "libx264",
        "-pix_fmt",
        "yuv420p",
    ]
    maps += [
        "-c:v:1",
        "copy",
        "-disposition:v:1",
        "attached_pic",
        "-metadata",
        "title=A clip",
        "-threads",
        "1",
    ]
    process.run(quiet(*source, "-i", file(folder / "c.png"), *maps, file(folder / "clip.mp4")))
    return folder / "clip.mp4"


def test_facts(clip: Path) -> None:
    facts = picture.facts(clip)
    assert (facts.pictures, facts.sounds, facts.others) == (1, 1, 1)
    assert (facts.size, facts.rate, facts.codec) == ((98, 54), Fraction(24), "h264")
    assert facts.tags["title"] == "A clip"
    assert facts.head[0] == 1, "an avcC record"


def test_times_are_in_the_order_shown(clip: Path) -> None:
    times = picture.times(clip)
    assert [times[k] for k in range(len(times))] == [Fraction(k, 24) for k in range(48)]
    assert times[-1] == Fraction(47, 24)
    assert times.farthest(Fraction(24)) == 0
    assert times.farthest(Fraction(25)) == Fraction(47, 24) - Fraction(47, 25)


def test_reading_agrees_with_ffmpeg(clip: Path, tmp_path: Path) -> None:
    process.run(quiet("-i", file(clip), "-map", "0:V", "-f", "rawvideo", file(tmp_path / "raw")))
    raw = (tmp_path / "raw").read_bytes()
    seen: list[frames.Luma] = []
    reading = frames.read(clip, see=seen.append)
    assert reading.frames == len(reading.times) == len(seen) == 48
    assert reading.damage == ()
    assert reading.digest == frames.digest(clip) == hashlib.sha256(raw).hexdigest()
    assert frames.digest(clip, clip) == hashlib.sha256(raw + raw).hexdigest()
    studio = np.frombuffer(raw[: 98 * 54], np.uint8).reshape(54, 98).astype(float)
    assert np.abs(seen[0] - np.clip((studio - 16) * 255 / 219, 0, 255)).max() <= 1.5


def test_luma_is_averaged_down(clip: Path) -> None:
    full: list[frames.Luma] = []
    small: list[frames.Luma] = []
    frames.read(clip, see=full.append)
    frames.read(clip, see=small.append, width=49)
    assert small[0].shape == (27, 49)
    mean = full[0].reshape(27, 2, 49, 2).mean(axis=(1, 3))
    assert np.abs(mean - small[0]).max() <= 2
    frames.read(clip, see=small.append, width=1000)
    assert small[-1].shape == (54, 98), "and never up"


def test_ten_bits_are_digested_too(clip: Path, tmp_path: Path) -> None:
    deep = tmp_path / "deep.mkv"
    process.run(
        quiet("-i", file(clip), "-map", "0:V", "-c:v", "libx264", "-pix_fmt", "yuv420p10le", file(deep))
    )
    assert frames.read(deep).frames == 48
    assert frames.digest(deep) == frames.digest(deep) != frames.digest(clip)


def test_frames_are_not_kept(tmp_path: Path) -> None:
    """Numbers grow with a film's length, pictures must not: 5 s and 20 s of film, at most 1 MB apart."""
    peaks = []
    for seconds in (5, 20):
        path = tmp_path / f"{seconds}.mp4"
        process.run(quiet("-f", "lavfi", "-i", f"testsrc2=s=320x180:d={seconds}:r=24", file(path)))
        tracemalloc.start()
        frames.read(path, see=lambda luma: None, width=160)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 1_000_000


def test_sound_times(clip: Path, tmp_path: Path) -> None:
    times = picture.sound_times(clip)
    assert (times.codec, times.sample_rate, times.channels) == ("aac", 48_000, 1)
    assert times.start == 0
    assert times.hole == 0
    assert 0 <= times.stop - 2 < Fraction(1024, 48_000)
    holed = ["-f", "lavfi", "-i", "sine=d=2", "-af", "asetpts=PTS+gt(T\\,1)*0.25/TB", "-c:a", "flac"]
    process.run(quiet(*holed, file(tmp_path / "h.mkv")))
    assert float(picture.sound_times(tmp_path / "h.mkv").hole) == pytest.approx(0.25, abs=0.002)


@pytest.mark.parametrize(
    ("rate", "scale"),
    [
        (Fraction(24), 24_000),
        (Fraction(24_000, 1001), 24_000),
        (Fraction(25), 25_000),
        (Fraction(30_000, 1001), 30_000),
    ],
)
def test_a_frame_lasts_whole_ticks(rate: Fraction, scale: int) -> None:
    assert picture.timescale(rate) == scale
    assert (picture.timescale(rate) / rate).denominator == 1


@pytest.mark.parametrize("ask", [picture.facts, picture.times, picture.sound_times, frames.read])
@pytest.mark.parametrize("content", [None, b"", b"\x00" * 4000])
def test_what_is_no_film_is_an_error(tmp_path: Path, ask: object, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "no.mp4").write_bytes(content)
    with pytest.raises(MediaError, match=r"no\.mp4: cannot be read"):
        ask(tmp_path / "no.mp4")  # type: ignore[operator]


def test_a_folder_is_no_film(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="cannot be read"):
        picture.facts(tmp_path)


def test_a_film_that_cannot_be_written_is_an_error(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="cannot be written"):
        picture.join([clip], Fraction(24), tmp_path / "no such folder" / "f.mp4")
