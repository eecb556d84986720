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
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from mvpipe.testing.comfyui.clock import Clock
from mvpipe.testing.comfyui.faults import Faults
from mvpipe.testing.comfyui.http import (
    HEAD_LIMIT,
    PLAIN,
    Answer,
    Request,
    Unreadable,
    compress,
    encode,
    nothing,
    read_request,
    trouble,
)
from mvpipe.testing.comfyui.hub import Hub
from mvpipe.testing.comfyui.log import Log
from mvpipe.testing.comfyui.queue import Queue
from mvpipe.testing.comfyui.routes import respond
from mvpipe.testing.comfyui.schema import Schemas
from mvpipe.testing.comfyui.settings import Settings
from mvpipe.testing.comfyui.worker import Worker

CSP = {"Content-Security-Policy": "default-src 'self'"}
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, DELETE, PUT, OPTIONS, PATCH",
    "Access-Control-Allow-Headers": "Content-Type, Authorization",
    "Access-Control-Allow-Credentials": "true",
}
PAGE = b"<!doctype html><html><head><title>Welcome</title></head><body>It works!</body></html>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
ILL = (LookupError, TypeError, ValueError, AttributeError, OSError)
"""What a malformed request makes a handler raise; each is a 500, as in the real server."""


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
            self._connection, self.settings.host, self.port, ssl=secure, limit=HEAD_LIMIT
        )
        self.port = self._listener.sockets[0].getsockname()[1]

    async def shut(self, seconds: float) -> None:
        """Refuse connections for a while; those that stand stay."""
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

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while await self._exchange(reader, writer):
                    pass
            except Unreadable as exc:
                body = str(exc).encode()
                answer = Answer(status=400, headers={"Content-Type": PLAIN}, body=body, close=True)
                writer.write(encode(answer, "GET"))
                await writer.drain()
            except asyncio.CancelledError:
                writer.transport.abort()
                raise
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection goes on."""
        request = await read_request(reader, self.settings.upload_bytes)
        if request is None:
            return False
        began = time.time()
        if request.path.startswith(self.settings.prefix + "/") or not self.settings.prefix:
            request.path = request.path.removeprefix(self.settings.prefix)
            answer = await self._answer(request, reader, writer)
        else:
            answer = Answer(status=404, headers=HTML, body=PAGE)
        if answer is None:
            self._log_request(request, 0, began)
            writer.transport.abort()
            return False
        if answer.status == 101:
            return False
        self._log_request(request, answer.status, began)
        return await self._send(answer, request, writer)

    async def _send(self, answer: Answer, request: Request, writer: asyncio.StreamWriter) -> bool:
        if self.settings.compress:
            compress(answer, request.headers.get("accept-encoding", ""))
        if self.settings.modern and answer.status not in (405, 416, 500):
            answer.headers = CSP | answer.headers
        if self.settings.cors and answer.status != 413:
            answer.headers = CORS | answer.headers
        answer.close = answer.close or request.headers.get("connection", "").lower() == "close"
        writer.write(encode(answer, request.method))
        await writer.drain()
        return not answer.close

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Answer | None:
        """The answer; None to break the connection, status 101 after a WebSocket has ended."""
        refusal = self._refusal(request) or await self._fault(request)
        if isinstance(refusal, Answer):
            return refusal
        if refusal == "reset":
            return None
        if request.path in ("/ws", "/api/ws") and request.method == "GET":
            return await self._websocket(request, reader, writer)
        if request.size > self.settings.upload_bytes and request.method == "POST":
            text = f"Maximum request body size {self.settings.upload_bytes} exceeded."
            return Answer(status=413, headers={"Content-Type": PLAIN}, body=text.encode())
        try:
            answer = respond(self, request)
        except ILL as exc:
            self.log.write("trouble", path=request.path, error=repr(exc))
            answer = trouble()
        return await self._spoiled(answer, request, writer)

    async def _websocket(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Answer:
        if "sec-websocket-key" not in request.headers:
            text = b'No WebSocket UPGRADE hdr: None\n Can "Upgrade" only to "WebSocket".'
            return Answer(status=400, headers={"Content-Type": PLAIN}, body=text)
        if self.faults.take("socket-refused", subject=request.query.get("clientId", "")):
            return nothing(403)
        self._log_request(request, 101, time.time())
        await self.hub.serve(request, reader, writer)
        return Answer(status=101)

    def _refusal(self, request: Request) -> Answer | None:
        """What middlewares and proxies refuse before any handler sees the request."""
        name, _, value = self.settings.header.partition(":")
        if name and request.headers.get(name.strip().lower()) != value.strip():
            return Answer(status=401, headers=HTML, body=PAGE)
        if not self.settings.cors and self._is_foreign(request):
            return nothing(403)
        return nothing() if request.method == "OPTIONS" else None

    def _is_foreign(self, request: Request) -> bool:
        headers = request.headers
        if self.settings.modern and headers.get("sec-fetch-site") == "cross-site":
            return True
        if "origin" not in headers or "host" not in headers:
            return False
        host, origin = urlsplit("//" + headers["host"].lower()), urlsplit(headers["origin"])
        if not _is_loopback(host.hostname or ""):
            return False
        here = host.netloc if origin.port else host.hostname
        there = origin.netloc.lower() if host.port else origin.hostname
        return bool(here and there and here != there)

    async def _fault(self, request: Request) -> Answer | str | None:
        facts = {"subject": f"{request.method} {request.path}", "path": request.path}
        if found := self.faults.take("slow-answer", **facts):
            await asyncio.sleep(found["seconds"])
        posted = request.method == "POST" and request.path.removeprefix("/api") == "/prompt"
        lost = posted and self.faults.take("post-lost", subject=_said_id(request))
        if lost or self.faults.take("reset", **facts):
            return "reset"
        if self.faults.take("forbidden", **facts):
            return nothing(403)
        if self.faults.take("not-comfyui", **facts):
            return Answer(headers=HTML, body=PAGE)
        if self.faults.take("bad-gateway", **facts):
            return Answer(status=502, headers=HTML, body=PAGE)
        if found := self.faults.take("door-closed", **facts):
            self._closing = asyncio.ensure_future(self.shut(found["seconds"]))
        return None

    async def _spoiled(self, answer: Answer, request: Request, writer: asyncio.StreamWriter) -> Answer | None:
        """What a fault of the answer itself leaves of it."""
        bare = request.path.removeprefix("/api")
        if bare == "/view" and answer.body and request.method == "GET":
            if (found := self.faults.take("view-cut", subject=str(request.query))) is None:
                return answer
            writer.write(encode(answer, request.method)[: -len(answer.body)])
            writer.write(answer.body[: found["bytes"]])
            await writer.drain()
            writer.close()
            return None
        if bare == "/prompt" and answer.status == 200 and request.body:
            subject = _prompt_id(answer)
            if found := self.faults.take("post-late", subject=subject):
                await asyncio.sleep(found["seconds"])
            if self.faults.take("post-reset", subject=subject):
                return None
            if self.faults.take("post-500", subject=subject):
                return trouble()
        return answer

    def _log_request(self, request: Request, status: int, began: float) -> None:
        """Status 0 stands for a connection that broke."""
        kind = request.headers.get("content-type", "")
        body = (
            request.body.decode("utf-8", "replace") if len(request.body) < 2000 and "form" not in kind else ""
        )
        self.log.write(
            "request",
            method=request.method,
            path=request.path,
            query=request.query,
            headers=request.headers,
            size=request.size,
            body=body,
            status=status,
            seconds=round(time.time() - began, 4),
            running=self.queue.running_id(),
            sampling=self.worker.sampling,
        )


def _is_loopback(name: str) -> bool:
    return name in ("localhost", "::1") or name.startswith("127.")


def _said_id(request: Request) -> str:
    return request.body.decode("utf-8", "replace").rpartition('"prompt_id":')[2].strip(' "')[:36]


def _prompt_id(answer: Answer) -> str:
    return answer.body.decode().partition('"prompt_id": "')[2].partition('"')[0]
