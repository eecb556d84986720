"""A night that the disk cannot hold does not begin."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.build.key import Task
from mvpipe.build.vault import Entry, Vault
from mvpipe.clock import Span
from mvpipe.errors import VaultError
from mvpipe.film import Card, Shot
from mvpipe.room import KEPT, KNOWN, check_room, needed

SIZE = (100, 10)


def entry(vault: Vault, name: str, frames: int, size: int) -> Entry:
    def make(folder: Path) -> dict[str, str]:
        (folder / "file").write_bytes(bytes(size))
        return {}

    return vault.make(Task(name=name, version=1, params={"frames": frames, "size": list(SIZE)}), make)


def test_it_is_what_the_projects_own_files_say(tmp_path: Path, shots: list[Shot]) -> None:
    vault = Vault(tmp_path)
    entries = [entry(vault, *one) for one in (("take", 10, 20_000), ("conform", 10, 50_000), ("voice", 1, 9))]
    assert needed(shots, SIZE, entries, 3) == 3 * 248 * 2_000 + 4 * 200 * 5_000
    guessed = (248 * KNOWN["take"] + 4 * 200 * KNOWN["conform"]) * 1_000
    assert needed(shots, SIZE, [], 1) == round(guessed)
    assert needed([], SIZE, entries, 3) == 0


@pytest.fixture
def shots() -> list[Shot]:
    def span(start: int, many: int) -> Span:
        return Span(start=start, stop=start + many, rate=Fraction(24))

    card = Card(prompt="rain")
    return [Shot(number=k, cut=span(100 * k, 100), window=span(100 * k - 10, 124), card=card) for k in (1, 2)]


def test_a_disk_that_would_be_full_is_said_before(tmp_path: Path) -> None:
    check_room(KEPT + 5, 5, tmp_path)
    with pytest.raises(VaultError, match=r"need up to 2\.0 GB, and 1 GB are kept free"):
        check_room(KEPT, 2 * 10**9, tmp_path)
