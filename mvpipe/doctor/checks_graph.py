"""Checks of the graph: the judgements that a render makes too, and what only a person can decide."""

from __future__ import annotations

from collections.abc import Iterable

from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, warn
from mvpipe.doctor.facts import Unseen
from mvpipe.doctor.weights import is_quantized
from mvpipe.render.comfyui.examine import Facts as Sampling
from mvpipe.render.comfyui.graph import is_link
from mvpipe.render.comfyui.judge import lock_remarks, order_remarks
from mvpipe.render.comfyui.judge_nodes import attention_remarks, cache_remarks, class_remarks, family_remarks
from mvpipe.render.comfyui.judge_sampling import sampling_remarks, size_remarks, weights_remarks
from mvpipe.render.comfyui.remarks import Remark
from mvpipe.render.comfyui.wording import faults
from mvpipe.wording import counted


def _worst(remarks: Iterable[Remark], well: str) -> Finding:
    """All that is said, as bad as the worst of it."""
    found = sorted(remarks, key=lambda one: ("refuse", "warn", "note").index(one.level))
    if not found:
        return ok(well)
    level = found[0].level
    says = "; ".join(dict.fromkeys(map(str, (one for one in found if one.level == level))))
    return {"refuse": fail, "warn": warn, "note": ok}[level](says)


def _sampling(case: Case) -> Sampling:
    if case.wanted.sampling is None:
        raise NotVisible("no node that samples was recognised in the graph")
    return case.wanted.sampling


@check("graph-caches")
def caches(case: Case) -> Finding | None:
    """Step caches."""
    return _worst(cache_remarks(case.wanted.graph), "no step cache")


@check("graph-attention")
def quantized_attention(case: Case) -> Finding | None:
    """Nodes that quantize attention."""
    server = case.facts.server
    device = "" if isinstance(server, Unseen) else server.device
    return _worst(
        attention_remarks(case.wanted.graph, device, ()), "no 8-bit attention, or not on a card it fails on"
    )


@check("graph-families")
def families(case: Case) -> Finding | None:
    """Packs that patch the same modules."""
    return _worst(family_remarks(case.wanted.graph), "no two packs that patch the same modules")


@check("graph-nodes")
def nodes(case: Case) -> Finding | None:
    """Nodes whose settings spoil a render."""
    return _worst(class_remarks(case.wanted.graph), "no node with a setting known to be wrong")


@check("graph-weights")
def weights(case: Case) -> Finding | None:
    """Weights and LoRAs by name."""
    facts = _sampling(case)
    loras = ", ".join(case.wanted.loras) or "no LoRA"
    return _worst(weights_remarks(facts), f"{case.wanted.weights}, {loras}")


@check("graph-sampling")
def sampling(case: Case) -> Finding | None:
    """Guidance, shift, steps, sampler, scheduler."""
    facts = _sampling(case)
    return _worst(
        sampling_remarks(facts),
        f"{facts.steps} steps of {facts.sampler}/{facts.scheduler}: {case.wanted.profile}",
    )


@check("graph-size")
def size(case: Case) -> Finding | None:
    """Size and length."""
    facts = _sampling(case)
    width, height = facts.size or case.wanted.size
    return _worst(size_remarks(facts), f"{width}x{height}, {facts.length} frames")


@check("graph-order")
def order(case: Case) -> Finding | None:
    """LoRA before shift before guider."""
    return _worst(order_remarks(_sampling(case)), "LoRA, then shift, then guider and scheduler")


@check("graph-lock")
def lock(case: Case) -> Finding | None:
    """What happens to the sound."""
    facts = _sampling(case)
    return _worst(lock_remarks(facts, case.wanted.setting), f"lock {facts.lock.kind}: {facts.lock.why}")


@check("graph-bypass")
def bypass(case: Case) -> Finding | None:
    """How a LoRA is laid over quantized weights."""
    name, canary = case.wanted.weights, case.facts.canary
    folded = [
        n for n in case.wanted.graph.values() if n["class_type"] in ("LoraLoaderModelOnly", "LoraLoader")
    ]
    if not folded or not is_quantized(name) or name.endswith(".gguf"):
        return ok("no LoRA that is folded into quantized weights")
    if not isinstance(canary, Unseen) and canary.lora is True:
        return ok("the canary changed when the LoRA was left out: it works as it is loaded")
    return warn("the LoRA is folded into 8-bit weights, which may round it away: a canary shows it")


@check("graph-vaes")
def vaes(case: Case) -> Finding | None:
    """Whether picture and sound have their own VAE."""
    picture, sound = case.wanted.file("video_vae"), case.wanted.file("audio_vae")
    if not picture or not sound:
        return fail(f"no VAE is wired for the {'picture' if not picture else 'sound'}")
    if "audio" in picture.lower() or "video" in sound.lower():
        return fail(f"the two VAEs are exchanged: {picture} for the picture, {sound} for the sound")
    return fail(f"one VAE for both: {picture}") if picture == sound else ok(f"{picture} and {sound}")


@check("graph-sound")
def sound(case: Case) -> Finding | None:
    """Whether the sound reaches the file."""
    graph = case.wanted.graph
    muxers = [
        node_id
        for node_id, node in graph.items()
        if node["class_type"] in ("CreateVideo", "VHS_VideoCombine")
    ]
    if not muxers:
        raise NotVisible("no node that puts picture and sound together was recognised")
    if silent := [node_id for node_id in muxers if not is_link(graph[node_id]["inputs"].get("audio"))]:
        return fail(
            f"node {silent[0]}: no sound is linked to it: the sampler's is thrown away without a word"
        )
    return ok(f"linked to node {muxers[0]}")


@check("graph-prompt")
def prompt(case: Case) -> Finding | None:
    """Whether the prompts name what is wired."""
    if not case.wanted.prompts:
        raise NotVisible("name a storyboard, and the prompts of its cards are read")
    found = [
        f"{where}: {wrong}" for where, text, wired in case.wanted.prompts for wrong in faults(text, **wired)
    ]
    return fail("; ".join(found)) if found else ok(counted(len(case.wanted.prompts), "card"))
