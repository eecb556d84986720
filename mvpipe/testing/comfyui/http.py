"""HTTP/1.1 as far as the server speaks it: a request off a stream, an answer onto it, a form taken apart."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

REASONS = {
    200: "OK", 206: "Partial Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 413: "Request Entity Too Large",
    416: "Requested Range Not Satisfiable", 500: "Internal Server Error", 502: "Bad Gateway",
    503: "Service Unavailable",
}  # fmt: skip

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
HEAD_LIMIT = 65_536
PLAIN = "text/plain; charset=utf-8"
TROUBLE = b"500 Internal Server Error\n\nServer got itself in trouble"


class Unreadable(ValueError):
    """What came is not an HTTP request."""


@dataclass(slots=True, kw_only=True)
class Request:
    """One request; header names are lower case, the path is decoded and has no query.

    Parameters
    ----------
    size : bytes of the body, also where it was too big to keep (`body` is empty then)
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""
    size: int = 0

    def json(self) -> Any:
        """The body as JSON, whatever its content type says.

        Raises
        ------
        ValueError : it is none
        """
        return json.loads(self.body)


@dataclass(slots=True, kw_only=True)
class Answer:
    """One answer; `chunked` sends no length, as the real server does for some empty bodies."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    chunked: bool = False
    close: bool = False


def member(wish: Any, name: str) -> Any:
    """A member of a JSON body; None if it has none, be it an object or a list.

    Raises
    ------
    TypeError : it is a number or nothing
    """
    if name not in wish:
        return None
    return wish[name]


def as_json(value: Any, status: int = 200) -> Answer:
    """An answer that carries JSON."""
    return Answer(
        status=status,
        headers={"Content-Type": "application/json; charset=utf-8"},
        body=json.dumps(value).encode(),
    )


def trouble() -> Answer:
    """The 500 that stands for a malformed request as often as for an ill server."""
    return Answer(status=500, headers={"Content-Type": PLAIN}, body=TROUBLE, close=True)


def nothing(status: int = 200) -> Answer:
    """An empty body."""
    return Answer(status=status)


def not_found() -> Answer:
    """What the static file handler says to a path it does not know."""
    return Answer(status=404, headers={"Content-Type": "application/octet-stream"}, chunked=True)


async def read_request(reader: asyncio.StreamReader, limit: int) -> Request | None:
    """The next request of a connection; None when it has ended.

    A body over `limit` bytes is read to its end and thrown away.

    Raises
    ------
    Unreadable : not HTTP
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as exc:
        if exc.partial.strip():
            raise Unreadable("request ended early") from exc
        return None
    except asyncio.LimitOverrunError as exc:
        raise Unreadable("head too long") from exc
    request = _parse(head)
    if "chunked" in request.headers.get("transfer-encoding", ""):
        request.body = await _chunks(reader)
        request.size = len(request.body)
    elif length := int(request.headers.get("content-length", "0")):
        request.size = length
        request.body = await _body(reader, length, limit)
    return request


def _parse(head: bytes) -> Request:
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[0] not in METHODS:
        raise Unreadable(f"Invalid method encountered:\n\n  {lines[0].encode()!r}")
    target = urlsplit(parts[1])
    headers = {}
    for line in filter(None, lines[1:]):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if parts[2] == "HTTP/1.0":
        headers.setdefault("connection", "close")
    query = dict(reversed(parse_qsl(target.query, keep_blank_values=True)))
    return Request(method=parts[0], path=unquote(target.path), query=query, headers=headers)


async def _body(reader: asyncio.StreamReader, length: int, limit: int) -> bytes:
    if length <= limit:
        return await reader.readexactly(length)
    while length:
        length -= len(await reader.readexactly(min(length, HEAD_LIMIT)))
    return b""


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return bytes(body)


def compress(answer: Answer, accepted: str) -> None:
    """Shrink the body as the client allows: deflate before gzip, as the real server chooses."""
    if not answer.body or answer.status != 200:
        return
    for coding, wbits in (("deflate", zlib.MAX_WBITS), ("gzip", 16 + zlib.MAX_WBITS)):
        if coding in accepted:
            packer = zlib.compressobj(wbits=wbits)
            answer.body = packer.compress(answer.body) + packer.flush()
            answer.headers["Content-Encoding"] = coding
            return


def encode(answer: Answer, method: str) -> bytes:
    """The bytes of an answer."""
    lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Unknown')}"]
    headers = dict(answer.headers)
    body = answer.body
    if answer.chunked:
        headers["Transfer-Encoding"] = "chunked"
        body = b"0\r\n\r\n"
    elif answer.status != 304:
        headers.setdefault("Content-Length", str(len(body)))
    headers["Date"] = formatdate(usegmt=True)
    headers["Server"] = "Python/3.11 aiohttp/3.14.5"
    if answer.close:
        headers["Connection"] = "close"
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("utf-8")
    return head if method == "HEAD" else head + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file in a form."""

    filename: str
    content: bytes


def form(request: Request) -> dict[str, Part | str]:
    """The fields of a multipart form; empty for any other body."""
    kind = request.headers.get("content-type", "")
    found = re.search(r'boundary="?([^";]+)"?', kind)
    if not kind.startswith("multipart/form-data") or not found:
        return {}
    fields: dict[str, Part | str] = {}
    mark = b"--" + found[1].encode()
    for piece in request.body.split(mark)[1:-1]:
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name, filename = _disposition(head.decode("utf-8"))
        content = content.removesuffix(b"\r\n")
        if name is not None:
            part = Part(filename=filename, content=content) if filename is not None else content.decode()
            fields[name] = part
    return fields


def _disposition(head: str) -> tuple[str | None, str | None]:
    line = next((x for x in head.split("\r\n") if x.lower().startswith("content-disposition")), "")
    name = re.search(r'[; ]name="((?:[^"\\]|\\.)*)"', line)
    plain = re.search(r'filename="((?:[^"\\]|\\.)*)"', line)
    extended = re.search(r"filename\*=(?:utf-8|UTF-8)''([^;\r\n]+)", line)
    filename = unquote(extended[1]) if extended else plain[1] if plain else None
    return (name[1] if name else None), filename
