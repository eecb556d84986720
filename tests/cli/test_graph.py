"""`mvpipe graph import`: a workflow as the editor saves it, with the classes of a server or of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mvpipe.cli.graph import app
from mvpipe.errors import SettingsError, Unreachable
from mvpipe.render.comfyui.template import load
from mvpipe.testing.standin import standin
from tests.render.comfyui.editor import as_written, saved
from tests.render.comfyui.servers import classes, loaded, object_info

runner = CliRunner()
OURS = "t8-lock-source"


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(saved(loaded(OURS).graph, classes())), "utf-8")
    return path


def check(folder: Path) -> None:
    """The two files are there, and are what our own template is."""
    found, ours = load(folder / "mine.mvpipe.json"), loaded(OURS)
    assert as_written(found.graph, ours.graph) == ours.graph
    assert found.slots.slots == ours.slots.slots
    assert found.slots.lock == "exact"
    assert [pack.name for pack in found.slots.needs.packs], "the server names the packs"


def test_from_the_editor_with_a_server(workflow: Path, tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        ran = runner.invoke(app, ["import", str(workflow), "--backend", server.url], catch_exceptions=False)
        assert ran.exit_code == 0
        assert not server.requests(path="/prompt", method="POST")
    check(tmp_path)


def test_from_the_editor_with_a_saved_answer(workflow: Path, tmp_path: Path) -> None:
    (tmp_path / "info.json").write_text(json.dumps(object_info()), "utf-8")
    asked = ["import", str(workflow), "--schemas", str(tmp_path / "info.json")]
    assert runner.invoke(app, asked, catch_exceptions=False).exit_code == 0
    check(tmp_path)


def test_the_server_is_what_the_editors_format_needs(workflow: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="known to a server only") as told:
        runner.invoke(app, ["import", str(workflow)], catch_exceptions=False)
    assert "--backend" in str(told.value.hint)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        runner.invoke(
            app, ["import", str(workflow), "--backend", "http://127.0.0.1:9"], catch_exceptions=False
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json"]


def test_a_class_the_server_lacks_is_named(workflow: Path, tmp_path: Path) -> None:
    with (
        standin(tmp_path / "server", flags=("--packs", "kj")) as server,
        pytest.raises(SettingsError, match=r"no such class as .*T8"),
    ):
        runner.invoke(app, ["import", str(workflow), "--backend", server.url], catch_exceptions=False)


@pytest.mark.parametrize("text", ["", "[", "[]", "3", '{"a": {}}'])
def test_what_is_no_workflow_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.json").write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=r"mine\.json"):
        runner.invoke(app, ["import", str(tmp_path / "mine.json")], catch_exceptions=False)
