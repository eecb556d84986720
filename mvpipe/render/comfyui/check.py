"""Hold a graph against a server's schemas before anything is sent: the server itself lets much through.

It accepts an unknown input that is a constant and ignores it; one that is a link it accepts and fails on
after the models have loaded; a growing group sent as an object it accepts, and renders without the
reference. Measured on cores 0.3.64 and 0.33.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mvpipe.render.comfyui.graph import is_link, links_of
from mvpipe.render.comfyui.model_files import is_model_file, same_file
from mvpipe.render.comfyui.schema import WIDGETS, Input, NodeClass, Schemas, compatible


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing in a graph that this server would refuse, ignore, or trip over.

    Parameters
    ----------
    node : its id; empty for the graph as a whole
    class_type : its class
    field : the input, or empty
    says : what is wrong, with the value
    nearest : the nearest thing that would do, or empty
    fatal : whether the graph must not be sent; else the server will quietly round
    """

    node: str
    class_type: str
    field: str
    says: str
    nearest: str = ""
    fatal: bool = True

    def __str__(self) -> str:
        where = f"node {self.node} ({self.class_type})" if self.node else "graph"
        field = f": {self.field}" if self.field else ""
        return f"{where}{field}: {self.says}" + (f"; nearest: {self.nearest}" if self.nearest else "")


def check(graph: Mapping[str, Mapping[str, Any]], schemas: Schemas) -> list[Fault]:
    """All that is wrong with a graph on this server, in the graph's order.

    Parameters
    ----------
    graph : in API format
    schemas : the server's classes, at least those of the graph that it has
    """
    faults = [fault for node_id in graph for fault in _node_faults(graph, node_id, schemas)]
    if not any(
        node["class_type"] in schemas and schemas[node["class_type"]].is_output for node in graph.values()
    ):
        faults.append(Fault(node="", class_type="", field="", says="no output node: nothing would be run"))
    return faults + [
        Fault(node=one, class_type=str(graph[one]["class_type"]), field="", says="depends on itself")
        for one in _on_cycles(graph)
    ]


def _node_faults(graph: Mapping[str, Mapping[str, Any]], node_id: str, schemas: Schemas) -> Iterator[Fault]:
    node = graph[node_id]
    class_type, values = str(node["class_type"]), node["inputs"]

    def fault(field: str, says: str, nearest: str = "", *, fatal: bool = True) -> Fault:
        return Fault(
            node=node_id, class_type=class_type, field=field, says=says, nearest=nearest, fatal=fatal
        )

    if class_type not in schemas:
        yield fault("", "the server has no such class", _nearest(class_type, list(schemas)))
        return
    found = schemas[class_type]
    specs = found.inputs(values)
    for name, spec in specs.items():
        if spec.required and name not in values:
            default = "" if spec.default is None else f"its default, {spec.default!r}"
            yield fault(name, "missing, and required", default)
    for name, value in values.items():
        if name in LEFTOVERS or (isinstance(value, dict) and value.keys() == {"__value__"}):
            continue
        if name not in specs:
            if not _hangs_on_a_wrong_choice(name, specs, values):
                yield fault(name, *_unknown(name, value, found, specs))
        elif isinstance(value, list | tuple) and not specs[name].many:
            yield from _link_faults(fault, graph, specs[name], value, schemas)
        else:
            yield from _value_faults(fault, specs[name], value, schemas)


LEFTOVERS = frozenset({
    "upload", "choose file to upload", "audioUI", "videoUI", "video-preview", "videopreview",
    "control_after_generate",
})  # fmt: skip
"""Constants that the editor leaves in graphs it exports; the server passes them over, and so may we."""

LINKED_ONLY = frozenset({
    "MODEL", "CLIP", "VAE", "CONDITIONING", "LATENT", "IMAGE", "MASK", "AUDIO", "VIDEO", "NOISE", "GUIDER",
    "SAMPLER", "SIGMAS", "CONTROL_NET", "CLIP_VISION", "CLIP_VISION_OUTPUT", "MODEL_PATCH",
})  # fmt: skip
"""The core's own types that no widget writes; packs have widgets for types of theirs."""


Faulter = Callable[..., Fault]


def _hangs_on_a_wrong_choice(name: str, specs: Mapping[str, Input], values: Mapping[str, Any]) -> bool:
    """Whether it would be known if a choice before its dot were set right, which is said already."""
    choice = name.rpartition(".")[0]
    options = specs[choice].options if choice in specs else None
    return options is not None and choice in values and values[choice] not in options


def _unknown(name: str, value: Any, found: NodeClass, specs: Mapping[str, Input]) -> tuple[str, str]:
    for group in found.groups:
        first = f"{group.name}.{group.keys[0]}"
        if name == group.name:
            return "a growing group sent as one value: the server would drop it without a word", first
        if name in group.keys:
            return "without its group's name: fails after the models have loaded", f"{group.name}.{name}"
        if name.startswith(f"{group.name}."):
            last = f"{group.name}.{group.keys[-1]}"
            return f"not one of the group's {len(group.keys)} inputs", f"{first} .. {last}"
    effect = "fails after the models have loaded" if is_link(value) else "would be ignored without a word"
    alike = [one for one, spec in specs.items() if not spec.group or name.startswith(spec.group)]
    return f"no such input: {effect}", _nearest(name, alike)


def _link_faults(
    fault: Faulter,
    graph: Mapping[str, Mapping[str, Any]],
    spec: Input,
    value: Sequence[Any],
    schemas: Schemas,
) -> Iterator[Fault]:
    if not is_link(value):
        yield fault(
            spec.name, f"neither a value nor a link: {list(value)!r}", '["node id as text", output slot]'
        )
        return
    source, slot = value
    if source not in graph:
        yield fault(spec.name, f"linked to node {source}, which is not there", _nearest(source, list(graph)))
        return
    giver = schemas.get(str(graph[source]["class_type"]))
    if giver is None:
        return
    if not 0 <= slot < len(giver.outputs):
        yield fault(
            spec.name,
            f"linked to output {slot} of node {source}, which has {len(giver.outputs)}",
            _fitting(giver, spec),
        )
    elif not compatible(giver.outputs[slot], spec.types):
        says = f"{_said(giver.outputs[slot])} of node {source} where {_said(spec.types)} is wanted"
        yield fault(spec.name, says, _fitting(giver, spec))


def _fitting(giver: NodeClass, spec: Input) -> str:
    slots = [str(i) for i, types in enumerate(giver.outputs) if compatible(types, spec.types)]
    return f"output {' or '.join(slots)}" if slots else ""


def _said(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _value_faults(fault: Faulter, spec: Input, value: Any, schemas: Schemas) -> Iterator[Fault]:
    if not spec.is_widget:
        given = {kind for known in schemas.values() for types in known.outputs for kind in types}
        if spec.linked or spec.types & (LINKED_ONLY | given):
            yield fault(spec.name, f"{value!r} where a link to {_said(spec.types)} is wanted")
    elif spec.options is not None:
        for one in value if spec.many and isinstance(value, list | tuple) else [value]:
            yield from _choice_faults(fault, spec, one)
    elif not any(_is(kind, value) for kind in spec.types & WIDGETS):
        yield fault(spec.name, f"{value!r} where {_said(spec.types & WIDGETS)} is wanted")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_faults(fault, spec, value)


def value_fits(spec: Input, value: Any) -> bool:
    """Whether a constant is of an input's kind, and of a choice among its values; not its range."""
    if spec.options is not None:
        known = isinstance(value, str | int | float) and (spec.upload or value in spec.options)
        return known or is_model_file(value)
    return any(_is(kind, value) for kind in spec.types & WIDGETS)


def _is(kind: str, value: Any) -> bool:
    """Whether a value is of a widget's type; text for a number is not, though the server converts it."""
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return kind == "COMBO"
    wanted: dict[str, Any] = {"INT": int, "FLOAT": int | float, "STRING": str, "COMBO": object}
    return isinstance(value, wanted[kind])


def _choice_faults(fault: Faulter, spec: Input, value: Any) -> Iterator[Fault]:
    options = spec.options or ()
    if any(one == value and isinstance(one, bool) is isinstance(value, bool) for one in options):
        return
    if spec.upload and isinstance(value, str) and value:
        return  # the list holds the top folder only, and the file may be about to be uploaded
    if not options:
        yield fault(spec.name, f"{value!r}: the server has no file for it at all")
        return
    yield fault(spec.name, f"{value!r} is none of its {len(options)} values", _nearest(value, list(options)))


def _number_faults(fault: Faulter, spec: Input, value: float) -> Iterator[Fault]:
    if spec.least is not None and value < spec.least:
        yield fault(spec.name, f"{value} is too small", str(spec.least))
    elif spec.most is not None and value > spec.most:
        yield fault(spec.name, f"{value} is too large", str(spec.most))
    elif "INT" in spec.types and spec.step and spec.step > 1:
        low = spec.least or 0
        below = low + (value - low) // spec.step * spec.step
        if below != value:
            nearest = f"{below:g} or {min(below + spec.step, spec.most or below + spec.step):g}"
            yield fault(spec.name, f"{value} is off its grid: the node would round", nearest, fatal=False)


def _nearest(wanted: Any, options: list[Any]) -> str:
    """The most likely meant of some names: the same file in a folder, else the most alike."""
    texts = [str(option) for option in options]
    if same := [one for one in texts if same_file(one, str(wanted))]:
        return same[0]
    found = get_close_matches(str(wanted), texts, 1, 0.5)
    return found[0] if found else (", ".join(texts) if 0 < len(texts) <= 4 else "")


def _on_cycles(graph: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Nodes that depend on themselves."""
    waits = {node_id: {s for _, s, _ in links_of(graph[node_id]) if s in graph} for node_id in graph}
    while ready := [node_id for node_id, sources in waits.items() if not sources & waits.keys()]:
        for node_id in ready:
            del waits[node_id]
    return [node_id for node_id in waits if _reaches(waits, node_id)]


def _reaches(waits: Mapping[str, set[str]], start: str) -> bool:
    """Whether a node is among those it waits for, however far."""
    seen: set[str] = set()
    ahead = list(waits[start])
    while ahead:
        node_id = ahead.pop()
        if node_id == start:
            return True
        if node_id not in seen and node_id in waits:
            seen.add(node_id)
            ahead += waits[node_id]
    return False
