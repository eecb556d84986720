"""`render` asks the doctor first: a failed check ends it before any work, --force goes on and is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mvpipe.build.journal import Journal
from mvpipe.testing.standin import standin
from tests.whole.studio import STORYBOARD, Studio, build

SAGE = ("--card", "16gb", "--argv=--use-sage-attention")


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    studio = Studio(tmp_path / "film")
    studio.folder.mkdir()
    for name in (studio.song, "vocals.wav"):
        (studio.folder / name).write_bytes(b"never read")
    (studio.folder / studio.storyboard).write_text(STORYBOARD, "utf-8")
    studio.edit("192x128", "256x160")
    studio.edit("look:", "render: {backend: comfyui}\ngate: {sync: off}\nlook:")
    return studio


def test_a_render_must_not_start_against_a_failed_check(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", flags=SAGE) as server:
        render = ["render", "--vocals", "vocals.wav", "--backend", server.url, studio.song, studio.storyboard]
        ran = studio.run(*render, expect=11)
        assert "flags-attention" in ran.stderr
        assert "--explain flags-attention" in ran.stderr
        assert not studio.entries("song"), "work was done before the doctor was asked"
        assert not server.requests("/prompt", "POST")


def test_force_goes_on_and_is_recorded(tmp_path: Path) -> None:
    studio = build(tmp_path / "film", seconds=16.0)
    studio.edit("192x128", "256x160")
    with standin(tmp_path / "small", flags=("--max-upload-size", "3.9")) as server:
        render = ["render", "--vocals", "vocals.wav", "--backend", server.url, studio.song, studio.storyboard]
        studio.run(*render, expect=11)
        studio.run(*render, "--force", expect=10)  # nobody is seen in the takes of a stand-in
    report = json.loads((studio.project / "report/report.json").read_text())
    assert report["forced"] == ["upload-limit"]
    assert "forced, against the doctor: upload-limit" in (studio.project / "report/report.txt").read_text()
    journal = Journal(studio.project / "journal.db")
    try:
        (event,) = journal.events("forced")
        assert event.data == {"checks": ["upload-limit"]}
    finally:
        journal.close()


def test_the_table_and_its_exit_code(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", flags=SAGE) as server:
        ran = studio.run("doctor", studio.storyboard, "--backend", server.url, expect=11)
        assert "result: fail: a render must not start" in ran.stdout
        told = studio.json("doctor", studio.storyboard, "--backend", server.url, expect=11)
    assert told["result"] == "fail"
    levels = {row["id"]: row["level"] for row in told["checks"]}
    assert levels["flags-attention"] == "fail"
    assert levels["graph-prompt"] == "ok"
    assert levels["files-whole"] == "not visible from here"
    assert told["facts"]["server"]["version"] == "0.33.0"


def test_an_animatic_needs_no_server(studio: Studio) -> None:
    ran = studio.run("doctor", studio.storyboard, "--backend", "animatic")
    assert "result: pass" in ran.stdout
    assert "server-answers" not in ran.stdout


def test_no_server_is_a_failed_check(studio: Studio) -> None:
    ran = studio.run("doctor", studio.storyboard, "--backend", "http://127.0.0.1:9", expect=11)
    assert "fail" in ran.stdout.splitlines()[0]


def test_a_check_explains_itself(studio: Studio) -> None:
    ran = studio.run("doctor", "--explain", "lora-keys")
    assert "208" in ran.stdout
    assert {"cause", "evidence", "remedy", "verify", "source"} <= studio.json(
        "doctor", "--explain", "lora-keys"
    ).keys()
    studio.run("doctor", "--explain", "nothing", expect=2)


def test_a_canary_is_rendered_and_kept(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        doctor = ["doctor", studio.storyboard, "--backend", server.url]
        before = {row["id"]: row["level"] for row in studio.json(*doctor)["checks"]}
        after = {row["id"]: row["level"] for row in studio.json(*doctor, "--canary")["checks"]}
        again = {row["id"]: row["level"] for row in studio.json(*doctor)["checks"]}
    assert (before["canary"], before["graph-bypass"]) == ("not visible from here", "warn")
    assert (after["canary"], after["canary-lora"], after["graph-bypass"]) == ("ok", "ok", "ok")
    assert again == after
