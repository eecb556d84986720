"""A song is what decodes: true counts and true digests, whatever the file is called or claims."""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.sound import read
from tests.sound import songs
from tests.sound.songs import LENGTH, as_decoded, clean, sound, wav16, whole

NAMES = [
    "my song.wav",
    'it\'s "loud".wav',
    "100% %03d.wav",
    "-y.wav",
    "ne\u0301e.wav",  # decomposed, as macOS writes it
    "雨の歌.wav",
    "a: b.wav",
    "two\nlines.wav",
    "http:__x.wav",
    os.fsdecode(b"caf\xe9.wav"),  # Latin-1, as old disks have it
]


@pytest.mark.parametrize(("bits", "kind"), [(8, "u8"), (16, "s16"), (24, "s32"), (32, "s32"), (64, "s64")])
def test_integer_wav(tmp_path: Path, bits: int, kind: str) -> None:
    song = clean(songs.pcm_wav(tmp_path / "x.wav", songs.integers(sound(), bits), bits=bits))
    assert (song.samples, song.sample_rate, song.channels) == (LENGTH, 44_100, 2)
    assert song.sample_format == kind
    assert song.digest == songs.digest(as_decoded(bits))
    np.testing.assert_allclose(whole(song), sound(), atol=2.0 ** (2 - min(bits, 24)))


@pytest.mark.parametrize(("bits", "dtype"), [(32, np.float32), (64, np.float64)])
def test_float_wav(tmp_path: Path, bits: int, dtype: type[np.floating[Any]]) -> None:
    samples = sound().astype(dtype)
    song = clean(songs.pcm_wav(tmp_path / "x.wav", samples, bits=bits))
    assert (song.samples, song.sample_format, song.digest) == (LENGTH, f"f{bits}", songs.digest(samples))
    np.testing.assert_array_equal(whole(song), samples.astype(np.float32))


@pytest.mark.parametrize(
    ("kind", "subtype", "bits"),
    [
        ("FLAC", "PCM_16", 16),
        ("FLAC", "PCM_24", 24),
        ("AIFF", "PCM_16", 16),
        ("AIFF", "PCM_24", 24),
        ("W64", "PCM_16", 16),
        ("W64", "PCM_24", 24),
        ("RF64", "PCM_16", 16),
        ("RF64", "PCM_24", 24),
        ("CAF", "PCM_24", 24),
        ("AU", "PCM_16", 16),
    ],
)
def test_what_libsndfile_writes(tmp_path: Path, kind: str, subtype: str, bits: int) -> None:
    exact = songs.integers(sound(), bits)
    written = exact << 8 if bits == 24 else exact  # libsndfile, too, keeps 24 bits in the upper bytes
    song = clean(songs.sound_file(tmp_path / "x", written, subtype=subtype, kind=kind))
    assert (song.samples, song.digest) == (LENGTH, songs.digest(as_decoded(bits)))


@pytest.mark.parametrize("kind", ["W64", "RF64", "AIFF"])
def test_floats_that_libsndfile_writes(tmp_path: Path, kind: str) -> None:
    samples = sound().astype(np.float32)
    song = clean(songs.sound_file(tmp_path / "x", samples, subtype="FLOAT", kind=kind))
    assert (song.samples, song.sample_format, song.digest) == (LENGTH, "f32", songs.digest(samples))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("x.m4a", ("-c:a", "alac")),
        ("x.mka", ("-c:a", "flac")),
        ("x.wv", ()),
        ("x.tta", ()),
        ("x.mov", ("-c:a", "pcm_s16be")),
        ("x.ogg", ("-c:a", "flac")),
    ],
)
def test_lossless_codings_that_ffmpeg_writes(tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    song = clean(songs.encode(wav16(tmp_path), tmp_path / name, *options))
    assert (song.samples, song.digest) == (LENGTH, songs.digest(songs.integers(sound(), 16)))


def test_alac_of_24_bits_with_a_cover(tmp_path: Path) -> None:
    source = songs.pcm_wav(tmp_path / "x.wav", songs.integers(sound(), 24), bits=24)
    song = clean(songs.encode_with_cover(source, tmp_path / "x.m4a", "-c:a", "alac"))
    assert (song.samples, song.sample_format, song.digest) == (LENGTH, "s32", songs.digest(as_decoded(24)))


@pytest.mark.parametrize("sample_rate", [8_000, 48_000, 96_000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_rates_and_channels(tmp_path: Path, sample_rate: int, channels: int) -> None:
    source = wav16(tmp_path, channels=channels, sample_rate=sample_rate)
    exact = songs.digest(songs.integers(sound(channels, sample_rate), 16))
    for path in (source, songs.encode(source, tmp_path / "x.flac")):
        song = clean(path)
        assert (song.samples, song.sample_rate, song.channels) == (LENGTH, sample_rate, channels)
        assert song.digest == exact


@pytest.mark.parametrize("name", NAMES)
def test_awkward_names(tmp_path: Path, name: str) -> None:
    song = clean(wav16(tmp_path, name))
    assert song.digest == songs.digest(songs.integers(sound(), 16))
    assert len(whole(song)) == LENGTH


def test_a_name_relative_to_here_may_begin_with_a_dash(tmp_path: Path) -> None:
    wav16(tmp_path, "-i.wav")
    with chdir(tmp_path):
        assert clean(Path("-i.wav")).samples == LENGTH


def test_what_is_no_song_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    (tmp_path / "text.wav").write_text("la la la\n" * 2000)
    (tmp_path / "list.wav").write_text("ffconcat version 1.0\nfile song.wav\n")
    wav16(tmp_path)
    songs.cover(tmp_path / "picture.wav.png").rename(tmp_path / "picture.wav")
    songs.film(tmp_path / "mute.mp4")
    data = (tmp_path / "song.wav").read_bytes()
    (tmp_path / "nothing.wav").write_bytes(data[:40] + bytes(4))
    (tmp_path / "strange.wav").write_bytes(data[:20] + b"\x34\x12" + data[22:])
    (tmp_path / "folder.wav").mkdir()
    for name, what in {
        "empty.wav": "empty.wav: an empty file",
        "text.wav": "text.wav: not a sound or video file, or its beginning or index is gone",
        "list.wav": "list.wav: a list of other files (concat), not a sound",
        "picture.wav": "picture.wav: no sound in it: found video",
        "mute.mp4": "mute.mp4: no sound in it: found video",
        "nothing.wav": "nothing.wav: no samples in it that can be decoded",
        "strange.wav": "strange.wav: sound in a coding that ffmpeg does not know",
        "folder.wav": f"{tmp_path / 'folder.wav'}: a folder, not a sound file",
        "gone.wav": f"{tmp_path / 'gone.wav'}: cannot be read: no such file or directory",
    }.items():
        with pytest.raises(MediaError) as caught:
            read.measure(tmp_path / name)
        assert str(caught.value) == what


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(MediaError, match="not a regular file"):
        read.measure(tmp_path / "pipe.wav")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    wav16(tmp_path).chmod(0)
    with pytest.raises(MediaError, match="cannot be read: permission denied"):
        read.measure(tmp_path / "song.wav")


def test_permission_is_asked_for_even_where_root_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wav16(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MediaError, match=r"song\.wav: cannot be read: permission denied"):
        read.measure(path)


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = wav16(tmp_path)

    def grow(done: int, of: int) -> None:
        with path.open("ab") as file:
            file.write(bytes(4))

    with pytest.raises(MediaError, match=r"song\.wav: changed while it was read"):
        read.measure(path, progress=grow)
