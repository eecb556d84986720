"""What a graph will do, read from the graph: weights, LoRAs, shift, steps, sampler, size, lock.

For every node that samples. Nodes are found by class and by what they are linked to, so that it works on
graphs that mvpipe did not write; what cannot be seen (a value from a node that computes it) is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mvpipe.render.comfyui.graph import is_link, upstream
from mvpipe.render.comfyui.locks import Held, lock_of, value_of

Graph = Mapping[str, Mapping[str, Any]]

SAMPLING = frozenset({
    "SamplerCustomAdvanced", "SamplerCustom", "KSampler", "KSamplerAdvanced", "H3MultishotMemorySampler",
    "MiniMaxH3LatentLabLongMediaSampler", "H3ContinuumSamplerV34",
})  # fmt: skip

SHIFTS = frozenset({"MiniMaxH3SigmaShift", "MiniMaxH3DualClockSamplerT8"})
ONE_CLOCK = frozenset({"ModelSamplingSD3", "ModelSamplingFlux", "ModelSamplingAuraFlow"})
"""Shifts that know one clock: on H3 they take away the sound's own."""

FILES = ("unet_name", "gguf_name", "model_name", "ckpt_name")
"""Inputs of loaders of weights."""

H3 = re.compile(r"(?:Empty)?MiniMaxH3|H3Multishot|H3Continuum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """A LoRA in the model's path."""

    node: str
    file: str
    strength: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One sampler and what reaches it; None is what the graph does not show.

    Parameters
    ----------
    node : the sampler's id
    weights : file
    loras : nearest the sampler last
    shift : (video, audio); None with `shift_node` empty means the model's own
    shift_node, shift_class : where it is set
    lora_after_shift : whether a LoRA comes behind the shift
    scheduler_shift : whether the scheduler's model has the same shift as the sampler's
    steps, sampler, scheduler, denoise, cfg : of the sampling
    size : (width, height)
    length : frames
    conditioning : id of the node the size comes from, or empty: then it is no graph for H3
    lock : what happens to the sound
    """

    node: str
    weights: str | None
    loras: tuple[Lora, ...]
    shift: tuple[float, float] | None
    shift_node: str
    shift_class: str
    lora_after_shift: bool
    scheduler_shift: bool
    steps: int | None
    sampler: str | None
    scheduler: str | None
    denoise: float | None
    cfg: float | None
    size: tuple[int, int] | None
    length: int | None
    conditioning: str
    lock: Held


def examine(graph: Graph) -> list[Facts]:
    """The facts of every node that samples, in the graph's order."""
    return [_facts(graph, node_id) for node_id, node in graph.items() if node["class_type"] in SAMPLING]


def _facts(graph: Graph, node_id: str) -> Facts:
    guider = _source(graph, node_id, "guider")
    chain = list(_models(graph, guider or node_id))
    shift = next((one for one in chain if graph[one]["class_type"] in SHIFTS | ONE_CLOCK), "")
    sigmas = _source(graph, node_id, "sigmas") or node_id
    conditioning = next((one for one in upstream(graph, [node_id]) if _is_conditioning(graph, one)), "")
    loras = list(_loras(graph, chain))
    behind = chain[: chain.index(shift)] if shift else []
    return Facts(
        node=node_id,
        weights=_weights(graph, chain),
        loras=tuple(reversed(loras)),
        shift=_shift(graph, shift),
        shift_node=shift,
        shift_class=str(graph[shift]["class_type"]) if shift else "",
        lora_after_shift=any(lora.node in behind for lora in loras),
        scheduler_shift=_same_shift(graph, sigmas, node_id, shift),
        steps=_steps(graph, sigmas),
        sampler=_text(graph, _source(graph, node_id, "sampler") or node_id, "sampler_name"),
        scheduler=_text(graph, sigmas, "scheduler"),
        denoise=_number(graph, sigmas, "denoise"),
        cfg=_cfg(graph, guider, node_id),
        size=_size(graph, conditioning),
        length=_whole(graph, conditioning, "length") or _whole(graph, conditioning, "frames_per_shot"),
        conditioning=conditioning,
        lock=lock_of(graph, node_id),
    )


def _source(graph: Graph, node_id: str, field: str) -> str:
    """The node an input is linked to, or empty."""
    link = graph[node_id]["inputs"].get(field)
    return link[0] if is_link(link) and link[0] in graph else ""


def _models(graph: Graph, node_id: str) -> Iterator[str]:
    """The nodes a model passes on its way, from the sampler to the loader."""
    seen = {node_id}
    while (node_id := _source(graph, node_id, "model")) and node_id not in seen:
        seen.add(node_id)
        yield node_id


def _weights(graph: Graph, chain: list[str]) -> str | None:
    for node_id in reversed(chain):
        for field in FILES:
            if isinstance(found := value_of(graph, node_id, field), str):
                return found
    return None


def _loras(graph: Graph, chain: list[str]) -> Iterator[Lora]:
    for node_id in chain:
        file = value_of(graph, node_id, "lora_name")
        if isinstance(file, str):
            strength = _number(graph, node_id, "strength_model")
            yield Lora(node=node_id, file=file, strength=strength)


def _shift(graph: Graph, node_id: str) -> tuple[float, float] | None:
    if not node_id or graph[node_id]["class_type"] not in SHIFTS:
        return None
    video, audio = (_number(graph, node_id, name) for name in ("shift_video", "shift_audio"))
    return None if video is None or audio is None else (video, audio)


def _same_shift(graph: Graph, sigmas: str, sampler: str, shift: str) -> bool:
    """Whether the sigmas are made for the shift that is sampled with; true where no model makes them."""
    if sigmas in (sampler, shift) or not _source(graph, sigmas, "model"):
        return True
    return not shift or shift in _models(graph, sigmas)


def _steps(graph: Graph, sigmas: str) -> int | None:
    if graph[sigmas]["class_type"] == "ManualSigmas":
        points = str(value_of(graph, sigmas, "sigmas") or "").replace(",", " ").split()
        return len(points) - 1 if len(points) > 1 else None
    return _whole(graph, sigmas, "steps")


def _cfg(graph: Graph, guider: str, sampler: str) -> float | None:
    """The guidance; 1 where the guider has none to set."""
    node_id = guider or sampler
    if "cfg" in graph[node_id]["inputs"]:
        return _number(graph, node_id, "cfg")
    known = graph[node_id]["class_type"] == "BasicGuider" or (not guider and node_id == sampler)
    return 1.0 if known else None


def _is_conditioning(graph: Graph, node_id: str) -> bool:
    node = graph[node_id]
    return bool(H3.match(str(node["class_type"]))) and {"width", "height"} <= node["inputs"].keys()


def _size(graph: Graph, node_id: str) -> tuple[int, int] | None:
    width, height = (_whole(graph, node_id, name) for name in ("width", "height"))
    return None if width is None or height is None else (width, height)


def _number(graph: Graph, node_id: str, field: str) -> float | None:
    found = value_of(graph, node_id, field) if node_id else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _whole(graph: Graph, node_id: str, field: str) -> int | None:
    found = value_of(graph, node_id, field) if node_id else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _text(graph: Graph, node_id: str, field: str) -> str | None:
    found = value_of(graph, node_id, field)
    return found if isinstance(found, str) else None
