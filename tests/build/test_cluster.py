"""A graph on a real cluster of several processes: placed by resource, made once, whoever is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mvpipe.account import account
from mvpipe.build import errand
from mvpipe.build.graph import Growth
from mvpipe.build.muster import muster
from mvpipe.build.vault import Entry
from mvpipe.errors import (
    BackendError,
    Cancelled,
    GraphRejected,
    SettingsError,
    ToolError,
    Unreachable,
    VaultError,
)
from tests.amazon import amazon, new_bucket
from tests.play import Play, node
from tests.troupe import ROOT, Server, Troupe, kit, troupe, until


@pytest.fixture(scope="module")
def bucket() -> Iterator[Mapping[str, str]]:
    with amazon() as environment:
        yield environment


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, bucket: Mapping[str, str]) -> Iterator[Troupe]:
    """Two workers that render and one that does not."""
    with troupe(tmp_path_factory.mktemp("troupe")) as made:
        made.hire("ada", h3=1, environment=bucket)
        made.hire("ben", h3=1, environment=bucket)
        made.hire("cyd", environment=bucket)
        made.wait_for(3)
        yield made


def test_a_growing_graph_is_made_where_the_resource_is_and_once(stage: Troupe, tmp_path: Path) -> None:
    play = Play(tmp_path)
    told: list[tuple[str, int]] = []

    def again(entry: Entry) -> Growth:
        retake = node(play, "take 1.2", "voice", lane="render")
        return Growth(nodes=(retake,), waits=(("film", "take 1.2"),))

    nodes = [
        node(play, "voice"),
        node(play, "take 1.1", "voice", lane="render", then=again, seconds=2.5),
        *(node(play, f"take {k}.1", "voice", lane="render", seconds=0.2) for k in range(2, 6)),
        node(play, "film", *(f"take {k}.1" for k in range(1, 6))),
    ]
    made = play.go(stage.address, *nodes, watch=lambda step: told.append((step.what, step.done)))
    takes = [f"take {k}.1" for k in range(1, 6)] + ["take 1.2"]
    assert set(play.made().values()) == {1}
    assert {made.entries[name].by for name in takes} == {"ada", "ben"}
    assert (
        made.entries["film"].path("dish").read_text().startswith("film(take 1.1(voice()),take 2.1(voice())")
    )
    assert ("progress", 1) in told
    later = Play(tmp_path, "another machine")
    assert later.go(stage.address, *nodes).entries["film"].by == made.entries["film"].by
    assert set(later.made().values()) == {1}


def test_the_same_through_a_store_that_is_no_path(
    stage: Troupe, tmp_path: Path, bucket: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in bucket.items():
        monkeypatch.setenv(name, value)
    url = new_bucket()
    play = Play(tmp_path, store=url)
    nodes = [node(play, "voice"), *(node(play, f"take {k}", "voice", lane="render") for k in range(3))]
    with play.cluster(stage.address) as cluster:
        assert muster(cluster, stage.address, "h3", kit) == {}
    made = play.go(stage.address, *nodes)
    assert made.entries["take 2"].path("dish").read_text() == "take 2(voice())"
    again = Play(tmp_path, "another machine", store=url)
    assert again.go(stage.address, *nodes).entries["take 2"].by in ("ada", "ben")
    assert set(again.made().values()) == {1}


def test_what_a_killed_worker_had_is_made_elsewhere(
    stage: Troupe, tmp_path: Path, bucket: Mapping[str, str]
) -> None:
    play = Play(tmp_path)
    nodes = [node(play, f"take {k}", lane="render", seconds=1.0) for k in range(4)]
    victims: list[str] = []

    def kill(step: Any) -> None:
        if step.what == "end" and not victims:
            until(lambda: any("@ada@" in path.name for path in play.ledger.iterdir()))
            victims.append("ada")
            stage.members["ada"].kill()

    try:
        made = play.go(stage.address, *nodes, watch=kill)
    finally:
        stage.hire("ada", h3=1, environment=bucket)
    assert set(made.entries) == {f"take {k}" for k in range(4)}
    twice = [name for name, many in play.made().items() if many > 1]
    assert len(twice) <= 1, "only what the dead one had is begun again"
    assert all(entry.path("dish").exists() for entry in made.entries.values())
    told = account(play.journal)
    seconds = {one["server"]: one["uses"] for one in told.as_json()["servers"]}
    assert told.unexplained == 0
    assert seconds["ben"]["takes"] >= 2.0
    assert seconds["ada"]["away"] > 0
    stage.wait_for(3)


CLIENT = """
import sys
from pathlib import Path
from tests.play import Play, node
play = Play(Path(sys.argv[2]))
nodes = [node(play, f"take {k}", lane="render", seconds=2.5) for k in range(5)]
play.go(sys.argv[1], *nodes)
"""


def test_a_killed_client_loses_nothing_and_makes_nothing_twice(stage: Troupe, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", CLIENT, stage.address, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, env=env, stderr=subprocess.PIPE) as child:
        until(lambda: (tmp_path / "ledger").exists() and len(list((tmp_path / "ledger").iterdir())) >= 2)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    play = Play(tmp_path)
    before = play.made()
    assert len(before) == 2, "both are under way"
    nodes = [node(play, f"take {k}", lane="render", seconds=2.5) for k in range(5)]
    assert len(play.go(stage.address, *nodes).entries) == 5
    assert play.made() == {f"take {k}": 1 for k in range(5)}


def test_a_stop_takes_back_what_is_under_way(stage: Troupe, tmp_path: Path) -> None:
    play = Play(tmp_path)
    nodes = [node(play, f"take {k}", lane="render", seconds=60) for k in range(4)]

    def stop(step: Any) -> None:
        if len(play.made()) == 2:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(Cancelled):
        play.go(stage.address, *nodes, watch=stop)
    assert time.monotonic() - began < 30
    quick = [node(play, f"take {k}", lane="render") for k in range(4)]
    assert len(play.go(stage.address, *quick).entries) == 4
    assert time.monotonic() - began < 50, "nobody is still at work on what was stopped"


def test_a_worker_whose_server_refuses_gets_no_more(stage: Troupe, tmp_path: Path) -> None:
    play = Play(tmp_path)

    def refuse(folder: Path, server: Server) -> None:
        if server.place.name == "ben":
            raise GraphRejected("ben's server: no such node: H3Sampler")

    nodes = [node(play, f"take {k}", lane="render", act=refuse, seconds=0.3) for k in range(5)]
    made = play.go(stage.address, *nodes)
    assert {entry.by for entry in made.entries.values()} == {"ada"}
    assert len(play.said) == 1
    assert play.said[0].startswith("ben: cannot do take ")
    assert play.said[0].endswith("another worker is tried: ben's server: no such node: H3Sampler")


def test_what_every_server_refuses_fails_with_what_it_said(stage: Troupe, tmp_path: Path) -> None:
    play = Play(tmp_path)

    def refuse(folder: Path, server: Server) -> None:
        raise GraphRejected(f"{server.place.name}: no such node", hint="install it")

    made = play.go(stage.address, *(node(play, f"take {k}", lane="render", act=refuse) for k in range(5)))
    assert len(made.failures) == 5
    assert {type(error) for error in made.failures.values()} == {GraphRejected}
    assert {error.hint for error in made.failures.values()} == {"install it"}
    assert sum(play.made().values()) <= 6, "not every take has to be refused by everybody"


def test_files_of_this_machine_travel_by_what_is_in_them(stage: Troupe, tmp_path: Path) -> None:
    play = Play(tmp_path)
    song = tmp_path / "here only.wav"
    song.write_bytes(b"sound" * 1000)
    seen = tmp_path / "seen"

    def read(folder: Path, server: Server) -> None:
        assert song.read_bytes() == b"sound" * 1000
        seen.write_text(str(song))

    play.go(stage.address, node(play, "song", act=read))
    assert seen.read_text().endswith("here only.wav")
    assert not seen.read_text().startswith(str(tmp_path / "here")), "read from the worker's own copy"


def test_work_that_kills_its_workers_is_given_up(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As a separation does that needs more memory than there is."""
    folder = tmp_path_factory.mktemp("doomed")
    with troupe(folder, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as doomed:
        for name in ("dan", "eve", "fay"):
            doomed.hire(name)
        doomed.wait_for(3)
        play = Play(tmp_path)

        def die(folder: Path, server: Server) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        made = play.go(doomed.address, node(play, "separation", act=die))
        (error,) = made.failures.values()
        assert isinstance(error, ToolError)
        assert "separation: 2 workers died of it" in str(error)


def test_a_scheduler_that_dies_ends_the_run_and_loses_nothing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mvpipe.build.cluster.CONNECT_S", 1.0)
    play = Play(tmp_path)
    with troupe(tmp_path_factory.mktemp("headless")) as headless:
        headless.hire("gil", h3=1)
        headless.wait_for(1)
        nodes = [node(play, f"take {k}", lane="render", seconds=0.5) for k in range(3)]

        def behead(step: Any) -> None:
            if step.what == "end" and headless.scheduler:
                headless.scheduler.kill()

        made = play.go(headless.address, *nodes, watch=behead)
    assert len(made.entries) == 1
    assert {type(error).__name__ for error in made.failures.values()} == {"Gone"}
    assert "the cluster is gone" in str(made.failures["take 2"])


class TestMuster:
    """One clear error for whatever lacks, before any work is sent."""

    def test_nobody_answers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("mvpipe.build.cluster.CONNECT_S", 0.5)
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
            with pytest.raises(Unreachable, match=f"{address}: no Dask scheduler answers"):
                Play(tmp_path).cluster(address).__enter__()

    def test_an_address_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="--cluster: htp://x"):
            Play(tmp_path).cluster("htp://x").__enter__()

    def test_all_is_well(self, stage: Troupe, tmp_path: Path) -> None:
        with Play(tmp_path).cluster(stage.address) as cluster:
            assert muster(cluster, stage.address, "h3", kit) == {}
        assert not list((tmp_path / "store" / "notes").iterdir())

    def test_nobody_has_the_resource(self, stage: Troupe, tmp_path: Path) -> None:
        with (
            Play(tmp_path).cluster(stage.address) as cluster,
            pytest.raises(BackendError, match="3 workers, and none with h9: nobody can render"),
        ):
            muster(cluster, stage.address, "h9", kit)

    def test_other_versions(self, stage: Troupe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with Play(tmp_path).cluster(stage.address) as cluster:
            monkeypatch.setattr(errand, "__version_here", "", raising=False)
            real = errand.version()

            class Other:
                """Here it says something else; by name it is what every worker has."""

                def __call__(self) -> str:
                    return f"{real} or so"

                def __reduce__(self) -> str | tuple[Any, ...]:
                    return getattr, (errand, "version")

            monkeypatch.setattr(errand, "version", Other())
            with pytest.raises(BackendError, match=r"worker tcp://.* has mvpipe .*; here is mvpipe .* or so"):
                muster(cluster, stage.address, "h3", kit)

    def test_a_vault_that_workers_do_not_see(
        self, stage: Troupe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As a path that is another disk on every machine."""
        with Play(tmp_path).cluster(stage.address) as cluster:
            monkeypatch.setattr(cluster.store, "url", str(tmp_path / "elsewhere"))
            with pytest.raises(VaultError, match=r"does not see the vault .*elsewhere: another place there"):
                muster(cluster, stage.address, "h3", kit)

    def test_servers_that_do_not_answer(self, stage: Troupe, tmp_path: Path) -> None:
        ada, ben = stage.members["ada"].place / "ill", stage.members["ben"].place / "ill"
        try:
            with Play(tmp_path).cluster(stage.address) as cluster:
                ada.write_text("http://127.0.0.1:8188: nobody answers")
                (fault,) = muster(cluster, stage.address, "h3", kit).values()
                assert "http://127.0.0.1:8188: nobody answers" in str(fault)
                ben.write_text("http://127.0.0.1:8189: nobody answers")
                with pytest.raises(BackendError, match="no worker's server answers"):
                    muster(cluster, stage.address, "h3", kit)
        finally:
            ada.unlink()
            ben.unlink(missing_ok=True)
