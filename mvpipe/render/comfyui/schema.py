"""Node schemas as `GET /object_info` gives them, in every dialect: what a class takes, and what it gives.

An input is `[type]`, `[type, options]` or, in old packs, the type alone. A choice is a list in the place of
the type (V1) or `["COMBO", {"options": [...]}]` (V3). A dynamic combo brings inputs of its own with each
option; an autogrow group is sent as `group.prefixN`, counted from 0; a type may be a union, `A,B`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mvpipe.errors import GraphRejected

AUTOGROW, DYNAMIC = "COMFY_AUTOGROW_V3", "COMFY_DYNAMICCOMBO_V3"

ANY = frozenset({"*", "COMFY_MATCHTYPE_V3"})
"""Types that take everything: the wildcard, and one that is only bound by the node's other inputs."""

WIDGETS = frozenset({"INT", "FLOAT", "STRING", "BOOLEAN", "COMBO"})
"""Types whose values are written into the graph rather than linked."""

UPLOADS = ("image_upload", "audio_upload", "video_upload", "file_upload", "animated_image_upload")
"""Options that mark a list of files in the input folder: its list holds the top folder only."""

SEEDS = ("seed", "noise_seed")
"""Numbers that the editor counts on after a run, marked or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input of a class.

    Parameters
    ----------
    name : as the graph says it, dotted in a group
    types : what may be linked to it, or its widget's type
    required : whether it has to be sent, default or not
    options : what a choice takes; None if it is none
    upload : whether the choice is of files in the input folder
    least, most, step : of numbers
    default : what the editor starts with
    many : whether a choice takes a list of values
    linked : whether it only takes a link (`forceInput`)
    control : whether the editor keeps what becomes of the value after a run beside it
    group : of a growing group: its name
    """

    name: str
    types: frozenset[str]
    required: bool
    options: tuple[Any, ...] | None = None
    upload: bool = False
    least: float | None = None
    most: float | None = None
    step: float | None = None
    default: Any = None
    many: bool = False
    linked: bool = False
    control: bool = False
    group: str = ""

    @property
    def is_widget(self) -> bool:
        """Whether a value may be written for it."""
        return not self.linked and bool(self.types & WIDGETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A growing group: `name.prefixN` for N from 0 to most - 1, or of fixed names."""

    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass:
    """One class of a server.

    Parameters
    ----------
    name : its class_type
    sections : `required` and `optional` inputs as the server wrote them
    order : names of its inputs in the editor's order
    outputs : types by slot
    is_output : whether the server runs a graph for its sake
    module : the Python module it comes from, such as `custom_nodes.ComfyUI-KJNodes`
    """

    name: str
    sections: Mapping[str, Mapping[str, Any]]
    order: tuple[str, ...]
    outputs: tuple[frozenset[str], ...]
    is_output: bool
    module: str = ""
    groups: tuple[Group, ...] = field(default=())

    def inputs(self, values: Mapping[str, Any]) -> dict[str, Input]:
        """Every input a node with such values takes, by name; growing groups and dynamic combos spelled out.

        Parameters
        ----------
        values : the node's inputs: a dynamic combo's own inputs depend on what it is set to
        """
        return {found.name: found for found in self._inputs(values)}

    def _inputs(self, values: Mapping[str, Any]) -> Iterator[Input]:
        """In the editor's order."""
        for name in self.order:
            required = name in self.sections["required"]
            raw = self.sections["required" if required else "optional"][name]
            yield from _spelled(name, raw, required, values)


Schemas = Mapping[str, NodeClass]


def read_schemas(info: Mapping[str, Any]) -> dict[str, NodeClass]:
    """The classes of an answer of /object_info, or of several laid over each other.

    Raises
    ------
    GraphRejected : not such an answer
    """
    if not isinstance(info, Mapping):
        raise GraphRejected("object_info: not an object", hint="is this a ComfyUI server?")
    return {name: _class(name, record) for name, record in info.items()}


def _class(name: str, record: Any) -> NodeClass:
    try:
        sections = {section: dict(record["input"].get(section) or {}) for section in ("required", "optional")}
        for inputs in sections.values():
            for raw in inputs.values():
                _spec(raw)
        return NodeClass(
            name=name,
            sections=sections,
            order=_order(record, sections),
            outputs=tuple(types_of(kind) for kind in record["output"]),
            is_output=bool(record.get("output_node")),
            module=str(record.get("python_module") or ""),
            groups=tuple(_groups(sections)),
        )
    except (KeyError, TypeError, AttributeError, IndexError) as exc:
        raise GraphRejected(f"object_info: {name}: cannot be read: {type(exc).__name__}: {exc}") from exc


def _order(record: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    said = record.get("input_order") or {}
    return tuple(
        name
        for section in ("required", "optional")
        for name in dict.fromkeys([*(said.get(section) or ()), *sections[section]])
        if name in sections[section]
    )


def _groups(sections: Mapping[str, Mapping[str, Any]]) -> Iterator[Group]:
    for inputs in sections.values():
        for name, raw in inputs.items():
            kind, options = _spec(raw)
            if kind == AUTOGROW:
                yield Group(name=name, keys=tuple(_keys(options["template"])))


def _spec(raw: Any) -> tuple[Any, dict[str, Any]]:
    """(type, options) of an input in any dialect; a V1 choice becomes a COMBO with its options."""
    if isinstance(raw, str):
        return raw, {}
    kind = raw[0]
    options = dict(raw[1]) if len(raw) > 1 and isinstance(raw[1], Mapping) else {}
    return ("COMBO", {**options, "options": list(kind)}) if isinstance(kind, list) else (kind, options)


def types_of(kind: Any) -> frozenset[str]:
    """The types that a type's name stands for: a union is written with commas."""
    return frozenset({"COMBO"}) if isinstance(kind, list) else frozenset(str(kind).split(","))


def _spelled(name: str, raw: Any, required: bool, values: Mapping[str, Any]) -> Iterator[Input]:
    kind, options = _spec(raw)
    if kind == AUTOGROW:
        yield from _slots(name, options["template"], required)
    elif kind == DYNAMIC:
        yield from _dynamic(name, options, required, values)
    else:
        yield _plain(name, kind, options, required)


def _slots(name: str, template: Mapping[str, Any], required: bool) -> Iterator[Input]:
    sections = template["input"]
    ((_, raw),) = {**(sections.get("required") or {}), **(sections.get("optional") or {})}.items()
    kind, options = _spec(raw)
    for place, key in enumerate(_keys(template)):
        needed = required and place < template.get("min", 0)
        yield replace(_plain(f"{name}.{key}", kind, options, needed), group=name)


def _keys(template: Mapping[str, Any]) -> list[str]:
    return list(template.get("names") or (f"{template['prefix']}{i}" for i in range(template["max"])))


def _dynamic(
    name: str, options: Mapping[str, Any], required: bool, values: Mapping[str, Any]
) -> Iterator[Input]:
    keys = tuple(option["key"] for option in options["options"])
    hidden = bool(options.get("hidden"))
    yield Input(
        name=name,
        types=frozenset({"COMBO"}),
        required=required and not hidden,
        options=keys,
        default=options.get("default", keys[0] if keys else None),
    )
    for option in options["options"]:
        if option["key"] == values.get(name):
            for section in ("required", "optional"):
                for inner, raw in (option["inputs"].get(section) or {}).items():
                    yield from _spelled(f"{name}.{inner}", raw, section == "required", values)


def _plain(name: str, kind: Any, options: Mapping[str, Any], required: bool) -> Input:
    choices = options.get("options") if kind == "COMBO" else None
    return Input(
        name=name,
        types=types_of(kind),
        required=required,
        options=tuple(choices) if choices is not None else None,
        upload=any(options.get(mark) for mark in UPLOADS),
        least=options.get("min"),
        most=options.get("max"),
        step=options.get("step"),
        default=options.get("default"),
        many=bool(options.get("multiselect")),
        linked=bool(options.get("forceInput")),
        control=bool(options.get("control_after_generate")) or (kind == "INT" and name in SEEDS),
    )


def compatible(given: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether an output of these types may be linked to an input of those."""
    return bool(given & wanted or given & ANY or wanted & ANY)
