from __future__ import annotations

import json
import shutil
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
from mvpipe.gate.tracks import Track
from mvpipe.sound import wav
from tests.gate.faces_synth import SAMPLE_RATE
from tests.gate.test_page import TIMES, sung

app = typer.Typer()
app.command(cls=Spread)(calibrate)
runner = CliRunner()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Track]]:
    """Four takes that sing their voice, and four that sing another; and the face of each, by its name."""
    folder, tracks = tmp_path_factory.mktemp("takes"), {}
    for kind, heard in (("good", 0), ("bad", 50)):
        for seed in range(4):
            clip = folder / kind / f"{kind}-{seed}.mp4"
            clip.parent.mkdir(exist_ok=True)
            clip.touch()
            tracks[clip.name], _ = sung(seed)
            _, voice = sung(seed + heard)
            samples = np.clip(voice, -1, 1)[:, None]
            wav.write(
                clip.with_suffix(".wav"), [samples], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice)
            )
    return folder, tracks


@pytest.fixture
def takes(made: tuple[Path, dict[str, Track]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of them; a look finds their meshes by name."""
    folder, tracks = made
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)

    def look(path: Path, **_: object) -> SimpleNamespace:
        return SimpleNamespace(seen=Seen(tracks=(tracks[path.name],), times=TIMES))

    monkeypatch.setattr(looking, "look", look)
    return tmp_path


def asked(folder: Path, *more: str) -> list[str]:
    return ["--good", str(folder / "good"), "--bad", str(folder / "bad"), *more]


def test_it_shows_the_error_and_prints_lines_for_the_storyboard(takes: Path) -> None:
    said = runner.invoke(app, asked(takes))
    assert said.exit_code == 0, said.exception
    assert "as it is: by the default rules" in said.stdout
    assert "pass_p: 0.05 as it is" in said.stdout
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


def board(path: Path, **rules: float) -> Path:
    lines = [f"    {name}: {value}" for name, value in rules.items()]
    path.write_text("\n".join(["mvpipe: 1", "title: Rain", "gate:", "  rules:", *lines]) + "\n")
    return path


def test_what_is_learnt_is_compared_with_the_rules_of_the_storyboard(takes: Path) -> None:
    strict = board(takes / "rain.yaml", pass_p=0.002, coverage=0.9)
    said = runner.invoke(app, asked(takes, "--storyboard", str(strict)))
    assert said.exit_code == 0, said.exception
    assert f"as it is: by the rules of {strict}" in said.stdout
    assert "pass_p: 0.002 as it is" in said.stdout
    odd = runner.invoke(app, asked(takes, "--storyboard", str(board(takes / "odd.yaml", pass_q=1))))
    assert isinstance(odd.exception, SettingsError)
    assert "pass_q: no such rule" in str(odd.exception)


def test_takes_of_a_project_are_held_against_its_storyboard(takes: Path) -> None:
    """Those of two projects against the default rules, unless a storyboard is named."""
    for name, pass_p in (("rain.mvpipe", 0.01), ("sun.mvpipe", 0.02)):
        storyboard = board(takes / f"{name}.yaml", pass_p=pass_p)
        files = {"song": str(storyboard), "storyboard": str(storyboard)}
        rest = dict.fromkeys(("backend", "separator", "vocals", "demucs_repo", "cache"))
        project = takes / name
        project.mkdir()
        (project / "project.json").write_text(json.dumps({**rest, **files, "device": "auto"}))
        (project / "plan.json").write_text(json.dumps({"rate": "24", "shots": []}))
        for kind in ("good", "bad"):
            shutil.copytree(takes / kind, project / "takes" / f"shot-00{1 + (kind == 'bad')}")

    def compared(good: str, bad: str) -> tuple[float, str | None]:
        places = [str(takes / where / "takes" / f"shot-00{k}") for k, where in ((1, good), (2, bad))]
        said = runner.invoke(app, ["--good", places[0], "--bad", places[1], "--json"])
        assert said.exit_code == 0, said.exception
        told = json.loads(said.stdout)
        return told["now"], told["compared_with"]

    assert compared("rain.mvpipe", "rain.mvpipe") == (0.01, str(takes / "rain.mvpipe.yaml"))
    assert compared("rain.mvpipe", "sun.mvpipe") == (0.05, None)


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
