"""Each fault of a sound is named, and a voice that went through a codec has none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.sound import wav
from mvpipe.tools import audible, process
from mvpipe.tools.audible import Audible, measure
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.heard import Heard, hear
from tests.gate.faces_synth import SAMPLE_RATE
from tests.tools.sounds import SILENCE, VOICE, Samples, dulled, heard, sung

SENT = measure(heard(VOICE))


def coded(voice: Samples, folder: Path, *, kbit: int = 96) -> Heard:
    """A voice after AAC."""
    wav.write(folder / "a.wav", [voice[:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice))
    bits = f"{kbit}k"
    process.run(
        quiet("-i", file(folder / "a.wav"), "-c:a", "aac", "-b:a", bits, "-y", file(folder / "a.m4a"))
    )
    return hear(folder / "a.m4a")


def faults(sound: Audible, voice: Audible = SENT) -> list[str]:
    """The names of all checks that object."""
    alone = (audible.not_finite, audible.constant)
    beside = (audible.silence, audible.noise, audible.clipped, audible.lock_lost)
    found = [check.__name__ for check in alone if check(sound)]
    found += [check.__name__ for check in beside if check(sound, voice)]
    return found + (["cut_short"] if audible.cut_short(sound, 5.2) else [])


def test_what_is_measured() -> None:
    assert SENT.seconds == pytest.approx(5.2, abs=1e-3)
    assert (SENT.bad, SENT.constant, SENT.values) == (0, 0, 2 * len(VOICE))
    assert SENT.peak == pytest.approx(0.5, abs=0.01)
    assert SENT.steadiness > 10
    assert 0 < SENT.bright < 0.05
    assert measure(heard(dulled(VOICE, 0.1))).bright == pytest.approx(0.1 * SENT.bright, rel=0.05)


def test_a_tone_in_the_bright_band_is_bright() -> None:
    t = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE
    for hertz, share in ((1000, 0.0), (6000, 1.0), (11_000, 0.0)):
        tone = np.asarray(0.3 * np.sin(2 * np.pi * hertz * t), np.float32)
        assert measure(heard(tone)).bright == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("gain", [0.02, 1.0, 1.9])
@pytest.mark.parametrize("kbit", [32, 96])
@pytest.mark.parametrize("sings", [True, False])
def test_a_codec_is_no_fault(tmp_path: Path, gain: float, kbit: int, sings: bool) -> None:
    voice = sung(3, sings=sings)
    sent = measure(heard(voice))
    assert faults(measure(coded(np.asarray(voice * gain, np.float32), tmp_path, kbit=kbit)), sent) == []


def noises() -> dict[str, Samples]:
    rng = np.random.default_rng(440)
    white = 0.1 * rng.standard_normal(len(VOICE))
    spectrum = np.fft.rfft(white) / np.sqrt(np.arange(len(white) // 2 + 1) + 1)
    pink = np.fft.irfft(spectrum, len(white))
    tone = 0.5 * np.sin(2 * np.pi * 220 * np.arange(len(VOICE)) / SAMPLE_RATE)
    made = {"white": white, "pink": 0.3 * pink / np.abs(pink).max(), "tone": tone}
    return {name: np.asarray(samples, np.float32) for name, samples in made.items()}


@pytest.mark.parametrize("kind", noises())
def test_noise_and_tones_are_named(kind: str, tmp_path: Path) -> None:
    for sound in (heard(noises()[kind]), coded(noises()[kind], tmp_path)):
        assert "noise" in faults(measure(sound))
        assert "moves by" in audible.noise(measure(sound), SENT)


def test_a_note_that_is_held_all_through_is_no_noise() -> None:
    """The voice that was sent is as steady."""
    t = np.arange(len(VOICE)) / SAMPLE_RATE
    held = np.asarray(0.3 * np.sin(2 * np.pi * 220 * t + 3 * np.sin(2 * np.pi * 5.5 * t)), np.float32)
    assert audible.noise(measure(heard(held)), measure(heard(held))) == ""


@pytest.mark.parametrize("gain", [4.0, 10.0])
def test_a_sound_that_is_clipped(tmp_path: Path, gain: float) -> None:
    loud = np.asarray(np.clip(VOICE * gain, -1, 1), np.float32)
    for sound in (heard(loud), coded(loud, tmp_path)):
        assert faults(measure(sound)) == ["clipped"]
    assert faults(measure(heard(loud)), measure(heard(loud))) == [], "the voice was clipped when it came"


def test_each_other_fault_is_named() -> None:
    nan = VOICE.copy()
    nan[100:200] = np.nan
    planted = {
        "not_finite": nan,
        "constant": SILENCE + 0.25,
        "silence": SILENCE + 1e-4,
        "cut_short": VOICE[: len(VOICE) // 2],
        "lock_lost": sung(2),
    }
    for fault, mono in planted.items():
        assert fault in faults(measure(heard(np.asarray(mono, np.float32))))
    assert faults(measure(heard(VOICE)), measure(heard(SILENCE))) == ["lock_lost"]
    assert faults(measure(heard(SILENCE)), measure(heard(SILENCE))) == []


@pytest.mark.parametrize("count", [0, 1, 500])
def test_hardly_any_sound_can_be_measured(count: int) -> None:
    sound = measure(heard(VOICE[:count]))
    assert sound.seconds < 0.03
    assert "cut_short" in faults(sound)


def test_sound_is_heard_as_it_is(tmp_path: Path) -> None:
    wav.write(tmp_path / "a.wav", [VOICE[:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(VOICE))
    sound = hear(tmp_path / "a.wav")
    assert (sound.sample_rate, sound.samples.shape) == (SAMPLE_RATE, (len(VOICE), 1))
    assert np.array_equal(sound.mono, VOICE)
