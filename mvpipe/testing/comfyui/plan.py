"""In which order the nodes of a graph run: what is ready, and of that what shows a result soonest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Graph = dict[str, dict[str, Any]]


def is_link(value: Any) -> bool:
    """Whether an input's value is a link to another node."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int


class Plan:
    """Nodes that still have to run for some output nodes.

    Parameters
    ----------
    cached : whether a node's outputs are there already; such nodes are not run, nor what only they need
    is_sink : whether a node is an output node
    """

    def __init__(self, graph: Graph, cached: Callable[[str], bool], is_sink: Callable[[str], bool]) -> None:
        self._graph = graph
        self._cached = cached
        self._is_sink = is_sink
        self._waits: dict[str, set[str]] = {}
        self._holds_up: dict[str, list[str]] = {}

    def add(self, node_id: str) -> None:
        """Have a node run, and all it needs."""
        stack, links = [node_id], list[tuple[str, str]]()
        while stack:
            one = stack.pop()
            if one in self._waits:
                continue
            self._waits[one] = set()
            self._holds_up[one] = []
            for value in self._graph[one]["inputs"].values():
                if is_link(value) and value[0] in self._graph:
                    if not self._cached(value[0]):
                        stack.append(value[0])
                    links.append((value[0], one))
        for source, target in links:
            if not self._cached(source) and target not in self._holds_up[source]:
                self._holds_up[source].append(target)
                self._waits[target].add(source)

    def __bool__(self) -> bool:
        return bool(self._waits)

    def pick(self) -> str:
        """The next node: an output, else what an output waits for, at two removes, else the first."""
        ready = [node_id for node_id, waits in self._waits.items() if not waits]
        for removes in range(3):
            for node_id in ready:
                if self._reaches_sink(node_id, removes):
                    return node_id
        return ready[0]

    def done(self, node_id: str) -> None:
        """A node has run."""
        del self._waits[node_id]
        for target in self._holds_up.pop(node_id):
            self._waits[target].discard(node_id)

    def _reaches_sink(self, node_id: str, removes: int) -> bool:
        if not removes:
            return self._is_sink(node_id)
        return any(self._reaches_sink(target, removes - 1) for target in self._holds_up[node_id])
