"""A voice the user brings: taken over if it is as long as the song and lies where it should."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soxr

from mvpipe.errors import MediaError
from mvpipe.film import Song, Stem
from mvpipe.sound.adopt import LATE_MS, adopt
from tests.sound import mixes, songs
from tests.sound.quality import sdr
from tests.synth import SynthSong
from tests.synth import song as synth_song

RATE = 44_100


@cache
def sung(seed: int = 2) -> SynthSong:
    return synth_song(24, seed=seed, leakage_db=12)


def bring(
    tmp_path: Path, vocals: mixes.Sound, *, sample_rate: int = RATE, mix: mixes.Sound | None = None
) -> Stem:
    """The stem of a song (`sung()` unless another is given), brought as a file."""
    song = mixes.song(tmp_path / "mix.wav", sung().mix if mix is None else mix)
    mixes.song(tmp_path / "voice.wav", vocals, sample_rate)
    return adopt(song, tmp_path / "voice.wav", tmp_path / "stem.wav")


def late(sound: mixes.Sound, samples: int) -> mixes.Sound:
    return np.roll(sound, samples, axis=0)


def test_the_songs_own_voice_is_taken_over_sample_for_sample(tmp_path: Path) -> None:
    stem = bring(tmp_path, sung().vocals)
    assert np.array_equal(mixes.contents(stem.path), sung().vocals)
    assert (stem.samples, stem.channels, stem.separator) == (len(sung().mix), 2, "given")


@pytest.mark.parametrize("sample_rate", [48_000, 22_050])
def test_a_stem_at_another_rate_is_brought_to_the_songs(tmp_path: Path, sample_rate: int) -> None:
    stem = bring(tmp_path, soxr.resample(sung().vocals, RATE, sample_rate), sample_rate=sample_rate)
    found = mixes.contents(stem.path)
    assert stem.sample_rate == RATE
    assert sdr(sung().vocals, found) > 25
    assert sdr(sung().vocals, late(found, 3)) < 20, "three samples late must show"


def muffled(sound: mixes.Sound) -> mixes.Sound:
    low: mixes.Sound = soxr.resample(soxr.resample(sound, RATE, 6_000), 6_000, RATE)
    return low


@pytest.mark.parametrize("change", ["leaky", "mono", "turned", "quiet", "muffled", "dry"])
def test_a_voice_that_is_only_like_the_one_in_the_mix_is_taken(tmp_path: Path, change: str) -> None:
    true = sung().vocals
    vocals = {
        "leaky": sung().separated,
        "mono": true.mean(axis=1, keepdims=True),
        "turned": -true,
        "quiet": true * np.float32(0.01),
        "muffled": muffled(true),
        "dry": synth_song(24, seed=2, reverb=0).vocals,
    }[change]
    assert bring(tmp_path, vocals).samples == len(sung().mix)


def test_a_voice_deep_in_the_mix_is_found(tmp_path: Path) -> None:
    buried = sung().vocals * np.float32(10 ** (-14 / 20))
    assert bring(tmp_path, sung().vocals, mix=buried + sung().accompaniment).separator == "given"


@pytest.mark.parametrize(
    ("samples", "words"), [(1105, r"25\.\d ms late"), (-441, r"10\.0 ms early"), (44_100, "late")]
)
def test_a_shifted_voice_is_refused_with_its_lag(tmp_path: Path, samples: int, words: str) -> None:
    with pytest.raises(
        MediaError, match=rf"voice\.wav: place: it looks shifted: .*{words} against mix\.wav"
    ) as caught:
        bring(tmp_path, late(sung().vocals, samples))
    assert "from the first sample on" in caught.value.hint
    assert not (tmp_path / "stem.wav").exists()


def test_the_limit_of_what_is_late_is_as_stated(tmp_path: Path) -> None:
    assert bring(tmp_path, late(sung().vocals, RATE * (LATE_MS - 1) // 1000))
    with pytest.raises(MediaError, match="shifted"):
        bring(tmp_path, late(sung().vocals, RATE * (LATE_MS + 1) // 1000))


def test_a_voice_that_drifts_away_is_refused(tmp_path: Path) -> None:
    slow = soxr.resample(sung().vocals, RATE, RATE * 1.001)[: len(sung().mix)]
    with pytest.raises(MediaError, match="place: "):
        bring(tmp_path, slow)


@pytest.mark.parametrize("other", ["song", "noise"])
def test_a_voice_from_elsewhere_is_not_found_in_the_song(tmp_path: Path, other: str) -> None:
    rng = np.random.default_rng(440)
    vocals = {
        "song": sung(1).vocals,
        "noise": (0.1 * rng.standard_normal(sung().mix.shape)).astype(np.float32),
    }[other]
    with pytest.raises(MediaError, match=r"voice is not found in mix\.wav"):
        bring(tmp_path, vocals)


@pytest.mark.parametrize("spare", [-4_400, -1, 1, 1_105, 4_400])
def test_a_few_samples_more_or_less_are_cut_or_filled(tmp_path: Path, spare: int) -> None:
    vocals = np.concatenate([sung().vocals, np.full((4_400, 2), 0.25, np.float32)])[: len(sung().mix) + spare]
    found = mixes.contents(bring(tmp_path, vocals).path)
    both = min(len(vocals), len(found))
    assert len(found) == len(sung().mix)
    assert np.array_equal(found[:both], vocals[:both])
    assert not found[both:].any()


@pytest.mark.parametrize("spare", [-4_500, 4_500])
def test_another_length_is_refused_with_both(tmp_path: Path, spare: int) -> None:
    vocals = np.concatenate([sung().vocals, np.zeros((4_500, 2), np.float32)])[: len(sung().mix) + spare]
    lasts = "0:24.102" if spare > 0 else "0:23.897"
    with pytest.raises(MediaError, match=rf"voice\.wav: length: {lasts}, but the song lasts 0:24\.000"):
        bring(tmp_path, vocals)


def test_a_silent_voice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"voice\.wav: voice: silent"):
        bring(tmp_path, np.zeros_like(sung().mix))


def test_an_mp3_of_the_voice_lies_where_it_should(tmp_path: Path) -> None:
    source = tmp_path / "source.wav"
    song = mixes.song(tmp_path / "mix.wav", sung().mix)
    mixes.song(source, sung().vocals)
    coded = songs.encode(source, tmp_path / "voice.mp3", "-b:a", "192k")
    stem = adopt(song, coded, tmp_path / "stem.wav")
    assert sdr(sung().vocals, mixes.contents(stem.path)) > 15


def test_what_is_odd_about_the_file_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    song = mixes.song(tmp_path / "mix.wav", sung().mix)
    loud = np.clip(sung().vocals * 50, -1, 1)
    pcm = songs.pcm_wav(tmp_path / "voice.wav", songs.integers(loud.astype(np.float64), 16), bits=16)
    adopt(song, pcm, tmp_path / "stem.wav", say=said.append)
    assert any("clipped" in one for one in said)


def test_a_mono_song_gets_a_mono_stem(tmp_path: Path) -> None:
    song: Song = mixes.song(tmp_path / "mix.wav", sung().mix.mean(axis=1, keepdims=True))
    mixes.song(tmp_path / "voice.wav", sung().vocals)
    assert adopt(song, tmp_path / "voice.wav", tmp_path / "stem.wav").channels == 1
