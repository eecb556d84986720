"""The drawn mouth in the decoded take, against syllables whose times are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.render.backend import CastMember
from tests.render.animatic import stage

# what the natural lead of 57 ms is in frames of a whole number: the mouth is ahead by one or two
AHEAD = {-2, -1}


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> stage.Voice:
    return stage.sing(tmp_path_factory.mktemp("voice") / "vocals.wav")


def measured(voice: stage.Voice, folder: Path, **changes: object) -> tuple[int, float, float]:
    slate = stage.shoot(stage.setup(voice.asset, **changes), folder / "take.mp4", seed=2)
    mouth = stage.openness(stage.frames_of(folder / "take.mp4"), slate)
    return (*stage.best_lag(mouth, voice.loudness), float(mouth.std()))


@pytest.mark.parametrize("member", [stage.MIRA, stage.JON], ids=lambda member: str(member.name))
def test_it_opens_with_the_voice_a_little_early(
    voice: stage.Voice, tmp_path: Path, member: CastMember
) -> None:
    lag, agreement, swing = measured(voice, tmp_path, cast=(member,))
    assert lag in AHEAD
    assert agreement > 0.7
    assert swing > 0.02


@pytest.mark.parametrize("frames", [-8, 6])
def test_an_offset_is_read_back(voice: stage.Voice, tmp_path: Path, frames: int) -> None:
    lag, agreement, _ = measured(voice, tmp_path, options={"offset_ms": round(frames * 1000 / 24)})
    assert lag - frames in AHEAD
    assert agreement > 0.7


@pytest.mark.parametrize("mouth", ["closed", "frozen", "unrelated"])
def test_a_wrong_mouth_does_not_pass(voice: stage.Voice, tmp_path: Path, mouth: str) -> None:
    _, agreement, swing = measured(voice, tmp_path, options={"mouth": mouth})
    assert agreement < 0.45
    assert (swing > 0.02) == (mouth == "unrelated")


def test_somebody_elses_voice_does_not_pass(voice: stage.Voice, tmp_path: Path) -> None:
    other = stage.sing(tmp_path / "other.wav", seed=9)
    slate = stage.shoot(stage.setup(voice.asset), tmp_path / "take.mp4", seed=2)
    mouth = stage.openness(stage.frames_of(tmp_path / "take.mp4"), slate)
    _, agreement = stage.best_lag(mouth, other.loudness)
    assert agreement < 0.6


def test_of_two_only_the_one_who_sings_moves(voice: stage.Voice, tmp_path: Path) -> None:
    size = (480, 270)
    listener = CastMember(name="jon", description="a pale man, dark quiff", sings=False)
    given = stage.setup(voice.asset, cast=(listener, stage.MIRA), size=size)
    slate = stage.shoot(given, tmp_path / "take.mp4", seed=2)
    frames = stage.frames_of(tmp_path / "take.mp4", size)
    lag, agreement = stage.best_lag(stage.openness(frames, slate, figure=0), voice.loudness)
    assert lag in AHEAD
    assert agreement > 0.7
    _, silent = stage.best_lag(stage.openness(frames, slate, figure=1), voice.loudness)
    assert silent < 0.5


def test_the_yardstick_itself_tells_late_from_early() -> None:
    voice = np.random.default_rng(3).random(200)
    assert stage.best_lag(np.roll(voice, 5), voice)[0] == 5
    assert stage.best_lag(np.roll(voice, -4), voice)[0] == -4
    assert stage.best_lag(np.full(200, 0.3), voice)[1] == 0
