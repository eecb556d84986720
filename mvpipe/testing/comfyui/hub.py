"""The clients that listen, and what they are told.

A client is known by its id alone: a second socket under the same id takes the first one's place, and when
the first closes, it takes the entry with it. The second then stays open and hears nothing, as measured.
"""

from __future__ import annotations

import asyncio
import json
import struct
import uuid
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import websocket
from mvpipe.testing.comfyui.http import Request
from mvpipe.testing.comfyui.info import feature_flags

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

PREVIEW, TEXT, PREVIEW_WITH_METADATA = 1, 3, 4


class Hub:
    """Sends in the order in which it is asked to, from any thread."""

    def __init__(self, comfy: Comfy, loop: asyncio.AbstractEventLoop) -> None:
        self._comfy = comfy
        self._loop = loop
        self._sockets: dict[str, asyncio.StreamWriter] = {}
        self._flags: dict[str, dict[str, Any]] = {}

    def tell(self, event: str, data: dict[str, Any], client: str | None = None) -> None:
        """Send a message to a client, or to everybody."""
        text = json.dumps({"type": event, "data": data}).encode()
        self._loop.call_soon_threadsafe(self._deliver, websocket.TEXT, text, client)

    def show(self, event: int, payload: bytes, client: str | None) -> None:
        """Send a binary message to a client, or to everybody."""
        whole = struct.pack(">I", event) + payload
        self._loop.call_soon_threadsafe(self._deliver, websocket.BINARY, whole, client)

    def wants_metadata(self, client: str | None) -> bool:
        """Whether a client asked for previews with metadata."""
        return bool(self._flags.get(client or "", {}).get("supports_preview_metadata"))

    def count(self) -> int:
        """Clients in the table."""
        return len(self._sockets)

    def drop_all(self) -> None:
        """Break every connection without a word (1006)."""
        for writer in list(self._sockets.values()):
            writer.transport.abort()

    def mute_all(self) -> None:
        """Forget every client while its socket stays open."""
        self._sockets.clear()

    def _deliver(self, kind: int, payload: bytes, client: str | None) -> None:
        faults = self._comfy.faults
        for name, writer in list(self._sockets.items()):
            if client is not None and name != client:
                continue
            if faults.take("messages-lost", subject=name):
                continue
            if faults.take("socket-mute", subject=name):
                self._sockets.pop(name)
            elif faults.take("socket-drop", subject=name):
                writer.transport.abort()
            elif not writer.is_closing():
                writer.write(websocket.frame(kind, payload))

    async def serve(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Keep a client until it goes."""
        client = request.query.get("clientId", "") or uuid.uuid4().hex
        writer.write(websocket.accept(request.headers["sec-websocket-key"]))
        self._comfy.log.write("socket", event="open", client=client)
        self._sockets[client] = writer
        self._flags[client] = {}
        self._greet(client)
        try:
            await self._listen(client, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.transport.abort()
        finally:
            self._sockets.pop(client, None)
            self._flags.pop(client, None)
            self._comfy.log.write("socket", event="closed", client=client)

    def _greet(self, client: str) -> None:
        status = {"status": self._comfy.exec_info(), "sid": client}
        self._send(client, "status", status)
        worker = self._comfy.worker
        if worker.client == client and worker.node is not None:
            self._send(client, "executing", {"node": worker.node})

    def _send(self, client: str, event: str, data: dict[str, Any]) -> None:
        if (writer := self._sockets.get(client)) and not writer.is_closing():
            text = json.dumps({"type": event, "data": data}).encode()
            writer.write(websocket.frame(websocket.TEXT, text))

    async def _listen(self, client: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = True
        while True:
            frame = await websocket.read_frame(reader)
            if frame.kind == websocket.CLOSE:
                writer.write(websocket.frame(websocket.CLOSE, frame.payload[:2]))
                return
            if frame.kind == websocket.PING:
                writer.write(websocket.frame(websocket.PONG, frame.payload))
            if frame.kind == websocket.TEXT:
                first = self._hear(client, frame.payload, first)

    def _hear(self, client: str, text: bytes, first: bool) -> bool:
        """Take a client's text message; whether its first is still to come (text that is no JSON is none)."""
        try:
            message = json.loads(text)
        except ValueError:
            return first
        if first and isinstance(message, dict) and message.get("type") == "feature_flags":
            self._flags[client] = message.get("data") or {}
            self._send(client, "feature_flags", feature_flags(self._comfy))
        return False


def preview(client_flags: bool, image: bytes, facts: dict[str, Any]) -> tuple[int, bytes]:
    """The (event, payload) of a JPEG preview, with its metadata where the client takes it."""
    if not client_flags:
        return PREVIEW, struct.pack(">I", 1) + image
    text = json.dumps(facts | {"image_type": "image/jpeg"}).encode()
    return PREVIEW_WITH_METADATA, struct.pack(">I", len(text)) + text + image
