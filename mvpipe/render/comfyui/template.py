"""Graph templates: a graph in ComfyUI's API format, and a slots file beside it that names what is filled.

A template is `NAME.json` and `NAME.slots.yaml`; mvpipe's own lie in `templates/`, a user's where they like.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui import graph as graphs
from mvpipe.render.comfyui.bank import Room
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.slots import Fill, Lock, Slots
from mvpipe.render.comfyui.written import modelled, read_json, read_yaml
from mvpipe.tools import shipped

DEFAULT = "native-ref2va"
SLOTS = ".slots.yaml"
REFERENCES = ("pictures", "videos", "voices")
"""Slots of what the bank pins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A graph and the names of what is filled into it.

    Parameters
    ----------
    name : how it is asked for
    path : the graph's file; not part of what decides a take
    graph : as the file has it, without titles
    slots : the slots file
    """

    name: str
    path: Path
    graph: Graph
    slots: Slots

    @property
    def identity(self) -> str:
        """What of it decides a take besides the filled graph, the same under every name of its files.

        The name says it of mvpipe's own; of others it is where the seed goes, and whose film is taken.
        """
        if self.path.parent == home():
            return self.name
        seed = [list(place) for place in self.slots.slots["seed"].at] if self.takes("seed") else []
        return json.dumps([seed, list(self.slots.outputs)])

    def lock(self, values: Mapping[str, Fill]) -> Lock:
        """What the graph filled so does to the audio rows: without a vocal there is no lock."""
        return self.slots.lock if values.get("vocals") is not None else "none"

    def default(self, name: str) -> Any:
        """What the graph itself says at a slot's first place; None if the template has no such slot."""
        if name not in self.slots.slots:
            return None
        node, field = self.slots.slots[name].at[0][:2]
        return self.graph[node]["inputs"][field]

    def takes(self, name: str) -> bool:
        """Whether there is such a slot."""
        return name in self.slots.slots

    def loader(self, name: str) -> str:
        """Id of the node that a slot is filled into first, or empty if there is no such slot."""
        return self.slots.slots[name].at[0][0] if self.takes(name) else ""

    def asks(self) -> frozenset[str]:
        """The classes a server is asked for: those of the graph, their stand-ins, and those that break it."""
        loaders = {loader.class_type for slot in self.slots.slots.values() for loader in slot.loaders}
        return graphs.classes_of(self.graph) | loaders | {c.class_type for c in self.slots.needs.absent}

    def room(self) -> Room:
        """How many references a shot may bring."""
        most = {name: self.slots.slots[name].most if self.takes(name) else 0 for name in REFERENCES}
        return Room(**most)


def home() -> Path:
    """The folder of mvpipe's own templates.

    Raises
    ------
    SettingsError : it is nowhere: a broken installation
    """
    return shipped.folder("templates", f"{DEFAULT}.json")


def names() -> list[str]:
    """The names of mvpipe's own templates, sorted."""
    return sorted(path.name.removesuffix(SLOTS) for path in home().glob(f"*{SLOTS}"))


def load(name: str | Path, beside: Path | None = None) -> Template:
    """A template by its name, or from the path of its graph.

    Parameters
    ----------
    name : one of `names()`, or a path to a .json file with its slots file beside it
    beside : folder that a relative path starts from

    Raises
    ------
    SettingsError : there is none, or a file of it is broken
    """
    path = _find(str(name), beside or Path())
    beside_it = path.with_name(path.name.removesuffix(".json") + SLOTS)
    graph = api_graph(read_json(path), path)
    if not beside_it.is_file():
        raise SettingsError(
            f"{path}: {beside_it.name}: missing beside it", hint=f"mvpipe graph import {path} proposes one"
        )
    slots = modelled(Slots, read_yaml(beside_it), beside_it)
    check_wires(slots, graph, beside_it)
    return Template(name=path.stem, path=path, graph=graph, slots=slots)


def _find(name: str, beside: Path) -> Path:
    if not name.endswith(".json") and "/" not in name and "\\" not in name:
        if name in names():
            return home() / f"{name}.json"
        near = get_close_matches(name, names(), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}; or name a .json file"
        raise SettingsError(f"graph: {name}: no such template", hint=hint)
    return beside / Path(name).expanduser()


def api_graph(found: Any, path: Path) -> Graph:
    """A graph from what a file holds: in API format, bare or in the envelope it is posted in.

    Raises
    ------
    SettingsError : it is something else
    """
    if isinstance(found, dict) and isinstance(found.get("nodes"), list):
        raise SettingsError(
            f"{path}: a workflow in the editor's format",
            hint=f"mvpipe graph import {path}, or export it as API",
        )
    if isinstance(found, dict) and isinstance(found.get("prompt"), dict):
        found = found["prompt"]
    if not isinstance(found, dict) or not found:
        raise SettingsError(f"{path}: not a graph in ComfyUI's API format")
    for node_id, node in found.items():
        whole = isinstance(node, dict) and isinstance(node.get("class_type"), str)
        if not whole or not isinstance(node.get("inputs"), dict):
            raise SettingsError(f"{path}: node {node_id}: without class_type and inputs")
    return graphs.copied(found)


def check_wires(slots: Slots, graph: Graph, path: Path) -> None:
    """Whether all that a slots file names is in the graph.

    Raises
    ------
    SettingsError : it is not
    """
    for where, node_id, field in slots.wires():
        if node_id not in graph:
            raise SettingsError(f"{path}: {where}: {node_id}: no such node in the graph")
        if field and field not in graph[node_id]["inputs"]:
            near = get_close_matches(field, graph[node_id]["inputs"], 1)
            hint = f"did you mean {near[0]}?" if near else "the graph must have it, as its default"
            raise SettingsError(f"{path}: {where}: node {node_id} has no input {field}", hint=hint)


def clashes(template: Template, has: Callable[[str], bool]) -> list[str]:
    """What the server has that breaks this template, in words."""
    return [f"{c.class_type} is installed: {c.why}" for c in template.slots.needs.absent if has(c.class_type)]
