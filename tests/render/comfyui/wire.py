"""A TCP server that says exactly what it is told to, whatever it is asked; and keeps what it was asked."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


class Wire:
    """Says its pieces to whoever connects, with a pause before each, and hangs up."""

    def __init__(self, pieces: Sequence[bytes], pause_s: float) -> None:
        self.pieces, self.pause_s = list(pieces), pause_s
        self.heard: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection, suppress(OSError):
                    self.heard.append(connection.recv(65_536))
                    for piece in self.pieces:
                        time.sleep(self.pause_s)
                        connection.sendall(piece)


@contextmanager
def wire(*pieces: bytes, pause_s: float = 0.0) -> Iterator[Wire]:
    """A server for the length of the block."""
    server = Wire(pieces, pause_s)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()
        thread.join(5)


def answer(status: int = 200, body: bytes = b"{}", *headers: str) -> bytes:
    """One whole answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
