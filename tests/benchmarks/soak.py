"""Nights of four servers and sixty shots in which everything goes wrong at random.

Crashes, hangs, slowdowns, out of memory, full disks on both sides, somebody else's jobs, broken connections;
servers are killed, and mvpipe itself with SIGKILL. Shots last a second, so that two hundred nights can be
had; all else is as ever (`tests/whole/short_nights.py`). A line a night; at its end stands what has to be 0
in every one: shots without their own first take; takes with other bytes than in a calm night; takes that were
finished when a run was killed, and are not there any more; work sampled twice though its film could be had;
jobs left on servers and others' work touched; milliseconds of servers that the account does not explain.

`python -m tests.benchmarks soak [ROUNDS] [FIRST_SEED]`
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mvpipe.account import RENDERING, Account
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import MvpipeError
from mvpipe.production import CLIP
from mvpipe.testing.comfyui.catalogue import CATALOGUE
from mvpipe.testing.standin import Standin, standin
from tests.render.comfyui.rig import misdeeds
from tests.whole import short_nights
from tests.whole.night import BETTER, decoded
from tests.whole.short_nights import Calm
from tests.whole.studio import Studio

ROUNDS = 200
STEPS_S = (2e4, 3e4, 4e4, 8e4)
"""Seconds of a step at 960x544, 124 frames, at a thousandfold speed: a take needs a quarter of a second."""

RATES = (0.005, 0.01, 0.02)
HELPED = ("hang", "worker-dies")
"""A person restarts the server."""

UNWRITTEN = ("disk-full", "no-rights", "view-gone", "file-damaged")
"""What was sampled is lost, so that sampling it once more is right."""

KINDS = [name for name, kind in CATALOGUE.items() if kind.mends] + [
    *BETTER,
    *HELPED,
    "disk-full",
    "no-rights",
]
HEAD = (
    "seed  faults kinds  killed  full  deaths  runs  busy   missing  other  lost  twice  charges  unexplained"
    "     s  cpu s"
)


@dataclass
class Round:
    """One night."""

    calm: Calm
    studio: Studio
    servers: list[Standin]
    rng: random.Random
    kills: int = 0
    full: int = 0
    restarts: int = 0
    runs: int = 0
    lost: int = 0
    ended: str = ""
    kept: set[str] = field(default_factory=set[str])
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    def go(self) -> None:
        """Be killed, then finish."""
        with self._meanwhile():
            for _ in range(self.rng.randint(0, 2)):
                self._killed()
            try:
                self.runs += short_nights.finish(self.studio, self.urls)
            except (MvpipeError, AssertionError) as exc:
                self.ended = f"{type(exc).__name__}: {exc}"

    def _killed(self) -> None:
        """A run that is killed once it renders, or whose disk is full before."""
        full = self.rng.choice([None, self.rng.randint(1, 15)])
        with short_nights.shooting(self.studio, self.urls, full) as child:
            until = time.monotonic() + 20
            while child.poll() is None and time.monotonic() < until and (full or not self._takes()):
                time.sleep(0.1)
            time.sleep(self.rng.uniform(0.0, 2.5))
            self.full += child.poll() is not None
            self.kills += child.poll() is None
        self.runs += 1
        before = self._takes()
        found = {entry.key for entry in Vault(self.studio.project / "vault").entries()}
        self.lost += len(before - found)
        self.kept = before

    def _takes(self) -> set[str]:
        """Keys of the takes that are in the vault now."""
        root = self.studio.project / "vault"
        return {key for key in self.calm.files if (root / key[:2] / key).exists()}

    @contextmanager
    def _meanwhile(self) -> Iterator[None]:
        """Servers die, and a person restarts those that hang."""
        thread = threading.Thread(target=self._people)
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join()

    def _people(self) -> None:
        deaths = sorted(self.rng.uniform(1.0, 12.0) for _ in range(self.rng.randint(0, 3)))
        helped: Counter[int] = Counter()
        began = time.monotonic()
        while not self.over.wait(1.0):
            if deaths and time.monotonic() - began > deaths[0]:
                deaths.pop(0)
                self._restart(self.rng.randrange(len(self.servers)))
            for k, server in enumerate(self.servers):
                if (hung := _hung(server)) > helped[k]:
                    helped[k] = hung
                    self._restart(k)

    def _restart(self, k: int) -> None:
        self.servers[k].restart()
        self.restarts += 1


def _hung(server: Standin) -> int:
    """How often a server was struck by what only a restart mends."""
    log = (server.root / "log.jsonl").read_bytes()
    return sum(log.count(b'"kind": "fault", "name": "%s"' % name.encode()) for name in HELPED)


@dataclass
class Counts:
    """What has to be 0."""

    missing: int
    other: int
    lost: int
    twice: int
    charges: list[str]
    unexplained: int


def _count(one: Round, found: Account) -> Counts:
    seen = short_nights.seen(one.studio, len(one.calm.keys))
    made = one.studio.entries("take")
    strikes = Counter(line["name"] for server in one.servers for line in server.log("fault"))
    sampled = Counter(
        str(work["look"]) for server in one.servers for run in server.runs() for work in run["sampled"]
    )
    again = sum(many - 1 for many in sampled.values()) - sum(strikes[name] for name in UNWRITTEN)
    gone = sum(key not in made for key in one.kept)
    return Counts(
        missing=sum(key != wanted for key, wanted in zip(seen, one.calm.keys, strict=True)),
        other=sum(not _same(one.calm, entry) for entry in made.values()),
        lost=one.lost + gone,
        twice=max(0, again),
        charges=[charge for server in one.servers for charge in _charges(server, one.calm)],
        unexplained=found.unexplained,
    )


def _same(calm: Calm, take: Entry) -> bool:
    """Whether a take is that of the calm night: its file, or all that is decoded of it."""
    file, content = calm.files.get(take.key, ("", ""))
    return take.digest(CLIP) == file or decoded(take.path(CLIP)) == content


def _charges(server: Standin, calm: Calm) -> Iterator[str]:
    state = server.state()
    yield from misdeeds(server)
    yield from (f"left behind: {job}" for job in (*state["running"], *state["waiting"]) if job in calm.ids)


def _busy(found: Account) -> float:
    spent = [one for watch in found.watches for one in watch.stretches]
    whole = sum(one.length for one in spent) or 1
    return sum(one.length for one in spent if one.use in RENDERING) / whole


def play(calm: Calm, folder: Path, seed: int) -> tuple[str, Counts]:
    """One night: a line of the table, what is wrong with it on lines of its own; and the counts."""
    rng = random.Random(seed)
    began, cost = time.monotonic(), _cpu()
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                standin(
                    folder / f"server-{k}",
                    version=rng.choice(["0.33.0", "0.38.0"]),
                    speed=1000,
                    flags=_flags(step_s, seed * 10 + k, rng.choice(RATES)),
                    revive_s=0.3,
                )
            )
            for k, step_s in enumerate(rng.sample(STEPS_S, len(STEPS_S)))
        ]
        one = Round(calm, short_nights.copy_of(calm, folder / "film"), servers, rng)
        one.go()
        found = short_nights.accounted(one.studio)
        counts = _count(one, found)
        strikes = Counter(line["name"] for server in servers for line in server.log("fault"))
        deaths = sum(server.deaths for server in servers) + one.restarts
        line = (
            f"{seed:4}  {sum(strikes.values()):6} {len(strikes):5}  {one.kills:6}  {one.full:4}  {deaths:6}  "
            f"{one.runs:4}  {_busy(found):4.0%}  {counts.missing:7}  {counts.other:5}  {counts.lost:4}  "
            f"{counts.twice:5}  {len(counts.charges):7}  {counts.unexplained:11}  "
            f"{time.monotonic() - began:4.0f}  {_cpu() - cost:5.1f}"
        )
    return "\n      ".join([line, *counts.charges, *filter(None, [one.ended])]), counts


def _flags(step_s: float, seed: int, rate: float) -> Sequence[str]:
    return (
        "--step-seconds",
        str(step_s),
        "--no-previews",
        "--dice",
        ",".join([str(seed), str(rate), *KINDS]),
    )


def _cpu() -> float:
    """CPU seconds of this process and of those that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Print the table, and what it comes to."""
    given = [int(text) for text in sys.argv[1:]]
    rounds, first = [*given, *(ROUNDS, 1)[len(given) :]]
    total: Counter[str] = Counter()
    short_nights.hurry()
    with tempfile.TemporaryDirectory() as scratch:
        calm = short_nights.calm_night(Path(scratch))
        print(HEAD, flush=True)
        for seed in range(first, first + rounds):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                line, counts = play(calm, Path(folder), seed)
            print(line, flush=True)
            total.update(
                missing=counts.missing,
                other=counts.other,
                lost=counts.lost,
                twice=counts.twice,
                charges=len(counts.charges),
                unexplained=counts.unexplained,
            )
    print(f"{rounds} nights: " + ", ".join(f"{many} {name}" for name, many in total.items()))


if __name__ == "__main__":
    main()
