"""Files a server has been given: each once, under its digest."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping
from pathlib import Path

from mvpipe.render.comfyui.failures import Lasting
from mvpipe.render.comfyui.order import Content
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.steady import Steady

DIGEST = re.compile(r"\b[0-9a-f]{64}(?=\.)")


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
        files : name in the graph -> content

        Returns
        -------
        the name in the graph -> the name the server gave it, of those that differ

        Raises
        ------
        Lasting : a file cannot be read, or the server cannot store it
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
        if isinstance(content, Path):
            sent = _read(name, content)
        else:
            sent = content if isinstance(content, bytes) else content()
        return steady(lambda: self._server.upload(name, sent))


def _read(name: str, path: Path) -> bytes:
    """A file's bytes, which must be those its name tells of: the server keeps them under it for ever."""
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise Lasting(f"{path}: cannot be read: {(exc.strerror or str(exc)).lower()}") from exc
    told = DIGEST.search(name)
    if told and told[0] != hashlib.sha256(content).hexdigest():
        raise Lasting(f"{path}: changed while it was on its way", hint="run the same command again")
    return content
