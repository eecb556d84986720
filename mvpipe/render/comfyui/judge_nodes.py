"""Nodes and server flags that spoil a render without a word, found by class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mvpipe.render.comfyui.examine import SHIFTS
from mvpipe.render.comfyui.graph import is_link
from mvpipe.render.comfyui.locks import value_of
from mvpipe.render.comfyui.profiles import known
from mvpipe.render.comfyui.remarks import Remark, refused, refused_nodes, warned

Graph = Mapping[str, Mapping[str, Any]]

CONSUMER_BLACKWELL = re.compile(r"GeForce RTX 50\d0|\bRTX 50[5-9]0\b", re.IGNORECASE)
"""Names of cards on which 8-bit attention was seen to fail."""


def node_remarks(graph: Graph, device: str, argv: Sequence[str]) -> Iterator[Remark]:
    """Of all nodes.

    Parameters
    ----------
    device : the card as /system_stats names it; empty if not known
    argv : the server's command line
    """
    yield from cache_remarks(graph)
    yield from attention_remarks(graph, device, argv)
    yield from family_remarks(graph)
    yield from class_remarks(graph)


def class_remarks(graph: Graph) -> Iterator[Remark]:
    """Of nodes whose class has a rule of its own."""
    for node_id, node in graph.items():
        if remark := _RULES.get(str(node["class_type"])):
            yield from remark(graph, node_id)


def cache_remarks(graph: Graph) -> Iterator[Remark]:
    """Of nodes that skip model calls."""
    caches = refused_nodes().step_caches
    for node_id, node in graph.items():
        if node["class_type"] in caches.classes:
            yield refused(
                node_id, f"{node['class_type']}: a step cache: {caches.why}", "leave it out", caches.source
            )


def attention_remarks(graph: Graph, device: str, argv: Sequence[str]) -> Iterator[Remark]:
    """Of quantized attention: refused on cards where it failed, warned of where the card is not known."""
    rules = refused_nodes().quantized_attention
    blackwell = bool(CONSUMER_BLACKWELL.search(device))
    if device and not blackwell:
        return
    say = refused if blackwell else warned
    for node_id, node in graph.items():
        rule = rules.classes.get(str(node["class_type"]))
        setting = value_of(graph, node_id, rule.input) if rule and rule.input else None
        if rule and setting not in rule.harmless:
            what = f"{node['class_type']}{f' with {rule.input} {setting}' if rule.input else ''}"
            right = (
                f"{rule.input} {rule.harmless[0]}, and restart the server"
                if rule.harmless
                else "leave it out"
            )
            yield say(node_id, f"{what}: quantized attention: {rules.why}", right, rules.source)
    for flag in argv:
        if flag.partition("=")[0] in rules.flags:
            right = f"start the server without {flag}"
            yield say(
                "", f"the server runs with {flag}: quantized attention: {rules.why}", right, rules.source
            )


def family_remarks(graph: Graph) -> Iterator[Remark]:
    """Of nodes of packs that patch the same modules."""
    rules = refused_nodes().one_of_each
    found = [
        [(node_id, node["class_type"]) for node_id, node in graph.items() if node["class_type"] in family]
        for family in rules.families
    ]
    present = [family[0] for family in found if family]
    if len(present) > 1:
        says = f"{' and '.join(name for _, name in present)}: {rules.why}"
        yield refused(present[0][0], says, "the nodes of one pack", rules.source)
    shifts = [node_id for node_id, node in graph.items() if node["class_type"] in SHIFTS]
    if len({graph[node_id]["class_type"] for node_id in shifts}) > 1:
        says = "MiniMaxH3SigmaShift beside MiniMaxH3DualClockSamplerT8, which sets the shift itself"
        yield refused(shifts[0], says, "one of them", "t8")


def _encoder(graph: Graph, node_id: str) -> Iterator[Remark]:
    kind = value_of(graph, node_id, "type")
    if isinstance(kind, str) and kind != "minimax":
        yield refused(node_id, f"CLIPLoader: type {kind}: not H3's text encoder", "minimax", "run")


def _rate(graph: Graph, node_id: str) -> Iterator[Remark]:
    rate, right = value_of(graph, node_id, "fps"), known().limits.rate
    if isinstance(rate, int | float) and rate != right.value:
        yield refused(node_id, f"CreateVideo: {rate:g} pictures a second", str(right.value), right.source)


def _video_mask(graph: Graph, node_id: str) -> Iterator[Remark]:
    link = graph[node_id]["inputs"].get("video_latent")
    masked = is_link(link) and link[0] in graph and graph[link[0]]["class_type"] == "SetLatentNoiseMask"
    if masked:
        says = "a noise mask on the picture: later cores fail on it, and the lock needs none"
        yield refused(link[0], says, "leave it out", "core")


def _clocks(graph: Graph, node_id: str) -> Iterator[Remark]:
    yield refused(
        node_id, "LTXVAudioVideoMask: counts in LTX's clock, not in H3's", "SetLatentNoiseMask", "core"
    )


def _bank(graph: Graph, node_id: str) -> Iterator[Remark]:
    pinned, memory = (value_of(graph, node_id, name) for name in ("bank_pinned", "memory_frames"))
    if pinned == 0 or (isinstance(memory, int) and memory > 0):
        says = (
            f"bank_pinned {pinned}, memory_frames {memory}: chains whose bank is not pinned lose 84 to 92 % "
            "of what lies between 4 and 10 kHz within eight shots"
        )
        yield refused(
            node_id, says, "bank_pinned 1, memory_frames 0, continuity cut", "H3-Multishot, SETTINGS.md"
        )
    if (continuity := value_of(graph, node_id, "continuity")) not in (None, "cut"):
        yield warned(node_id, f"continuity {continuity}: chained to the shot before", "cut", "H3-Multishot")


def _long_media(graph: Graph, node_id: str) -> Iterator[Remark]:
    for name in ("refine_enabled", "latent_hires_enabled"):
        if value_of(graph, node_id, name):
            yield warned(node_id, f"{name}: a second pass, behind which nobody measured the lock", "false")
    if (mode := value_of(graph, node_id, "attention_mode")) not in (None, "existing"):
        yield warned(node_id, f"attention_mode {mode}: may take its own sparse attention", "existing")


_RULES = {
    "CLIPLoader": _encoder,
    "CreateVideo": _rate,
    "LTXVConcatAVLatent": _video_mask,
    "LTXVAudioVideoMask": _clocks,
    "H3MultishotMemorySampler": _bank,
    "MiniMaxH3LatentLabLongMediaSampler": _long_media,
}
