"""Golden tables: the whole doctor against the stand-in, in a dozen planted configurations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.doctor.tables import GOLDEN, PLANTED, table


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_the_whole_table(name: str, tmp_path: Path) -> None:
    assert table(name, tmp_path) == (GOLDEN / f"{name}.txt").read_text("utf-8")


def test_every_golden_table_is_planted() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == PLANTED.keys()


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("well", []),
        ("blackwell-with-sage", ["card-alive", "flags-attention"]),
        ("harmful-flags", []),
        ("cpu", []),
        ("file-missing", ["files-on-server"]),
        ("multishot", ["pack-multishot"]),
        ("damaged-files", ["audio-vae", "files-whole", "lora-keys"]),
        ("ailing-machine", []),
        ("small-uploads", ["graph-size", "upload-limit"]),
        ("no-server", []),
        ("old-core", ["graph-fits"]),
        ("later-core", []),
        ("pack-missing", ["nodes-present"]),
    ],
)
def test_what_fails_in_them(name: str, failed: list[str]) -> None:
    """So that nobody writes them anew without seeing what changed."""
    text = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert sorted(re.findall(r"^fail\s+(\S+)", text, re.MULTILINE)) == failed
