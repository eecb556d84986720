"""The private door: a second port, a second thread, so that faults can be changed while the server is frozen.

=================  ===================================================================================
GET /state         running, waiting, ended, sockets, number, faults, clock, sampling, pid, loaded
GET /faults        the faults in force;  GET /catalogue: all there are
POST /faults       {"name", "times", "after", figures...}: have one
DELETE /faults     take all back;  DELETE /faults/NAME: one kind
POST /dice         {"seed", "rate", "kinds"}: random faults;  {}: no more
POST /foreign      {"count", "seconds"}: prompts of somebody without a client id; their ids
POST /sockets      {"do": "drop" | "mute"}: break, or forget, every WebSocket
POST /interrupt    somebody stops what runs
=================  ===================================================================================
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.catalogue import CATALOGUE
from mvpipe.testing.comfyui.faults import Dice
from mvpipe.testing.comfyui.prompt import put_foreign

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy


class Control(ThreadingHTTPServer):
    """Listens in its own threads."""

    daemon_threads = True

    def __init__(self, comfy: Comfy, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.comfy = comfy

    def start(self) -> int:
        """Begin to listen; the port."""
        threading.Thread(target=self.serve_forever, name="control", daemon=True).start()
        return int(self.server_address[1])


def state(comfy: Comfy) -> dict[str, Any]:
    """How the server stands."""
    running, waiting = comfy.queue.current()
    return {
        "pid": os.getpid(),
        "version": comfy.settings.version,
        "running": [item[1] for item in running],
        "waiting": [item[1] for item in waiting],
        "ended": list(comfy.queue.history),
        "sockets": comfy.hub.count(),
        "number": comfy.number,
        "sampling": comfy.worker.sampling,
        "worker_alive": comfy.worker.is_alive(),
        "loaded": sorted(comfy.loaded),
        "clock": comfy.clock.now(),
        "faults": comfy.faults.list(),
    }


def obey(comfy: Comfy, method: str, path: str, wish: dict[str, Any]) -> Any:
    """Do what a request asks; None for what is unknown.

    Raises
    ------
    ValueError, KeyError : no such fault or figure
    """
    if method == "GET":
        answers: dict[str, Any] = {
            "/state": lambda: state(comfy),
            "/faults": comfy.faults.list,
            "/catalogue": lambda: {name: asdict(kind) for name, kind in CATALOGUE.items()},
        }
        return answers[path]() if path in answers else None
    if method == "DELETE" and path.startswith("/faults"):
        comfy.faults.cancel(path.removeprefix("/faults").removeprefix("/"))
        return {}
    return _do(comfy, path, wish)


def _do(comfy: Comfy, path: str, wish: dict[str, Any]) -> Any:
    if path == "/faults":
        comfy.faults.order(wish.pop("name"), **wish)
    elif path == "/dice":
        comfy.faults.roll(Dice(**wish | {"kinds": tuple(wish.get("kinds", ()))}) if wish else None)
    elif path == "/foreign":
        return put_foreign(comfy, int(wish["count"]), float(wish["seconds"]))
    elif path == "/sockets":
        act = comfy.hub.drop_all if wish["do"] == "drop" else comfy.hub.mute_all
        comfy.loop.call_soon_threadsafe(act)
    elif path == "/interrupt":
        comfy.worker.interrupt()
    else:
        return None
    return {}


class _Handler(BaseHTTPRequestHandler):
    server: Control

    def _obey(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        try:
            wish = json.loads(self.rfile.read(size) or b"{}")
            said, status = obey(self.server.comfy, self.command, self.path, wish), 200
        except (ValueError, KeyError, TypeError) as exc:
            said, status = {"error": f"{type(exc).__name__}: {exc}"}, 400
        if said is None:
            said, status = {"error": "no such thing"}, 404
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _obey

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""
