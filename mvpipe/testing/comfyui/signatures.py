"""What decides a node's outputs, as one hash: its class, its constants, its file's content, all before it.

A node's id is not in it, so the same work under other names comes from the cache.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from mvpipe.testing.comfyui.plan import Graph, is_link
from mvpipe.testing.comfyui.settings import Settings
from mvpipe.testing.comfyui.validate import FILE_INPUTS, locate
from mvpipe.testing.comfyui.values import digest


def input_file(settings: Settings, node: dict[str, Any]) -> Path | None:
    """The file a loader node reads; None for any other node, or a file that is not there."""
    for name, key in FILE_INPUTS:
        value = node["inputs"].get(key)
        if name == node["class_type"] and isinstance(value, str):
            path = locate(settings, value)
            return path if path is not None and path.is_file() else None
    return None


class Signatures:
    """Of the nodes of a graph."""

    def __init__(self, settings: Settings, graph: Graph) -> None:
        self._settings = settings
        self._graph = graph
        self._known: dict[str, str] = {}

    def __getitem__(self, node_id: str) -> str:
        if node_id not in self._known:
            self._known[node_id] = self._of(node_id)
        return self._known[node_id]

    def all(self) -> set[str]:
        """Of every node."""
        return {self[node_id] for node_id in self._graph}

    def _of(self, node_id: str) -> str:
        node = self._graph[node_id]
        inputs: list[list[Any]] = []
        for name, value in sorted(node["inputs"].items()):
            if is_link(value) and value[0] in self._graph:
                inputs.append([name, self[value[0]], value[1]])
            else:
                inputs.append([name, value])
        path = input_file(self._settings, node)
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
        return digest([node["class_type"], inputs, content])
