"""Beats and bars, where they are and where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.sound.beats import pulse
from mvpipe.sound.listen import listen
from mvpipe.sound.spectrum import HOPS, texture
from tests.sound.hearings import RATE, heard, synth
from tests.synth import clicks, pieces, song

DRUMMED: tuple[dict[str, Any], ...] = (
    {"seed": 1, "bpm": 100.0},
    {"seed": 3, "bpm": 128.0, "vocal_db": -4.0},
    {"seed": 5, "bpm": 90.0, "metre": 3},
)


def lateness(found: NDArray[np.int64], true: tuple[float, ...]) -> NDArray[np.float64]:
    """Seconds from each true moment to the nearest that was found."""
    moments = found / HOPS
    late: NDArray[np.float64] = np.array([moments[np.abs(moments - t).argmin()] - t for t in true])
    return late


@pytest.mark.parametrize("kw", DRUMMED)
def test_beats_are_on_time(kw: dict[str, Any]) -> None:
    late = lateness(heard(**kw).beats, synth(**kw).truth.beats)
    assert abs(np.median(late)) <= 0.02
    assert np.mean(np.abs(late) <= 0.07) >= 0.98


def test_late_beats_fail_that_measure() -> None:
    made = synth(seed=1)
    late = lateness(heard(seed=1).beats + 4, made.truth.beats)  # what librosa's own curve gives: 40 ms
    assert abs(np.median(late)) > 0.02


@pytest.mark.parametrize("bpm", [90.0, 120.0, 140.0])
def test_clicks_are_beats(bpm: float) -> None:
    click = clicks(bpm, 60)
    beats = listen([click], [np.zeros_like(click)], sample_rate=RATE).beats
    assert len(beats) == pytest.approx(bpm, abs=2)
    assert np.abs(lateness(beats, tuple(np.arange(0, 60, 60 / bpm)))).max() <= 0.02


@pytest.mark.parametrize("kw", DRUMMED)
def test_bars_are_found_with_their_metre(kw: dict[str, Any]) -> None:
    late = lateness(heard(**kw).bars, synth(**kw).truth.bars)
    assert np.mean(np.abs(late) <= 0.07) >= 0.95
    assert len(heard(**kw).bars) <= 1.05 * len(synth(**kw).truth.bars) + 1


@pytest.mark.parametrize("kw", [{"beats": False, "seed": 1}, {"a_cappella": True, "seed": 2}])
def test_no_beat_is_claimed_where_none_is_played(kw: dict[str, Any]) -> None:
    hearing = heard(**kw)
    assert hearing.beat_confidence == 0
    assert not len(hearing.beats)
    assert not len(hearing.bars)


def test_noise_has_no_beat() -> None:
    noise = np.random.default_rng(440).standard_normal((RATE * 30, 1)).astype(np.float32) * np.float32(0.1)
    assert not len(listen([noise], [np.zeros_like(noise)], sample_rate=RATE).beats)


def test_a_change_of_tempo_is_followed() -> None:
    sound = np.concatenate([clicks(100, 120), clicks(132, 120)])
    beats = listen([sound], [np.zeros_like(sound)], sample_rate=RATE).beats / HOPS
    first, second = beats[beats < 118], beats[beats > 122]
    assert np.median(np.diff(first)) == pytest.approx(0.6, abs=0.011)
    assert np.median(np.diff(second)) == pytest.approx(60 / 132, abs=0.011)


def test_beats_stop_with_the_drums() -> None:
    drums = song(120, sample_rate=RATE, instrumental=True, seed=1).mix
    swell = song(120, sample_rate=RATE, instrumental=True, beats=False, seed=1).mix
    heard_both = texture(pieces(np.concatenate([drums, swell])), RATE)
    found = pulse(heard_both.onset, heard_both.tone)
    assert found.confidence == pytest.approx(0.5, abs=0.01)
    assert found.beats.max() <= 121 * HOPS
