"""The schemas of servers as the stand-in serves them, and templates filled as a backend would."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from mvpipe.render.comfyui.filling import fill, with_loaders
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.schema import NodeClass, read_schemas
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import Template, load
from mvpipe.testing.comfyui.schema import Schemas
from mvpipe.testing.comfyui.settings import LATER, NEW, PACKS, Settings

VERSIONS = (NEW, LATER)
"""The measured core, and the later one that was read from source."""

VALUES: dict[str, Fill] = {
    "prompt": "a prompt",
    "width": 960,
    "height": 544,
    "length": 141,
    "seed": 7,
    "pictures": ["mvpipe/ada.png"],
    "vocals": "mvpipe/voice.wav",
    "filename_prefix": "mvpipe/take",
}


@cache
def object_info(version: str = NEW, packs: tuple[str, ...] = PACKS) -> dict[str, Any]:
    """What the server answers to GET /object_info."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "input").mkdir()
        schemas = Schemas(Settings(root=root, version=version, packs=packs))
        return {name: schemas.info(name) for name in schemas}


@cache
def classes(version: str = NEW, packs: tuple[str, ...] = PACKS) -> dict[str, NodeClass]:
    """The same, read."""
    return read_schemas(object_info(version, packs))


@cache
def loaded(name: str) -> Template:
    """A template, read once."""
    return load(name)


def filled(name: str, version: str = NEW, /, **values: Fill) -> Graph:
    """A template filled with `VALUES`, some of them changed, as the server of this version wants it."""
    found = loaded(name)
    wanted = {slot: value for slot, value in VALUES.items() if found.takes(slot)}
    return with_loaders(found, fill(found, wanted | values), classes(version).__contains__)
