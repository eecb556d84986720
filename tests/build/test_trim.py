"""A worker's vault is kept small, and nothing that is in use goes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mvpipe.build.key import Task
from mvpipe.build.trim import IDLE_S, STALE_S, touch, trim
from mvpipe.build.vault import Vault

NOW = 1_000_000.0


def made(vault: Vault, number: int, age_s: float) -> str:
    def make(folder: Path) -> Mapping[str, Any]:
        (folder / "clip").write_bytes(bytes(10_000))
        return {}

    entry = vault.make(Task(name="clip", version=1, params={"number": number}), make)
    os.utime(entry.folder, (NOW - age_s, NOW - age_s))
    return entry.key


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    keys = [made(vault, k, IDLE_S * (5 - k)) for k in range(4)]
    assert trim(tmp_path, 10**9, now=NOW) == 0
    assert 20_000 <= trim(tmp_path, 22_000, now=NOW) < 22_000
    assert [vault.find(key) is not None for key in keys] == [False, False, True, True]


def test_what_is_in_use_stays_whatever_the_limit(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    key, old = made(vault, 1, IDLE_S - 1), made(vault, 2, 9 * IDLE_S)
    touch(vault.home(old))
    assert trim(tmp_path, 0, now=NOW) == 0
    assert vault.find(key)
    assert vault.find(old)


def test_what_was_left_half_made_goes_after_a_day(tmp_path: Path) -> None:
    for name, age_s in (("old", STALE_S + 1), ("new", 60.0)):
        (tmp_path / "scratch" / name).mkdir(parents=True)
        os.utime(tmp_path / "scratch" / name, (NOW - age_s, NOW - age_s))
    trim(tmp_path, 0, now=NOW)
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == ["new"]
