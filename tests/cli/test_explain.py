"""`mvpipe explain`, and what a run says by itself of a failed take."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mvpipe.build.run import Step
from mvpipe.cli import app
from mvpipe.cli.session import Session
from mvpipe.cli.terminal import Terminal
from mvpipe.errors import SettingsError
from mvpipe.project import open_project
from mvpipe.testing.standin import standin

OOM = "shot 3, take 1: node sample: torch.OutOfMemoryError: CUDA out of memory"


def run(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, ["explain", *words], input=stdin)


def test_words_are_explained() -> None:
    said = run(OOM).stdout
    assert "out-of-memory: The card is full" in said
    assert "cause (confirmed)" in said


def test_a_log_and_a_pipe(tmp_path: Path) -> None:
    log = tmp_path / "comfyui.log"
    log.write_text("got prompt\nlora key not loaded: x\n")
    assert "lora-keys" in run("--log", str(log)).stdout
    assert "lora-keys" in run("-", stdin="lora key not loaded: x").stdout
    assert isinstance(run("--log", str(tmp_path / "none.log")).exception, SettingsError)


def test_what_is_not_known_is_said_so() -> None:
    assert run("the singer is too beautiful").stdout.startswith("not known")
    told = json.loads(run("qqqq wwww", "--json").stdout)
    assert told == {"result": "not known", "faults": [], "nearest": []}


def test_json_carries_a_result() -> None:
    told = json.loads(run(OOM, "--json").stdout)
    assert told["result"] == "known"
    assert told["faults"][0]["id"] == "out-of-memory"


def test_a_bundle_is_written(tmp_path: Path) -> None:
    out = tmp_path / "report.zip"
    run("no idea at /home/jon_doe/x HF_TOKEN=abcdef", "--bundle", str(out))
    with zipfile.ZipFile(out) as packed:
        log = packed.read("log.txt").decode()
    assert "no idea" in log
    assert "jon_doe" not in log
    assert "abcdef" not in log


def test_a_bundle_tells_of_the_server_and_not_who_it_is(tmp_path: Path) -> None:
    out = tmp_path / "report.zip"
    flags = ("--argv=--use-sage-attention", "--argv=--api-key", "--argv=hunter22", "--argv=/home/jon_doe/x")
    with standin(tmp_path / "server", flags=flags) as server:
        run(
            "no idea",
            "--bundle",
            str(out),
            "--backend",
            f"{server.url}?token=s3cr3tword",
            "--header",
            "X-Own: wordofmine",
        )
    with zipfile.ZipFile(out) as packed:
        told = json.loads(packed.read("facts.json"))
        whole = "".join(packed.read(name).decode() for name in packed.namelist())
    assert told["server"]["version"] == "0.33.0"
    assert "--use-sage-attention" in told["server"]["argv"]
    for secret in ("hunter22", "jon_doe", "s3cr3tword", "wordofmine"):
        assert secret not in whole


def test_a_job_of_the_project(tmp_path: Path) -> None:
    folder = tmp_path / "x.mvpipe"
    with open_project(folder) as project:
        nothing = run("--project", str(folder)).exception
        assert str(nothing) == "nothing has failed here"
        for name, note in (("take 1.1", OOM), ("take 2.1", "lora key not loaded: x")):
            project.journal.end(project.journal.begin(name, "k" + name), "failed", note)
    assert "lora-keys" in run("--project", str(folder)).stdout
    assert "out-of-memory" in run("--project", str(folder), "--job", "take 1.1").stdout
    failed = run("--project", str(folder), "--job", "take 9.1").exception
    assert isinstance(failed, SettingsError)
    assert isinstance(run("words", "--job", "take 1.1").exception, SettingsError)


@pytest.mark.parametrize(
    ("step", "explained"),
    [
        (Step(name="take 3.1", what="rescue", note=OOM), 1),
        (Step(name="take 3.1", what="fail", note=OOM), 1),
        (Step(name="take 3.1", what="fail", note="something else"), 0),
        (Step(name="look 3.1", what="fail", note=OOM), 0),
        (Step(name="take 3.1", what="end", note=OOM), 0),
    ],
)
def test_a_run_explains_its_failed_takes(tmp_path: Path, step: Step, explained: int) -> None:
    with open_project(tmp_path / "x.mvpipe") as project:
        work = Session(terminal=Terminal(quiet=True, log=tmp_path / "log"), project=project)
        with work.watcher() as watcher:
            watcher.step(step)
        events = project.journal.events("explained")
        assert [event.data["fault"] for event in events] == ["out-of-memory"] * explained
    assert ("The card is full" in (tmp_path / "log").read_text()) is bool(explained)
