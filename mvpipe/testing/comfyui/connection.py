"""A connection: its requests one by one, what refuses them before any handler, what spoils their answers."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mvpipe.testing.comfyui.http import (
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
from mvpipe.testing.comfyui.routes import respond

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

CSP = {"Content-Security-Policy": "default-src 'self'"}
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, DELETE, PUT, OPTIONS, PATCH",
    "Access-Control-Allow-Headers": "Content-Type, Authorization",
    "Access-Control-Allow-Credentials": "true",
}
PAGE = b"<!doctype html><html><head><title>Welcome</title></head><body>It works!</body></html>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
BODY_KEPT = 2000
"""Bytes up to which the log keeps a body."""

ILL = (LookupError, TypeError, ValueError, AttributeError, OSError)
"""What a malformed request makes a handler raise; each is a 500, as in the real server."""


class Connection:
    """One client's TCP connection."""

    def __init__(self, comfy: Comfy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._comfy = comfy
        self._reader = reader
        self._writer = writer

    async def serve(self) -> None:
        """Answer until either side has enough."""
        writer = self._writer
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while await self._exchange():
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

    async def _exchange(self) -> bool:
        """One request and its answer; whether the connection goes on."""
        request = await read_request(self._reader, self._comfy.settings.upload_bytes)
        if request is None:
            return False
        seen = self._seen()
        if request.path.startswith(self._comfy.settings.prefix + "/") or not self._comfy.settings.prefix:
            request.path = request.path.removeprefix(self._comfy.settings.prefix)
            answer = await self._answer(request)
        else:
            answer = Answer(status=404, headers=HTML, body=PAGE)
        if answer is None:
            self._log_request(request, 0, seen)
            self._writer.transport.abort()
            return False
        if answer.status == 101:
            return False
        self._log_request(request, answer.status, seen)
        return await self._send(answer, request)

    async def _send(self, answer: Answer, request: Request) -> bool:
        if self._comfy.settings.compress:
            compress(answer, request.headers.get("accept-encoding", ""))
        if self._comfy.settings.modern and answer.status not in (405, 416, 500):
            answer.headers = CSP | answer.headers
        if self._comfy.settings.cors and answer.status != 413:
            answer.headers = CORS | answer.headers
        answer.close = answer.close or request.headers.get("connection", "").lower() == "close"
        self._writer.write(encode(answer, request.method))
        await self._writer.drain()
        return not answer.close

    async def _answer(self, request: Request) -> Answer | None:
        """The answer; None to break the connection, status 101 after a WebSocket has ended."""
        refusal = self._refusal(request) or await self._fault(request)
        if isinstance(refusal, Answer):
            return refusal
        if refusal == "reset":
            return None
        if request.path in ("/ws", "/api/ws") and request.method == "GET":
            return await self._websocket(request)
        if request.size > self._comfy.settings.upload_bytes and request.method == "POST":
            text = f"Maximum request body size {self._comfy.settings.upload_bytes} exceeded."
            return Answer(status=413, headers={"Content-Type": PLAIN}, body=text.encode())
        try:
            answer = respond(self._comfy, request)
        except ILL as exc:
            self._comfy.log.write("trouble", path=request.path, error=repr(exc))
            answer = trouble()
        return await self._spoiled(answer, request)

    async def _websocket(self, request: Request) -> Answer:
        if "sec-websocket-key" not in request.headers:
            text = b'No WebSocket UPGRADE hdr: None\n Can "Upgrade" only to "WebSocket".'
            return Answer(status=400, headers={"Content-Type": PLAIN}, body=text)
        if self._comfy.faults.take("socket-refused", subject=request.query.get("clientId", "")):
            return nothing(403)
        self._log_request(request, 101, self._seen())
        await self._comfy.hub.serve(request, self._reader, self._writer)
        return Answer(status=101)

    def _refusal(self, request: Request) -> Answer | None:
        """What middlewares and proxies refuse before any handler sees the request."""
        name, _, value = self._comfy.settings.header.partition(":")
        if name and request.headers.get(name.strip().lower()) != value.strip():
            return Answer(status=401, headers=HTML, body=PAGE)
        if not self._comfy.settings.cors and self._is_foreign(request):
            return nothing(403)
        return nothing() if request.method == "OPTIONS" else None

    def _is_foreign(self, request: Request) -> bool:
        headers = request.headers
        if self._comfy.settings.modern and headers.get("sec-fetch-site") == "cross-site":
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
        if found := self._comfy.faults.take("slow-answer", **facts):
            await asyncio.sleep(found["seconds"])
        posted = request.method == "POST" and request.path.removeprefix("/api") == "/prompt"
        lost = posted and self._comfy.faults.take("post-lost", subject=_said_id(request))
        if lost or self._comfy.faults.take("reset", **facts):
            return "reset"
        if self._comfy.faults.take("forbidden", **facts):
            return nothing(403)
        if self._comfy.faults.take("not-comfyui", **facts):
            return Answer(headers=HTML, body=PAGE)
        if self._comfy.faults.take("bad-gateway", **facts):
            return Answer(status=502, headers=HTML, body=PAGE)
        if found := self._comfy.faults.take("door-closed", **facts):
            self._comfy.shut_soon(found["seconds"])
        return None

    async def _spoiled(self, answer: Answer, request: Request) -> Answer | None:
        """What a fault of the answer itself leaves of it."""
        bare = request.path.removeprefix("/api")
        if bare == "/view" and answer.body and request.method == "GET":
            if (found := self._comfy.faults.take("view-cut", subject=str(request.query))) is None:
                return answer
            self._writer.write(encode(answer, request.method)[: -len(answer.body)])
            self._writer.write(answer.body[: found["bytes"]])
            await self._writer.drain()
            self._writer.close()
            return None
        if bare == "/prompt" and answer.status == 200 and request.body:
            subject = _prompt_id(answer)
            if found := self._comfy.faults.take("post-late", subject=subject):
                await asyncio.sleep(found["seconds"])
            if self._comfy.faults.take("post-reset", subject=subject):
                return None
            if self._comfy.faults.take("post-500", subject=subject):
                return trouble()
        return answer

    def _seen(self) -> dict[str, Any]:
        """When a request came, and what ran then."""
        return {
            "began": time.time(),
            "running": self._comfy.queue.running_id(),
            "sampling": self._comfy.worker.sampling,
        }

    def _log_request(self, request: Request, status: int, seen: dict[str, Any]) -> None:
        """Status 0 stands for a connection that broke."""
        is_form = "form" in request.headers.get("content-type", "")
        is_long = len(request.body) >= BODY_KEPT
        self._comfy.log.write(
            "request",
            method=request.method,
            path=request.path,
            query=request.query,
            headers=request.headers,
            size=request.size,
            body="" if is_form or is_long else request.body.decode("utf-8", "replace"),
            prompt_id=_said_id(request) if b'"prompt_id"' in request.body else "",
            status=status,
            seconds=round(time.time() - seen["began"], 4),
            running=seen["running"],
            sampling=seen["sampling"],
        )


def _is_loopback(name: str) -> bool:
    return name in ("localhost", "::1") or name.startswith("127.")


def _said_id(request: Request) -> str:
    return request.body.decode("utf-8", "replace").rpartition('"prompt_id":')[2].strip(' "')[:36]


def _prompt_id(answer: Answer) -> str:
    return answer.body.decode().partition('"prompt_id": "')[2].partition('"')[0]
