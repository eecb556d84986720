"""How far a run is, and who hears of it: its client, or everybody where it has none."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import hub

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

QUIET_S = 0.1
"""0.33.0 tells progress no oftener, unless a preview goes along."""

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////"
    "////////////////////////wAALCAAMABABAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAA"
    "AAD/2gAIAQEAAD8AAP/Z"
)
"""A grey picture of 16x12."""


class Progress:
    """All nodes of a run begun so far, told whole each time."""

    def __init__(self, comfy: Comfy, prompt_id: str, client: str | None) -> None:
        self._comfy = comfy
        self._prompt_id = prompt_id
        self._client = client
        self._nodes: dict[str, dict[str, Any]] = {}
        self._told = 0.0

    def begin(self, node_id: str) -> None:
        """A node starts."""
        self._nodes[node_id] = self._state(node_id, 0.0, 1.0, "running")
        self._tell_all()

    def step(self, node_id: str, value: int, total: int, *, picture: bool) -> None:
        """A node has come so far; a preview with metadata goes before the news of it, a plain one after."""
        self._nodes[node_id] = self._state(node_id, value, total, "running")
        hidden = self._comfy.settings.modern and not picture and value < total
        if hidden and time.monotonic() - self._told < QUIET_S:
            return
        self._told = time.monotonic()
        self._tell_all()
        news = {"value": value, "max": total, "prompt_id": self._prompt_id, "node": node_id}
        flags = self._comfy.hub.wants_metadata(self._client)
        event, payload = hub.preview(flags, JPEG, self._facts(node_id))
        if picture and flags:
            self._comfy.hub.show(event, payload, self._client)
        self._comfy.hub.tell("progress", news, self._client)
        if picture and not flags:
            self._comfy.hub.show(event, payload, self._client)

    def say(self, node_id: str, text: str) -> None:
        """Words of a node, as some packs send them (binary event 3)."""
        name = node_id.encode()
        payload = len(name).to_bytes(4, "big") + name + text.encode()
        self._comfy.hub.show(hub.TEXT, payload, self._client)

    def end(self, node_id: str) -> None:
        """A node is done; one that came from the cache was never begun."""
        known = self._nodes.get(node_id, {"value": 1, "max": 1})
        self._nodes[node_id] = self._state(node_id, known["max"], known["max"], "finished")
        self._tell_all()

    def _state(self, node_id: str, value: float, most: float, state: str) -> dict[str, Any]:
        return {"value": value, "max": most, "state": state} | self._facts(node_id)

    def _facts(self, node_id: str) -> dict[str, Any]:
        return {
            "node_id": node_id,
            "prompt_id": self._prompt_id,
            "display_node_id": node_id,
            "parent_node_id": None,
            "real_node_id": node_id,
        }

    def _tell_all(self) -> None:
        told = {"prompt_id": self._prompt_id, "nodes": dict(self._nodes)}
        self._comfy.hub.tell("progress_state", told, self._client)
