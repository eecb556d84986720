"""From a slate to an order: what is uploaded, under which key it is known, how its film is received."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mvpipe.errors import MediaError, ToolError
from mvpipe.film import Slate
from mvpipe.render.backend import Asset
from mvpipe.render.comfyui import media, slating
from mvpipe.render.comfyui.examine import examine
from mvpipe.render.comfyui.filling import finished, put
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.order import Content, Order
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.template import Template
from mvpipe.tools.hush import hush


def order_of(
    slate: Slate,
    template: Template,
    assets: Mapping[str, Path],
    fit: Callable[[Server, Mapping[str, Any]], Graph],
) -> Order:
    """A slate as a client is given it.

    Parameters
    ----------
    fit : the graph as a server needs it
    """
    graph = slate.graph["graph"]
    facts = examine(graph)
    return Order(
        key=key_of(slate),
        title=f"shot {slate.shot}, take {slate.take}",
        graph=graph,
        outputs=template.slots.outputs,
        steps=(facts[0].steps or 0) if facts else 0,
        uploads=_uploads(slate, assets),
        fit=fit,
        finish=partial(_finish, template, slate.seed),
        whole=_is_whole,
    )


def key_of(slate: Slate) -> str:
    """Digest of all that decides a take: the shot's number and the attempt stay out."""
    return digest_of([slate.backend, slate.frames, slate.size, slate.seed, slate.graph, dict(slate.inputs)])


def digest_of(value: Any) -> str:
    """sha256 (hex) of a JSON value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _finish(
    template: Template, seed: int, graph: Mapping[str, Any], prefix: str, names: Mapping[str, str]
) -> Graph:
    return finished(template, put(template, graph, {"seed": seed}), prefix, names)


def _uploads(slate: Slate, assets: Mapping[str, Path]) -> dict[str, Content]:
    found: dict[str, Content] = {}
    if slate.graph["sound"] == Sounding.SILENCE:
        found |= [slating.silence(slate.frames)]
    for role, digest in slate.inputs.items():
        if role in slating.SOUND_ROLES.values():
            found[slating.voice_name(digest)] = assets[role]
        else:
            asset = Asset(path=assets[role], digest=digest)
            found[media.upload_name(role, digest)] = partial(media.content, role, asset)
    return found


def telling(take: Path) -> list[str]:
    """Take out of a take what the server wrote into it, the graph and so the prompt; what is wrong if not."""
    try:
        hush(take)
    except (MediaError, ToolError) as exc:
        return [str(exc)]
    return []


def _is_whole(path: Path) -> bool:
    from mvpipe.tools import picture

    try:
        return len(picture.times(path)) > 0
    except MediaError:
        return False
