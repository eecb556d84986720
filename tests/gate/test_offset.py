from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mvpipe.gate.mouth import HOPS
from mvpipe.gate.offset import LEAD_MS, Estimate, Performance, correlate, estimate, finer

LEAD = LEAD_MS / 1000


def syllables(rng: np.random.Generator, seconds: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """Moments and heights of openings, some three a second."""
    at = np.cumsum(rng.uniform(0.2, 0.5, int(seconds * 6)))
    return at, rng.uniform(0.4, 1, len(at))


def curve(spoken: tuple[np.ndarray, np.ndarray], hops: int, late: float = 0.0) -> np.ndarray:
    at, high = spoken
    t = np.arange(hops) / HOPS
    return np.asarray((high * np.exp(-0.5 * ((t[:, None] - at - late) / 0.07) ** 2)).sum(1))


def take(
    rng: np.random.Generator, late: float = 0.0, *, noise: float = 0.1, seconds: float = 8.0
) -> Performance:
    """A mouth that is `late` seconds behind the natural lead."""
    spoken, hops = syllables(rng), int(seconds * HOPS)
    mouth, voice = curve(spoken, hops, late - LEAD), curve(spoken, hops)
    return Performance(
        mouth=mouth + noise * rng.standard_normal((2, hops)),
        voice=voice + noise * rng.standard_normal((3, hops)),
    )


def unrelated(rng: np.random.Generator, seconds: float = 8.0) -> Performance:
    one, other = take(rng, seconds=seconds), take(rng, seconds=seconds)
    return Performance(mouth=one.mouth, voice=other.voice)


@pytest.mark.parametrize("late_ms", [0, 40, -40, 13.7, -271.3, 400, 123.4])
def test_an_offset_is_found_between_hops_and_a_late_picture_is_positive(
    rng: np.random.Generator, late_ms: float
) -> None:
    found = estimate(take(rng, late_ms / 1000), surrogates=99)
    assert found.offset_ms == pytest.approx(late_ms, abs=3)
    assert found.frames == round(late_ms / 40)
    assert found.p == 0.01
    assert found.r > 0.8
    assert not found.edge


@pytest.mark.parametrize(("late_ms", "frames"), [(19.9, 0), (20.1, 1), (-20.1, -1), (59.8, 1), (60.2, 2)])
def test_frames_are_counted_at_25_a_second(late_ms: float, frames: int) -> None:
    assert Estimate(offset_ms=late_ms, r=0, p=1, edge=False, curve=()).frames == frames


@pytest.mark.parametrize(("late_ms", "delay"), [(0, 10), (-120, 10), (120, -10)])
def test_the_control_moves_by_ten_frames(rng: np.random.Generator, late_ms: float, delay: int) -> None:
    one = take(rng, late_ms / 1000)
    moved = estimate(one.delayed(delay), surrogates=0).offset_ms - estimate(one, surrogates=0).offset_ms
    assert moved == pytest.approx(40 * delay, abs=8)


def test_chance_is_counted_as_chance(rng: np.random.Generator) -> None:
    """Of mouths that have nothing to do with the voice, one in twenty is below one in twenty."""
    found = np.array([estimate(unrelated(rng), surrogates=19).p for _ in range(120)])
    assert 0.01 <= (found <= 0.05).mean() <= 0.10
    assert 0.35 <= found.mean() <= 0.65


def test_ten_times_the_voices_of_chance_tell_a_smaller_p(rng: np.random.Generator) -> None:
    sung, other = take(rng, seconds=8.0), unrelated(rng)
    first, chance = estimate(sung), estimate(other)
    assert (first.p, finer(sung, first).p) == (0.002, 0.0002)
    assert finer(sung, first) == replace(first, p=0.0002)
    assert finer(other, chance).p == pytest.approx(chance.p, abs=0.08)


def test_a_still_mouth_is_no_evidence(rng: np.random.Generator) -> None:
    one = take(rng)
    still = Performance(mouth=np.full_like(one.mouth, 0.3), voice=one.voice)
    assert estimate(still, surrogates=99).p > 0.5


def test_the_estimate_is_the_same_every_time(rng: np.random.Generator) -> None:
    one = take(rng, noise=2.0)
    assert estimate(one) == estimate(one)


def test_an_offset_beyond_the_search_is_an_edge_or_chance(rng: np.random.Generator) -> None:
    found = estimate(take(rng, 0.68), surrogates=99)
    assert found.edge or found.p > 0.05


def test_takes_of_one_performance_are_heard_together(rng: np.random.Generator) -> None:
    parts = [take(rng, 0.1, noise=1.0, seconds=3.2) for _ in range(4)]
    alone = [estimate(part, surrogates=99) for part in parts]
    together = estimate(*parts, surrogates=99)
    assert together.p == 0.01
    assert abs(together.offset_ms - 100) < max(abs(one.offset_ms - 100) for one in alone)
    assert abs(together.offset_ms - 100) < 25


@pytest.mark.parametrize("hops", [[], [299], [800, 100]])
def test_too_short_is_refused(hops: list[int]) -> None:
    with pytest.raises(ValueError, match="too short"):
        estimate(*(Performance(mouth=np.zeros((1, n)), voice=np.zeros((1, n))) for n in hops))


def test_correlation_is_that_of_what_is_shared(rng: np.random.Generator) -> None:
    mouth, voice = rng.standard_normal(400), rng.standard_normal((2, 400)) + 3
    found = np.tanh(correlate(mouth[None], voice))
    for lag in (-60, -7, 0, 33, 60):
        a, b = max(0, lag), 400 + min(0, lag)
        for row in range(2):
            truth = np.corrcoef(mouth[a:b], voice[row, a - lag : b - lag])[0, 1]
            assert found[row, 60 + lag] == pytest.approx(truth, abs=1e-6)
