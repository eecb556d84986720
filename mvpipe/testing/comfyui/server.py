"""The server: one event loop that answers, one worker that runs prompts, and what both know."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import ssl
import sys
import threading
import time
from typing import Any

from mvpipe.testing.comfyui.clock import Clock
from mvpipe.testing.comfyui.connection import Connection
from mvpipe.testing.comfyui.faults import Faults
from mvpipe.testing.comfyui.http import HEAD_LIMIT
from mvpipe.testing.comfyui.hub import Hub
from mvpipe.testing.comfyui.log import Log
from mvpipe.testing.comfyui.queue import Queue
from mvpipe.testing.comfyui.schema import Schemas
from mvpipe.testing.comfyui.settings import Settings
from mvpipe.testing.comfyui.worker import Worker


class Comfy:
    """All the server knows."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.port = settings.port
        for kind in ("input", "output"):
            (settings.root / kind).mkdir(parents=True, exist_ok=True)
        shutil.rmtree(settings.root / "temp", ignore_errors=True)  # as the real server does at each start
        (settings.root / "temp").mkdir()
        self.clock = Clock(settings.speed)
        self.log = Log(settings.root / "log.jsonl")
        self.faults = Faults(settings.root / "faults.json", settings.dice, self._struck)
        self.schemas = Schemas(settings)
        self.number = 0
        self.loaded: set[str] = set()
        self.starved: set[str] = set()
        self.leaked = 0
        self.queue = Queue(self._queue_changed)
        self.worker = Worker(self)
        self.loop: asyncio.AbstractEventLoop
        self.hub: Hub
        self._listener: asyncio.Server

    def exec_info(self) -> dict[str, Any]:
        """How many prompts wait and run."""
        return {"exec_info": {"queue_remaining": self.queue.remaining()}}

    def _queue_changed(self) -> None:
        self.hub.tell("status", {"status": self.exec_info()})

    def _struck(self, name: str, subject: str, figures: dict[str, Any]) -> None:
        self.log.write("fault", name=name, subject=subject, figures=figures)

    async def open(self) -> None:
        """Open the port; only now does a connection not get refused."""
        self.loop = asyncio.get_running_loop()
        self.hub = Hub(self, self.loop)
        if self.settings.boot_s:
            await asyncio.sleep(self.settings.boot_s)
        await self._listen()
        self.worker.start()
        self.log.write("start", pid=os.getpid(), port=self.port, version=self.settings.version)

    async def _listen(self) -> None:
        secure = None
        if self.settings.certificate:
            secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.load_cert_chain(self.settings.certificate, self.settings.key)
        self._listener = await asyncio.start_server(
            self._connected, self.settings.host, self.port, ssl=secure, limit=HEAD_LIMIT
        )
        self.port = self._listener.sockets[0].getsockname()[1]

    def shut_soon(self, seconds: float) -> None:
        """Refuse connections for a while; those that stand stay."""
        self._closing = asyncio.ensure_future(self._shut(seconds))

    async def _shut(self, seconds: float) -> None:
        self._listener.close()
        await asyncio.sleep(seconds)
        await self._listen()

    def freeze(self, seconds: float) -> None:
        """Block the event loop, as a node that holds the GIL does; call it from the worker."""
        self.loop.call_soon_threadsafe(time.sleep, seconds)
        time.sleep(seconds)

    def die(self) -> None:
        """Be gone, once what was told so far has left; call it from the worker."""
        told = threading.Event()
        self.loop.call_soon_threadsafe(told.set)
        told.wait(1.0)
        if sys.platform == "win32":
            os._exit(9)
        os.kill(os.getpid(), signal.SIGKILL)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Connection(self, reader, writer).serve()
