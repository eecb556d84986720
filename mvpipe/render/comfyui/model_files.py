"""Model files by name: the server lists them with their folders, a template knows their base name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.graph import Graph, base_name, copied
from mvpipe.render.comfyui.profiles import HERE
from mvpipe.render.comfyui.schema import Schemas
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import Template
from mvpipe.render.comfyui.written import modelled, read_yaml

ENDINGS = frozenset({"safetensors", "gguf", "pt", "pth", "ckpt", "sft", "bin"})


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class File(_Part):
    """Where a file goes, below the server's models folder, and its size in words."""

    folder: str
    size: str = ""


class Files(_Part):
    """The files that are known."""

    version: Literal[1] = Field(alias="mvpipe-files")
    folders: Mapping[str, str]
    files: Mapping[str, File]


@lru_cache(maxsize=1)
def known_files() -> Files:
    """The files that are known."""
    path = HERE / "files.yaml"
    return modelled(Files, read_yaml(path), path)


def is_model_file(value: Any) -> TypeGuard[str]:
    """Whether an input's value names a file of weights."""
    return isinstance(value, str) and value.rpartition(".")[2] in ENDINGS


def same_file(one: str, other: str) -> bool:
    """Whether two names are those of one file, in whatever folders."""
    return "." in base_name(one) and base_name(one) == base_name(other)


def placed_files(graph: Mapping[str, Mapping[str, Any]], schemas: Schemas) -> Graph:
    """A copy in which model files that the server has in a subfolder are named with it.

    Only where exactly one of the server's files has that base name; what a file is called decides
    nothing about a take, so this belongs behind the slate.
    """
    placed = copied(graph)
    for node_id, field, file, options in _absent_files(graph, schemas):
        same = [one for one in options if same_file(one, file)]
        if len(same) == 1:
            placed[node_id]["inputs"][field] = same[0]
    return placed


def missing_files(graph: Mapping[str, Mapping[str, Any]], schemas: Schemas) -> list[tuple[str, str, str]]:
    """(node, input, file) of every model file that the server does not list in whatever folder."""
    return [(n, field, file) for n, field, file, _ in _absent_files(placed_files(graph, schemas), schemas)]


def said_missing(graph: Mapping[str, Mapping[str, Any]], schemas: Schemas) -> list[str]:
    """In words, each missing file once: its name, the folder it goes to, and its size where that is known."""
    return list(dict.fromkeys(_said(field, file) for _, field, file in missing_files(graph, schemas)))


def _said(field: str, file: str) -> str:
    known = known_files()
    found = known.files.get(base_name(file)) or File(folder=known.folders.get(field, ""))
    where = f"models/{found.folder}" if found.folder else "its loader's folder"
    return f"{base_name(file)}: not on this server: goes to {where}{f', {found.size}' if found.size else ''}"


def _absent_files(
    graph: Mapping[str, Mapping[str, Any]], schemas: Schemas
) -> Iterator[tuple[str, str, str, list[str]]]:
    """(node, input, file, what the server lists) of model files that are not in their list."""
    for node_id, node in graph.items():
        found = schemas.get(str(node["class_type"]))
        for name, spec in found.inputs(node["inputs"]).items() if found else ():
            value, options = node["inputs"].get(name), spec.options
            if is_model_file(value) and options is not None and not spec.upload and value not in options:
                yield node_id, name, value, [str(one) for one in options]


def own_models(template: Template, models: Mapping[str, Fill]) -> dict[str, Fill]:
    """Model files, and where they run, that are not the graph's own; by slot.

    Raises
    ------
    SettingsError : the graph has no place for one
    """
    if absent := [name for name in models if not template.takes(name)]:
        raise SettingsError(
            f"graph {template.name}: render.{absent[0]}: it has no slot {absent[0]}",
            hint="leave it out, or name its place in the graph's slots file",
        )
    return dict(models)
