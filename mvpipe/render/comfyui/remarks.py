"""What is said of a graph before it is rendered: refused with the reason and the right way, or warned of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mvpipe.render.comfyui.profiles import HERE, known
from mvpipe.render.comfyui.written import modelled, read_yaml

Level = Literal["refuse", "warn", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One remark.

    Parameters
    ----------
    level : `refuse` must not be rendered, `warn` may be wrong, `note` should be known
    node : id of the node, or empty
    says : what was found and why it matters
    instead : what is right
    source : who says so
    """

    level: Level
    node: str
    says: str
    instead: str = ""
    source: str = ""

    def __str__(self) -> str:
        where = f"node {self.node}: " if self.node else ""
        instead = f"; right: {self.instead}" if self.instead else ""
        return f"{where}{self.says}{instead}" + (f" ({self.source})" if self.source else "")


def refused(node: str, says: str, instead: str = "", source: str = "") -> Remark:
    """What must not be rendered; a source is named by its short name in profiles.yaml, or in full."""
    return Remark(level="refuse", node=node, says=says, instead=instead, source=known().source(source))


def warned(node: str, says: str, instead: str = "", source: str = "") -> Remark:
    """What may be wrong."""
    return Remark(level="warn", node=node, says=says, instead=instead, source=known().source(source))


def noted(node: str, says: str) -> Remark:
    """What should be known."""
    return Remark(level="note", node=node, says=says)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reasoned(_Part):
    """Classes with the reason they are refused."""

    why: str
    source: str


class Caches(Reasoned):
    """Nodes that skip model calls."""

    classes: frozenset[str]


class Harmless(_Part):
    """The setting with which a node is harmless."""

    input: str = ""
    harmless: tuple[str, ...] = ()


class Attention(Reasoned):
    """Nodes and server flags that quantize attention."""

    classes: Mapping[str, Harmless]
    flags: tuple[str, ...]


class Families(Reasoned):
    """Nodes of which only one family may be used."""

    families: tuple[tuple[str, ...], ...]


class Refused(_Part):
    """The whole file."""

    version: Literal[1] = Field(alias="mvpipe-refused")
    step_caches: Caches
    quantized_attention: Attention
    one_of_each: Families


@lru_cache(maxsize=1)
def refused_nodes() -> Refused:
    """The classes that spoil a render."""
    path = HERE / "refused.yaml"
    return modelled(Refused, read_yaml(path), path)
