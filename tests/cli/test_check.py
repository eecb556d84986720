from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from mvpipe.cli.check import check
from mvpipe.errors import CannotJudge, MediaError, PlanError, SettingsError, ToolError
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


def test_the_verdict_as_a_picture(clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdict.png"
    asked = [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--start", "2", "--picture", str(out)]
    said = runner.invoke(app, asked)
    assert said.exit_code == 0
    assert out.read_bytes()[:4] == b"\x89PNG"
    assert "a picture" in said.stderr


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
        (["--picture", "verdict.jpg"], SettingsError),
        (["--rule", "coverage"], SettingsError),
        (["--rule", "cover=0.5"], SettingsError),
    ],
)
def test_what_makes_no_sense_is_refused(clip: Path, more: list[str], error: type[Exception]) -> None:
    found = runner.invoke(app, [str(clip), "--vocal", str(clip.with_suffix(".wav")), *more])
    assert isinstance(found.exception, error)


def test_other_figures_judge_otherwise_and_are_recorded(clip: Path) -> None:
    asked = [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--start", "2", "--json"]
    told = json.loads(runner.invoke(app, [*asked, "--rule", "eyes_px=200", "--rule", "coverage=0.9"]).stdout)
    assert told["verdict"] == "cannot judge"
    assert "too small" in told["reason"]
    assert (told["numbers"]["rules"]["eyes_px"], told["numbers"]["rules"]["coverage"]) == (200, 0.9)


def test_a_clip_of_no_project_needs_a_vocal(clip: Path) -> None:
    found = runner.invoke(app, [str(clip)])
    assert isinstance(found.exception, SettingsError)
    assert "--vocal" in found.exception.hint


def test_a_vocal_that_is_not_there_is_said(clip: Path) -> None:
    found = runner.invoke(app, [str(clip), "--vocal", "nowhere.wav"])
    assert isinstance(found.exception, MediaError)


def test_imported_weights_are_found_and_held_against_what_was_published(clip: Path, tmp_path: Path) -> None:
    kept = tmp_path / "syncnet_v2.model"
    kept.write_bytes(b"something else")
    asked = [str(clip), "--vocal", str(clip.with_suffix(".wav")), "--cache", str(tmp_path)]
    said = runner.invoke(app, asked)
    assert isinstance(said.exception, ToolError)
    assert "14 bytes, not 54573114" in str(said.exception)


def test_a_clip_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = runner.invoke(app, [str(tmp_path / "gone.mp4")])
    assert isinstance(said.exception, PlanError), "exit code 4 would say that its lips fail"
    assert str(said.exception) == f"{tmp_path / 'gone.mp4'}: no such file"
