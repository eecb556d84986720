"""A whole film through every fault of the stand-in: the same takes, nothing rendered twice, nothing lost.

What a fault of the catalogue should lead to stands in one of five groups; a fault in none fails the test.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from mvpipe.errors import BackendError, GraphRejected, RenderTimeout
from mvpipe.render.comfyui.failures import Full, Refused, Stopped
from mvpipe.testing.comfyui.catalogue import CATALOGUE
from mvpipe.testing.standin import Standin, standin
from tests.whole import night
from tests.whole.night import Calm, Wanted
from tests.whole.studio import Studio

MENDED = [*(name for name, kind in CATALOGUE.items() if kind.mends), *night.BETTER]
"""The same takes in one go. Of the last six the catalogue promises only an end: mvpipe does better."""

RETAKEN = [
    "node-error", "instant", "frames-short", "sound-missing", "sound-silent", "sound-constant", "sound-short",
    "sound-nan", "sound-nan-stored", "lock-ignored", "black", "frozen",
]  # fmt: skip
"""One take fails, with its cause named, and the shot is taken again with the next seed."""

ENDS: dict[str, type[BackendError]] = {
    "forbidden": Refused,
    "half-accepted": GraphRejected,
    "upload-full": Full,
    "interrupted": Stopped,
    "disk-full": Full,
    "no-rights": Full,
}
"""A person has to do something: the run ends with one error, and the next one makes the same takes."""

RESTARTED = ["worker-dies", "hang"]
"""Nothing over the API helps: a person restarts the server, and the same run goes on."""

UNSEEN = ["lora-ignored", "seed-ignored", "shimmer"]
"""Only a canary with another seed, or without the LoRA, can tell: a film is made, with other pictures."""

UNWRITTEN = {"disk-full", "no-rights", "view-gone", "file-damaged"}
"""What was sampled is lost, so that sampling it once more is right."""

AFTER = {"request": (9, 60), "message": (40, 150), "step": (10, 30), "upload": (0, 1), "socket": (2, 5)}
"""Moments that pass before the first and the second fault of a night; `USUAL` for all others."""

USUAL = (3, 7)

VERSIONS = ("0.33.0", "0.38.0")
SLOW = ("--step-seconds", "4e4", "--no-previews")
"""Some 0.14 s a step at a thousandfold speed: a second for a shot."""


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return night.calm_night(tmp_path_factory.mktemp("calm"))


@pytest.fixture
def studio(calm: Calm, tmp_path: Path) -> Studio:
    return night.copy_of(calm, tmp_path / "film")


@contextmanager
def struck(folder: Path, *faults: str) -> Iterator[Standin]:
    """A server that has one or two faults, one after the other, in the midst of the film."""
    version = VERSIONS[list(CATALOGUE).index(faults[-1]) % 2]
    flags = ["--no-previews"]
    with standin(folder / "server", version=version, flags=flags, revive_s=0.3) as server:
        for place, fault in enumerate(faults):
            server.fault(fault, after=AFTER.get(CATALOGUE[fault].moment, USUAL)[place])
        yield server
        strikes = [line["name"] for line in server.log("fault")]
        assert sorted(strikes) == sorted(faults), "one did not strike"


def pairs(names: list[str]) -> list[tuple[str, ...]]:
    """Two faults a night, unlike each other, and one in the last where they are odd in number."""
    half = (len(names) + 1) // 2
    return [*zip(names, names[half:], strict=False), *([(names[half - 1],)] if len(names) % 2 else [])]


def check(studio: Studio, server: Standin, calm: Calm, *, allowed: int = 0) -> None:
    """The same film of the same takes, nothing sampled twice, nothing left behind, nobody harmed."""
    assert night.seen(studio) == calm.first
    assert night.other_bytes(studio, calm) == []
    assert night.twice(server) <= allowed
    assert night.charges(server, calm) == []


def test_every_fault_has_its_place() -> None:
    places = [*MENDED, *RETAKEN, *ENDS, *RESTARTED, *UNSEEN]
    assert sorted(places) == sorted(CATALOGUE)


def test_a_calm_night_is_what_it_should_be(calm: Calm) -> None:
    assert len(calm.shots) >= night.SHOTS
    assert list(calm.seen) == calm.first, "the gate finds fault with a good picture of the stand-in"
    assert len(set(calm.digests.values())) == len(calm.all)


@pytest.mark.slow
@pytest.mark.parametrize("faults", pairs(MENDED), ids=" ".join)
def test_faults_that_pass(calm: Calm, studio: Studio, tmp_path: Path, faults: tuple[str, ...]) -> None:
    with struck(tmp_path, *faults) as server:
        night.shoot(studio, server.url)
        check(studio, server, calm, allowed=len(UNWRITTEN.intersection(faults)))
        assert len(night.sampled(server)) == len(calm.shots)


@pytest.mark.slow
@pytest.mark.parametrize("faults", pairs(RETAKEN), ids=" ".join)
def test_takes_that_fail(calm: Calm, studio: Studio, tmp_path: Path, faults: tuple[str, ...]) -> None:
    with struck(tmp_path, *faults) as server:
        night.shoot(studio, server.url)
        seen = night.seen(studio)
        hit = {line["subject"]: line["name"] for line in server.log("fault")}
        for key, attempts in zip(seen, calm.shots, strict=True):
            assert key == next(one.key for one in attempts if not spoilt(one, hit))
        assert not set(night.other_bytes(studio, calm)) & set(seen)
        assert night.twice(server) == 0
        assert night.charges(server, calm) == []


def spoilt(wanted: Wanted, hit: Mapping[str, str]) -> bool:
    """Whether an attempt was struck by what is a fault in it: silence is right where that was sent."""
    silent = wanted.slate.graph["sound"] == "silence"
    return any(hit[one] != "sound-silent" or not silent for one in wanted.ids & hit.keys())


@pytest.mark.slow
@pytest.mark.parametrize("fault", ENDS)
def test_a_fault_that_needs_somebody(calm: Calm, studio: Studio, tmp_path: Path, fault: str) -> None:
    with struck(tmp_path, fault) as server:
        with pytest.raises(BackendError) as caught:
            night.shoot(studio, server.url)
        assert type(caught.value) is ENDS[fault]
        assert caught.value.hint
        night.shoot(studio, server.url)
        check(studio, server, calm, allowed=fault in UNWRITTEN)


@pytest.mark.slow
@pytest.mark.parametrize("fault", RESTARTED)
def test_a_server_that_has_to_be_restarted(calm: Calm, studio: Studio, tmp_path: Path, fault: str) -> None:
    with struck(tmp_path, fault) as server, meanwhile(lambda: restart(server)):
        night.shoot(studio, server.url)
        check(studio, server, calm)


@pytest.mark.slow
@pytest.mark.parametrize("fault", RESTARTED)
def test_a_server_that_nobody_restarts(calm: Calm, studio: Studio, tmp_path: Path, fault: str) -> None:
    """No shot after the first waits for it, and none is sent."""
    with struck(tmp_path, fault) as server:
        with pytest.raises(RenderTimeout, match="dead") as caught:
            night.shoot(studio, server.url)
        assert "restart ComfyUI" in caught.value.hint
        posted = len(server.requests("/prompt", "POST"))
        assert posted <= sum(len(run["sampled"]) for run in server.runs()) + 2
        server.restart()
        night.shoot(studio, server.url)
        check(studio, server, calm)


def restart(server: Standin) -> None:
    """As a person does who sees that nothing moves."""
    while not server.log("fault"):
        time.sleep(0.1)
    time.sleep(2.0)
    server.restart()


@pytest.mark.slow
@pytest.mark.parametrize("faults", pairs(UNSEEN), ids=" ".join)
def test_what_no_film_can_tell(calm: Calm, studio: Studio, tmp_path: Path, faults: tuple[str, ...]) -> None:
    with struck(tmp_path, *faults) as server:
        night.shoot(studio, server.url)
        assert night.seen(studio) == calm.first
        assert len(night.other_bytes(studio, calm)) == len(faults)


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Something that goes on beside the body; ended, in its own time, when the body has."""
    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@pytest.mark.slow
def test_nobody_polls_while_it_samples(calm: Calm, studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", speed=1000, flags=SLOW) as server:
        night.shoot(studio, server.url)
        check(studio, server, calm)
        looks = night.looks_while_sampling(server)
        # a job is looked for once before it is queued, while its predecessor samples, and once when it has
        # ended, when its successor may sample already
        assert set(looks.values()) <= {1, 2}
        assert all(path.startswith("/jobs") for path in looks)
        assert len(server.requests("/prompt", "POST")) == len(calm.shots)
        assert not server.requests("/interrupt")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_mvpipe_is_killed(calm: Calm, studio: Studio, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with standin(tmp_path / "server", version=VERSIONS[seed % 2], speed=1000, flags=SLOW) as server:
        for _ in range(4):
            with night.shooting(studio, server.url) as child:
                while not server.state()["running"] and child.poll() is None:
                    time.sleep(0.05)
                time.sleep(rng.uniform(0.0, 2.0))
        night.shoot(studio, server.url, night.STUBBORN)
        check(studio, server, calm)
        assert len(night.sampled(server)) == len(calm.shots)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2])
def test_the_server_is_killed(calm: Calm, studio: Studio, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)

    def die() -> None:
        for _ in range(4):
            time.sleep(rng.uniform(1.0, 4.0))
            server.kill()
            time.sleep(rng.uniform(0.0, 1.0))
            server.start()

    with standin(tmp_path / "server", version=VERSIONS[seed % 2], speed=1000, flags=SLOW) as server:
        with meanwhile(die):
            night.shoot(studio, server.url, night.STUBBORN)
        check(studio, server, calm)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_everything_at_random(calm: Calm, studio: Studio, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with standin(
        tmp_path / "server", version=VERSIONS[seed % 2], speed=1000, flags=SLOW, revive_s=0.3
    ) as server:
        server.dice(seed, 0.03)
        for _ in range(2):
            with night.shooting(studio, server.url):
                time.sleep(rng.uniform(2.0, 6.0))
        night.finish(studio, server.url)
        assert len({strike["name"] for strike in server.log("fault")}) >= 4
        server.put_dice_away()
        check(studio, server, calm)
