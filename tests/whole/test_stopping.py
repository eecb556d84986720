"""Ctrl-C, whatever the server does: it ends in moments, says how to go on, and stops nobody else's work."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mvpipe.testing.standin import Standin, standin
from tests.render.comfyui.rig import misdeeds
from tests.whole.studio import Studio, build_for_h3, copied

WITHIN_S = 2.0
SLACK_S = 1.5
"""For a machine on which every core is busy with another test."""

SLOW = ["--step-seconds", "1e5"]
"""Some 0.8 s a step at a thousandfold speed."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_for_h3(tmp_path_factory.mktemp("stopped"), seconds=14.0, size="64x64").folder


@pytest.fixture
def studio(folder: Path, tmp_path: Path) -> Studio:
    return copied(folder, tmp_path)


def render(server: Standin) -> list[str]:
    return ["render", "--vocals", "vocals.wav", "--backend", server.url, "song.wav", "board.yaml"]


def stop(studio: Studio, server: Standin, when: Callable[[], object]) -> str:
    """Render, stop it as Ctrl-C does at a moment, and say what was written to stderr."""
    with studio.start(*render(server)) as child:
        while not when():
            assert child.poll() is None, child.communicate()
            time.sleep(0.05)
        time.sleep(0.5)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
    took = time.monotonic() - began
    assert child.returncode == 130, err
    assert took < WITHIN_S + SLACK_S, f"{took:.1f} s"
    assert "stopped: finished work is kept" in err
    assert f"to go on: mvpipe render --vocals vocals.wav --backend {server.url} song.wav board.yaml" in err
    return err


def finish(studio: Studio, server: Standin) -> None:
    """The same command goes on, and makes nothing twice."""
    studio.run(*render(server))
    assert studio.json("status")["result"] == "complete"
    looks = [one["look"] for run in server.runs() for one in run["sampled"]]
    assert len(looks) == len(set(looks)) == len(studio.plan()["shots"])
    assert misdeeds(server) == []


@pytest.mark.slow
def test_a_server_frozen_while_it_samples(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", speed=1000, flags=SLOW) as server:
        server.fault("freeze", after=1, seconds=12)
        err = stop(studio, server, lambda: server.log("fault"))
        assert "may go on there, since the server did not answer; the same command takes it up" in err
        finish(studio, server)


@pytest.mark.slow
def test_a_server_frozen_before_it_says_a_word(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        server.fault("slow-answer", path="/ws", seconds=12)
        err = stop(studio, server, lambda: server.log("fault"))
        assert "may go on there" not in err
        finish(studio, server)


@pytest.mark.slow
def test_a_server_that_listens_is_told_to_stop_our_job_alone(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", speed=1000, flags=SLOW) as server:
        theirs = server.foreign(count=1, seconds=0.5)
        err = stop(studio, server, lambda: server.state()["sampling"])
        assert "may go on there" not in err
        while server.state()["running"] or server.state()["waiting"]:
            time.sleep(0.1)
        ended = {run["prompt_id"]: run["last"] for run in server.runs()}
        assert ended.pop(theirs[0]) == "execution_success"
        assert set(ended.values()) == {"execution_interrupted"}
        finish(studio, server)


@pytest.mark.slow
def test_a_server_that_is_gone(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "server", speed=1000, flags=SLOW) as server:

        def dies() -> bool:
            if sampling := bool(server.state()["sampling"]):
                server.kill()
            return sampling

        err = stop(studio, server, dies)
        assert "may go on there" in err
        server.start()
        finish(studio, server)
