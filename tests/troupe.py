"""A real Dask cluster of several processes, which may be killed, and whoever is at work in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.build.errand import Kit

ROOT = Path(__file__).parents[1]
PLACE = "TROUPE_PLACE"
"""In a worker's environment: its own folder."""


class Server:
    """What every worker has of its own; here it only knows its place."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def words(self) -> str:
        """What it says when it is asked, if it is not well."""
        note = self.place / "ill"
        return note.read_text() if note.exists() else ""


def kit() -> Kit:
    """On a worker: a vault, and a server of its own."""
    place = Path(os.environ[PLACE])
    return Kit(
        folder=place / "vault", own={"server": lambda: Server(place)}, greet=lambda: Server(place).words
    )


@dataclass
class Member:
    """A worker of the troupe."""

    name: str
    place: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """As a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@dataclass
class Troupe:
    """A scheduler and its workers."""

    folder: Path
    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    members: dict[str, Member] = field(default_factory=dict)

    def hire(
        self, name: str, *, h3: int = 0, threads: int = 2, environment: Mapping[str, str] | None = None
    ) -> Member:
        """One more worker."""
        place = self.folder / name
        place.mkdir(exist_ok=True)
        words = ["worker", self.address, "--name", name, "--nthreads", str(threads), "--no-nanny"]
        words += ["--no-dashboard", "--local-directory", str(place / "dask"), "--death-timeout", "20"]
        words += ["--host", "127.0.0.1", "--resources", f"h3={h3}"] if h3 else ["--host", "127.0.0.1"]
        member = Member(
            name, place, _started(words, place / "log", {PLACE: str(place), **(environment or {})})
        )
        self.members[name] = member
        return member

    def wait_for(self, many: int) -> None:
        """Until so many workers are there."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(many, timeout=60)
            while len(client.scheduler_info()["workers"]) != many:
                time.sleep(0.05)

    def close(self) -> None:
        for process in [*(member.process for member in self.members.values()), self.scheduler]:
            if process:
                process.kill()
                process.wait()


def _started(words: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    quiet = {"DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s", "OMP_NUM_THREADS": "1"}
    with log.open("ab") as into:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT), **quiet, **environment},
            stdout=into,
            stderr=into,
            cwd=log.parent,
        )


@contextmanager
def troupe(folder: Path, **environment: str) -> Iterator[Troupe]:
    """A scheduler without workers; all are gone at the end."""
    note = folder / "scheduler.json"
    words = [
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--idle-timeout",
        "10 minutes",
    ]
    words += ["--scheduler-file", str(note)]
    made = Troupe(folder, scheduler=_started(words, folder / "scheduler.log", environment))
    try:
        until(lambda: note.exists() and note.read_text().strip().endswith("}"))
        made.address = json.loads(note.read_text())["address"]
        yield made
    finally:
        made.close()


def until(true: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until it is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
