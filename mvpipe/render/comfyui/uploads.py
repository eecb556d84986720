"""Files a server has been given: each once, under its digest."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from mvpipe.errors import RenderFailed
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.steady import Steady
from mvpipe.render.comfyui.transport import Content


class Uploads:
    """What one server has; may be used from several threads."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}

    def ensure(self, files: Mapping[str, Content], steady: Steady) -> dict[str, str]:
        """Have files on the server.

        Parameters
        ----------
        files : name in the graph -> file or bytes

        Returns
        -------
        the name in the graph -> the name the server gave it, of those that differ

        Raises
        ------
        RenderFailed : a file cannot be read, or the server cannot store it
        """
        with self._lock:
            for name, content in files.items():
                if name not in self._names:
                    self._names[name] = self._upload(name, content, steady)
            return {name: self._names[name] for name in files if self._names[name] != name}

    def forget(self) -> None:
        """The server was away: look again what it has."""
        with self._lock:
            self._names.clear()

    def _upload(self, name: str, content: Content, steady: Steady) -> str:
        try:
            return steady(lambda: self._server.upload(name, content))
        except OSError as exc:
            what = content if isinstance(content, Path) else name
            raise RenderFailed(f"{what}: cannot be read: {(exc.strerror or str(exc)).lower()}") from exc
