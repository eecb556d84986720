"""A film made by several servers: it is whole, nothing is made twice, and nothing is left on any of them."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mvpipe.account import RENDERING
from mvpipe.cli.settings import default_cache
from mvpipe.pulse import feel
from mvpipe.stopwatch import FILE
from mvpipe.testing.standin import Standin, standin
from mvpipe.timing import Rendered
from tests.whole.studio import Studio, build_for_h3, copied

LACKING = ("--without-model", "qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors")
"""A server without its text encoder."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A song and a storyboard for H3, heard once."""
    return build_for_h3(tmp_path_factory.mktemp("fleet"), seconds=16.0).folder


@pytest.fixture
def studio(folder: Path, tmp_path: Path) -> Studio:
    return copied(folder, tmp_path)


@contextmanager
def fleet(folder: Path, *speeds: float, flags: Sequence[str] = ()) -> Iterator[list[Standin]]:
    """Stand-ins, each so many times as fast as the clock; the last one with flags of its own."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                standin(folder / f"server-{k}", speed=speed, flags=flags if k == len(speeds) - 1 else ())
            )
            for k, speed in enumerate(speeds)
        ]


def render(studio: Studio, servers: list[Standin], *words: str) -> list[str]:
    backends = [word for server in servers for word in ("--backend", server.url)]
    return ["render", "--vocals", "vocals.wav", *backends, *words, studio.song, studio.storyboard]


def made(servers: list[Standin]) -> Counter[str]:
    """What was sampled to its end -> how often, over all servers."""
    looks = [json.dumps(run["sampled"], sort_keys=True) for one in servers for run in one.runs()]
    return Counter(look for look in looks if look != "[]")


def open_jobs(servers: list[Standin]) -> list[Any]:
    found = []
    for server in servers:
        if server.alive:
            state = server.state()
            found += [*state["running"], *state["waiting"]]
    return found


def whole(studio: Studio, servers: list[Standin], *, expect: int = 0) -> dict[str, Any]:
    """The report of a film that is whole, nothing of which was made twice or is left behind."""
    report: dict[str, Any] = json.loads((studio.project / "report" / "report.json").read_text("utf-8"))
    assert report["result"] == "complete"
    for server in studio.json("account")["servers"]:
        assert sum(server["uses"].values()) == pytest.approx(server["seconds"], abs=1e-6)
        assert sum(server["rendering"].values()) == pytest.approx(
            sum(server["uses"][use.value] for use in RENDERING), abs=1e-6
        )
    assert len(studio.entries("take")) == len(studio.plan()["shots"])
    assert open_jobs(servers) == []
    assert set(made(servers).values()) <= {1}, "the same thing was sampled twice"
    return report


def test_two_servers_share_a_film(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, 50.0) as servers:
        studio.run(*render(studio, servers))
        whole(studio, servers)
        assert all(server.runs() for server in servers), "one of them had nothing to do"
        events = studio.events("rendered")
        again = [len(server.requests("/prompt", "POST")) for server in servers]
        studio.run("rerender", "1")
        more = [len(server.requests("/prompt", "POST")) for server in servers]
        assert sum(more) == sum(again) + 1, "rerender knows the servers of the film"
    assert {event["host"] for event in events} == {server.url for server in servers}


def test_what_a_server_may_not_be_given_goes_to_the_other(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what none may be given is said before any of them works."""
    with fleet(tmp_path, 200.0, 200.0) as servers:
        table = '[servers.{}]\nurl = "{}"\nlargest = "64x64"\n'
        limits = tmp_path / "settings.toml"
        monkeypatch.setenv("MVPIPE_SETTINGS", str(limits))
        limits.write_text("".join(table.format(f"s{k}", one.url) for k, one in enumerate(servers)), "utf-8")
        ran = studio.run(*render(studio, servers), expect=2)
        assert f"no server may render it: {servers[0].url}: pictures up to 64x64, not 256x160" in ran.stderr
        assert not any(server.requests("/prompt", "POST") for server in servers)
        limits.write_text(table.format("small", servers[1].url), "utf-8")
        studio.run(*render(studio, servers))
        whole(studio, servers)
        assert not servers[1].runs()


def test_what_nobody_has_the_memory_for_is_made_smaller_where_the_storyboard_allows_it(
    studio: Studio, tmp_path: Path
) -> None:
    """A card with room for 9 s of 128x96, and for nothing of 256x160."""
    with fleet(tmp_path, 200.0, flags=("--room", "1700")) as servers:
        ran = studio.run(*render(studio, servers), expect=6)
        assert "out of memory" in ran.stderr
        tried = len(servers[0].requests("/prompt", "POST"))
        lengths = {one["window"]["stop"] - one["window"]["start"] for one in studio.plan()["shots"]}
        assert tried <= 2 * (len(lengths) + 1), "freed and tried again, and nothing as long after it"
        studio.edit("backend: comfyui", "backend: comfyui, smaller: {size: 128x96}")
        ran = studio.run(*render(studio, servers))
        report = json.loads((studio.project / "report" / "report.json").read_text("utf-8"))
        assert report["result"] == "complete"
        assert {entry.task["params"]["size"][0] for entry in studio.entries("take").values()} == {128}
        assert report["smaller"][0]["how"] == "128x96, where the film has 256x160"
        assert "rendered at 128x96" in ran.stderr
        assert studio.json("takes", "1")["takes"][0]["size"] == "128x96"
        posted = len(servers[0].requests("/prompt", "POST"))
        assert posted <= 2 * tried + len(studio.plan()["shots"])
        studio.run(*render(studio, servers))
        assert len(servers[0].requests("/prompt", "POST")) == posted, "what is there is not tried larger"


def test_a_server_that_dies_leaves_its_takes_to_the_other(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, 100.0) as servers:
        servers[1].fault("die", times=1)
        ran = studio.run(*render(studio, servers))
        whole(studio, servers)
    assert f"{servers[1].url}: away" in ran.stderr


def test_what_one_server_has_no_memory_for_another_makes(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, 100.0) as servers:
        servers[1].fault("out-of-memory-plain", times=-1)
        ran = studio.run(*render(studio, servers))
        report = whole(studio, servers)
    assert {shot["server"] for shot in report["gate"]} == {servers[0].url}
    assert f"{servers[1].url}: cannot do" in ran.stderr


def test_a_server_that_refuses_the_graph_is_left_to_the_other(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, 100.0, flags=LACKING) as servers:
        ran = studio.run(*render(studio, servers))
        whole(studio, servers)
        assert f"{servers[1].url}: left out: doctor: " in ran.stderr
    (studio.project / "report" / "report.json").unlink()


def test_by_force_a_refusal_moves_every_take_of_its_kind(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, 100.0, flags=LACKING) as servers:
        ran = studio.run(*render(studio, servers, "--force"))
        whole(studio, servers)
        assert servers[1].requests("/prompt", "POST") == []
    assert ran.stderr.count(f"{servers[1].url}: cannot do") <= 2, "it was asked again and again"


def test_what_all_servers_refuse_ends_the_run_after_the_first(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0, flags=LACKING) as servers:
        ran = studio.run(*render(studio, servers, "--force"), expect=6)
        assert servers[0].requests("/prompt", "POST") == []
    assert "graph native-ref2va" in ran.stderr


def test_takes_that_fail_alike_end_the_night_and_what_was_made_is_kept(
    studio: Studio, tmp_path: Path
) -> None:
    with fleet(tmp_path, 200.0) as servers:
        studio.run(*render(studio, servers, "--max-takes", "1"), expect=7)
        kept, shots = studio.entries("take"), len(studio.plan()["shots"])
        servers[0].fault("node-error", times=-1)
        ran = studio.run(*render(studio, servers), expect=6)
        sent = len(servers[0].requests("/prompt", "POST")) - 1
        assert sent <= 3 < 3 * (shots - 1), "every shot was tried three times"
        assert studio.entries("take") == kept
        servers[0].heal()
        studio.run(*render(studio, servers))
        whole(studio, servers)
        assert kept.items() <= studio.entries("take").items()
    assert "2 takes in a row" in ran.stderr


def test_a_server_that_is_not_there_is_said_and_the_others_go_on(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 100.0) as servers:
        nobody = ["--backend", "http://127.0.0.1:9"]
        words = render(studio, servers)
        ran = studio.run(*words[:-2], *nobody, *words[-2:])
        whole(studio, servers)
    assert "http://127.0.0.1:9: used once it is back" in ran.stderr


def test_a_night_that_may_make_two_takes_says_how_it_goes_on(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 200.0) as servers:
        ran = studio.run(*render(studio, servers, "--max-takes", "2"), expect=7)
        assert "2 takes were allowed" in ran.stdout
        assert "goes on" in ran.stderr
        assert len(studio.entries("take")) == 2
        assert (studio.project / "film").exists(), "a rough cut is made"
        studio.run(*render(studio, servers))
        whole(studio, servers)


def test_a_take_that_would_not_end_in_time_is_not_begun(studio: Studio, tmp_path: Path) -> None:
    """An earlier film has taught this user that a step of this server needs a quarter of an hour."""
    with fleet(tmp_path, 200.0) as servers:
        taught = Rendered(
            shot=0, host=servers[0].url, frames=141, size=(256, 160), steps=4, step_s=900.0, seconds=3700.0
        )
        kept = default_cache().parent
        kept.mkdir(parents=True)
        (kept / FILE).write_text(json.dumps({"key": "another film", **asdict(taught)}) + "\n", "utf-8")
        clock = (datetime.now().astimezone() + timedelta(minutes=2)).strftime("%H:%M")
        planned = studio.run("plan", *render(studio, servers)[1:])
        assert "by times of 1 take" in planned.stdout
        ran = studio.run(*render(studio, servers, "--until", clock), expect=7)
        assert f"the time is up at {clock}" in ran.stdout
        assert servers[0].requests("/prompt", "POST") == []
        account = studio.json("account")["servers"][0]
        assert account["uses"]["takes"] == 0
        studio.run(*render(studio, servers))
        whole(studio, servers)


@pytest.mark.parametrize("words", [(), ("--now",)])
def test_a_second_terminal_stops_it_and_it_goes_on(
    studio: Studio, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Models load for 20 s here, so that a second terminal has the time to look and to speak."""
    with fleet(tmp_path, 2.0) as servers:
        with studio.start(*render(studio, servers)) as child:
            wait_until(lambda: bool((feel(studio.project) or {}).get("under_way")), child)
            said = studio.run("status").stdout
            studio.run("stop", *words)
            _, err = child.communicate()
        assert f"on {servers[0].url}" in said
        assert child.returncode == (130 if words else 7), err
        wait_until(lambda: not open_jobs(servers))
        begun = len(studio.entries("take"))
        assert begun < len(studio.plan()["shots"])
        assert (begun == 0) == bool(words)
        studio.run("stop", expect=2)
        studio.run(*render(studio, servers))
        whole(studio, servers)


def wait_until(so: Callable[[], bool], child: subprocess.Popen[str] | None = None) -> None:
    until = time.monotonic() + 60
    while not so():
        assert child is None or child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)


def test_killed_it_goes_on_at_the_server_that_has_begun(studio: Studio, tmp_path: Path) -> None:
    with fleet(tmp_path, 20.0, 20.0) as servers:
        with studio.start(*render(studio, servers)) as child:
            wait_until(lambda: all(server.state()["running"] for server in servers), child)
            child.send_signal(signal.SIGKILL)
            child.communicate()
        studio.run(*render(studio, list(reversed(servers))))
        whole(studio, servers)
