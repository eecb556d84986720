"""A take and a reel that many tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe import film
from mvpipe.reel.assemble import assemble
from mvpipe.reel.conform import conform
from tests.reel import indexed


@pytest.fixture(scope="session")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A take of 124 frames that say shot 7."""
    path = tmp_path_factory.mktemp("take") / "take.mp4"
    indexed.write(path, 7, 124)
    return path


@pytest.fixture(scope="session")
def reel(take: Path, tmp_path_factory: pytest.TempPathFactory) -> film.Reel:
    """61 frames (2.54 s), in two shots: frames 12 to 42 of the take and 0 to 29."""
    folder = tmp_path_factory.mktemp("reel")
    conform(indexed.clip(take, frames=31), folder / "1.mp4", size=indexed.SIZE)
    conform(indexed.clip(take, start=0, frames=30), folder / "2.mp4", size=indexed.SIZE)
    return assemble([(folder / "1.mp4", 31), (folder / "2.mp4", 30)], indexed.RATE, folder / "reel.mp4")
