"""The samples of a song, again and again the same: in stretches, folded, at other rates."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.sound import read
from tests.sound import cost, songs
from tests.sound.songs import LENGTH, clean, sound, wav16, whole


def test_measuring_is_reproducible_whatever_the_block(tmp_path: Path) -> None:
    path = songs.encode(wav16(tmp_path), tmp_path / "x.mp3")
    want = read.measure(path)
    assert [read.measure(path, block=block) for block in (1, 1000, 1 << 20)][1:] == [want, want]
    assert read.measure(path, block=500) == want


def test_progress_runs_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    read.measure(wav16(tmp_path), progress=lambda done, of: told.append((done, of)), block=10_000)
    assert told == [(n, LENGTH) for n in (10_000, 20_000, 30_000, 40_000, LENGTH)]


def test_stretches_are_the_song_cut_at_their_ends(tmp_path: Path) -> None:
    song = clean(wav16(tmp_path))
    everything = whole(song)
    for start, stop in ((0, 1), (100, 30_000), (44_000, None), (5, 5)):
        pieces = list(read.blocks(song, start=start, stop=stop, block=999))
        got = np.concatenate(pieces) if pieces else everything[:0]
        np.testing.assert_array_equal(got, everything[start:stop])
    for start, stop in ((-1, 5), (5, 4), (0, LENGTH + 1)):
        with pytest.raises(ValueError, match="do not lie in a song"):
            read.blocks(song, start=start, stop=stop)


@pytest.mark.parametrize("sample_rate", [16_000, 44_100, 48_000])
def test_at_another_rate_the_length_is_the_ceiling_and_stretches_meet(
    tmp_path: Path, sample_rate: int
) -> None:
    song = clean(wav16(tmp_path))
    full = whole(song, sample_rate=sample_rate, block=7000)
    assert len(full) == -(-LENGTH * sample_rate // 44_100)
    ends = [0, 1, 10_007, 33_333, LENGTH]
    stretches = [whole(song, start=a, stop=b, sample_rate=sample_rate) for a, b in pairwise(ends)]
    np.testing.assert_allclose(np.concatenate(stretches), full, atol=1e-6)


def test_resampling_moves_nothing(tmp_path: Path) -> None:
    click = np.zeros((LENGTH, 1))
    click[11_025] = click[33_075] = 0.9
    song = clean(songs.pcm_wav(tmp_path / "x.wav", songs.integers(click, 16), bits=16))
    heard = np.abs(whole(song, sample_rate=16_000)[:, 0])
    assert [int(np.argmax(heard[:8000])), 8000 + int(np.argmax(heard[8000:]))] == [4000, 12_000]


def test_channels_fold(tmp_path: Path) -> None:
    stereo = clean(wav16(tmp_path))
    sides = whole(stereo)
    np.testing.assert_array_equal(whole(stereo, channels=2), sides)
    np.testing.assert_allclose(whole(stereo, channels=1)[:, 0], sides.mean(axis=1), atol=1e-7)
    mono = clean(wav16(tmp_path, "mono.wav", channels=1))
    np.testing.assert_array_equal(whole(mono, channels=2), np.repeat(whole(mono), 2, axis=1))


@pytest.mark.parametrize("name", ["six.wav", "six.flac"])
def test_surround_folds_with_the_voice_in_the_middle_and_cannot_clip(tmp_path: Path, name: str) -> None:
    samples = np.full((1000, 6), 32_767, np.int16)  # every channel as loud as it can be
    samples[500:] = 0
    samples[500:, 2] = 32_767  # the centre alone
    source = songs.pcm_wav(tmp_path / "six.wav", samples, bits=16)
    path = source if name == "six.wav" else songs.encode(source, tmp_path / name)
    song, notes = read.measure(path)
    assert "clipped" in notes[0]
    folded = whole(song, channels=2)
    np.testing.assert_allclose(folded[:500], 1, atol=1e-4)
    np.testing.assert_allclose(folded[500:], 0.5**0.5 / (1 + 2 * 0.5**0.5), atol=1e-4)
    assert np.abs(folded).max() <= 1


def test_another_file_in_its_place_is_noticed(tmp_path: Path) -> None:
    path = wav16(tmp_path)
    song = clean(path)
    exact = songs.integers(sound(), 16)
    exact[-1, 1] ^= 1
    songs.pcm_wav(path, exact, bits=16)
    with pytest.raises(
        MediaError, match=r"song\.wav: not the file that was read before: found other samples"
    ):
        whole(song)
    with pytest.raises(MediaError, match="other samples"):  # even by who wants only its beginning
        whole(song, stop=10)
    songs.pcm_wav(path, exact[:-5], bits=16)
    with pytest.raises(MediaError, match=f"found {LENGTH - 5} samples where {LENGTH} were counted"):
        whole(song)
    songs.pcm_wav(path, exact[:, :1], bits=16)
    with pytest.raises(MediaError, match="found 1 channels of s16 at 44100 Hz"):
        whole(song)
    path.unlink()
    with pytest.raises(MediaError, match="no such file"):
        whole(song)


def test_who_stops_early_leaves_no_decoder_behind(tmp_path: Path) -> None:
    from mvpipe.tools import process

    song = clean(wav16(tmp_path))
    pieces = read.blocks(song, block=100)
    next(pieces)
    assert process._running
    pieces.close()  # type: ignore[attr-defined]
    assert not process._running


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_stays_flat_in_the_length_of_the_song(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    short = cost.reading(cost.long_wav(path, 0.5), "blocks")
    long = cost.reading(cost.long_wav(path, 6), "blocks")
    assert long["samples"] == 12 * short["samples"]
    assert long["own_mb"] < short["own_mb"] + 10
    assert long["ffmpeg_mb"] < short["ffmpeg_mb"] + 10
    assert 20 < long["own_mb"] < 150
    assert 2 < long["ffmpeg_mb"] < 150
