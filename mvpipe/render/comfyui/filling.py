"""Filling a template: values into slots by name, a loader for each reference, and the rest pruned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, isfinite
from typing import Any

from mvpipe.errors import GraphRejected, SettingsError
from mvpipe.render.comfyui import graph as graphs
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.slots import Edits, Fill, Slot, numbered
from mvpipe.render.comfyui.template import Template


def fill(template: Template, values: Mapping[str, Fill]) -> Graph:
    """The graph with values in its slots. Pure; the template is left alone.

    Parameters
    ----------
    values : slot -> value; a slot left out keeps what the graph says, None empties it (and what only
        mattered to a node that is gone then, such as a LoRA's strength, is passed over)

    Returns
    -------
    the nodes the outputs depend on; a loader that nothing needs is not among them

    Raises
    ------
    ValueError : a value of the wrong kind, a slot that must be filled and is not
    SettingsError : a slot this template does not have, cannot leave empty, or has no room for
    """
    slots, filled = template.slots.slots, graphs.copied(template.graph)
    if unknown := sorted(values.keys() - slots.keys()):
        raise SettingsError(
            f"graph {template.name}: {unknown[0]}: it has no such slot", hint=f"it has {', '.join(slots)}"
        )
    if absent := [name for name, slot in slots.items() if slot.must and values.get(name) is None]:
        raise ValueError(f"graph {template.name}: {absent[0]}: must be filled")
    wanted = {name: () for name, slot in slots.items() if slot.many} | dict(values)
    for name in sorted(wanted, key=lambda name: wanted[name] is not None):  # first what is taken out
        _put(template, filled, name, slots[name], wanted[name])
    return graphs.pruned(filled, template.slots.outputs)


def put(template: Template, graph: Mapping[str, Any], values: Mapping[str, Fill]) -> Graph:
    """A filled graph with single values written anew, such as the prefix of the file once the job is known.

    Raises
    ------
    ValueError : of the wrong kind; several files, which have to be filled at once
    """
    changed = graphs.copied(graph)
    for name, value in values.items():
        slot = template.slots.slots[name]
        if slot.many or value is None:
            raise ValueError(f"graph {template.name}: {name}: filled as a whole, with fill()")
        _put(template, changed, name, slot, value)
    return changed


def finished(template: Template, graph: Mapping[str, Any], prefix: str, names: Mapping[str, str]) -> Graph:
    """A filled graph as it is posted: its files begin with `prefix`, its uploads have the server's names.

    Parameters
    ----------
    names : name in the graph -> name under which the server stored it
    """
    return graphs.renamed_files(put(template, graph, {"filename_prefix": prefix}), names)


def with_loaders(template: Template, graph: Mapping[str, Any], has: Callable[[str], bool]) -> Graph:
    """A filled graph with the loader classes that the server has; they decide nothing about a take.

    Raises
    ------
    GraphRejected : it has none of those that would do
    """
    changed = graphs.copied(graph)
    for name, slot in template.slots.slots.items():
        node_id, field = slot.at[0][:2]
        if not slot.loaders or node_id not in changed or has(changed[node_id]["class_type"]):
            continue
        found = next((loader for loader in slot.loaders if has(loader.class_type)), None)
        if found is None:
            wanted = " or ".join(loader.class_type for loader in slot.loaders)
            packs = [f"{pack.name} ({pack.source})" for pack in template.slots.needs.packs]
            raise GraphRejected(
                f"graph {template.name}: {name}: the server has no {wanted}",
                hint=f"install {' or '.join(packs)}",
            )
        file = changed[node_id]["inputs"][field]
        changed[node_id] = {"class_type": found.class_type, "inputs": {found.input: file, **found.others}}
    return changed


def _put(template: Template, graph: Graph, name: str, slot: Slot, value: Fill) -> None:
    where = f"graph {template.name}: {name}"
    if value is None:
        _without(where, graph, slot.without)
    elif slot.many:
        _hang(where, graph, slot, value)
    else:
        _check_kind(where, slot.kind, value)
        for node_id, field, *unit in (place for place in slot.at if place[0] in graph):
            graph[node_id]["inputs"][field] = _in_unit(value, unit[0] if unit else "")


def _without(where: str, graph: Graph, edits: Edits | None) -> None:
    if edits is None:
        raise SettingsError(f"{where}: this template cannot do without")
    for node_id, through in edits.bypass:
        graphs.bypass(graph, node_id, through)
    for node_id, field in edits.unlink:
        graph[node_id]["inputs"].pop(field)
    for node_id, field, value in edits.put:
        graph[node_id]["inputs"][field] = value


def _hang(where: str, graph: Graph, slot: Slot, value: Fill) -> None:
    """One loader a file, with what stands between it and the input, linked to the next input of the group."""
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or not all(isinstance(v, str) for v in value)
    ):
        raise ValueError(f"{where}: a list of file names: {value!r}")
    if not slot.least <= len(value) <= slot.most:
        raise SettingsError(f"{where}: {len(value)} {slot.kind} where it takes {slot.least} to {slot.most}")
    loader, field = slot.at[0][:2]
    links = [graph[node_id]["inputs"][numbered(target, slot.first)] for node_id, target in slot.into]
    way = _way(graph, loader, [link[0] for link in links])
    pattern = graphs.copied({node_id: graph[node_id] for node_id in way})
    for node_id, target in slot.into:
        for number in range(slot.first, slot.first + slot.most):
            graph[node_id]["inputs"].pop(numbered(target, number), None)
    for i, file in enumerate(value):
        names = {old: old if i == 0 else _free_id(graph, f"{old}_{i}") for old in way}
        graph |= {names[old]: graphs.relinked(node, names) for old, node in pattern.items()}
        graph[names[loader]]["inputs"][field] = file
        for (node_id, target), (source, output) in zip(slot.into, links, strict=True):
            graph[node_id]["inputs"][numbered(target, slot.first + i)] = [names[source], output]


def _way(graph: Graph, loader: str, ends: Sequence[str]) -> list[str]:
    """The nodes between a loader and what its file ends in, both among them."""
    return [one for one in graphs.upstream(graph, ends) if loader in graphs.upstream(graph, [one])]


def _free_id(graph: Graph, wanted: str) -> str:
    while wanted in graph:
        wanted += "_"
    return wanted


def _check_kind(where: str, kind: str, value: Fill) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "whole": number and isinstance(value, int),
        "number": number and isfinite(value),  # type: ignore[arg-type]  # a number by then
    }.get(kind, isinstance(value, str) and bool(value or kind == "text"))
    if not fits:
        raise ValueError(f"{where}: {kind} wanted: {value!r}")


def _in_unit(value: Any, unit: str) -> Any:
    """A value as the node wants it; lengths are frames here and seconds there.

    A node that rounds seconds up to 17k+5 frames at 24 a second is given a little less than the wanted
    length, in tenths: 124 frames are 5.0 s, as was run on LongMedia 0.4.40.
    """
    if unit not in ("seconds", "half seconds"):
        return value
    seconds = floor((value - 4) * 10 / 24) / 10
    return seconds if unit == "seconds" else ceil(seconds * 2) / 2
