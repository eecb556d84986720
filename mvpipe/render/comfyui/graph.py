"""Graphs in ComfyUI's API format: node id -> {class_type, inputs}; an input is a value or a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

Node = dict[str, Any]
Graph = dict[str, Node]
Link = tuple[str, int] | list[Any]
"""[node id, output slot]"""


def is_link(value: Any) -> TypeGuard[list[Any]]:
    """Whether an input's value is a link as the server takes one: two items, the second a number."""
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and isinstance(value[1], int)
        and not isinstance(value[1], bool)
        and isinstance(value[0], str)
    )


def links_of(node: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(input, node it comes from, output slot) of a node's links."""
    for name, value in node["inputs"].items():
        if is_link(value):
            yield name, value[0], value[1]


def classes_of(graph: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """The node classes a graph uses: those whose schema to ask the server for."""
    return frozenset(str(node["class_type"]) for node in graph.values())


def upstream(graph: Mapping[str, Mapping[str, Any]], starts: Iterable[str]) -> list[str]:
    """The nodes that `starts` depend on, themselves among them, nearest first; missing ones are left out."""
    found: dict[str, None] = {}
    waiting = [start for start in starts if start in graph]
    while waiting:
        node_id = waiting.pop(0)
        if node_id not in found:
            found[node_id] = None
            waiting += [source for _, source, _ in links_of(graph[node_id]) if source in graph]
    return list(found)


def consumers(graph: Mapping[str, Mapping[str, Any]], node_id: str) -> list[tuple[str, str, int]]:
    """(node, input, output slot) of every link that comes from `node_id`."""
    return [
        (other, name, slot)
        for other, node in graph.items()
        for name, source, slot in links_of(node)
        if source == node_id
    ]


def copied(graph: Mapping[str, Mapping[str, Any]]) -> Graph:
    """A copy that may be changed, without titles and other things that are only for a person's eye."""
    return {
        str(node_id): {
            "class_type": node["class_type"],
            "inputs": {
                name: list(value) if is_link(value) else value for name, value in node["inputs"].items()
            },
        }
        for node_id, node in graph.items()
    }


def relinked(node: Node, names: Mapping[str, str]) -> Node:
    """A copy of a node that takes from `names[id]` what it took from `id`."""
    inputs = {
        name: [names.get(value[0], value[0]), value[1]] if is_link(value) else value
        for name, value in node["inputs"].items()
    }
    return {"class_type": node["class_type"], "inputs": inputs}


def bypass(graph: Graph, node_id: str, through: str) -> None:
    """Take a node out: whatever used it is given what its input `through` was given.

    Only sound where all its outputs that are used carry the same kind of thing as that input; the
    check against the server's schemas finds it where they do not.

    Raises
    ------
    ValueError : that input is not a link
    """
    source = graph[node_id]["inputs"].get(through)
    if not is_link(source):
        raise ValueError(f"{node_id}: {through}: not a link, so there is nothing to hand on")
    for other, name, _ in consumers(graph, node_id):
        graph[other]["inputs"][name] = list(source)
    del graph[node_id]


def pruned(graph: Graph, outputs: Iterable[str]) -> Graph:
    """The nodes that the output nodes depend on, in their old order."""
    kept = set(upstream(graph, outputs))
    return {node_id: node for node_id, node in graph.items() if node_id in kept}


def renamed_files(graph: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]) -> Graph:
    """A copy in which values that are exactly a file's old name are its new one.

    Parameters
    ----------
    names : old name -> new name, as for an upload that the server stored under another one
    """
    renamed = copied(graph)
    for node in renamed.values():
        for name, value in node["inputs"].items():
            if isinstance(value, str) and value in names:
                node["inputs"][name] = names[value]
    return renamed


def base_name(path: str) -> str:
    """A file's name without its folders; a Windows server writes them with backslashes."""
    return path.replace("\\", "/").rpartition("/")[2]
