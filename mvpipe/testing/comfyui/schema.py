"""Node schemas as `GET /object_info` serves them, grown from the compact files in `schemas/`.

A compact class names its inputs as the server does, but leaves out whatever follows from the rest. A list
written `"@folder"` is the files of a model folder, `"@input/audio"` those of the input folder, and
`"&name"` one of the class's own macros. The 0.3.64 server writes most choices in the old style.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

from mvpipe.testing.comfyui.settings import LATER, OLD, Settings

Inputs = dict[str, dict[str, list[Any]]]
"""`required` and `optional` -> name -> [type, options]."""

VIDEO_NODES = "comfy_extras.nodes_video"


class Schemas:
    """The classes one server has."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._classes = _classes(settings.version, settings.packs)

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def inputs(self, name: str) -> Inputs:
        """Its inputs, with today's files in the lists."""
        compact = self._classes[name]
        return {group: self._grown(compact.get(group, {}), compact) for group in ("required", "optional")}

    def outputs(self, name: str) -> Sequence[str]:
        """The types of its outputs; a tuple for a V1 node, a list for a V3 one, which error texts tell."""
        found = [_pair(out)[0] for out in self._classes[name]["out"]]
        return found if self._classes[name].get("v3") else tuple(found)

    def is_sink(self, name: str) -> bool:
        """Whether it is an output node."""
        return bool(self._classes[name].get("sink"))

    def info(self, name: str) -> dict[str, Any]:
        """The whole record."""
        compact = self._classes[name]
        groups = {group: found for group, found in self.inputs(name).items() if found or group == "required"}
        if compact.get("sink"):
            groups["hidden"] = {"prompt": ["PROMPT"], "extra_pnginfo": ["EXTRA_PNGINFO"]}
        outputs = [_pair(out) for out in compact["out"]]
        record: dict[str, Any] = {
            "input": groups,
            "input_order": {group: list(found) for group, found in groups.items()},
            "output": [kind for kind, _ in outputs],
            "output_is_list": [False] * len(outputs),
            "output_name": [title for _, title in outputs],
            "name": name,
            "display_name": compact.get("title", name),
            "description": compact.get("description", ""),
            "python_module": compact["module"],
            "category": compact["category"],
            "output_node": bool(compact.get("sink")),
        }
        return record | self._flags(compact, len(outputs))

    def _flags(self, compact: dict[str, Any], outputs: int) -> dict[str, Any]:
        flags: dict[str, Any] = {}
        modern = self._settings.modern
        if modern:
            flags |= {"is_input_list": False, "has_intermediate_output": False, "search_aliases": []}
        if compact.get("v3"):
            flags |= {"output_tooltips": [None] * outputs, "deprecated": False, "experimental": False}
            flags |= {"api_node": False}
            if modern:
                flags |= {"output_matchtypes": None, "dev_only": False, "price_badge": None}
                flags |= {"essentials_category": None}
        return flags

    def _grown(self, value: Any, compact: dict[str, Any]) -> Any:
        if isinstance(value, dict):
            return {name: self._grown(inner, compact) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._grown(inner, compact) for inner in value]
        if isinstance(value, str) and value.startswith("&"):
            return self._grown(compact["macros"][value[1:]], compact)
        if isinstance(value, str) and value.startswith("@"):
            return self._files(value[1:])
        return value

    def _files(self, folder: str) -> list[str]:
        where, _, kind = folder.partition("/")
        if where != "input":
            names = self._settings.files(where)
            return [*names, "pixel_space"] if where == "vae" else names
        here = sorted(path.name for path in (self._settings.root / "input").iterdir() if path.is_file())
        return [name for name in here if (mimetypes.guess_type(name)[0] or "").startswith(kind)]


def _pair(out: str | list[str]) -> tuple[str, str]:
    return (out, out) if isinstance(out, str) else (out[0], out[1])


def _read(name: str) -> dict[str, dict[str, Any]]:
    text = resources.files(__package__).joinpath("schemas", f"{name}.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


@cache
def _classes(version: str, packs: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for pack in packs:
        found |= _read(pack)
    if version == OLD:
        found = {name: _old(compact) for name, compact in found.items()}
        if "core" in packs:
            found |= _read("core-0.3.64")
    if version == LATER and "core" in packs:
        found |= _read("core-later")
    return found


def _old(compact: dict[str, Any]) -> dict[str, Any]:
    """As a server of 2025 writes it: choices are lists, save in the video nodes, which were new already."""
    if not compact["module"].startswith("comfy_extras") or compact["module"] == VIDEO_NODES:
        return compact
    older = {key: value for key, value in compact.items() if key not in ("v3", "required", "optional")}
    for group in ("required", "optional"):
        if group in compact:
            older[group] = {name: _old_choice(spec) for name, spec in compact[group].items()}
    return older


def _old_choice(spec: list[Any]) -> list[Any]:
    if spec[0] != "COMBO":
        return spec
    options = dict(spec[1])
    return [options.pop("options"), options] if options.keys() != {"options"} else [options["options"]]
