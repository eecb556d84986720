"""A cluster that cannot be used is said in one clear error, before anything is rendered."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build.graph import Node
from mvpipe.build.key import Task
from mvpipe.build.parcel import Packer, Unpacker
from mvpipe.build.store import Store
from mvpipe.build.vault import Entry, Vault
from mvpipe.cli import worker
from mvpipe.cli.joining import joined
from mvpipe.cli.session import Session, shown_words
from mvpipe.cli.terminal import Terminal
from mvpipe.errors import SettingsError, ToolMissing, Unreachable
from mvpipe.project import open_project
from mvpipe.request import Request, load_request, note_request
from mvpipe.storyboard.load import load
from tests.whole.studio import STORYBOARD


@pytest.fixture
def ask(tmp_path: Path) -> Request:
    (tmp_path / "board.yaml").write_text(STORYBOARD)
    (tmp_path / "song.wav").write_bytes(b"")
    loaded = load(tmp_path / "board.yaml")
    return Request(song=tmp_path / "song.wav", loaded=loaded, cache=tmp_path, cluster="tcp://127.0.0.1:9")


def join(tmp_path: Path, ask: Request) -> Session:
    with open_project(tmp_path / "board.mvpipe") as project:
        alone = Session(terminal=Terminal(quiet=True), project=project)
        with joined(alone, ask) as together:
            return together


def changed(ask: Request, **changes: Any) -> Request:
    from dataclasses import replace

    return replace(ask, **changes)


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, ask: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "mvpipe.build.cluster", raising=False)
    with pytest.raises(ToolMissing, match="--cluster: distributed is not installed") as found:
        join(tmp_path, ask)
    assert "pip install 'mvpipe[cluster]'" in found.value.hint


def test_nobody_answers(tmp_path: Path, ask: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvpipe.build.cluster.CONNECT_S", 0.5)
    with pytest.raises(Unreachable, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        join(tmp_path, ask)


@pytest.mark.parametrize("changes", [{"backend": "http://gpu:8188"}, {"also": ("attic",)}])
def test_servers_are_the_workers_own(tmp_path: Path, ask: Request, changes: Mapping[str, Any]) -> None:
    with pytest.raises(SettingsError, match="the servers are those of its workers"):
        join(tmp_path, changed(ask, **changes))


def test_a_store_may_be_shared_without_a_cluster(tmp_path: Path, ask: Request) -> None:
    together = join(tmp_path, changed(ask, cluster=None, vault=str(tmp_path / "films")))
    assert together.project.vault.store
    assert together.project.force is None
    assert join(tmp_path, changed(ask, cluster=None)).project.vault.store is None


def test_a_project_remembers_both_without_passwords(tmp_path: Path, ask: Request) -> None:
    (tmp_path / "board.mvpipe").mkdir()
    note_request(tmp_path / "board.mvpipe", changed(ask, vault="sftp://me:secret@host/films"))
    asked = load_request(tmp_path / "board.mvpipe")
    assert (asked.cluster, asked.vault) == ("tcp://127.0.0.1:9", "sftp://host/films")
    words = ["render", "--cluster", "tcp://host:8786", "--vault", "sftp://me:secret@host/films"]
    assert shown_words(words) == [*words[:-1], "sftp://host/films"]


class TestWorker:
    def test_its_server_is_that_of_a_plain_render_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MVPIPE_CACHE", str(tmp_path))
        monkeypatch.setenv("MVPIPE_BACKEND", "http://127.0.0.1:9")
        worker._server.cache_clear()
        try:
            kit = worker.kit()
            assert kit.folder.is_relative_to(tmp_path)
            assert kit.own["server"]().server.name == "http://127.0.0.1:9"
            assert "http://127.0.0.1:9" in kit.greet()
        finally:
            worker._server.cache_clear()


def test_separation_travels_with_its_weights(tmp_path: Path, ask: Request) -> None:
    """A separator as it was chosen here is the same there, whatever lies on that machine."""
    from mvpipe.prep import prep_nodes
    from mvpipe.sound.spleeter import Spleeter
    from tests import synth

    made = synth.song(2.0, seed=1, sample_rate=16_000)
    made.write(tmp_path / "stems")
    song = tmp_path / "stems" / "mix.wav"
    nodes: dict[str, Node] = {
        node.name: node for node in prep_nodes(changed(ask, song=song), lambda _: Spleeter(device="cpu"))
    }
    here = Vault(tmp_path / "here", store=Store(str(tmp_path / "store")))
    there = Vault(tmp_path / "there", store=Store(str(tmp_path / "store")), by="cyd")
    packer, found = Packer(here, worker.OWN), dict[str, Entry]()
    for name in ("song", "vocals"):
        work = nodes[name].bind(found)
        work = Unpacker(vault=there, own={}).unpack(packer.pack(work))
        assert isinstance(work.task, Task)
        make = work.make
        there.make(work.task, lambda folder, make=make: make(folder, lambda done, of: None))  # type: ignore[misc]
        entry = here.find(work.task.key)
        assert entry is not None
        found[name] = entry
    assert found["vocals"].facts["separator"] == "spleeter"
    assert found["vocals"].by == "cyd"
