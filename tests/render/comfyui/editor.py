"""Workflows as the editor would save them, made from graphs in API format."""

from __future__ import annotations

from typing import Any

from mvpipe.render.comfyui.graph import Graph, is_link
from mvpipe.render.comfyui.schema import NodeClass, Schemas

Workflow = dict[str, Any]


def saved(graph: Graph, schemas: Schemas) -> Workflow:
    """A workflow with the same nodes: values as bare lists, links by number, a control behind each seed."""
    nodes: list[dict[str, Any]] = []
    links: list[list[Any]] = []
    for place, (node_id, node) in enumerate(graph.items()):
        known, values = schemas[node["class_type"]], node["inputs"]
        sockets: list[dict[str, Any]] = []
        for name, value in values.items():
            if is_link(value):
                links.append([len(links) + 1, value[0], value[1], node_id, len(sockets), "*"])
                sockets.append(
                    {"name": name, "type": _type(known.inputs(values)[name].types), "link": len(links)}
                )
        widgets: list[Any] = []
        shown = _with_defaults(known, values)
        for name, spec in known.inputs(shown).items():
            if spec.is_widget and not spec.group:
                widgets += [shown[name], *(["randomize"] if spec.control else [])]
        widgets += ["image"] if node["class_type"] == "LoadImage" else []
        outputs = [{"name": "out", "type": _type(types)} for types in known.outputs]
        nodes.append({
            "id": node_id, "type": node["class_type"], "mode": 0, "order": place,
            "inputs": sockets, "outputs": outputs, "widgets_values": widgets,
        })  # fmt: skip
    return {"version": 0.4, "nodes": nodes, "links": links, "extra": {}}


def _with_defaults(known: NodeClass, values: dict[str, Any]) -> dict[str, Any]:
    """The values of all widgets: the editor saves those too that the graph leaves out."""
    shown = dict(values)
    for _ in range(3):  # a choice brings inputs, which may be choices
        for name, spec in known.inputs(shown).items():
            if spec.is_widget and not spec.group:
                first = spec.options[0] if spec.options else ""
                shown.setdefault(name, first if spec.default is None else spec.default)
    return shown


def as_written(graph: Graph, like: Graph) -> Graph:
    """A graph without the inputs that `like` leaves to their defaults."""
    return {
        node_id: {**one, "inputs": {k: v for k, v in one["inputs"].items() if k in like[node_id]["inputs"]}}
        for node_id, one in graph.items()
    }


def node(flow: Workflow, node_id: str) -> dict[str, Any]:
    """A node by its id."""
    found: dict[str, Any] = next(one for one in flow["nodes"] if one["id"] == node_id)
    return found


def socket(flow: Workflow, node_id: str, name: str) -> dict[str, Any]:
    """An input of a node."""
    found: dict[str, Any] = next(one for one in node(flow, node_id)["inputs"] if one["name"] == name)
    return found


def between(flow: Workflow, node_id: str, name: str, class_type: str) -> dict[str, Any]:
    """A node put into the link that an input has, as a reroute is."""
    wanted = socket(flow, node_id, name)
    number = len(flow["links"]) + 1
    new = {
        "id": 9000 + number, "type": class_type, "mode": 0, "widgets_values": [],
        "inputs": [{"name": "", "type": "*", "link": wanted["link"]}],
        "outputs": [{"name": "", "type": wanted["type"]}],
    }  # fmt: skip
    flow["links"].append([number, new["id"], 0, node_id, 0, "*"])
    flow["nodes"].append(new)
    wanted["link"] = number
    return new


def _type(types: frozenset[str]) -> str:
    return ",".join(sorted(types))
