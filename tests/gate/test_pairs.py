from __future__ import annotations

import numpy as np
import pytest

from mvpipe.gate.pairs import REACH, Features, confidence_elsewhere, match


def alike(rng: np.random.Generator, windows: int = 120, late: int = 0) -> tuple[Features, Features]:
    """Features that belong together, the pictures `late` windows late; 64 numbers do."""
    talk = rng.standard_normal((windows + 40, 64)).astype(np.float32)
    noise = 0.3 * rng.standard_normal((windows, 64)).astype(np.float32)
    return talk[20 - late : 20 - late + windows] + noise, talk[20 : 20 + windows]


@pytest.mark.parametrize("late", [0, 1, -1, 7, -12, 13])
def test_the_sign_positive_is_a_late_picture(rng: np.random.Generator, late: int) -> None:
    found = match(*alike(rng, late=late))
    assert found.valid.offset == found.official.offset == late
    assert found.valid.confidence > 1


def test_both_curves_are_means_of_distances(rng: np.random.Generator) -> None:
    """Against the plain loops of the procedure, sound padded or left out."""
    lips, sounds = alike(rng, windows=40)
    found = match(lips, sounds)
    for column, shift in enumerate(range(-REACH, REACH + 1)):
        inside = [(i, i + shift) for i in range(40) if 0 <= i + shift < 40]
        there = [float(np.linalg.norm(lips[i] - sounds[j] + 1e-6)) for i, j in inside]
        gone = [float(np.linalg.norm(lips[i] + 1e-6)) for i in range(40) if not 0 <= i + shift < 40]
        assert found.valid.curve[column] == pytest.approx(np.mean(there), abs=1e-3)
        assert found.official.curve[column] == pytest.approx(np.mean(there + gone), abs=1e-3)
    assert found.valid.distance == pytest.approx(min(found.valid.curve), abs=1e-3)


@pytest.mark.parametrize(("late", "delay"), [(0, 10), (-8, 10), (3, -10), (13, -10)])
def test_the_control_moves_by_ten_pictures(rng: np.random.Generator, late: int, delay: int) -> None:
    found = match(*alike(rng, late=late))
    assert found.delay == delay
    assert found.control.offset - found.valid.offset == delay
    assert found.control.confidence > 1


def test_zero_padding_pins_the_official_curve(rng: np.random.Generator) -> None:
    """Features that mean nothing: officially in sync in every clip, or at an edge in half of them."""
    shared = {"official": 0, "valid": 0}
    edges = {"official": 0, "valid": 0}
    for _ in range(40):
        lips, sounds = (rng.standard_normal((120, 64)).astype(np.float32) for _ in range(2))
        apart = match(lips, sounds)
        biased = match(lips + 12, sounds + 12)
        for name in shared:
            shared[name] += getattr(biased, name).offset == 0
            edges[name] += abs(getattr(apart, name).offset) == REACH
    assert shared["official"] == 40
    assert shared["valid"] <= 4
    assert edges["official"] >= 14
    assert edges["valid"] <= 10


def test_a_voice_from_elsewhere_has_the_confidence_of_chance(rng: np.random.Generator) -> None:
    lips, sounds = alike(rng)
    elsewhere = [confidence_elsewhere(lips, alike(rng)[1]) for _ in range(20)]
    assert np.percentile(elsewhere, 95) < match(lips, sounds).valid.confidence / 4


def test_each_window_has_its_own_confidence(rng: np.random.Generator) -> None:
    lips, sounds = alike(rng)
    lips[60:] = rng.standard_normal((60, 64)).astype(np.float32)
    each = np.array(match(lips, sounds).each)
    assert each.shape == (120,)
    assert each[10:50].min() > each[70:110].max()


@pytest.mark.parametrize(("lips", "sounds"), [(25, 25), (60, 59)])
def test_too_little_or_unpaired_is_refused(lips: int, sounds: int) -> None:
    with pytest.raises(ValueError, match="in pairs"):
        match(np.ones((lips, 8), np.float32), np.ones((sounds, 8), np.float32))
