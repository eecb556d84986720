"""Files a server has been given: each once, under its digest."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from mvpipe.errors import RenderFailed
from mvpipe.render.comfyui.server import FOLDER, Server
from mvpipe.render.comfyui.steady import Steady


class Uploads:
    """What one server has; may be used from several threads."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}

    def ensure(self, files: Mapping[str, Path], steady: Steady) -> dict[str, str]:
        """Have files on the server.

        Returns
        -------
        the name a graph was filled with -> the name the server gave it, of those that differ

        Raises
        ------
        RenderFailed : a file cannot be read, or the server cannot store it
        """
        with self._lock:
            for name, path in files.items():
                if name not in self._names:
                    self._names[name] = self._upload(name, path, steady)
            return {asked(name): self._names[name] for name in files if self._names[name] != asked(name)}

    def forget(self) -> None:
        """The server was away: look again what it has."""
        with self._lock:
            self._names.clear()

    def _upload(self, name: str, path: Path, steady: Steady) -> str:
        try:
            return steady(lambda: self._server.upload(name, path))
        except OSError as exc:
            raise RenderFailed(f"{path}: cannot be read: {(exc.strerror or str(exc)).lower()}") from exc


def asked(name: str) -> str:
    """How a graph names an upload that keeps its name."""
    return f"{FOLDER}/{name}"
