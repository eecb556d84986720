"""Workflows as the editor saves them, turned into API format where that can be done soundly.

The editor keeps the values of a node's widgets as a bare list, in the order of the node's class on the
server it was made with. So the server's schemas are needed, and where the list does not fit them the file is
refused rather than guessed at: export it as API format in the editor then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.check import value_fits
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.schema import Input, NodeClass, Schemas, compatible, types_of

EXPORT = "open it in ComfyUI and save it as API format: Workflow > Export (API)"

MUTED, BYPASSED = (2,), (4,)
"""Modes of a node that does not run, and of one that is passed by."""

AFTER_RUN = ("fixed", "increment", "decrement", "randomize")
"""What becomes of a seed; kept as a value of its own behind it."""

EDITORS = {"Note", "MarkdownNote", "Reroute", "PrimitiveNode"}
"""Nodes that only the editor has."""

MOST_EXTRAS = 2
"""Values that upload buttons leave behind the list of a loader."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A constant that stands for a link, from a primitive of the editor."""

    value: Any


@dataclass(frozen=True, slots=True)
class _Workflow:
    nodes: Mapping[str, Mapping[str, Any]]
    links: Mapping[int, tuple[str, int]]
    schemas: Schemas
    where: str


def is_workflow(found: Any) -> bool:
    """Whether a file holds the editor's format."""
    return isinstance(found, Mapping) and isinstance(found.get("nodes"), list)


def to_api(found: Mapping[str, Any], schemas: Schemas, where: str) -> Graph:
    """The graph the editor would send: the output nodes and all they depend on.

    Parameters
    ----------
    found : the workflow
    schemas : of the server it is meant for
    where : the file, for messages

    Raises
    ------
    SettingsError : it cannot be done soundly; says why
    """
    flow = _Workflow(_nodes(found, where), _links(found, where), schemas, where)
    graph: Graph = {}
    waiting = [node_id for node_id, node in flow.nodes.items() if _is_output(flow, node)]
    if not waiting:
        absent = sorted({node["type"] for node in flow.nodes.values()} - schemas.keys() - EDITORS)
        without = f": it has no such class as {', '.join(absent)}" if absent else ""
        raise SettingsError(f"{where}: no output node that this server knows{without}", hint=EXPORT)
    while waiting:
        node_id = waiting.pop(0)
        if node_id not in graph:
            graph[node_id] = _node(flow, node_id)
            waiting += [value[0] for value in graph[node_id]["inputs"].values() if isinstance(value, list)]
    return {node_id: graph[node_id] for node_id in flow.nodes if node_id in graph}


def _nodes(found: Mapping[str, Any], where: str) -> dict[str, Mapping[str, Any]]:
    if (found.get("definitions") or {}).get("subgraphs"):
        raise SettingsError(f"{where}: subgraphs: cannot be unfolded here", hint=EXPORT)
    try:
        return {str(node["id"]): {**node, "type": str(node["type"])} for node in found["nodes"]}
    except (KeyError, TypeError) as exc:
        raise SettingsError(f"{where}: a node without id or type", hint=EXPORT) from exc


def _links(found: Mapping[str, Any], where: str) -> dict[int, tuple[str, int]]:
    """Link -> (node, output slot) it comes from; links are lists, in newer files objects."""
    links = {}
    try:
        for link in found.get("links") or ():
            if isinstance(link, Mapping):
                links[link["id"]] = (str(link["origin_id"]), int(link["origin_slot"]))
            else:
                links[link[0]] = (str(link[1]), int(link[2]))
    except (KeyError, IndexError, TypeError, ValueError) as exc:
        raise SettingsError(f"{where}: links that cannot be read", hint=EXPORT) from exc
    return links


def _is_output(flow: _Workflow, node: Mapping[str, Any]) -> bool:
    known = flow.schemas.get(node["type"])
    return known is not None and known.is_output and node.get("mode", 0) not in MUTED + BYPASSED


def _node(flow: _Workflow, node_id: str) -> dict[str, Any]:
    node = flow.nodes[node_id]
    known = flow.schemas.get(node["type"])
    if known is None:
        why = "the server has no such class, so the order of its values is not known"
        raise SettingsError(f"{flow.where}: node {node_id} ({node['type']}): {why}", hint=EXPORT)
    inputs = _widgets(flow, node_id, known)
    for socket in node.get("inputs") or ():
        if socket.get("link") is not None:
            origin = _origin(flow, socket["link"], frozenset())
            if isinstance(origin, _Value):
                inputs[socket["name"]] = origin.value
            elif origin is not None:
                inputs[socket["name"]] = list(origin)
            else:
                inputs.pop(socket["name"], None)
    return {"class_type": node["type"], "inputs": inputs}


def _origin(flow: _Workflow, link: int, passed: frozenset[str]) -> tuple[str, int] | _Value | None:
    """Where a link really comes from, past reroutes, primitives and nodes that are bypassed."""
    if link not in flow.links:
        raise SettingsError(f"{flow.where}: link {link}: not in the file", hint=EXPORT)
    node_id, slot = flow.links[link]
    node = flow.nodes.get(node_id)
    if node is None or node_id in passed:
        raise SettingsError(
            f"{flow.where}: link {link}: comes from node {node_id}, which is not there", hint=EXPORT
        )
    if node["type"] == "PrimitiveNode":
        return _Value((node.get("widgets_values") or [None])[0])
    if node.get("mode", 0) in MUTED:
        return None
    through = _passed_by(flow, node, slot)
    if through is None:
        return node_id, slot
    return _origin(flow, through, passed | {node_id}) if through >= 0 else None


def _passed_by(flow: _Workflow, node: Mapping[str, Any], slot: int) -> int | None:
    """The link a node hands on instead of an output; -1 for none, None if it is no node to be passed by."""
    sockets = node.get("inputs") or []
    if node["type"] == "Reroute":
        return _link(sockets[0]) if sockets else -1
    if node.get("mode", 0) not in BYPASSED:
        return None
    wanted = types_of(node["outputs"][slot]["type"])
    same = [socket for socket in sockets if compatible(types_of(socket.get("type")), wanted)]
    if slot < len(sockets) and sockets[slot] in same:  # the editor prefers the input at the same place
        return _link(sockets[slot])
    return next((_link(socket) for socket in same if socket.get("link") is not None), -1)


def _link(socket: Mapping[str, Any]) -> int:
    found = socket.get("link")
    return -1 if found is None else int(found)


def _widgets(flow: _Workflow, node_id: str, known: NodeClass) -> dict[str, Any]:
    """Values by name, from a list in the order of the class."""
    node = flow.nodes[node_id]
    found = node.get("widgets_values") or []
    if isinstance(found, Mapping):
        specs = known.inputs(found)
        return {name: value for name, value in found.items() if name in specs and specs[name].is_widget}
    values, left = _taken(known, list(found))
    specs = known.inputs(values)
    linked = {socket["name"] for socket in node.get("inputs") or () if socket.get("link") is not None}
    where = f"{flow.where}: node {node_id} ({node['type']})"
    uploads = any(spec.upload for spec in specs.values())
    if left and not (all(one in (None, "") for one in left) or (uploads and len(left) <= MOST_EXTRAS)):
        raise SettingsError(f"{where}: {len(left)} values more than its class has here", hint=EXPORT)
    for name, spec in specs.items():
        if spec.is_widget and spec.required and name not in values and name not in linked:
            raise SettingsError(f"{where}: {name}: no value for it: made with another version", hint=EXPORT)
    for name, value in values.items():
        if name not in linked and not value_fits(specs[name], value):
            raise SettingsError(
                f"{where}: {name}: {value!r}: made with another version of the node", hint=EXPORT
            )
    return values


def _taken(known: NodeClass, values: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """(values by name, those left over): one for each widget, and one behind each seed."""
    taken: dict[str, Any] = {}
    while (spec := _next_widget(known, taken)) and values:
        taken[spec.name] = values.pop(0)
        if spec.control and values and values[0] in AFTER_RUN:
            values.pop(0)
    return taken, values


def _next_widget(known: NodeClass, taken: Mapping[str, Any]) -> Input | None:
    """The next input that has a value; a dynamic combo's own inputs come with what it is set to."""
    return next((spec for spec in _in_order(known, taken) if spec.name not in taken), None)


def _in_order(known: NodeClass, taken: Mapping[str, Any]) -> Iterator[Input]:
    return (spec for spec in known.inputs(taken).values() if spec.is_widget and not spec.group)
