"""Whether a graph locks the sound, as far as the graph shows: does a frozen audio half reach the sampler.

Known ways are followed from the sampler's latent upwards (h3-workflows.md: each was run on core 0.33.0 and
its audio measured). What cannot be followed is said to be unclear, never taken for a lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mvpipe.render.comfyui.graph import is_link, upstream

Graph = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a graph does to the audio rows.

    Parameters
    ----------
    kind : `exact` frozen, `soft` pulled at, `none` made anew, `unclear`
    why : in words
    sources : ids of the loaders whose sound it is
    """

    kind: Literal["exact", "soft", "none", "unclear"]
    why: str
    sources: tuple[str, ...] = ()


def lock_of(graph: Graph, sampler: str) -> Held:
    """What happens to the sound in one sampler."""
    class_type, inputs = graph[sampler]["class_type"], graph[sampler]["inputs"]
    if class_type == "H3MultishotMemorySampler":
        return _driven(
            graph, sampler, "guide_audio", "soft", "guide_audio is injected at every step, not frozen"
        )
    if class_type == "H3ContinuumSamplerV34":
        return _driven(
            graph, sampler, "driving_audio", "none", "driving_audio is a keyframe, and the sound is made anew"
        )
    for name in ("latent_image", "initial_av", "av_latent", "latent"):
        if is_link(inputs.get(name)):
            return _latent(graph, inputs[name])
    return Held(kind="unclear", why=f"{class_type}: no latent that could be followed")


def value_of(graph: Graph, node_id: str, field: str) -> Any:
    """What an input is set to: its constant, or that of a primitive it is linked to; None if neither."""
    value = graph[node_id]["inputs"].get(field)
    if not is_link(value):
        return value
    source = graph.get(value[0])
    if source and str(source["class_type"]).startswith("Primitive"):
        inner = source["inputs"].get("value")
        return None if is_link(inner) else inner
    return None


def _latent(graph: Graph, link: list[Any]) -> Held:
    """The AV latent that an output gives."""
    if not (node := graph.get(link[0])):
        return Held(kind="unclear", why=f"node {link[0]} is missing")
    class_type, inputs = str(node["class_type"]), node["inputs"]
    if class_type == "LTXVConcatAVLatent":
        return _audio(graph, inputs.get("audio_latent"))
    if class_type in EMPTY:
        return Held(kind="none", why=f"{class_type} gives an empty latent: the sound is made anew")
    if class_type in LOCKS:
        return _locking(graph, link[0], LOCKS[class_type])
    if is_link(inputs.get(HANDED_ON.get(class_type, ""))):
        return _latent(_without(graph, link[0]), inputs[HANDED_ON[class_type]])
    return Held(
        kind="unclear", why=UNCLEAR.get(class_type, f"{class_type}: not a node whose latent is known")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A node that locks: its sound's input, and the setting it takes for that."""

    sound: str
    setting: str = ""
    values: tuple[str, ...] = ()


LOCKS = {
    "MiniMaxH3AudioConditioningT8": _Way(sound="drive_audio", setting="audio_mode", values=("lock_source",)),
    "MiniMaxH3AudioLatentControlT8": _Way(sound="source_audio", setting="mode", values=("lock",)),
    "VRGDG_MiniMaxH3AudioDrive": _Way(sound="source_audio"),
    "MiniMaxH3SongMaskedAVContext": _Way(sound="master_audio"),
    "MiniMaxH3LatentLabLongMediaSetup": _Way(sound="audio_1", setting="audio_mode", values=("lip_sync",)),
}

EMPTY = frozenset({"MiniMaxH3ReferenceToVideo", "MiniMaxH3ImageToVideo", "EmptyMiniMaxH3LatentAV"})

HANDED_ON = {"MiniMaxH3TokenCounter": "samples"}
"""Nodes that give the latent they are given."""

UNCLEAR = {"SetLatentNoiseMask": "a noise mask over picture and sound at once"}


def _locking(graph: Graph, node_id: str, way: _Way) -> Held:
    class_type = graph[node_id]["class_type"]
    setting = value_of(graph, node_id, way.setting) if way.setting else None
    if way.setting and setting not in way.values:
        kind: Literal["soft", "none"] = "soft" if setting in ("remix_source", "remix") else "none"
        return Held(kind=kind, why=f"{class_type}: {way.setting} is {setting}, not {way.values[0]}")
    return _driven(graph, node_id, way.sound, "exact", f"{class_type} freezes {way.sound}")


def _driven(graph: Graph, node_id: str, field: str, kind: Literal["exact", "soft", "none"], why: str) -> Held:
    link = graph[node_id]["inputs"].get(field)
    if not is_link(link):
        return Held(kind="none", why=f"{graph[node_id]['class_type']}: {field} is not linked")
    return Held(kind=kind, why=why, sources=_loaders(graph, link))


def _audio(graph: Graph, link: Any) -> Held:
    """The audio half of a concatenated latent."""
    if not is_link(link) or link[0] not in graph:
        return Held(kind="none", why="LTXVConcatAVLatent: audio_latent is not linked")
    class_type, inputs = graph[link[0]]["class_type"], graph[link[0]]["inputs"]
    if class_type == "VAEEncodeAudio":
        why = "the encoded sound has no mask of zero: the sampler makes it anew"
        return Held(kind="none", why=why, sources=_loaders(graph, link))
    if class_type != "SetLatentNoiseMask":
        return Held(kind="unclear", why=f"audio_latent comes from {class_type}")
    return _masked(graph, inputs.get("samples"), _mask(graph, inputs.get("mask")))


def _masked(graph: Graph, samples: Any, mask: float | None) -> Held:
    if not is_link(samples) or samples[0] not in graph or graph[samples[0]]["class_type"] != "VAEEncodeAudio":
        return Held(kind="unclear", why="what is masked does not come straight from VAEEncodeAudio")
    if mask is None:
        return Held(kind="unclear", why="the value of its mask cannot be seen from the graph")
    sources = _loaders(graph, samples)
    if mask == 0:
        return Held(kind="exact", why="the encoded sound under a mask of zero", sources=sources)
    why = f"its mask is {mask:g}, and only 0 freezes"
    return Held(kind="soft" if mask < 1 else "none", why=why, sources=sources)


def _mask(graph: Graph, link: Any) -> float | None:
    """The one value of a mask, where the graph shows it."""
    if not is_link(link) or link[0] not in graph:
        return None
    class_type = graph[link[0]]["class_type"]
    if class_type == "SolidMask":
        value = value_of(graph, link[0], "value")
        return float(value) if isinstance(value, int | float) else None
    if class_type == "InvertMask":
        inner = _mask(_without(graph, link[0]), graph[link[0]]["inputs"].get("mask"))
        return None if inner is None else 1 - inner
    return None


def _without(graph: Graph, node_id: str) -> Graph:
    """The graph without a node that was passed, so that a circle ends."""
    return {other: node for other, node in graph.items() if other != node_id}


def _loaders(graph: Graph, link: list[Any]) -> tuple[str, ...]:
    above = upstream(graph, [link[0]])
    return tuple(node_id for node_id in above if str(graph[node_id]["class_type"]).startswith("LoadAudio"))
