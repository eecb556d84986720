"""The server's half of a WebSocket (RFC 6455): the handshake, frames in, frames out; no extensions."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import struct
from dataclasses import dataclass

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole message or control frame."""

    kind: int
    payload: bytes


def accept(key: str) -> bytes:
    """The head that turns the connection into a WebSocket."""
    proof = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()
    return (
        "HTTP/1.1 101 Switching Protocols\r\n"
        "Upgrade: websocket\r\nConnection: upgrade\r\n"
        f"Sec-WebSocket-Accept: {proof}\r\n\r\n"
    ).encode()


def frame(kind: int, payload: bytes) -> bytes:
    """One unmasked, unfragmented frame."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | kind, size)
    elif size < 65_536:
        head = struct.pack("!BBH", 0x80 | kind, 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 127, size)
    return head + payload


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """The next message, put together from its fragments.

    Raises
    ------
    asyncio.IncompleteReadError : the client is gone
    """
    kind, whole = 0, bytearray()
    while True:
        first, second = await reader.readexactly(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", await reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await reader.readexactly(8))
        mask = await reader.readexactly(4) if second & 0x80 else b"\0\0\0\0"
        payload = _unmasked(await reader.readexactly(size), mask)
        opcode = first & 0x0F
        if opcode >= CLOSE:
            return Frame(opcode, payload)
        kind = kind or opcode
        whole += payload
        if first & 0x80:
            return Frame(kind, bytes(whole))


def _unmasked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    if not size:
        return b""
    stretched = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(payload, "big") ^ stretched).to_bytes(size, "big")
