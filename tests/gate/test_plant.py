"""Every planted fault fails the check that names it, and a good take none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.film import Outcome
from mvpipe.gate.judge import judge
from mvpipe.gate.look import look
from mvpipe.gate.sounds import judge_sound
from mvpipe.sound import wav
from mvpipe.tools import process
from mvpipe.tools.audible import measure
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.heard import hear
from tests.gate.faces_synth import SAMPLE_RATE, Part, make
from tests.gate.plant import PICTURES, SOUNDS, plant

SIZE, FRAMES = (320, 180), 124


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A singer, and beside it (`voice.wav`) the voice, which is the take's sound."""
    folder = tmp_path_factory.mktemp("plant")
    voice = make(Part(seed=71, size=SIZE, seconds=FRAMES / 24, motion=0.6), folder / "pictures.mp4")
    samples = np.asarray(voice, np.float32)[:, None]
    wav.write(folder / "voice.wav", [samples], sample_rate=SAMPLE_RATE, channels=1, samples=len(samples))
    both = ["-i", file(folder / "pictures.mp4"), "-i", file(folder / "voice.wav"), "-c:v", "copy"]
    process.run(quiet(*both, "-c:a", "aac", file(folder / "take.mp4")))
    return folder / "take.mp4"


def failed(take: Path, good: Path) -> list[str]:
    """Checks that fail, of pictures and sound."""
    looked = look(take, faces=False, sound=True)
    voice = measure(hear(good.with_name("voice.wav")))
    pictures = judge(looked.sight, frames=FRAMES, rate=Fraction(24), size=SIZE, others={})
    found = (*pictures.findings, *judge_sound(looked.sound, voice, FRAMES / 24))
    return [one.check for one in found if one.outcome is not Outcome.PASS]


def test_a_good_take_fails_nothing(good: Path) -> None:
    assert failed(good, good) == []


@pytest.mark.parametrize("fault", [*PICTURES, "rate"])
def test_a_fault_of_the_pictures_fails_its_check(fault: str, good: Path, tmp_path: Path) -> None:
    found = failed(plant(fault, good, tmp_path / "take.mp4"), good)
    assert fault.removeprefix("white ") in found
    if fault not in {"black", "plain", "frozen", "noise", "rate"}:  # what stands still has other names, too
        assert len(found) == 1


@pytest.mark.parametrize("fault", SOUNDS)
def test_a_fault_of_the_sound_fails(fault: str, good: Path, tmp_path: Path) -> None:
    found = failed(plant(f"sound: {fault}", good, tmp_path / "take.mp4"), good)
    assert found == ["locked sound" if fault == "another" else "sound"]
