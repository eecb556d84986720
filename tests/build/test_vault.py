"""An entry exists whole or not at all; a damaged one is named and made again."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build import seal as seal_module
from mvpipe.build import vault as vault_module
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import ToolError, VaultError

TASK = Task(name="write", version=1, params={"text": "hello"})


def write(folder: Path) -> Mapping[str, Any]:
    (folder / "text.txt").write_text("hello")
    return {"letters": 5}


def never(folder: Path) -> Mapping[str, Any]:
    raise AssertionError("made twice")


def touch(path: Path, change: Callable[[Path], None]) -> None:
    path.parent.chmod(0o755)
    path.chmod(0o644)
    change(path)


def test_made_once_then_found(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    assert vault.find(TASK.key) is None
    made = vault.make(TASK, write)
    again = Vault(tmp_path).make(TASK, never)
    assert made == again
    assert made.path("text.txt").read_text() == "hello"
    assert made.facts == {"letters": 5}
    assert made.task == TASK.record()
    assert not made.path("text.txt").stat().st_mode & 0o222
    assert [entry.key for entry in vault.entries()] == [TASK.key]


def test_work_that_fails_leaves_nothing(tmp_path: Path) -> None:
    vault = Vault(tmp_path)

    def half(folder: Path) -> Mapping[str, Any]:
        (folder / "text.txt").write_text("hel")
        raise ToolError("encoder: exit status 1: broken")

    with pytest.raises(ToolError):
        vault.make(TASK, half)
    assert vault.find(TASK.key) is None
    assert list((tmp_path / "scratch").iterdir()) == []


DAMAGE: dict[str, Callable[[Entry], None]] = {
    "text.txt left its digest": lambda e: touch(e.path("text.txt"), lambda p: void(p.write_text("jello"))),
    "text.txt has 3 bytes, not 5": lambda e: touch(e.path("text.txt"), lambda p: void(p.write_text("hel"))),
    "text.txt is missing": lambda e: touch(e.path("text.txt"), lambda p: p.unlink()),
    "entry.json is missing": lambda e: touch(e.path("entry.json"), lambda p: p.unlink()),
    "entry.json is not readable": lambda e: touch(e.path("entry.json"), lambda p: void(p.write_text("{"))),
    "entry.json left its digest": lambda e: touch(e.path("entry.json"), forge),
}


def void(_: object) -> None:
    return None


def forge(path: Path) -> None:
    record = json.loads(path.read_text())
    record["facts"]["letters"] = 6
    path.write_text(json.dumps(record))


@pytest.mark.parametrize("fault", DAMAGE)
def test_damage_is_found_named_and_repaired(tmp_path: Path, fault: str) -> None:
    said: list[str] = []
    vault = Vault(tmp_path, on_damage=said.append)
    DAMAGE[fault](vault.make(TASK, write))
    assert vault.find(TASK.key, repair=False) is None
    assert vault.home(TASK.key).exists(), "a reader changes nothing"
    again = vault.make(TASK, write)
    assert again.path("text.txt").read_text() == "hello"
    assert fault in said[0]
    assert str(vault.home(TASK.key)) in said[0]
    assert len(list((tmp_path / "damaged").iterdir())) == 1


def test_a_copied_project_is_believed_by_content(tmp_path: Path) -> None:
    entry = Vault(tmp_path).make(TASK, write)
    entry.path("text.txt").chmod(0o644)
    os.utime(entry.path("text.txt"), (1, 1))
    assert Vault(tmp_path).find(TASK.key) is not None


def test_losing_a_race_is_a_hit(tmp_path: Path) -> None:
    vault = Vault(tmp_path)

    def slow(folder: Path) -> Mapping[str, Any]:
        Vault(tmp_path).make(TASK, write)
        return write(folder)

    assert vault.make(TASK, slow).facts == {"letters": 5}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    vault = Vault(tmp_path)

    def refuse(path: Path) -> None:
        raise OSError(code, os.strerror(code), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(seal_module, "sync", refuse)
        with pytest.raises(VaultError, match=r"text\.txt") as caught:
            vault.make(TASK, write)
    assert "finished work is kept" in caught.value.hint
    assert vault.find(TASK.key) is None
    assert vault.make(TASK, write).facts == {"letters": 5}


def test_a_tool_that_died_of_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path) -> Mapping[str, Any]:
        raise ToolError("ffmpeg: exit status 228: No space left on device")

    monkeypatch.setattr(vault_module, "_LOW_WATER_BYTES", 1 << 62)
    with pytest.raises(VaultError, match="disk full") as caught:
        Vault(tmp_path).make(TASK, fail)
    assert isinstance(caught.value.__cause__, ToolError)


def test_killed_while_writing_there_is_no_entry(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from mvpipe.build.key import Task
        from mvpipe.build.vault import Vault
        def slow(folder):
            (folder / "text.txt").write_text("hel")
            print("half", flush=True)
            time.sleep(60)
        Vault(Path(sys.argv[1])).make(Task(name="write", version=1, params={"text": "hello"}), slow)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"half\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    vault = Vault(tmp_path)
    assert vault.find(TASK.key) is None
    vault.sweep()
    assert not (tmp_path / "scratch").exists()
    assert vault.make(TASK, write).facts == {"letters": 5}


class TestOfManyEntries:
    """What their records say is not held in memory."""

    @pytest.fixture
    def made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
        monkeypatch.setattr(vault_module, "KEPT", 2)
        monkeypatch.setattr(vault_module, "_records", vault_module._Records())
        vault = Vault(tmp_path)
        tasks = [replace(TASK, params={"text": "hello", "number": k}) for k in range(5)]
        return [vault.make(task, write) for task in tasks]

    def test_each_says_what_it_is_when_it_is_asked(self, made: list[Entry]) -> None:
        assert [entry.task["params"]["number"] for entry in made] == [0, 1, 2, 3, 4]
        assert len(vault_module._records._kept) == 2

    def test_one_that_is_lost_meanwhile_is_not_made_up(self, made: list[Entry]) -> None:
        touch(made[0].path("entry.json"), Path.unlink)
        with pytest.raises(VaultError, match=r"entry\.json is missing"):
            assert made[0].facts

    def test_one_that_was_made_anew_says_what_it_is_now(self, tmp_path: Path, made: list[Entry]) -> None:
        touch(made[4].path("text.txt"), Path.unlink)

        def loud(folder: Path) -> Mapping[str, Any]:
            (folder / "text.txt").write_text("HELLO")
            return {"letters": 6}

        assert made[4].facts == {"letters": 5}
        again = Vault(tmp_path).make(Task(**made[4].task), loud)
        assert made[4] == again
        assert made[4].facts == again.facts == {"letters": 6}
