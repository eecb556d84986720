"""Clipping and silence are noted, samples that are no numbers refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.sound import read
from tests.sound import songs
from tests.sound.songs import LENGTH, clean, sound, whole


@pytest.mark.parametrize("bits", [16, 24, 32])
def test_clipping_is_a_note_with_its_count_and_time(tmp_path: Path, bits: int) -> None:
    samples = songs.integers(sound(), bits)
    samples[22_050:22_055, 1] = 2 ** (bits - 1) - 1
    song, notes = read.measure(songs.pcm_wav(tmp_path / "x.wav", samples, bits=bits))
    assert notes == ("x.wav: clipped: 3 samples stay at full scale, the first at 0:00.500",)
    assert song.samples == LENGTH


def test_two_full_samples_in_a_row_are_no_clipping(tmp_path: Path) -> None:
    samples = songs.integers(sound(), 16)
    samples[100:102] = -32_768
    samples[200, 0] = samples[201, 1] = samples[202, 0] = 32_767  # three in a row, but not in one channel
    clean(songs.pcm_wav(tmp_path / "x.wav", samples, bits=16))


def test_clipping_is_counted_alike_however_the_song_is_cut_into_blocks(tmp_path: Path) -> None:
    samples = songs.integers(sound(), 16)
    for at in range(500, 40_000, 777):
        samples[at : at + 3 + at % 5, at % 2] = -32_768 if at % 3 else 32_767
        samples[[at + 20, at + 21, at + 24, at + 25], 0] = 32_767  # pairs, a pair apart: no run of three
    path = songs.pcm_wav(tmp_path / "x.wav", samples, bits=16)
    want = read.measure(path)
    assert "clipped" in want[1][0]
    for block in (2, 7, 1000, 9999):
        assert read.measure(path, block=block) == want


def test_floats_over_full_scale_are_a_note_and_are_kept(tmp_path: Path) -> None:
    samples = sound().astype(np.float32)
    samples[99, 0] = -2
    song, notes = read.measure(songs.pcm_wav(tmp_path / "x.wav", samples, bits=32))
    assert notes == ("x.wav: goes 6.0 dB over full scale: a coded copy of the film will clip",)
    assert whole(song)[99, 0] == -2


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_silence_is_a_note(tmp_path: Path, bits: int) -> None:
    samples = songs.integers(np.zeros((1000, 2)), bits)
    song, notes = read.measure(songs.pcm_wav(tmp_path / "x.wav", samples, bits=bits))
    assert notes == ("x.wav: silent from the first sample to the last",)
    assert not whole(song).any()


def test_one_sample_is_a_song(tmp_path: Path) -> None:
    assert clean(songs.pcm_wav(tmp_path / "x.wav", np.full((1, 2), 7, np.int16), bits=16)).samples == 1


@pytest.mark.parametrize(
    ("bad", "kind"),
    [(np.nan, "NaN, not a number"), (np.inf, "infinite"), (-np.inf, "infinite"), (1e300, "infinite")],
)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("block", [1000, 1 << 16])
def test_the_first_sample_that_is_no_number_is_named(
    tmp_path: Path, bad: float, kind: str, bits: int, block: int
) -> None:
    if bad == 1e300 and bits == 32:
        pytest.skip("no float32 is so large")
    samples = sound().astype(f"f{bits // 8}")
    samples[22_050, 1] = bad
    samples[30_000, 0] = np.nan
    path = songs.pcm_wav(tmp_path / "x.wav", samples, bits=bits)
    with pytest.raises(MediaError) as caught:
        read.measure(path, block=block)
    assert str(caught.value) == f"x.wav: at 0:00.500 (sample 22050, channel 2): the sound is {kind}"
