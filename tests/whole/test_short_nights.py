"""A fleet with many short shots: a server that slows down, and one wild night of those the soak plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.testing.standin import standin
from tests.benchmarks import soak
from tests.whole import short_nights
from tests.whole.short_nights import Calm

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def haste(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in short_nights.HASTE:
        monkeypatch.setattr(module, name, value)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in short_nights.HASTE:
            patch.setattr(module, name, value)
        return short_nights.calm_night(tmp_path_factory.mktemp("calm"), seconds=20.0)


def test_a_server_that_slows_down_is_left_to_the_last_and_the_film_is_whole(
    calm: Calm, tmp_path: Path
) -> None:
    """Its fifth take and all that follow need many times as long for a step."""
    studio = short_nights.copy_of(calm, tmp_path / "film")
    said: list[str] = []
    flags = ("--no-previews", "--step-seconds", "3e4")
    with (
        standin(tmp_path / "well", speed=1000, flags=flags) as well,
        standin(tmp_path / "tired", speed=1000, flags=flags) as tired,
    ):
        tired.fault("slow-loop", times=-1, after=16, seconds=0.3)
        short_nights.shoot(studio, [well.url, tired.url], said.append)
        slow, quick = len(tired.runs()), len(well.runs())
    assert short_nights.seen(studio, len(calm.keys)) == list(calm.keys)
    (line,) = [one for one in said if one.startswith(f"{tired.url}: ") and "slower than its takes" in one]
    assert "restart ComfyUI on it" in line
    assert slow < quick, "it got no more than it had"


def test_memory_that_leaks_is_freed_then_a_restart_is_asked_for_and_the_film_is_whole(
    calm: Calm, tmp_path: Path
) -> None:
    studio = short_nights.copy_of(calm, tmp_path / "film")
    said: list[str] = []
    with standin(tmp_path / "leaks", flags=("--no-previews", "--leak", "400")) as server:
        short_nights.shoot(studio, [server.url], said.append)
        assert len(server.requests("/free", "POST")) == 1
    assert short_nights.seen(studio, len(calm.keys)) == list(calm.keys)
    freed, restart = (one for one in said if "graphics memory in use" in one)
    assert freed.endswith("ComfyUI is asked to free it")
    assert "though it was freed" in restart
    assert "restart ComfyUI on it" in restart


def test_a_wild_night_loses_nothing_makes_nothing_twice_and_every_second_is_explained(
    calm: Calm, tmp_path: Path
) -> None:
    line, counts = soak.play(calm, tmp_path, 104)
    assert (counts.missing, counts.other, counts.lost, counts.twice) == (0, 0, 0, 0), line
    assert counts.charges == []
    assert counts.unexplained == 0
