"""A slots file proposed for a graph of one's own: mvpipe's names for the inputs it can fill, found by class.

What is proposed is a start, to be read by whoever made the graph; what could not be found, and what was
changed, is said in notes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.found import Found
from mvpipe.render.comfyui.graph import Graph, classes_of, copied, pruned, upstream
from mvpipe.render.comfyui.proposing import slots_of
from mvpipe.render.comfyui.proposing_media import heard, left_as_they_are, whole_songs
from mvpipe.render.comfyui.schema import Schemas
from mvpipe.render.comfyui.slots import Slots
from mvpipe.render.comfyui.template import api_graph, check_wires
from mvpipe.render.comfyui.uiformat import is_workflow, to_api
from mvpipe.render.comfyui.written import modelled

SAVES = ("SaveVideo", "VHS_VideoCombine", "SaveWEBM")
"""Classes that write a film, the best first."""

PACKS = "custom_nodes."
"""How modules of node packs begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A graph with a slots file for it.

    Parameters
    ----------
    graph : in API format; only what the film needs
    text : the slots file
    slots : the same, read
    notes : what was not found, and what was changed
    """

    graph: Graph
    text: str
    slots: Slots
    notes: tuple[str, ...]


def propose(workflow: Any, path: Path, schemas: Schemas | None = None) -> Proposal:
    """A graph and its slots, from what a file holds: API format, or the editor's where schemas are known.

    Parameters
    ----------
    workflow : the file's content
    path : of the file: for messages, and for the title
    schemas : of the server it is meant for; without them only API format can be read

    Raises
    ------
    SettingsError : it is no graph, cannot be turned into one, or does not sample and save a film
    """
    graph = _graph(workflow, path, schemas)
    save = _save(graph, path)
    found = Found(graph=pruned(graph, [save]), outputs=(save,))
    notes = [
        *heard(found),
        *whole_songs(found),
    ]  # before the slots are looked for: it may change what is saved
    slots, more = slots_of(found)
    head = _head(path.stem, found, schemas)
    read = modelled(Slots, {**head, "slots": slots}, path)
    check_wires(read, found.graph, path)
    return Proposal(
        graph=found.graph,
        text=_text(head, slots),
        slots=read,
        notes=(*notes, *more, *left_as_they_are(found, slots)),
    )


def classes_in(workflow: Any) -> tuple[str, ...]:
    """The node classes a workflow names, in either format: those a server is asked for."""
    if is_workflow(workflow):
        found = {node.get("type") for node in workflow["nodes"] if isinstance(node, Mapping)}
    else:
        nodes = workflow.values() if isinstance(workflow, Mapping) else ()
        found = {node.get("class_type") for node in nodes if isinstance(node, Mapping)}
    return tuple(sorted(name for name in found if isinstance(name, str)))


def _graph(workflow: Any, path: Path, schemas: Schemas | None) -> Graph:
    if not is_workflow(workflow):
        return copied(api_graph(workflow, path))
    if schemas is None:
        raise SettingsError(
            f"{path}: the editor's format: the order of its values is known to a server only",
            hint="name a server with --backend, or export it in the editor: Workflow > Export (API)",
        )
    return to_api(workflow, schemas, str(path))


def _save(graph: Graph, path: Path) -> str:
    """The one node that saves the film."""
    for class_type in SAVES:
        saves = [node_id for node_id, node in graph.items() if node["class_type"] == class_type]
        sampled = [one for one in saves if len(upstream(graph, [one])) > 2]
        if len(sampled) == 1:
            return sampled[0]
        if sampled:
            raise SettingsError(
                f"{path}: {len(sampled)} nodes save a film: {', '.join(sampled)}", hint="keep one"
            )
    raise SettingsError(
        f"{path}: no node that saves a film", hint="end the graph with CreateVideo and SaveVideo"
    )


def _head(title: str, found: Found, schemas: Schemas | None) -> dict[str, Any]:
    lock = found.lock
    return {
        "mvpipe-template": 1,
        "title": title,
        "needs": {"packs": _packs(found.graph, schemas)},
        "lock": "none" if lock.kind == "unclear" else lock.kind,
        "lock_note": lock.why,
        "outputs": list(found.outputs),
    }


def _packs(graph: Graph, schemas: Schemas | None) -> list[dict[str, str]]:
    """Packs whose classes the graph uses, as far as the server names them."""
    classes = schemas or {}
    modules = {classes[name].module for name in classes_of(graph) if name in classes}
    names = sorted(found.removeprefix(PACKS) for found in modules if found.startswith(PACKS))
    return [{"name": name, "from": "not known"} for name in names]


def _text(head: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    """The slots file as it is written: one slot a line, in YAML's flow style, which JSON is."""
    tops = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    lines = [f"  {name}: {json.dumps(slot, ensure_ascii=False)}" for name, slot in slots.items()]
    note = "# Proposed by mvpipe: read it, and compare it with your graph."
    return "\n".join([note, *tops, "slots:" if lines else "slots: {}", *lines, ""])
