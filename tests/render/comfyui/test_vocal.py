"""The vocal of a window is the song's, to the sample, at every rate and from every frame."""

from __future__ import annotations

from io import BytesIO
from math import gcd

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray
from scipy.signal import resample_poly

from mvpipe.errors import MediaError
from mvpipe.render.comfyui.vocal import (
    Read,
    Samples,
    padded,
    silent_window,
    vocal_latents,
    vocal_samples,
    vocal_window,
    wav_bytes,
)

TONES = ((220.0, 0.3, 0.1), (1234.5, 0.2, 1.0), (5000.25, 0.1, 2.0))
"""Hz, amplitude, phase: a sound whose value is known at every moment, far below half of 16 kHz."""


def sung(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    return sum(
        (a * np.sin(2 * np.pi * hertz * seconds + phase) for hertz, a, phase in TONES),
        np.zeros_like(seconds),
    )


def singer(sample_rate: int) -> Read:
    return lambda start, stop: sung(np.arange(start, stop) / sample_rate).astype(np.float32)


def resample(sound: Samples, rate: int, to_rate: int) -> Samples:
    return np.asarray(soxr.resample(sound, rate, to_rate, quality="HQ"), np.float32)


@pytest.mark.parametrize("frames", range(5, 363, 17))
def test_as_many_samples_as_the_vae_takes_whole(frames: int) -> None:
    assert vocal_latents(frames) == round(frames / 24 * 40)
    assert vocal_samples(frames) == round(frames / 24 * 40) * 800


def test_the_table_of_lengths() -> None:
    assert [vocal_latents(n) for n in (22, 124, 141, 158, 175, 192, 362)] == [
        37,
        207,
        235,
        263,
        292,
        320,
        603,
    ]


@pytest.mark.parametrize(
    "sample_rate", [44_100, 48_000, 32_000, 96_000, 88_200, 22_050, 16_000, 64_000, 44_099]
)
@pytest.mark.parametrize("start", [0, 1, 7202])
def test_sample_k_is_heard_at_its_moment(sample_rate: int, start: int) -> None:
    window = vocal_window(singer(sample_rate), start, 124, sample_rate, resample)
    assert window.shape == (207 * 800, 2)
    assert window.dtype == np.float32
    moments = start / 24 + np.arange(len(window)) / 32_000
    assert np.abs(window[:, 0] - sung(moments)).max() < 2e-4
    assert np.array_equal(window[:, 0], window[:, 1])


@pytest.mark.parametrize(("sample_rate", "start"), [(44_100, 48), (44_100, 501), (48_000, 9), (48_000, 501)])
def test_against_the_whole_song_resampled_by_another_hand(sample_rate: int, start: int) -> None:
    """Noise up to 8 kHz, through scipy's polyphase filter; frames on the grid of the target."""
    rng = np.random.default_rng(440)
    song = rng.standard_normal(30 * sample_rate).astype(np.float32) * 0.1
    song = resample(resample(song, sample_rate, 16_000), 16_000, sample_rate)
    common = gcd(sample_rate, 32_000)
    long_filter = ("kaiser", 12.0)
    whole = resample_poly(song, 32_000 // common, sample_rate // common, window=long_filter)
    window = vocal_window(padded(lambda a, b: song[a:b], len(song)), start, 141, sample_rate, resample)
    first = start * 32_000 // 24
    difference = window[:, 0] - whole[first : first + len(window)]
    assert np.sqrt(np.mean(difference**2)) < 1e-3 * np.sqrt(np.mean(window**2))


def test_a_click_stays_where_it_is() -> None:
    song = np.zeros(48_000 * 20, np.float32)
    song[10 * 48_000] = 1.0
    window = vocal_window(padded(lambda a, b: song[a:b], len(song)), 239, 124, 48_000, resample)
    assert int(np.abs(window[:, 0]).argmax()) == round((10 - 239 / 24) * 32_000)


def test_the_ends_hold_real_neighbours() -> None:
    """The same stretch cut as the end of one window and the middle of another differs by rounding."""
    read = singer(44_100)
    early = vocal_window(read, 100, 124, 44_100, resample)
    late = vocal_window(read, 160, 124, 44_100, resample)
    at = 60 * 32_000 // 24
    assert np.abs(early[at:] - late[: len(early) - at]).max() < 1e-5


def test_the_centre_crop_finds_nothing_to_crop() -> None:
    """What the wrapper of the audio VAE does, and what it did to a slice cut by seconds."""

    def cropped(samples: int) -> tuple[int, int]:
        kept = samples // 800 * 800
        return (samples - kept) // 2, kept // 800

    assert cropped(round(124 / 24 * 32_000)) == (266, 206)
    for frames in range(5, 363, 17):
        assert cropped(vocal_samples(frames)) == (0, vocal_latents(frames))


def test_silence_outside_the_song_and_nowhere_else() -> None:
    song = np.full((44_100, 2), 0.5, np.float32)
    window = vocal_window(padded(lambda a, b: song[a:b], len(song)), 0, 124, 44_100, resample)
    assert window[500:31_500].min() > 0.49
    assert np.abs(window[32_500:]).max() < 1e-6
    beyond = vocal_window(padded(lambda a, b: song[a:b], len(song)), 240, 124, 44_100, resample)
    assert not beyond.any()


def test_a_reader_is_padded_exactly() -> None:
    song = np.arange(1, 11, dtype=np.float32)
    read = padded(lambda a, b: song[a:b], len(song))
    assert read(-3, 2).tolist() == [0, 0, 0, 1, 2]
    assert read(8, 13).tolist() == [9, 10, 0, 0, 0]
    assert read(-2, 12).tolist() == [0, 0, *range(1, 11), 0, 0]
    assert read(20, 23).tolist() == [0, 0, 0]
    assert read(-9, -6).tolist() == [0, 0, 0]


def test_channels() -> None:
    left, right = 0.25, -0.5

    def read(channels: int) -> Read:
        row = np.array([left, right, 0.0, 0.0], np.float32)[:channels]
        return lambda start, stop: np.tile(row, (stop - start, 1))

    two = vocal_window(read(2), 24, 124, 48_000, resample)[1000]
    four = vocal_window(read(4), 24, 124, 48_000, resample)[1000]
    assert two == pytest.approx([left, right], abs=1e-5)
    assert four == pytest.approx([-0.0625, -0.0625], abs=1e-5)


def test_nan_is_refused() -> None:
    with pytest.raises(MediaError, match=r"vocal: frames 24\.\.148: samples that are not finite"):
        vocal_window(lambda a, b: np.full(b - a, np.nan, np.float32), 24, 124, 32_000, resample)


def test_a_short_reader_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="asked for"):
        vocal_window(lambda a, b: np.zeros(b - a - 1, np.float32), 24, 124, 32_000, resample)


def test_the_wav_is_the_same_bytes_and_reads_back() -> None:
    import soundfile

    sound = np.random.default_rng(440).standard_normal((1600, 2)).astype(np.float32)
    assert wav_bytes(sound) == wav_bytes(sound.copy())
    back, rate = soundfile.read(BytesIO(wav_bytes(sound)), dtype="float32")
    assert rate == 32_000
    assert np.array_equal(back, sound)


def test_silence_is_as_long_as_a_vocal() -> None:
    assert silent_window(124).shape == (165_600, 2)
    assert not silent_window(124).any()
