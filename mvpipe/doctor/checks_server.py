"""Checks of the server: what it is, what it has, and what does not go together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, seen, warn
from mvpipe.doctor.facts import MIB, Unseen
from mvpipe.errors import GraphRejected
from mvpipe.render.comfyui.check import check as compare
from mvpipe.render.comfyui.filling import with_loaders
from mvpipe.render.comfyui.graph import Graph, classes_of, is_link
from mvpipe.render.comfyui.judge_nodes import CONSUMER_BLACKWELL
from mvpipe.render.comfyui.model_files import placed_files, said_missing
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.template import clashes

RUN_ON, MASKS, DISPUTED = (0, 33, 0), (0, 34, 0), (0, 35, 0)
"""The core our templates were run on; the first with audio masks a token; the first that is reported ill."""

KJ = frozenset({"MiniMaxChunkFeedForward", "MiniMaxLowVRAMAttention"})
T8 = frozenset({"MiniMaxH3LowVRAMAttentionT8Advanced", "MiniMaxH3ChunkFeedForwardT8Advanced"})
NEW_BLOCKS = ("MiniMaxH3TextEncoderOnlyReference", "BlockSparseAttention")
"""Classes of cores whose blocks take an `attention` argument."""

SMALL_UPLOAD, USUAL_UPLOAD = 4 * MIB, 32 * MIB


@check("server-answers")
def answers(case: Case) -> Finding | None:
    """Whether there is a ComfyUI at all."""
    found = case.facts.server
    if isinstance(found, Unseen):
        if found.why.startswith("no server was asked"):
            raise NotVisible(found.why)
        return fail(found.why)
    return ok(f"ComfyUI {found.version or 'of a version it does not tell'} at {found.url}")


@check("core-version")
def core_version(case: Case) -> Finding | None:
    """What the version implies."""
    release, version = case.server.release, case.server.version
    if not release:
        raise NotVisible(f"not a version as releases have: {version or 'none'}")
    canary = case.facts.canary
    proved = not isinstance(canary, Unseen) and canary.version == version and not canary.faults
    if release < RUN_ON:
        return warn(f"{version}: older than 0.33.0, on which mvpipe's graphs were run")
    if release >= DISPUTED and not proved:
        return warn(f"{version}: a report calls lip sync unusable from 0.35 on (#16387): render a canary")
    return ok(f"{version}{': a canary passed on it' if proved else ''}")


@check("audio-clock")
def audio_clock(case: Case) -> Finding | None:
    """Whether sound and picture have a clock each."""
    if "MiniMaxH3DualClockSamplerT8" in classes_of(case.wanted.graph):
        return ok("MiniMaxH3DualClockSamplerT8 in the graph sets both clocks")
    found = case.server.nodes.get("MiniMaxH3SigmaShift")
    if found is None:
        return fail("no MiniMaxH3SigmaShift: a core from before H3 had a clock for its sound")
    if "shift_audio" not in _inputs(found):
        return fail("MiniMaxH3SigmaShift without shift_audio: the sound runs on the picture's clock")
    if found.get("display_name") != "ModelSamplingMiniMaxH3":
        return warn(
            f"MiniMaxH3SigmaShift is called {found.get('display_name')!r} here, not by the core's name"
        )
    return ok("MiniMaxH3SigmaShift has shift_audio: any sampler gives the sound its own clock")


def _inputs(schema: Mapping[str, Any]) -> set[str]:
    told = schema.get("input")
    sections = told.values() if isinstance(told, Mapping) else ()
    return {str(name) for section in sections if isinstance(section, Mapping) for name in section}


@check("audio-masks")
def audio_masks(case: Case) -> Finding | None:
    """Whether a mask over the sound is obeyed, which the exact lock stands on."""
    server = case.server
    if server.release >= MASKS:
        return ok(f"{server.version}: 0.34.0 or later")
    if "MiniMaxH3AddGuide" in server.nodes:
        return ok(f"{server.version or 'no version'}, but it has MiniMaxH3AddGuide, which came with them")
    says = f"{server.version or 'no version'} and no MiniMaxH3AddGuide: a mask over the sound is not obeyed"
    return fail(says) if case.wanted.setting.lock == "exact" else warn(says)


def ready(case: Case) -> Graph:
    """The graph with the server's own loaders and its files in their folders."""
    nodes = case.server.nodes
    return placed_files(
        with_loaders(case.wanted.template, case.wanted.graph, nodes.__contains__), read_schemas(nodes)
    )


@check("nodes-present")
def nodes_present(case: Case) -> Finding | None:
    """Whether the server has the classes of the graph."""
    needs = case.wanted.template.slots.needs
    packs = ", ".join(f"{pack.name} ({pack.source})" for pack in needs.packs)
    hint = f"; install {packs}" if packs else f"; ComfyUI {needs.core} has them" if needs.core else ""
    try:
        graph = ready(case)
    except GraphRejected as exc:
        return fail(f"{exc}{hint}")
    if absent := sorted(classes_of(graph) - case.server.nodes.keys()):
        return fail(f"{case.wanted.template.name}: not on this server: {', '.join(absent)}{hint}")
    return ok(f"{case.wanted.template.name}: all {len(classes_of(graph))} classes")


@check("graph-fits")
def graph_fits(case: Case) -> Finding | None:
    """Whether inputs, links and values fit the server's schemas."""
    schemas = read_schemas(case.server.nodes)
    try:
        graph = ready(case)
    except GraphRejected:
        raise NotVisible("a class of the graph is missing") from None
    missing = [said.partition(":")[0] for said in said_missing(graph, schemas)]
    faults = [
        fault
        for fault in compare(graph, schemas)
        if fault.class_type in case.server.nodes and not any(name in str(fault) for name in missing)
    ]
    if wrong := [str(fault) for fault in faults if fault.fatal]:
        return fail("; ".join(wrong))
    return warn("; ".join(map(str, faults))) if faults else ok("every input fits the server's schemas")


@check("files-on-server")
def files_on_server(case: Case) -> Finding | None:
    """Whether the server lists the graph's files."""
    try:
        missing = said_missing(ready(case), read_schemas(case.server.nodes))
    except GraphRejected:
        raise NotVisible("a class of the graph is missing") from None
    return fail("; ".join(missing)) if missing else ok("the server lists every file of the graph")


@check("pack-multishot")
def multishot(case: Case) -> Finding | None:
    """Whether a pack's patch breaks the graph."""
    has, graph = case.server.nodes.__contains__, case.wanted.graph
    if wrong := clashes(case.wanted.template, has):
        return fail("; ".join(wrong))
    if not has("H3MultishotMemorySampler"):
        return ok("H3-Multishot is not installed")
    references = any(
        name.startswith(("ref_images.", "ref_audios.")) for n in graph.values() for name in n["inputs"]
    )
    guided = any(
        n["class_type"] == "MiniMaxH3AddGuide" and is_link(n["inputs"].get("audio")) for n in graph.values()
    )
    if references and guided:
        return fail("H3-Multishot is installed: its patch drops the sound of a keyframe beside references")
    return ok("H3-Multishot is installed; this graph has no keyframe with sound, which its patch would drop")


@check("pack-families")
def families(case: Case) -> Finding | None:
    """Whether two packs for little memory are there."""
    there = [name for name, family in (("KJ", KJ), ("T8", T8)) if family & case.server.nodes.keys()]
    if len(there) > 1:
        return ok("nodes for little memory of KJ and of T8 are installed: use those of one in a graph")
    return ok(f"nodes for little memory: {' '.join(there) or 'none'}")


@check("pack-kj-core")
def kj_core(case: Case) -> Finding | None:
    """Whether KJNodes' patch fits the core's blocks."""
    if not KJ & classes_of(case.wanted.graph):
        return None
    if any(name in case.server.nodes for name in NEW_BLOCKS):
        return warn(
            "a core whose blocks take `attention`: KJNodes must be of 008eed9 or later, which no server tells"
        )
    return ok("a core from before its blocks changed")


@check("upload-limit")
def upload_limit(case: Case) -> Finding | None:
    """Whether voices and pictures may be sent."""
    limit = seen(case.server.upload_bytes)
    says = f"requests of up to {limit / MIB:.0f} MiB"
    if limit < SMALL_UPLOAD:
        return fail(f"{says}: the voice of a long shot has 4: start ComfyUI with --max-upload-size 100")
    return warn(f"{says}: a large picture may be refused") if limit < USUAL_UPLOAD else ok(says)


@check("render-device")
def render_device(case: Case) -> Finding | None:
    """What it renders on."""
    if not case.server.devices:
        raise NotVisible("the server names no device")
    device = case.server.devices[0]
    if device.kind == "cpu":
        return warn("the server renders on its CPU: days for a film; the animatic needs no card")
    return ok(f"{device.name}")


@check("torch-cuda")
def torch_cuda(case: Case) -> Finding | None:
    """Whether PyTorch has kernels for the card."""
    if not CONSUMER_BLACKWELL.search(case.server.device):
        return None
    built = re.search(r"\+cu(\d+)(\d)$", case.server.system.get("pytorch_version", ""))
    if not built:
        raise NotVisible("the server does not tell which CUDA its PyTorch was built for")
    cuda = int(built[1]), int(built[2])
    says = f"PyTorch {case.server.system['pytorch_version']}"
    return fail(f"{says}: Blackwell needs CUDA 12.8") if cuda < (12, 8) else ok(f"{says}: 12.8 or later")
