from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from mvpipe.cli.check import check
from mvpipe.errors import CannotJudge, MediaError, SettingsError, ToolError
from mvpipe.sound import wav
from tests.gate.faces_synth import SAMPLE_RATE, Part, make

app = typer.Typer()
app.command()(check)
runner = CliRunner()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip that begins two seconds into its vocal."""
    path = tmp_path_factory.mktemp("check") / "clip.mp4"
    voice = make(Part(seed=31, size=(400, 224), seconds=6), path)
    song = np.concatenate([np.zeros(2 * SAMPLE_RATE, np.float32), voice])[:, None]
    wav.write(path.with_suffix(".wav"), [song], sample_rate=SAMPLE_RATE, channels=1, samples=len(song))
    return path


def test_a_clip_that_sings_the_vocal_passes_in_words_and_in_json(clip: Path) -> None:
    said = runner.invoke(app, [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--start", "0:02"])
    assert said.exit_code == 0
    assert said.stdout.startswith("pass, ")
    assert "by mouth: lips and voice are together" in said.stdout
    asked = [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--start", "2", "--json"]
    assert json.loads(runner.invoke(app, asked).stdout)["verdict"] == "pass"


def test_a_late_clip_and_a_silent_vocal_are_said_and_refused(clip: Path) -> None:
    late = runner.invoke(app, [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--start", "2.2"])
    assert isinstance(late.exception, MediaError)
    assert "fail, +2" in late.stdout
    silent = clip.with_name("silent.wav")
    zeros = np.zeros((6 * SAMPLE_RATE, 1), np.float32)
    wav.write(silent, [zeros], sample_rate=SAMPLE_RATE, channels=1, samples=len(zeros))
    found = runner.invoke(app, [str(clip), "--vocal", str(silent)])
    assert isinstance(found.exception, CannotJudge)
    assert found.stdout == "cannot judge: the voice is heard for 0.0 s only\n"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["--start", "soon"], SettingsError),
        (["--start", "9"], SettingsError),
        (["--syncnet", __file__], ToolError),
    ],
)
def test_what_makes_no_sense_is_refused(clip: Path, more: list[str], error: type[Exception]) -> None:
    found = runner.invoke(app, [str(clip), "--vocal", str(clip.with_suffix(".wav")), *more])
    assert isinstance(found.exception, error)


def test_a_vocal_that_is_not_there_is_said(clip: Path) -> None:
    found = runner.invoke(app, [str(clip), "--vocal", "nowhere.wav"])
    assert isinstance(found.exception, MediaError)
