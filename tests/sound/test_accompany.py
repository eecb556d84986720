"""The accompaniment is what the song is without its vocal, to the sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from mvpipe.errors import MediaError
from mvpipe.sound import read
from mvpipe.sound.accompany import accompany
from tests.sound import mixes
from tests.synth import song as synth_song

RATE = 44_100


def test_the_song_minus_its_vocal_sample_for_sample(tmp_path: Path) -> None:
    made = synth_song(12, seed=2)
    song = mixes.song(tmp_path / "mix.wav", made.mix)
    mixes.song(tmp_path / "vocals.wav", made.vocals)
    told: list[int] = []
    stem = accompany(
        song,
        tmp_path / "vocals.wav",
        tmp_path / "rest.wav",
        separator="given",
        progress=lambda done, of: told.append(done),
    )
    assert (stem.name, stem.samples, stem.channels) == ("accompaniment", len(made.mix), 2)
    found = mixes.contents(stem.path)
    assert np.array_equal(found, made.mix - made.vocals)
    assert np.abs(found - made.accompaniment).max() < 1e-6
    assert told[-1] == len(made.mix)


def test_a_mono_vocal_of_a_stereo_song_leaves_a_mono_band(tmp_path: Path) -> None:
    made = synth_song(3, seed=2)
    song = mixes.song(tmp_path / "mix.wav", made.mix)
    soundfile.write(tmp_path / "vocals.wav", made.vocals.mean(axis=1), RATE, "FLOAT")
    stem = accompany(
        song, tmp_path / "vocals.wav", tmp_path / "rest.wav", separator="given", progress=lambda *_: None
    )
    assert stem.channels == 1
    assert np.abs(mixes.contents(stem.path)[:, 0] - made.accompaniment.mean(axis=1)).max() < 1e-6


def test_a_vocal_that_is_not_as_long_is_refused(tmp_path: Path) -> None:
    made = synth_song(3, seed=2)
    song = mixes.song(tmp_path / "mix.wav", made.mix)
    mixes.song(tmp_path / "vocals.wav", made.vocals[:-1])
    with pytest.raises(MediaError, match="where the song has"):
        accompany(
            song, tmp_path / "vocals.wav", tmp_path / "rest.wav", separator="given", progress=lambda *_: None
        )
    assert not (tmp_path / "rest.wav").exists()
    assert read.measure(tmp_path / "mix.wav")[0] == song
