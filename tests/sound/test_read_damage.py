"""What is truncated or damaged is said; what is whole is not suspected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.sound import read
from tests.sound import songs
from tests.sound.songs import LENGTH, LONG, clean, long16, sound, wav16, whole

TRUNCATED = {
    "x.wav": (),
    "rf64.wav": ("-rf64", "always"),
    "x.w64": (),
    "x.aiff": (),
    "x.au": (),
    "x.flac": (),
    "x.wv": (),
    "x.tta": (),
    "x.mka": ("-c:a", "flac"),
    "x.webm": (),
    "cbr.mp3": ("-b:a", "128k"),
    "vbr.mp3": ("-q:a", "2"),
    "alac.m4a": ("-c:a", "alac", "-movflags", "+faststart"),
    "aac.m4a": ("-movflags", "+faststart"),
    "x.mov": ("-c:a", "pcm_s16le", "-movflags", "+faststart"),
}


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_file_that_lost_its_end_says_how_much_is_there(tmp_path: Path, name: str) -> None:
    path = songs.encode(long16(tmp_path), tmp_path / name, *TRUNCATED[name])
    full = clean(path).samples
    song, notes = read.measure(songs.shorten(path, 0.7))
    assert 0.5 * full < song.samples < 0.8 * full
    assert notes[0].startswith(f"{name}: truncated or damaged: 0:0")
    assert f"({song.samples} of " in notes[0]
    assert len(whole(song)) == song.samples  # and what is there is given again


@pytest.mark.parametrize("lost", [1, 4, 4000])
def test_a_wav_that_lost_a_little_is_noticed(tmp_path: Path, lost: int) -> None:
    path = wav16(tmp_path)
    path.write_bytes(path.read_bytes()[:-lost])
    song, notes = read.measure(path)
    there = LENGTH - -(-lost // 4)
    assert song.samples == there
    when = "0:01.000" if there >= 44_100 else "0:00.977"
    counts = f"{there} of {LENGTH} samples"
    assert notes == (f"song.wav: truncated or damaged: {when} of 0:01.000 can be decoded ({counts})",)


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("x.ogg", "its last page has no end mark"),
        ("x.opus", "its last page has no end mark"),
        ("x.mp3", "its last frame lacks "),
    ],
)
def test_without_a_length_the_last_bytes_tell(tmp_path: Path, name: str, sign: str) -> None:
    options = ("-write_xing", "0") if name == "x.mp3" else ()
    path = songs.encode(long16(tmp_path), tmp_path / name, *options)
    clean(path)
    song, notes = read.measure(songs.shorten(path, 0.7))
    assert song.samples < 130_000
    assert len(notes) == 1
    assert "may be truncated at 0:0" in notes[0]
    assert sign in notes[0]


def test_a_raw_aac_that_ends_inside_a_frame_is_noticed(tmp_path: Path) -> None:
    path = songs.shorten(songs.encode(wav16(tmp_path), tmp_path / "x.aac"), 0.7)
    _, notes = read.measure(path)
    assert len(notes) == 1
    assert "damaged near 0:00.7" in notes[0]
    assert notes[0].endswith("nothing can be decoded after it")


def test_an_m4a_that_lost_its_index_cannot_be_read(tmp_path: Path) -> None:
    path = songs.shorten(songs.encode(wav16(tmp_path), tmp_path / "x.m4a"), 0.7)
    with pytest.raises(MediaError, match=r"x\.m4a: not a sound or video file, or its .* index is gone"):
        read.measure(path)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("x.mp3", ("-b:a", "128k")),
        ("x.m4a", ()),
        ("alac.m4a", ("-c:a", "alac")),
        ("x.aac", ()),
    ],
)
def test_damage_in_the_middle_is_said_with_its_time(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    path = songs.encode(long16(tmp_path), tmp_path / name, *options)
    clean(path)
    song, notes = read.measure(songs.damage(path, 0.6))
    assert song.samples > 140_000  # it goes on behind the damage, as players do
    assert any(f"{name}: damaged near 0:0" in note and "out of place from there" in note for note in notes)
    assert len(whole(song)) == song.samples


@pytest.mark.parametrize("at", [0.3, 0.6, 0.9])
def test_damage_in_a_flac_is_found_by_its_decoder_or_by_its_checksum(tmp_path: Path, at: float) -> None:
    song, notes = read.measure(songs.damage(songs.encode(long16(tmp_path), tmp_path / "x.flac"), at))
    assert song.samples > 140_000
    assert "damaged" in notes[-1]


def test_lost_pages_of_an_ogg_are_missed(tmp_path: Path) -> None:
    path = songs.encode(long16(tmp_path), tmp_path / "x.ogg", "-c:a", "libvorbis")
    assert clean(path).samples == LONG
    song, notes = read.measure(songs.damage(path, 0.6))
    assert song.samples < LONG
    assert "truncated or damaged" in notes[0]


def test_a_flac_whose_decoder_notices_nothing_is_held_against_its_checksum(tmp_path: Path) -> None:
    path = songs.encode(wav16(tmp_path), tmp_path / "x.flac")
    clean(path)
    data = bytearray(path.read_bytes())
    md5 = data.index(b"fLaC") + 8 + 18
    data[md5] ^= 1  # as if one bit of the song had been another when it was encoded
    path.write_bytes(data)
    song, notes = read.measure(path)
    assert song.samples == LENGTH
    assert notes == ("x.flac: damaged: the samples differ from the checksum that its encoder left in it",)


@pytest.mark.parametrize("bits", [16, 24])
def test_a_flac_without_a_checksum_is_not_suspected(tmp_path: Path, bits: int) -> None:
    exact = songs.integers(sound(), bits)
    written = exact << 8 if bits == 24 else exact
    path = songs.sound_file(tmp_path / "x.flac", written, subtype=f"PCM_{bits}", kind="FLAC")
    data = bytearray(path.read_bytes())
    md5 = data.index(b"fLaC") + 8 + 18
    data[md5 : md5 + 16] = bytes(16)
    path.write_bytes(data)
    clean(path)


@pytest.mark.parametrize("size", [3000, 30_000])  # libav believes the header in the first case only
def test_junk_behind_a_whole_mp3_is_said_and_said_to_be_harmless(tmp_path: Path, size: int) -> None:
    path = songs.encode(long16(tmp_path), tmp_path / "x.mp3")
    before = whole(clean(path))
    path.write_bytes(path.read_bytes() + bytes(size))
    song, notes = read.measure(path)
    np.testing.assert_array_equal(whole(song)[: len(before)], before)
    assert len(notes) == 1
    assert notes[0].endswith("nothing of the sound is missing")


def test_a_stream_that_changes_its_rate_midway_is_not_resampled_without_a_word(tmp_path: Path) -> None:
    low = songs.pcm_wav(tmp_path / "low.wav", songs.integers(sound(1), 16), bits=16, sample_rate=48_000)
    first, second = (
        songs.encode(source, tmp_path / f"{source.stem}.aac").read_bytes()
        for source in (wav16(tmp_path), low)
    )
    (tmp_path / "both.aac").write_bytes(first + second)
    _, notes = read.measure(tmp_path / "both.aac")
    assert "damaged near 0:01.0" in notes[0]
    assert "properties on the fly" in notes[0]


def test_a_wav_from_a_pipe_knows_no_length_and_is_not_suspected(tmp_path: Path) -> None:
    for unknown in (0xFFFFFFFF, 0x7FFFFFDB):
        path = wav16(tmp_path)
        data = path.read_bytes()
        path.write_bytes(data[:40] + unknown.to_bytes(4, "little") + data[44:])
        assert clean(path).digest == songs.digest(songs.integers(sound(), 16))
