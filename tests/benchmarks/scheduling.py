"""How long servers wait, how near a night is to the shortest, what the engine costs; on a virtual clock."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mvpipe.berth import Berth
from mvpipe.build.graph import Graph, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.run import run
from mvpipe.build.vault import Vault
from mvpipe.fleet import Fleet
from mvpipe.schedule import Ask, Post, bound, deal
from tests.night import Night, Server, song, unequal_night

NIGHTS = 20
MANY = 10_000


def main() -> None:
    """Print the tables."""
    _nights()
    _engine()


def _nights() -> None:
    nights = {
        "one server": [Night([1.0], text_s=60).run(song(seed, 60)) for seed in range(NIGHTS)],
        "four unequal": [unequal_night(seed, 0) for seed in range(NIGHTS)],
        "four unequal, 9 retakes": [unequal_night(seed) for seed in range(NIGHTS)],
    }
    figures = {"idle": Night.idle, "idle while a take waits": Night.kept_waiting, "over the bound": _over}
    print(f"60 shots, {NIGHTS} nights " + "".join(f"{name + ': mean, worst':>38}" for name in figures))
    for name, some in nights.items():
        found = [[figure(night) for night in some] for figure in figures.values()]
        told = "".join(f"{statistics.mean(one):30.2%} {max(one):7.2%}" for one in found)
        print(f"{name:<24}{told}")


def _over(night: Night) -> float:
    """How much longer a night was than the shortest there could be, had all times been known before it."""
    asks = [
        Ask(name=name, seconds=(end - begun) * night.speed[at], at=k)
        for k, (name, at, begun, end) in enumerate(night.done)
    ]
    posts = [Post(name=name, speed=speed) for name, speed in night.speed.items()]
    return max(end for *_, end in night.done) / bound(asks, posts) - 1


def _engine() -> None:
    began = time.process_time()
    asks = song(1, MANY, 300)
    made = deal(asks, [Post(name=str(k), speed=s, text_s=60) for k, s in enumerate((1.0, 0.7, 0.5, 0.3))])
    needed = time.process_time() - began
    over = made.makespan_s / made.bound_s - 1
    print(f"\n{MANY} takes dealt to four servers in {needed:.2f} CPU s, {over:.2%} over the bound")
    with tempfile.TemporaryDirectory() as folder:
        for what in ("made", "resumed"):
            began, peak = time.process_time(), _peak_mb()
            _walk(Path(folder), asks)
            each, grown = (time.process_time() - began) / MANY, _peak_mb() - peak
            print(f"{MANY} takes {what}: {1000 * each:.2f} CPU ms each, {grown:.0f} MB more at the peak")


def _walk(folder: Path, asks: list[Ask]) -> None:
    """The real engine and the real fleet, with takes that need no time."""

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        return {}

    def node(ask: Ask) -> Node:
        task = Task(name="take", version=1, params={"name": ask.name})
        return Node(name=ask.name, bind=lambda _: Work(task=task, make=make), lane="render", hint=ask)

    vault, journal = Vault(folder / "vault"), Journal(folder / "journal.db")
    berths = [Berth(host=Server(name=f"server {k}")) for k in range(4)]
    try:
        outcome = run(
            Graph(map(node, asks)), vault, journal, lanes={"render": Fleet(berths, now=lambda: 0.0)}
        )
    finally:
        journal.close()
    assert len(outcome.entries) == len(asks)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
