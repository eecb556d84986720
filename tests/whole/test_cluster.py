"""A film made by a real cluster of several processes, each renderer with a server of its own."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mvpipe.testing.standin import Standin, standin
from tests.amazon import amazon, new_bucket
from tests.troupe import Troupe, troupe, until
from tests.whole.short_nights import accounted
from tests.whole.studio import Studio, build_for_h3, copied

SPEED = 100.0
LACKING = ("--without-model", "qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors")
"""A server without its text encoder."""


@dataclass
class Set:
    """A cluster: `ada` and `ben` render, each beside a server; `cyd` does all else.

    `dee` would render, and its server cannot.
    """

    troupe: Troupe
    servers: dict[str, Standin]

    def hire(self, name: str) -> None:
        place = self.troupe.folder / name
        own = {"MVPIPE_BACKEND": self.servers[name].url} if name in self.servers else {}
        settings = {"MVPIPE_CACHE": str(place), "MVPIPE_SETTINGS": str(place / "none.toml")}
        many = {"ada": 2, "ben": 1, "dee": 1}.get(name, 0)  # ada has the next one queued at its server
        self.troupe.hire(name, h3=many, threads=many + 1, environment=own | settings)

    def runs(self) -> Counter[str]:
        """What was sampled to its end -> how often, over all servers."""
        looks = [
            json.dumps(run["sampled"], sort_keys=True) for one in self.servers.values() for run in one.runs()
        ]
        return Counter(look for look in looks if look != "[]")

    def open_jobs(self) -> list[Any]:
        """What lies at a server and is nobody's."""
        states = [one.state() for one in self.servers.values()]
        return [job for state in states for job in (*state["running"], *state["waiting"])]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Set]:
    folder = tmp_path_factory.mktemp("stage")
    with (
        standin(folder / "server-ada", speed=SPEED) as one,
        standin(folder / "server-ben", speed=SPEED) as two,
        standin(folder / "server-dee", speed=SPEED, flags=LACKING) as three,
        amazon() as environment,
        pytest.MonkeyPatch.context() as here,
        troupe(folder) as cluster,
    ):
        for name, value in environment.items():
            here.setenv(name, value)
        made = Set(cluster, {"ada": one, "ben": two, "dee": three})
        for name in ("ada", "ben", "cyd", "dee"):
            made.hire(name)
        cluster.wait_for(4)
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A song and a storyboard for H3, heard once."""
    return build_for_h3(tmp_path_factory.mktemp("film"), seconds=26.0).folder


@pytest.fixture
def studio(folder: Path, tmp_path: Path) -> Studio:
    return copied(folder, tmp_path)


def render(studio: Studio, stage: Set, *words: str) -> list[str]:
    cluster = ["--cluster", stage.troupe.address, *words]
    return ["render", "--vocals", "vocals.wav", *cluster, studio.song, studio.storyboard]


def test_a_film_is_made_by_all_and_says_by_whom(studio: Studio, stage: Set) -> None:
    """What they share lies in an S3-compatible store."""
    words = render(studio, stage, "--vault", new_bucket())
    planned = studio.run("plan", *words[1:]).stdout
    assert "  ada, " in planned
    assert "  ben, " in planned
    stage.servers["ben"].fault("black", times=1)
    ran = studio.run(*words)
    assert "dee: left out: doctor: " in ran.stderr
    assert not stage.servers["dee"].requests("/prompt", "POST")
    report: dict[str, Any] = json.loads((studio.project / "report" / "report.json").read_text("utf-8"))
    assert report["result"] == "complete"
    assert "ada" in {shot["server"] for shot in report["gate"]} <= {"ada", "ben"}
    assert "made by ada: shot" in ran.stdout
    assert {event["host"] for event in studio.events("rendered")} == {"ada", "ben"}
    assert len(studio.entries("take")) == len(studio.plan()["shots"]) + 1, "the black one was taken again"
    assert set(stage.runs().values()) == {1}
    assert stage.open_jobs() == []
    told = studio.json("account")["servers"]
    seconds = {server["server"]: server["uses"] for server in told}
    assert seconds.keys() == {"ada", "ben"}
    assert seconds["ben"]["takes that failed the gate"] > 0, "the black one"
    assert all(server["rendering"].get("sample", 0) > 0 for server in told), "what their servers did is known"


def test_workers_and_mvpipe_may_be_killed(studio: Studio, stage: Set) -> None:
    """A worker dies with its take, then mvpipe; the same command ends with a whole film."""
    studio.edit("{backend: comfyui}", "{backend: comfyui, seed: 9}")
    before, shots = stage.runs(), len(studio.plan()["shots"])
    with studio.start(*render(studio, stage)) as child:
        until(lambda: stage.servers["ada"].state()["running"])
        stage.troupe.members["ada"].kill()
        until(lambda: len(studio.entries("take")) >= 1)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    kept = studio.entries("take")
    assert 1 <= len(kept) < shots
    stage.hire("ada")
    stage.troupe.wait_for(4)
    studio.run(*render(studio, stage))
    report: dict[str, Any] = json.loads((studio.project / "report" / "report.json").read_text("utf-8"))
    assert report["result"] == "complete"
    assert kept.items() <= studio.entries("take").items()
    told = accounted(studio)
    assert {watch.server for watch in told.watches} == {"ada", "ben"}
    assert told.unexplained == 0
    again = stage.runs() - before
    assert len(again) == shots
    assert sum(again.values()) <= shots + 2, "only what the dead worker's server went on with"
    assert stage.open_jobs() == []
