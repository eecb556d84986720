"""What is asked of a client, and what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.render.comfyui.server import Server

Graph = Mapping[str, Any]

Content = Path | bytes | Callable[[], bytes]
"""What is uploaded: a file, or bytes, or what makes them once they are wanted."""

SAMPLES = re.compile(r"Sampler(?!Select)")
"""In the class of a node that samples: SamplerCustomAdvanced, KSampler, H3MultishotMemorySampler, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One render.

    Parameters
    ----------
    key : digest of all that decides its bytes
    title : for messages, such as `shot 3, take 1`
    graph : filled, but for the names that only the server decides
    outputs : nodes whose film is the take
    steps : of sampling; 0 where nobody knows
    uploads : name -> content; the name is the one in the graph, `mvpipe/DIGEST.wav`
    fit : the graph as this server needs it, checked against all it tells of itself; raises GraphRejected
    whole : whether a fetched film can be read at all
    finish : the graph with the prefix of its files and the names the server gave the uploads
    """

    key: str
    title: str
    graph: Graph
    outputs: tuple[str, ...]
    steps: int = 0
    uploads: Mapping[str, Content] = field(default_factory=dict[str, Content])
    fit: Callable[[Server, Graph], Graph] = lambda _server, graph: graph
    whole: Callable[[Path], bool] = Path.is_file
    finish: Callable[[Graph, str, Mapping[str, str]], Graph]

    @property
    def samplers(self) -> frozenset[str]:
        """The nodes that sample."""
        return frozenset(n for n, node in self.graph.items() if SAMPLES.search(str(node.get("class_type"))))

    @property
    def encoders(self) -> frozenset[str]:
        """The nodes that encode text: they are given a text encoder, and are no loaders that hand it on."""
        return frozenset(
            n
            for n, node in self.graph.items()
            if isinstance((node.get("inputs") or {}).get("clip"), list | tuple)
            and "Loader" not in str(node.get("class_type"))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A render that ended well, its film fetched.

    Parameters
    ----------
    prompt_id : under which it ran
    sampled : whether it was sampled now, and not taken from what the server had kept
    seconds : it ran by the server's clock; None where nobody knows
    facts : for the record: server, packages, command line, pace, memory, times
    """

    prompt_id: str
    sampled: bool
    seconds: float | None
    facts: Mapping[str, Any]
