"""Runs on a cluster with work that needs no films, and a ledger of who has begun what."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mvpipe.account import end_cut
from mvpipe.build.cluster import Cluster, connected
from mvpipe.build.graph import Graph, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.lane import Lane, Ready
from mvpipe.build.places import Places
from mvpipe.build.run import Outcome, run
from mvpipe.build.store import Store
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import BackendError
from mvpipe.ledger import Ledger
from mvpipe.render.backend import UNHEARD
from mvpipe.timesheet import Timesheet
from tests.troupe import Server, kit

OWN = {Server: "server"}


class Alike:
    """What a server refuses of one it refuses of all."""

    servers: Collection[str] = ()

    def __init__(self) -> None:
        self.refused: dict[str, BackendError] = {}

    def able(self, ready: Ready, names: Collection[str]) -> Collection[str]:
        return [name for name in names if name not in self.refused]

    def hopeless(self, ready: Ready) -> BackendError | None:
        return None if set(self.servers) - set(self.refused) else [*self.refused.values()][-1]

    def note(self, server: str, ready: Ready, error: BackendError) -> bool:
        self.refused[server] = error
        return self.hopeless(ready) is None

    def well(self, server: str) -> None:
        assert server


class Play:
    """A run: a vault of its own, a store that all share, and a ledger of what was really made."""

    def __init__(self, folder: Path, name: str = "client", store: str = "") -> None:
        self.folder, self.ledger = folder, folder / "ledger"
        self.ledger.mkdir(exist_ok=True)
        self.vault = Vault(folder / name, store=Store(store or str(folder / "store")))
        self.journal = Journal(folder / f"{name}.db")
        self.said: list[str] = []

    @contextmanager
    def cluster(self, address: str) -> Iterator[Cluster]:
        with connected(address, self.vault, own=OWN, kit=kit) as cluster:
            yield cluster

    def go(self, address: str, *nodes: Node, watch: Callable[[Any], None] = lambda _: None) -> Outcome:
        end_cut(self.journal, 0.0)
        with self.cluster(address) as cluster:
            takes = Places(cluster, resource="h3", say=self.said.append, fitness=Alike())
            sheet = Timesheet(takes, cluster, Ledger(self.journal.note), lambda _: UNHEARD)
            lanes: dict[str, Lane] = {"cpu": Places(cluster, say=self.said.append), "render": sheet}
            try:
                return run(Graph(nodes), self.vault, self.journal, lanes=lanes, hands=cluster, watch=watch)
            finally:
                sheet.close()

    def made(self) -> Counter[str]:
        """How often each was made, by whomever."""
        return Counter(path.name.split("@")[0] for path in self.ledger.iterdir())

    def makers(self, name: str) -> list[str]:
        return sorted(path.name.split("@")[1] for path in self.ledger.glob(f"{name}@*"))


def nothing(folder: Path, server: Server) -> None:
    """What a node does besides."""


def node(
    play: Play,
    name: str,
    *needs: str,
    seconds: float = 0.0,
    act: Callable[[Path, Server], None] = nothing,
    **options: Any,
) -> Node:
    """Work that notes in the ledger who has begun it, and needs some time."""
    ledger, server = play.ledger, Server(Path())

    def bind(entries: Mapping[str, Entry]) -> Work:
        dishes = [entry.path("dish") for entry in entries.values()]

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            (ledger / f"{name}@{server.place.name}@{time.time_ns()}").touch()
            act(folder, server)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                progress(1, 2)
                time.sleep(0.02)
            (folder / "dish").write_text(f"{name}({','.join(dish.read_text() for dish in dishes)})")
            return {}

        inputs = {need: entry.digest("dish") for need, entry in entries.items()}
        params = {"name": name, "play": play.folder.name}
        return Work(task=Task(name="cook", version=1, inputs=inputs, params=params), make=make)

    return Node(name=name, needs=needs, bind=bind, **options)
