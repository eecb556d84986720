"""What a render can get wrong without a word: each check fires on its fault, and is quiet on a good take."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.render.comfyui.silent import Asked, Got, faults
from mvpipe.render.comfyui.vocal import VOCAL_RATE, vocal_samples
from mvpipe.tools.heard import Heard
from tests.render.comfyui.rig import sung

FRAMES = 124
Samples = NDArray[np.float32]


def heard(mono: Samples, sample_rate: int = VOCAL_RATE) -> Heard:
    return Heard(samples=np.repeat(mono[:, None], 2, axis=1).astype(np.float32), sample_rate=sample_rate)


VOICE = sung(1, vocal_samples(FRAMES))
SILENCE = np.zeros_like(VOICE)

ASKED = Asked(frames=FRAMES, size=(960, 544), rate=Fraction(24), steps=8, voice=heard(VOICE), locked=True)
GOT = Got(frames=FRAMES, sound=heard(VOICE), sampled=True, seconds=90.0)


def noise(db: float, rng: np.random.Generator) -> Samples:
    """Noise so much louder or quieter than the voice."""
    level = float(np.sqrt((VOICE**2).mean())) * 10 ** (db / 20)
    return (level * rng.standard_normal(len(VOICE))).astype(np.float32)


def low(voice: Samples, hz: float) -> Samples:
    """The voice without what lies above some frequency."""
    spectrum = np.fft.rfft(voice)
    spectrum[np.fft.rfftfreq(len(voice), 1 / VOCAL_RATE) > hz] = 0
    return np.fft.irfft(spectrum, len(voice)).astype(np.float32)


def blurred(voice: Samples, rng: np.random.Generator, span: int = 512) -> Samples:
    """The voice with all its phases lost, as a bad vocoder loses them."""
    out, window = np.zeros(len(voice) + span), np.hanning(span)
    for start in range(0, len(voice) - span, span // 4):
        size = np.abs(np.fft.rfft(voice[start : start + span] * window))
        turned = size * np.exp(2j * np.pi * rng.random(len(size)))
        out[start : start + span] += window * np.fft.irfft(turned)
    return out[: len(voice)].astype(np.float32)


class TestGoodTakes:
    def test_nothing_is_said(self) -> None:
        assert faults(ASKED, GOT) == []

    def test_nor_of_a_sound_that_went_through_a_codec_or_an_autoencoder(
        self, rng: np.random.Generator
    ) -> None:
        for mono in (
            0.1 * VOICE,
            low(VOICE, 4000),
            VOICE + noise(-15, rng),
            np.roll(VOICE, 1024),  # a codec's priming
            blurred(VOICE, rng),
            np.pad(VOICE, (0, 900)),
        ):
            assert faults(ASKED, replace(GOT, sound=heard(mono))) == []

    def test_nor_at_another_rate(self) -> None:
        at = np.arange(int(len(VOICE) * 44_100 / VOCAL_RATE)) * (VOCAL_RATE / 44_100)
        mono = np.interp(at, np.arange(len(VOICE)), VOICE).astype(np.float32)
        assert faults(ASKED, replace(GOT, sound=heard(mono, 44_100))) == []

    def test_nor_of_silence_where_silence_was_sent(self) -> None:
        asked = replace(ASKED, voice=heard(SILENCE))
        assert faults(asked, replace(GOT, sound=heard(SILENCE))) == []
        assert faults(asked, replace(GOT, sound=heard(SILENCE + 1e-4))) == []

    def test_nor_of_the_sound_of_a_take_that_is_not_locked(self, rng: np.random.Generator) -> None:
        asked = replace(ASKED, locked=False)
        for mono in (noise(0, rng), SILENCE, sung(2, len(VOICE))):
            assert faults(asked, replace(GOT, sound=heard(mono))) == []

    def test_nor_of_one_that_came_from_the_cache_at_once(self) -> None:
        assert faults(ASKED, replace(GOT, sampled=False, seconds=0.2)) == []
        assert faults(ASKED, replace(GOT, seconds=None)) == []


NAN = VOICE.copy()
NAN[len(NAN) // 2 :] = np.nan


class TestEachFault:
    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"frames": 107}, "107 frames instead of 124"),
            ({"frames": 141}, "141 frames instead of 124"),
            ({"seconds": 0.3}, "rendered in 0.30 s, where 8 steps take more than 1.19 on any card"),
            ({"sound": None}, "no sound"),
            ({"sound": heard(NAN)}, f"{NAN.size} of {2 * NAN.size} samples of its sound are no numbers"),
            ({"sound": heard(VOICE[: len(VOICE) // 2])}, "2.59 s of sound under 5.17 s of picture"),
            ({"sound": heard(SILENCE + 0.25)}, "a constant of 0.250 instead of sound"),
            ({"sound": heard(SILENCE)}, "silent, where a voice was sent"),
            ({"sound": heard(SILENCE[:0])}, "0.00 s of sound under 5.17 s of picture"),
            ({"sound": heard(sung(2, len(VOICE)))}, "the lock had no effect: its sound is not the vocal"),
            ({"sound": heard(VOICE[::-1].copy())}, "the lock had no effect: its sound is not the vocal"),
            ({"sound": heard(np.roll(VOICE, 16_000))}, "the lock had no effect: its sound is not the vocal"),
        ],
    )
    def test_it_is_named(self, changes: dict[str, Any], says: str) -> None:
        (found,) = faults(ASKED, replace(GOT, **changes))
        assert found.startswith(says)

    def test_sound_where_silence_was_sent(self) -> None:
        asked = replace(ASKED, voice=heard(SILENCE))
        assert faults(asked, GOT) == ["the lock had no effect: there is sound where silence was sent"]

    def test_several_are_said_at_once(self) -> None:
        found = faults(ASKED, replace(GOT, frames=7, seconds=0.1, sound=None))
        assert len(found) == 3
