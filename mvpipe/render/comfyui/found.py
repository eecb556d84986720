"""A graph that mvpipe did not write, and what is asked of it: what stands where, linked to what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mvpipe.render.comfyui.examine import Facts, examine
from mvpipe.render.comfyui.graph import Graph, is_link, upstream
from mvpipe.render.comfyui.locks import Held

SlotText = dict[str, Any]
"""A slot as its file has it."""

Answer = tuple[dict[str, SlotText], list[str]]
"""Slots that were found, and what is to be said about them."""


@dataclass
class Found:
    """A graph being looked at.

    Parameters
    ----------
    graph : in API format; `heard` may add a node to it
    outputs : the nodes whose files are the take
    """

    graph: Graph
    outputs: tuple[str, ...]

    @cached_property
    def facts(self) -> Facts | None:
        """Of the sampler nearest the output."""
        above = upstream(self.graph, self.outputs)
        return min(examine(self.graph), key=lambda one: _place(above, one.node), default=None)

    @property
    def lock(self) -> Held:
        """What happens to the sound."""
        return self.facts.lock if self.facts else Held(kind="unclear", why="no sampler was recognised")

    def inputs(self, node_id: str) -> dict[str, Any]:
        """A node's inputs; none of a node that is not there."""
        found: dict[str, Any] = self.graph[node_id]["inputs"] if node_id in self.graph else {}
        return found

    def class_of(self, node_id: str) -> str:
        """A node's class, or empty."""
        return str(self.graph[node_id]["class_type"]) if node_id in self.graph else ""

    def place(self, node_id: str, *fields: str) -> list[str] | None:
        """Where the first of these inputs is set: there, or at the primitive it is linked to."""
        for field in fields:
            value = self.inputs(node_id).get(field)
            if is_link(value):
                inner = self.inputs(value[0]).get("value")
                if (
                    self.class_of(value[0]).startswith("Primitive")
                    and not is_link(inner)
                    and inner is not None
                ):
                    return [value[0], "value"]
            elif value is not None:
                return [node_id, field]
        return None

    def source(self, node_id: str, *fields: str) -> str:
        """The node that the first of these inputs is linked to, or empty."""
        for field in fields:
            value = self.inputs(node_id).get(field)
            if is_link(value) and value[0] in self.graph:
                return str(value[0])
        return ""


def _place(above: list[str], node_id: str) -> int:
    return above.index(node_id) if node_id in above else len(above)
