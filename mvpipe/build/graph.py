"""A graph of work: nodes that become tasks once what they need is there, and that may grow new nodes.

A node's task cannot be known in advance, because inputs enter a key by content: the key of a listening task
holds the digest of the stem that separation will make. So a node has a `bind` that is called with the
entries of its needs and says what is to be done. A node may also grow the graph when it ends: a take that
fails its checks adds the next take, and makes whoever waits for the shot wait for that one too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.errors import MvpipeError, PlanError

Progress = Callable[[int, int], None]
"""Called with (done, of)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a node turned out to be.

    Parameters
    ----------
    task : its identity
    make : writes the entry's files into a folder, returns its facts
    """

    task: Task
    make: Callable[[Path, Progress], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A place in the graph.

    Parameters
    ----------
    name : unique, for people: `take 3.1`
    bind : called with the entries of the needs that were made, by name; says what is to be done
    needs : names of the nodes that must end first
    lane : where it queues; a lane does so many things at once
    hint : what its lane should know of it, such as how long it will take
    then : called with the entry when it is there; what to add to the graph
    rescue : called with the error when it failed; what to add to the graph, or raise to let it fail.
        A rescued node has no entry, and whoever needs it is bound without it.
    """

    name: str
    bind: Callable[[Mapping[str, Entry]], Work]
    needs: tuple[str, ...] = ()
    lane: str = "cpu"
    hint: Any = None
    then: Callable[[Entry], Growth] | None = None
    rescue: Callable[[MvpipeError], Growth] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a node that ended adds.

    Parameters
    ----------
    nodes : new nodes
    waits : (name of a node that has not begun, name of one it must now wait for)
    """

    nodes: tuple[Node, ...] = ()
    waits: tuple[tuple[str, str], ...] = ()


NO_GROWTH = Growth()


def _ended(entries: Mapping[str, Entry]) -> Work:
    raise AssertionError("a node that has ended is not bound again")


class Graph:
    """Nodes and who waits for whom.

    Raises
    ------
    PlanError : a name twice, a need nobody makes, a cycle
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._nodes: dict[str, Node] = {}
        self.grow(Growth(nodes=tuple(nodes)))

    def __iter__(self) -> Iterator[Node]:
        """Nodes in the order they were added."""
        return iter(list(self._nodes.values()))

    def __getitem__(self, name: str) -> Node:
        return self._nodes[name]

    def __len__(self) -> int:
        return len(self._nodes)

    def grow(self, growth: Growth) -> None:
        """Add nodes and waits."""
        for node in growth.nodes:
            if node.name in self._nodes:
                raise PlanError(f"{node.name}: twice in the graph")
            self._nodes[node.name] = node
            self._graph.add_node(node.name)
        waits = [(node.name, need) for node in growth.nodes for need in node.needs]
        for waiting, need in [*waits, *growth.waits]:
            if need not in self._nodes or waiting not in self._nodes:
                raise PlanError(f"{waiting}: needs {need}: not in the graph")
            if nx.has_path(self._graph, waiting, need):
                ring = " -> ".join(nx.shortest_path(self._graph, waiting, need))
                raise PlanError(f"{ring} -> {waiting}: wait for each other in a circle")
            self._graph.add_edge(need, waiting)

    def end(self, name: str) -> None:
        """Let go of all that a node which has ended was to do; who waits for it is known still."""
        self._nodes[name] = Node(name=name, bind=_ended)

    def needs(self, name: str) -> list[str]:
        """Whom a node waits for."""
        return list(self._graph.predecessors(name))

    def waiting(self, name: str) -> list[str]:
        """Who waits for a node, in the order they were added."""
        return list(self._graph.successors(name))
