"""A ComfyUI stand-in for the length of a `with` block: started, waited for, spoilt, killed and restarted.

::

    with standin(tmp_path, version="0.33.0", speed=math.inf) as server:
        server.fault("die", step=2)
        ...                                   # a client renders at server.url
        server.restart()
        assert not server.requests("/history")
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from mvpipe.errors import ToolError
from mvpipe.testing.comfyui import log
from mvpipe.tools import process

BOOT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from mvpipe.testing.comfyui.__main__ import main
main()
"""
HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)
"""Below the ports that outgoing connections take: a client that knocks at a dead server's port from that
very port would be answered by itself."""

LIFE_S = 24 * 3600.0


class Standin:
    """A server in a process of its own; made by `standin`.

    Attributes
    ----------
    root : its folder: input, output, temp, log.jsonl, faults.json
    deaths : how often it went by itself and was started again
    """

    def __init__(
        self, root: Path, argv: Sequence[str], *, prefix: str, secure: bool, revive_s: float
    ) -> None:
        self.root = root
        self.deaths = 0
        self._argv = list(argv)
        self._prefix = prefix
        self._scheme = "https" if secure else "http"
        self._ports = free_ports(2)
        self._revive_s = revive_s
        self._holding = threading.RLock()
        self._wanted = False
        self._running: AbstractContextManager[Popen[bytes]] | None = None
        self._child: Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients find it, proxy's path and all; the same after a restart."""
        return f"{self._scheme}://{HOST}:{self._ports[0]}{self._prefix}"

    @property
    def pid(self) -> int:
        """Of its process."""
        assert self._child is not None
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """Start it, with the folders it had, and wait until it answers.

        Raises
        ------
        ToolError : it ended at once
        """
        port, door = self._ports
        boot = [sys.executable, "-c", BOOT, str(Path(__file__).parents[2]), "--root", str(self.root)]
        ports = ["--port", str(port), "--control", str(door), "--parent", str(os.getpid())]
        with self._holding:
            running = process.start([*boot, *ports, *self._argv], stdout=PIPE, deadline_s=LIFE_S)
            child = running.__enter__()
            assert child.stdout is not None
            if not child.stdout.readline():
                running.__exit__(None, None, None)
                raise ToolError("stand-in: ended before it was ready")
            self._running, self._child, self._wanted = running, child, True

    def kill(self) -> None:
        """End it at once (SIGKILL): nothing is said to anybody, the files stay."""
        self._end(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)

    def stop(self) -> None:
        """End it as `kill` without a number does (SIGTERM)."""
        self._end(signal.SIGTERM)

    def restart(self) -> None:
        """Kill it if it lives, and start it again: empty queue, empty history, number 0, same files."""
        with self._holding:
            self.kill()
            self.start()

    def wait_dead(self, seconds: float = 10.0) -> None:
        """Wait until it has died by itself.

        Raises
        ------
        TimeoutError : it lives
        """
        until = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > until:
                raise TimeoutError("the stand-in lives")
            time.sleep(0.01)

    def _end(self, number: int) -> None:
        with self._holding:
            self._wanted = False
            if self._child is not None and self._running is not None:
                if self._child.poll() is None:
                    self._child.send_signal(number)
                with suppress(ToolError):  # a killed program is a failed one
                    self._running.__exit__(None, None, None)
            self._child = self._running = None

    def watch(self) -> None:
        """Start it again whenever it died, until it is stopped."""
        while self._revive_s < math.inf:
            time.sleep(min(0.05, self._revive_s))
            if self._wanted and not self.alive:
                time.sleep(self._revive_s)
                with self._holding:
                    if self._wanted and not self.alive:
                        self.deaths += 1
                        self.restart()

    def fault(self, name: str, *, times: int = 1, after: int = 0, **figures: Any) -> None:
        """Have a fault of the catalogue: so often (-1 always), after so many moments that pass.

        Raises
        ------
        ValueError : no such fault, or it has no such figure
        """
        self.control("POST", "/faults", {"name": name, "times": times, "after": after, **figures})

    def heal(self, name: str = "") -> None:
        """Take faults back: one kind, or all."""
        self.control("DELETE", f"/faults/{name}")

    def dice(self, seed: int, rate: float, *kinds: str) -> None:
        """Draw faults, each with this chance at its every moment.

        Parameters
        ----------
        kinds : names to draw from; without any, everything that a careful client survives
        """
        self.control("POST", "/dice", {"seed": seed, "rate": rate, "kinds": kinds})

    def put_dice_away(self) -> None:
        """Draw no more."""
        self.control("POST", "/dice", {})

    def state(self) -> dict[str, Any]:
        """How it stands: running, waiting, ended, sockets, number, faults, clock, sampling, worker_alive."""
        return dict(self.control("GET", "/state"))

    def foreign(self, count: int = 1, seconds: float = 0.2) -> list[str]:
        """Have prompts of somebody without a client id; their prompt ids."""
        return list(self.control("POST", "/foreign", {"count": count, "seconds": seconds}))

    def drop_sockets(self) -> None:
        """Break every WebSocket (1006)."""
        self.control("POST", "/sockets", {"do": "drop"})

    def mute_sockets(self) -> None:
        """Forget every WebSocket; they stay open and hear no more."""
        self.control("POST", "/sockets", {"do": "mute"})

    def interrupt(self) -> None:
        """Somebody stops what runs."""
        self.control("POST", "/interrupt", {})

    def control(self, method: str, path: str, wish: Mapping[str, Any] | None = None) -> Any:
        """Say something at the private door, which answers even while the server is frozen.

        Raises
        ------
        ValueError : it was not understood
        """
        door = HTTPConnection(HOST, self._ports[1], timeout=10)
        try:
            door.request(method, path, json.dumps(wish) if wish is not None else None)
            answer = door.getresponse()
            said = json.loads(answer.read())
        finally:
            door.close()
        if answer.status != 200:
            raise ValueError(said["error"])
        return said

    def log(self, kind: str = "") -> list[dict[str, Any]]:
        """What it saw and did since its folder began, restarts included.

        Parameters
        ----------
        kind : `start`, `request`, `socket`, `run`, `fault` or `trouble`; empty for all
        """
        lines = log.read(self.root / "log.jsonl")
        return [line for line in lines if not kind or line["kind"] == kind]

    def requests(self, path: str = "", method: str = "") -> list[dict[str, Any]]:
        """Requests whose path, without /api, begins so: method, headers, body, status, `sampling`, ..."""
        return [
            line
            for line in self.log("request")
            if line["path"].removeprefix("/api").startswith(path) and method in ("", line["method"])
        ]

    def runs(self) -> list[dict[str, Any]]:
        """Runs that ended: prompt_id, status, last, executed, `sampled` (look, seed, steps), outputs, ..."""
        return self.log("run")


@contextmanager
def standin(
    root: Path,
    *,
    version: str = "0.33.0",
    speed: float = math.inf,
    flags: Sequence[str] = (),
    prefix: str = "",
    certificate: tuple[Path, Path] | None = None,
    revive_s: float = math.inf,
) -> Iterator[Standin]:
    """A running stand-in.

    Parameters
    ----------
    root : its folder; made if it is not there
    version : `0.3.64`, `0.33.0` or `0.38.0`
    speed : how many of its seconds pass in a real one
    flags : more of its command line, see `python -m mvpipe.testing.comfyui --help`
    prefix : path that a proxy puts in front
    certificate : PEM files of certificate and key; it then speaks https
    revive_s : seconds after which it is started again when it has died; `inf` leaves it dead

    Raises
    ------
    ToolError : it does not start
    """
    argv = ["--version", version, "--speed", str(speed), *flags]
    argv += ["--prefix", prefix] if prefix else []
    argv += ["--certificate", str(certificate[0]), "--key", str(certificate[1])] if certificate else []
    server = Standin(root, argv, prefix=prefix, secure=certificate is not None, revive_s=revive_s)
    server.start()
    try:
        if revive_s < math.inf:
            threading.Thread(target=server.watch, daemon=True).start()
        yield server
    finally:
        server.kill()


def free_ports(count: int) -> list[int]:
    """Ports nobody listens at."""
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as trial, suppress(OSError):
            trial.bind((HOST, port))
            found.append(port)
    return found
