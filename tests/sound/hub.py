"""A model hub of our own on 127.0.0.1: what `huggingface_hub` asks of the real one, and no more."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serve(files: dict[str, bytes], *, lie: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The hub's address and the log of its requests.

    Parameters
    ----------
    files : `OWNER/REPO/FILE` -> what is in it
    lie : announce another sha256 than the bytes have
    """
    log: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            log.append(f"{self.command} {self.path}")
            owner, repo, _, _, file = self.path.lstrip("/").split("/", 4)
            data = files.get(f"{owner}/{repo}/{file}")
            self.send_response(404 if data is None else 200)
            if data is None:
                self.send_header("X-Error-Code", "EntryNotFound")
                data = b""
            else:
                self.send_header("X-Repo-Commit", COMMIT)
                self.send_header("ETag", f'"{_etag(file, data, lie=lie)}"')
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", log
    finally:
        server.shutdown()
        server.server_close()


def _etag(file: str, data: bytes, *, lie: bool) -> str:
    if not file.endswith(".safetensors"):  # small files go by their git hash
        return hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest()
    return hashlib.sha256(data + b"!" * lie).hexdigest()


@contextmanager
def black_hole() -> Iterator[str]:
    """The address of something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"
