from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from mvpipe.gate.mouth import HOPS, mouth_curves, paced, spline, voice_curves, voiced_seconds
from mvpipe.gate.tracks import Track

RATE = 48_000


def tone(hertz: float, seconds: float = 1.0, level: float = 0.5) -> np.ndarray:
    return np.asarray(level * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE), np.float32)


def face(opening: np.ndarray, scale: float = 1.0, missing: tuple[int, ...] = ()) -> Track:
    """A mesh in which only the lips move; `scale` is how large the face is in the picture."""
    frames = np.array([k for k in range(len(opening)) if k not in missing])
    points = np.zeros((len(opening), 468, 2), np.float32)
    points[:, 263] = (100, 0)
    for upper, lower in ((0, 17), (37, 84), (267, 314)):
        points[:, upper] = (50, 60)
        points[:, lower, 0], points[:, lower, 1] = 50, 60 + opening
    points[:, 1] = (50, 40)
    return Track(total=len(opening), frames=frames, points=points[frames] * scale)


def times(count: int, rate: int = 24) -> list[Fraction]:
    return [Fraction(k, rate) for k in range(count)]


def test_the_curves_are_heights_over_the_distance_of_the_eyes() -> None:
    opening = np.full(48, 30.0)
    for scale in (0.3, 1, 4):
        height, drop = mouth_curves(face(opening, scale), times(48))
        assert height.shape == (200,)
        np.testing.assert_allclose(height, 0.3, rtol=1e-4)
        np.testing.assert_allclose(drop, 0.5, rtol=1e-4)


@pytest.mark.parametrize("rate", [24, 25, 30])
def test_a_movement_is_at_its_time_at_any_rate(rate: int) -> None:
    at = np.arange(3 * rate) / rate
    height, _ = mouth_curves(face(20 + 10 * np.sin(2 * np.pi * 3 * at)), times(3 * rate, rate))
    truth = 0.2 + 0.1 * np.sin(2 * np.pi * 3 * np.arange(300) / HOPS)
    np.testing.assert_allclose(height[:290], truth[:290], atol=0.006)


def test_missing_frames_are_bridged() -> None:
    at = np.arange(72) / 24
    whole = 20 + 10 * np.sin(2 * np.pi * at)
    height, _ = mouth_curves(face(whole, missing=(0, 30, 31)), times(72))
    np.testing.assert_allclose(
        height[10:290], 0.2 + 0.1 * np.sin(2 * np.pi * np.arange(10, 290) / HOPS), atol=0.01
    )


def test_each_band_hears_its_own() -> None:
    for band, hertz in enumerate((800, 1500, 2700)):
        curves = voice_curves(tone(hertz), RATE)
        assert curves.shape == (3, 101)
        levels = curves[:, 20:80].mean(1)
        assert levels.argmax() == band
        assert levels[band] > 5 * np.delete(levels, band).max()


@pytest.mark.parametrize("sample_rate", [16_000, 44_100, 48_000])
def test_an_attack_is_at_its_hop(sample_rate: int) -> None:
    voice = np.zeros(sample_rate, np.float32)
    start = sample_rate * 2 // 5
    voice[start:] = np.random.default_rng(1).standard_normal(sample_rate - start) * 0.1
    curve = voice_curves(voice, sample_rate)[1]
    middle = np.flatnonzero(curve > curve[60:].mean() * 0.7)[0]
    assert middle == pytest.approx(40, abs=1)


def test_voiced_time_is_counted() -> None:
    voice = np.concatenate([np.zeros(RATE, np.float32), tone(500, 0.7), np.zeros(RATE, np.float32)])
    assert voiced_seconds(voice, RATE) == pytest.approx(0.7, abs=0.05)
    assert voiced_seconds(np.zeros(RATE, np.float32), RATE) == 0
    assert voiced_seconds(tone(500, level=1e-4), RATE) == 0
    assert voiced_seconds(tone(500, level=2e-3), RATE) == pytest.approx(1, abs=0.05)


def test_the_pace_is_that_of_a_zero_phase_butterworth(rng: np.random.Generator) -> None:
    curves = rng.standard_normal((2, 600)).cumsum(1)
    sections = butter(2, [1 / 50, 10 / 50], "band", output="sos")
    wanted = sosfiltfilt(sections, curves - curves.mean(1, keepdims=True), axis=1, padlen=150)
    found = paced(curves)
    assert np.corrcoef(found[:, 50:-50].ravel(), wanted[:, 50:-50].ravel())[0, 1] > 0.99
    swing = np.sin(2 * np.pi * 4 * np.arange(600) / HOPS)
    np.testing.assert_allclose(paced(swing)[100:-100], swing[100:-100], atol=0.06)
    assert np.abs(paced(np.sin(2 * np.pi * 0.1 * np.arange(600) / HOPS))[100:-100]).max() < 0.02


def test_the_spline_is_the_natural_one(rng: np.random.Generator) -> None:
    at = np.cumsum(rng.uniform(0.5, 1.5, 30))
    values = rng.standard_normal(30)
    wanted = np.linspace(at[0] - 2, at[-1] + 2, 500)
    truth = CubicSpline(at, values, bc_type="natural")(np.clip(wanted, at[0], at[-1]))
    np.testing.assert_allclose(spline(at, values, wanted), truth, atol=1e-10)
    np.testing.assert_allclose(spline(at[:2], values[:2], at[:2]), values[:2])
