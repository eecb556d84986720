"""Client and server are killed at random moments, and everything else goes wrong at random as well."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mvpipe.render.comfyui.jobs import job_id
from mvpipe.testing.standin import Standin, standin
from tests.render.comfyui.rig import Rig, essence, misdeeds, order
from tests.render.comfyui.worker import seed_of

ROOT = Path(__file__).parents[3]
NAMES = [f"shot-{n}" for n in range(1, 5)]
SLOW = ["--step-seconds", "4e5", "--shrink", "2"]  # some 0.08 s a step at a thousandfold speed


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each film is when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("calm")
    with standin(folder / "comfy", flags=["--shrink", "2"]) as server:
        rig = Rig(server, folder / "client")
        return {name: essence(rig.make(name, seed_of(name))) for name in NAMES}


@contextmanager
def worker(server: Standin, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-m", "tests.render.comfyui.worker", server.url, str(folder), *NAMES]
    child = subprocess.Popen(argv, cwd=ROOT)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def finish(server: Standin, folder: Path) -> None:
    """Let somebody come who is not killed."""
    with worker(server, folder) as child:
        assert child.wait(120) == 0


def sampled(server: Standin, folder: Path, name: str) -> int:
    """How often a film was sampled to its end."""
    key = order(folder / "assets", name, seed_of(name)).key
    ids = {job_id(key, attempt) for attempt in range(1, 30)}
    return sum(len(run["sampled"]) for run in server.runs() if run["prompt_id"] in ids)


def check(server: Standin, folder: Path, calm: dict[str, str], *, least: int = 0) -> None:
    """The same films, nothing rendered twice, nothing lost, nobody harmed.

    A server that is killed between writing a film and noting its run has made one that its log has not.
    """
    assert {name: essence(folder / f"{name}.mp4") for name in NAMES} == calm
    found = {name: sampled(server, folder, name) for name in NAMES}
    assert all(least <= times <= 1 for times in found.values()), found
    assert misdeeds(server) == []


@pytest.mark.parametrize(("version", "seed"), [("0.33.0", 1), ("0.3.64", 2), ("0.33.0", 3)])
def test_the_client_is_killed(tmp_path: Path, calm: dict[str, str], version: str, seed: int) -> None:
    rng = random.Random(seed)
    folder = tmp_path / "client"
    folder.mkdir()
    with standin(tmp_path / "comfy", version=version, speed=1000, flags=SLOW) as server:
        for _ in range(6):
            with worker(server, folder) as child:
                time.sleep(rng.uniform(0.3, 1.6))
                child.kill()
        finish(server, folder)
        check(server, folder, calm, least=1)


@pytest.mark.parametrize(("version", "seed"), [("0.33.0", 1), ("0.3.64", 2)])
def test_the_server_is_killed(tmp_path: Path, calm: dict[str, str], version: str, seed: int) -> None:
    rng = random.Random(seed)
    folder = tmp_path / "client"
    folder.mkdir()
    with standin(tmp_path / "comfy", version=version, speed=1000, flags=SLOW) as server:
        with worker(server, folder) as child:
            for _ in range(4):
                time.sleep(rng.uniform(0.2, 1.2))
                server.kill()
                time.sleep(rng.uniform(0.0, 0.5))
                server.start()
            child.wait(120)
        finish(server, folder)
        check(server, folder, calm)


@pytest.mark.parametrize(("version", "seed"), [("0.33.0", 1), ("0.3.64", 2), ("0.38.0", 3)])
def test_everything_goes_wrong_at_random(
    tmp_path: Path, calm: dict[str, str], version: str, seed: int
) -> None:
    rng = random.Random(seed)
    folder = tmp_path / "client"
    folder.mkdir()
    with standin(tmp_path / "comfy", version=version, speed=1000, flags=SLOW, revive_s=0.2) as server:
        server.dice(seed, 0.03)
        for _ in range(3):
            with worker(server, folder) as child:
                time.sleep(rng.uniform(0.5, 3.0))
                child.kill()
        finish(server, folder)
        assert len({strike["name"] for strike in server.log("fault")}) >= 4
        check(server, folder, calm)
