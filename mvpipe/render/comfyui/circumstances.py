"""What is kept with a take of the server that made it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mvpipe.errors import BackendError
from mvpipe.render.backend import Ran
from mvpipe.render.comfyui.graph import classes_of
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.steady import Steady


def circumstances(server: Server, graph: Mapping[str, Any], steady: Steady) -> dict[str, Any]:
    """As far as it tells now: the film is here, and does not wait for it."""
    told: dict[str, Any] = {"url": server.name}
    with suppress(BackendError):
        told["server"] = server.facts().record()
        told["packs"] = server.packs(classes_of(graph))
        devices, main = steady.once(server.memory)
        told |= {"devices": [dict(device) for device in devices], **main}
    return told


def ran(facts: Mapping[str, Any]) -> Ran:
    """What a take's facts say of how it went."""
    used, whole = dict[str, int](), dict[str, int]()
    device: Mapping[str, Any] = next(iter(facts.get("devices") or ()), {})
    for kind, told, name in (("graphics", device, "vram"), ("main", facts, "ram")):
        total, free = told.get(f"{name}_total"), told.get(f"{name}_free")
        if isinstance(total, int) and isinstance(free, int) and total > 0:
            used[kind], whole[kind] = total - free, total
    return Ran(
        begun=facts.get("begun_at"),
        ended=facts.get("ended_at"),
        step_s=facts.get("step_s"),
        parts=facts.get("parts", {}),
        used=used,
        whole=whole,
    )
