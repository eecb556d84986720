"""The inputs a node really takes: growable slots and choices with inputs of their own, spelled out."""

from __future__ import annotations

from typing import Any

from mvpipe.testing.comfyui.schema import Inputs

AUTOGROW, DYNAMIC = "COMFY_AUTOGROW_V3", "COMFY_DYNAMICCOMBO_V3"


def expanded(inputs: Inputs, values: dict[str, Any]) -> dict[str, tuple[bool, list[Any]]]:
    """Name -> (required, [type, options]) of every input a node with such values takes.

    Growable slots are `group.prefixN` from 0; what a choice brings along is `choice.name` and never
    required, since the real server takes its defaults.
    """
    found: dict[str, tuple[bool, list[Any]]] = {}
    for group in ("required", "optional"):
        for name, spec in inputs[group].items():
            found |= _expand(name, spec, group == "required", values)
    return found


def _expand(
    name: str, spec: list[Any], required: bool, values: dict[str, Any]
) -> dict[str, tuple[bool, list[Any]]]:
    if spec[0] == AUTOGROW:
        return _slots(name, spec[1]["template"])
    found = {name: (required, spec)}
    if spec[0] == DYNAMIC:
        for inner_name, inner in _chosen(spec, values.get(name)).items():
            found |= _expand(f"{name}.{inner_name}", inner, False, values)
    return found


def _slots(group: str, template: dict[str, Any]) -> dict[str, tuple[bool, list[Any]]]:
    (spec,) = template["input"]["required"].values()
    return {
        f"{group}.{template['prefix']}{place}": (place < template["min"], spec)
        for place in range(template["max"])
    }


def _chosen(spec: list[Any], value: Any) -> dict[str, list[Any]]:
    for option in spec[1]["options"]:
        if option["key"] == value:
            inputs = option["inputs"]
            return {**inputs.get("required", {}), **inputs.get("optional", {})}
    return {}


def known_choice(spec: list[Any], value: Any) -> bool:
    """Whether a choice with inputs of its own knows this value."""
    return any(option["key"] == value for option in spec[1]["options"])
