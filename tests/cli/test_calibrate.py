from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from mvpipe.cli.calibrate import Spread, calibrate
from mvpipe.errors import SettingsError
from mvpipe.gate import look as looking
from mvpipe.gate.look import Seen
from mvpipe.sound import wav
from tests.gate.faces_synth import SAMPLE_RATE
from tests.gate.test_page import TIMES, sung

app = typer.Typer()
app.command(cls=Spread)(calibrate)
runner = CliRunner()


@pytest.fixture
def takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four takes that sing their voice, and four that sing another; a look finds their meshes by name."""
    tracks = {}
    for kind, heard in (("good", 0), ("bad", 50)):
        for seed in range(4):
            clip = tmp_path / kind / f"{kind}-{seed}.mp4"
            clip.parent.mkdir(exist_ok=True)
            clip.touch()
            tracks[clip.name], _ = sung(seed)
            _, voice = sung(seed + heard)
            samples = np.clip(voice, -1, 1)[:, None]
            wav.write(
                clip.with_suffix(".wav"), [samples], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice)
            )

    def look(path: Path, **_: object) -> SimpleNamespace:
        return SimpleNamespace(seen=Seen(tracks=(tracks[path.name],), times=TIMES))

    monkeypatch.setattr(looking, "look", look)
    return tmp_path


def asked(folder: Path, *more: str) -> list[str]:
    return ["--good", str(folder / "good"), "--bad", str(folder / "bad"), *more]


def test_it_shows_the_error_and_prints_lines_for_the_storyboard(takes: Path) -> None:
    said = runner.invoke(app, asked(takes))
    assert said.exit_code == 0, said.exception
    assert "bad takes that pass" in said.stdout
    assert "0 of 4 (true share 0% to 60%)" in said.stdout
    assert "careful: 4 good takes and 4 bad takes are few" in said.stdout
    gate = said.stdout[said.stdout.index("gate:") :]
    assert gate.splitlines()[1] == "  rules:"
    assert "pass_p: 0.0" in gate
    assert not list(takes.glob("*.yaml"))


def test_it_writes_only_when_asked_and_never_over_a_file(takes: Path) -> None:
    out = takes / "gate.yaml"
    assert runner.invoke(app, asked(takes, "--write", str(out))).exit_code == 0
    assert out.read_text().startswith("gate:\n  rules:\n    pass_p: ")
    assert isinstance(runner.invoke(app, asked(takes, "--write", str(out))).exception, SettingsError)


def test_many_takes_may_follow_one_option_as_shells_write_stars(takes: Path) -> None:
    good, bad = (sorted(map(str, (takes / kind).glob("*.mp4"))) for kind in ("good", "bad"))
    words = ["--json", "--good", *good, "--bad", *bad[:2], "--bad", bad[2], bad[3]]
    said = runner.invoke(app, words)
    assert said.exit_code == 0, said.exception
    told = json.loads(said.stdout)
    assert [(one["name"], one["good"]) for one in told["takes"]] == [
        *((name, True) for name in good),
        *((name, False) for name in bad),
    ]


def test_scripts_get_every_take(takes: Path) -> None:
    told = json.loads(runner.invoke(app, asked(takes, "--json")).stdout)
    assert len(told["takes"]) == 8
    assert told["rule"] == "pass_p"
    assert told["missed"] == {"count": told["missed"]["count"], "total": 4}


def test_a_take_cannot_be_both(takes: Path) -> None:
    both = runner.invoke(app, asked(takes, "--bad", str(takes / "good" / "good-0.mp4")))
    assert isinstance(both.exception, SettingsError)
    assert "both good and bad" in str(both.exception)


def test_a_clip_without_its_voice_is_said_before_anything_is_decoded(takes: Path) -> None:
    (takes / "bad" / "bad-3.wav").unlink()
    found = runner.invoke(app, asked(takes))
    assert isinstance(found.exception, SettingsError)
    assert "no voice beside it" in str(found.exception)
    assert "1 of 8" not in found.stderr
