"""Folding keeps the balance, drops the subwoofer and never clips."""

from __future__ import annotations

import numpy as np
import pytest

from mvpipe.sound.fold import matrix

HALF = 0.5**0.5
SIDES = ("FL", "FR", "FC", "LFE", "BL", "BR")


def test_surround_by_itu_r_bs_775_scaled_to_full_scale() -> None:
    want = np.array([[1, 0], [0, 1], [HALF, HALF], [0, 0], [HALF, 0], [0, HALF]]) / (1 + 2 * HALF)
    np.testing.assert_allclose(matrix(6, SIDES, 2), want, atol=1e-7)
    np.testing.assert_allclose(matrix(6, (), 2), want, atol=1e-7)  # the order every unnamed file has
    np.testing.assert_allclose(matrix(6, SIDES, 1), want.mean(axis=1, keepdims=True), atol=1e-7)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 6, 7, 8, 10, 32])
@pytest.mark.parametrize("to", [1, 2])
def test_full_scale_everywhere_is_full_scale_in_the_fold(channels: int, to: int) -> None:
    weights = matrix(channels, (), to)
    assert weights.shape == (channels, to)
    assert weights.dtype == np.float32
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=0), 1, atol=1e-6)


def test_stereo_and_mono_are_left_as_they_are() -> None:
    np.testing.assert_array_equal(matrix(2, ("FL", "FR"), 2), np.eye(2))
    np.testing.assert_array_equal(matrix(2, (), 1), [[0.5], [0.5]])
    np.testing.assert_array_equal(matrix(1, ("FC",), 2), [[1, 1]])


def test_a_third_channel_without_a_name_is_heard() -> None:
    assert matrix(3, (), 2)[2].min() > 0.4  # a voice in the centre, sooner than a subwoofer


def test_a_lopsided_layout_keeps_its_balance() -> None:
    weights = matrix(3, ("FL", "FR", "BL"), 2)
    np.testing.assert_allclose(weights[0, 0], weights[1, 1])
    assert weights.sum(axis=0).max() == pytest.approx(1)


def test_loudspeakers_nobody_knows_are_heard_on_both_sides_and_a_lone_subwoofer_is_heard() -> None:
    np.testing.assert_allclose(matrix(2, ("TC", "BFC"), 2), 0.5)
    np.testing.assert_allclose(matrix(2, ("LFE", "LFE2"), 2), 0.5)


def test_nothing_else_is_folded_to() -> None:
    with pytest.raises(ValueError, match="1 or 2"):
        matrix(6, SIDES, 3)
