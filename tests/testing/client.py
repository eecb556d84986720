"""A plain client for the tests, careful about nothing: it says what it is told and keeps what it hears."""

from __future__ import annotations

import io
import json
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import requests
from websockets.sync.client import ClientConnection, connect

from tests.testing import essence

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


class Client:
    """Speaks to one server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()

    def get(self, path: str, **more: Any) -> requests.Response:
        return self._session.get(self.url + path, timeout=30, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> requests.Response:
        if body is not None:
            more["data"] = json.dumps(body)
        return self._session.post(self.url + path, timeout=30, **more)

    def prompt(self, graph: Any, **more: Any) -> requests.Response:
        return self.post("/prompt", {"prompt": graph, **more})

    def queue(self, graph: Any, **more: Any) -> str:
        answer = self.prompt(graph, **more)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["prompt_id"])

    def upload(self, name: str, content: bytes, **fields: str) -> dict[str, Any]:
        answer = self.post(
            "/upload/image", files={"image": (name, content)}, data={"overwrite": "true"} | fields
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def record(self, prompt_id: str, seconds: float = 20.0) -> dict[str, Any]:
        """The whole answer of /history/ID, once it is not empty."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := self.get(f"/history/{prompt_id}").json():
                return dict(found)
            time.sleep(0.01)
        raise TimeoutError(prompt_id)

    def render(self, graph: Any, **more: Any) -> dict[str, Any]:
        """The record of a graph that ran."""
        prompt_id = self.queue(graph, **more)
        return dict(self.record(prompt_id)[prompt_id])

    def fetch(self, record: dict[str, Any], into: Path) -> Path:
        """The first file of a record."""
        (shown, *_) = record["outputs"].values()
        answer = self.get("/view", params=shown["images"][0])
        assert answer.status_code == 200
        into.write_bytes(answer.content)
        return into

    @contextmanager
    def listen(self, client_id: str = "", *, flags: bool = False) -> Iterator[Ear]:
        """A WebSocket."""
        url = self.url.replace("http", "ws", 1) + "/ws" + (f"?clientId={client_id}" if client_id else "")
        with connect(url, compression=None, max_queue=None) as socket:
            if flags:
                hello = {"type": "feature_flags", "data": {"supports_preview_metadata": True}}
                socket.send(json.dumps(hello))
            yield Ear(socket)


class Ear:
    """What came over a WebSocket so far."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []

    def hear(self, seconds: float = 20.0) -> dict[str, Any]:
        """The next message; a binary one as recordings have it."""
        said = self.socket.recv(timeout=seconds)
        if isinstance(said, bytes):
            message: dict[str, Any] = {"binary": {"event": int.from_bytes(said[:4], "big")}, "payload": said}
        else:
            message = json.loads(said)
        self.heard.append(message)
        return message

    def until(self, word: str, seconds: float = 20.0) -> list[str]:
        """Everything heard so far, once something was told that begins with `word`."""
        while not essence.told(self.hear(seconds)).startswith(word):
            pass
        return self.told()

    def told(self) -> list[str]:
        return [essence.told(message) for message in self.heard]

    def drain(self, seconds: float = 0.3) -> list[str]:
        """Everything heard so far, once nothing came for a while."""
        while True:
            try:
                self.hear(seconds)
            except TimeoutError:
                return self.told()


def wav(samples: int, *, pitch: float = 440.0, rate: int = 32_000) -> bytes:
    """A stereo WAV whose loudness swells like a voice."""
    t = np.arange(samples) / rate
    tone = np.sin(2 * np.pi * pitch * t) * np.abs(np.sin(5 * t)) * 20_000
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(np.repeat(tone.astype("<i2")[:, None], 2, axis=1).tobytes())
    return file.getvalue()
