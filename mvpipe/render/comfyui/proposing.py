"""Where mvpipe's slots are in a graph it did not write: found from the sampler outwards, by class."""

from __future__ import annotations

from collections.abc import Iterator

from mvpipe.render.comfyui.examine import FILES, SHIFTS, Facts
from mvpipe.render.comfyui.found import Answer, Found, SlotText
from mvpipe.render.comfyui.graph import consumers, upstream
from mvpipe.render.comfyui.profiles import known
from mvpipe.render.comfyui.proposing_media import pictures, vocals
from mvpipe.render.comfyui.proposing_references import videos, voices
from mvpipe.render.comfyui.slots import KNOWN


def slots_of(found: Found) -> Answer:
    """The slots in mvpipe's order, and what is to be said about them."""
    slots: dict[str, SlotText] = {}
    notes: list[str] = []
    facts = found.facts
    if facts is None:
        return slots, ["no node that samples was recognised: write its slots by hand"]
    for name, slot in (*_plain(found, facts), *_models(found, facts)):
        slots.setdefault(name, slot)
    for find in (_lora, pictures, videos, voices, vocals):
        slot, said = find(found, facts)
        notes += said
        slots |= slot
    notes += [f"{name}: not found: it stays as the graph has it" for name in NEEDED if name not in slots]
    return {name: slots[name] for name in KNOWN if name in slots}, notes


NEEDED = ("prompt", "width", "height", "length", "seed", "pictures", "vocals", "filename_prefix")
"""Slots without which every shot would look or last the same."""


def _plain(found: Found, facts: Facts) -> Iterator[tuple[str, SlotText]]:
    """Slots that are one value at one place."""
    cond, node = facts.conditioning, facts.node
    sigmas = found.source(node, "sigmas") or node
    sampler = found.source(node, "sampler") or node
    noise = found.source(node, "noise") or node
    text = found.source(cond, "prompt", "script") or cond
    places: dict[str, tuple[str, list[str] | None]] = {
        "prompt": (
            "text",
            found.place(cond, "prompt", "script", "sequence_prompt") or found.place(text, "text", "value"),
        ),
        "width": ("whole", found.place(cond, "width")),
        "height": ("whole", found.place(cond, "height")),
        "length": ("whole", found.place(cond, "length", "frames_per_shot")),
        "picture_detail": ("choice", found.place(cond, "ref_image_size", "resolution_mode")),
        "text_device": ("choice", found.place(found.source(cond, "clip"), "device")),
        "seed": ("whole", found.place(noise, "noise_seed", "seed", "base_seed")),
        "steps": ("whole", found.place(sigmas, "steps")),
        "sampler": ("choice", found.place(sampler, "sampler_name")),
        "scheduler": ("choice", found.place(sigmas, "scheduler")),
        "filename_prefix": ("text", found.place(found.outputs[0], "filename_prefix")),
    }
    if facts.shift_node and facts.shift_class in SHIFTS:
        for name in ("shift_video", "shift_audio"):
            places[name] = ("number", found.place(facts.shift_node, name))
    for name, (kind, place) in places.items():
        if place:
            must = {"must": True} if name in ("prompt", "seed") else {}
            yield name, {"is": kind, "at": [place], **must}
    if "length" not in found.inputs(cond) and (place := found.place(cond, "manual_duration")):
        segment = found.place(cond, "segment_seconds")
        more = [[*segment, "half seconds"]] if segment else []
        yield "length", {"is": "whole", "at": [[*place, "seconds"], *more]}


def _models(found: Found, facts: Facts) -> Iterator[tuple[str, SlotText]]:
    """The files of the weights, the text encoder and the VAEs, by what they are linked to."""
    cond, above = facts.conditioning, upstream(found.graph, [facts.node])
    weights = next((one for one in above if found.place(one, *FILES)), "")
    for name, folder, node_id, fields in (
        ("weights", "diffusion_models", weights, FILES),
        ("text_encoder", "text_encoders", found.source(cond, "clip"), ("clip_name",)),
        ("video_vae", "vae", found.source(cond, "vae", "video_vae"), ("vae_name",)),
        ("audio_vae", "vae", found.source(cond, "audio_vae"), ("vae_name",)),
    ):
        if place := found.place(node_id, *fields):
            yield name, {"is": "file", "folder": folder, "at": [place]}


def _lora(found: Found, facts: Facts) -> Answer:
    """The Turbo LoRA if there is one, else the last."""
    if not facts.loras:
        return {}, ["lora: none in the graph: only profiles without one fit it"]
    turbo = [lora for lora in facts.loras if known().lora(lora.file)]
    lora = (turbo or list(facts.loras))[-1]
    slot: SlotText = {"is": "file", "folder": "loras", "at": [[lora.node, "lora_name"]]}
    notes = (
        [f"lora: {len(facts.loras)} in the graph: node {lora.node} is filled"] if len(facts.loras) > 1 else []
    )
    if all(output == 0 for _, _, output in consumers(found.graph, lora.node)):
        slot["without"] = {"bypass": [[lora.node, "model"]]}
    else:
        notes.append(f"lora: node {lora.node} also changes the text encoder: it cannot be left out")
    slots = {"lora": slot}
    if place := found.place(lora.node, "strength_model"):
        slots["lora_strength"] = {"is": "number", "at": [place]}
    return slots, notes
