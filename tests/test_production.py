"""A window of a stem is the song's, to the sample: the voice in the middle, the band on both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from mvpipe.clock import Span
from mvpipe.production import cut_stem
from mvpipe.render.backend import VoiceFormat

FORM = VoiceFormat(sample_rate=32_000, channels=2, samples=207 * 800)
SECONDS = 12


def tones(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Another tone on each side, known at every moment; nothing outside the song."""
    sides = [0.3 * np.sin(2 * np.pi * hertz * seconds) for hertz in (220.0, 1234.5)]
    inside = (seconds >= 0) & (seconds < SECONDS)
    return np.stack(sides, axis=1) * inside[:, None]


@pytest.fixture(params=[44_100, 48_000, 16_000])
def stem(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    rate: int = request.param
    sound = tones(np.arange(SECONDS * rate) / rate).astype(np.float32)
    soundfile.write(tmp_path / "stem.wav", sound, rate, "FLOAT")
    return tmp_path / "stem.wav", rate


@pytest.mark.parametrize("start", [24, 101])
def test_the_band_is_cut_by_the_songs_clock_and_keeps_its_sides(
    stem: tuple[Path, int], tmp_path: Path, start: int
) -> None:
    cut_stem(stem[0], False, Span(start, start + 124), stem[1], FORM, tmp_path / "cut.wav")
    found, rate = soundfile.read(tmp_path / "cut.wav", dtype="float32")
    assert (found.shape, rate) == ((207 * 800, 2), 32_000)
    wanted = tones(start / 24 + np.arange(len(found)) / 32_000)
    assert np.abs(found - wanted).max() < 2e-4


def test_the_voice_stands_in_the_middle(stem: tuple[Path, int], tmp_path: Path) -> None:
    cut_stem(stem[0], True, Span(24, 148), stem[1], FORM, tmp_path / "cut.wav")
    found, _ = soundfile.read(tmp_path / "cut.wav", dtype="float32")
    wanted = tones(1 + np.arange(len(found)) / 32_000).mean(axis=1)
    assert np.abs(found - wanted[:, None]).max() < 2e-4


def test_behind_the_songs_end_there_is_silence_and_nowhere_else(
    stem: tuple[Path, int], tmp_path: Path
) -> None:
    start = SECONDS * 24 - 100
    cut_stem(stem[0], False, Span(start, start + 124), stem[1], FORM, tmp_path / "cut.wav")
    found, _ = soundfile.read(tmp_path / "cut.wav", dtype="float32")
    end = round(100 / 24 * 32_000)
    assert np.abs(found[end + 200 :]).max() < 1e-6
    assert np.abs(found[: end - 200] - tones(start / 24 + np.arange(end - 200) / 32_000)).max() < 2e-4
