"""Sleep is held off while the body runs, and given back; where it cannot be, that is said."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from mvpipe.tools import awake as module
from mvpipe.tools.awake import awake

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="another way there")


def holder(folder: Path, text: str) -> Path:
    """A program in the place of systemd-inhibit."""
    path = folder / "systemd-inhibit"
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path


def use(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "holder", lambda: [str(path)])


def test_it_is_held_until_the_body_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    use(holder(tmp_path, f'"$@"; echo "$1" >> {log}'), monkeypatch)
    said: list[str] = []

    def fail() -> None:
        with awake(said.append):
            assert log.read_text() == "true\n", "it was tried once, and is held now"
            raise RuntimeError("the body's own")

    with pytest.raises(RuntimeError, match="the body's own"):
        fail()
    assert log.read_text() == "true\ncat\n"
    assert said == []


def test_one_that_is_not_let_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(holder(tmp_path, "echo access denied >&2; exit 1"), monkeypatch)
    said: list[str] = []
    with awake(said.append):
        pass
    assert len(said) == 1
    assert "access denied" in said[0]


def test_a_machine_without_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    said: list[str] = []
    with awake(said.append):
        pass
    assert said == ["the machine may go to sleep meanwhile: neither systemd-inhibit nor caffeinate is here"]
