from __future__ import annotations

import numpy as np
import pytest

from mvpipe.gate.mfcc import SAMPLE_RATE, mfcc
from tests.gate import syncnet_golden as golden


def signal() -> np.ndarray:
    t = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    swell = 12000 * np.sin(2 * np.pi * 220 * t) * (0.5 + 0.5 * np.sin(2 * np.pi * 3 * t))
    return np.asarray(swell + 3000 * np.sin(2 * np.pi * 1900 * t)).astype(np.int16)


def test_cepstra_are_those_of_python_speech_features() -> None:
    rows = mfcc(signal())
    assert rows.shape == (99, 13)
    np.testing.assert_allclose(rows[0], golden.MFCC_FIRST, rtol=1e-8)
    np.testing.assert_allclose(rows[50], golden.MFCC_50, rtol=1e-8)
    assert rows.sum() == pytest.approx(golden.MFCC_SUM, rel=1e-9)


def test_a_sample_of_delay_is_another_row_after_ten_milliseconds() -> None:
    voice = signal()
    np.testing.assert_array_equal(mfcc(voice)[7:60], mfcc(voice[5 * 160 :])[2:55])


@pytest.mark.parametrize(("samples", "rows"), [(1, 1), (400, 1), (401, 2), (560, 2), (561, 3)])
def test_a_started_row_is_filled_with_silence(samples: int, rows: int) -> None:
    assert mfcc(np.ones(samples, np.int16)).shape == (rows, 13)


def test_silence_is_finite() -> None:
    assert np.isfinite(mfcc(np.zeros(1600, np.int16))).all()


@pytest.mark.parametrize("shape", [(0,), (100, 2)])
def test_only_mono_sound_is_heard(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="mono"):
        mfcc(np.zeros(shape, np.int16))
