"""Where pictures and sounds come into a graph that mvpipe did not write, and whether its lock is heard."""

from __future__ import annotations

import re

from mvpipe.render.comfyui.examine import Facts
from mvpipe.render.comfyui.found import Answer, Found, SlotText
from mvpipe.render.comfyui.graph import Graph, consumers, upstream

LOADS_PICTURE, LOADS_SOUND = "LoadImage", "LoadAudio"

_NUMBERED = re.compile(r"(?P<stem>(?:ref_images\.ref_image_|image_|reference_image_))(?P<number>\d+)$")


def pictures(found: Found, facts: Facts) -> Answer:
    """Loaders that are linked straight to a growing group."""
    cond = facts.conditioning
    wired = {name: found.source(cond, name) for name in found.inputs(cond) if _NUMBERED.match(name)}
    if not wired:
        return _one_picture(found, cond)
    odd = {name: node_id for name, node_id in wired.items() if not _is_own(found, node_id, cond)}
    if odd:
        name, node_id = next(iter(odd.items()))
        return {}, [
            f"pictures: {name} comes from node {node_id} ({found.class_of(node_id)}), not straight from a "
            f"{LOADS_PICTURE} of its own: link one to it, or every shot shows the same"
        ]
    names = sorted(wired, key=lambda name: int(name[_stem(name) :]))
    first = names[0]
    pattern = f"{first[: _stem(first)]}{{}}"
    loader = wired[first]
    slot = {
        "is": "pictures",
        "at": [[loader, "image"]],
        "into": [[cond, pattern]],
        "first": int(first[_stem(first) :]),
    }
    return {"pictures": slot}, []


def _stem(name: str) -> int:
    match = _NUMBERED.match(name)
    assert match is not None, name
    return match.end("stem")


def _one_picture(found: Found, cond: str) -> Answer:
    node_id = found.source(cond, "reference_images", "image")
    if not node_id or not _is_own(found, node_id, cond):
        return {}, []
    field = next(name for name in ("reference_images", "image") if found.source(cond, name))
    slot = {"is": "pictures", "at": [[node_id, "image"]], "into": [[cond, field]], "most": 1}
    return {"pictures": slot}, ["pictures: the graph takes one"]


def _is_own(found: Found, node_id: str, user: str) -> bool:
    """Whether a node loads a picture, and for this user alone."""
    return found.class_of(node_id) == LOADS_PICTURE and {
        one for one, _, _ in consumers(found.graph, node_id)
    } == {user}


def vocals(found: Found, facts: Facts) -> Answer:
    """The loader of the sound that is locked, or else of the first reference audio."""
    loaders = list(facts.lock.sources) or [
        found.source(facts.conditioning, "ref_audios.ref_audio_0", "audio_1")
    ]
    loaders = [one for one in loaders if found.class_of(one) == LOADS_SOUND]
    if len(loaders) != 1:
        return {}, [f"vocals: {len(loaders)} sounds might be the vocal: none is filled"] if loaders else []
    (loader,) = loaders
    slot: SlotText = {"is": "sound", "at": [[loader, "audio"]]}
    notes = [
        f"vocals: node {one} ({found.class_of(one)}) changes the sound on its way: mvpipe's is cut to the "
        "sample already, and must reach the encoder as it is"
        for one, _, _ in consumers(found.graph, loader)
        if found.class_of(one) in CUTTERS
    ]
    if without := _unlocked(found, facts, loader):
        slot["without"] = without
    else:
        notes.append(
            "vocals: how the graph would do without was not found: shots are always locked to a sound"
        )
    return {"vocals": slot}, notes


CUTTERS = frozenset({"TrimAudioDuration", "AudioConcat", "AudioAdjustVolume", "AudioMerge"})


def _unlocked(found: Found, facts: Facts, loader: str) -> SlotText | None:
    """What to change so that nothing of the vocal is left; None where it would not be sound."""
    uses = consumers(found.graph, loader)
    if len(uses) == 1 and (settings := MODES.get((found.class_of(uses[0][0]), uses[0][1]))):
        node_id, field, _ = uses[0]
        return {"unlink": [[node_id, field]], "put": [[node_id, name, value] for name, value in settings]}
    bypass = [
        [node_id, through]
        for class_type, through in (
            ("LTXVConcatAVLatent", "video_latent"),
            ("VRGDG_MiniMaxH3AudioDrive", "av_latent"),
        )
        for node_id in upstream(found.graph, [facts.node])
        if found.class_of(node_id) == class_type
    ]
    gone = {node_id for node_id, _ in bypass}
    optional = [[one, field] for one, field, _ in uses if OPTIONAL.match(field)]
    rest = {one for one, field, _ in uses if not OPTIONAL.match(field)}
    if any(not _ends_in(found, one, gone) for one in rest):
        return None
    return {**({"bypass": bypass} if bypass else {}), **({"unlink": optional} if optional else {})}


OPTIONAL = re.compile(r"ref_audios\.ref_audio_\d+$|guide_audio$")
"""Inputs that a vocal may be unlinked from without another setting."""

MODES = {
    ("MiniMaxH3AudioConditioningT8", "drive_audio"): (
        ("audio_mode", "native"),
        ("add_source_as_reference", False),
    ),
    ("MiniMaxH3LatentLabLongMediaSetup", "audio_1"): (("audio_mode", "generate"),),
}
"""(class, input) of nodes that take the vocal alone, and how they are set when there is none."""


def _ends_in(found: Found, node_id: str, gone: set[str]) -> bool:
    """Whether all that uses a node's outputs is taken out, sooner or later."""
    if node_id in gone:
        return True
    users = {one for one, _, _ in consumers(found.graph, node_id)}
    return bool(users) and node_id not in users and all(_ends_in(found, one, gone) for one in users)


def heard(found: Found) -> list[str]:
    """Let the take have the sampled sound, where the film is saved with another; say what was changed.

    Only the sampled sound shows whether the lock held.
    """
    facts, video = found.facts, found.source(found.outputs[0], "video") or found.outputs[0]
    if facts is None or "images" not in found.inputs(video):
        return []
    audio_vae = found.source(facts.conditioning, "audio_vae")
    sound = found.source(video, "audio")
    decoded = {"VAEDecodeAudio", "MiniMaxH3AVDecodeT8", "MiniMaxH3LatentLabLongMediaDecode"}
    if facts.node in upstream(found.graph, [sound]) and found.class_of(sound) in decoded | {
        found.class_of(facts.node)
    }:
        return []
    if not audio_vae or not found.class_of(facts.node).startswith("Sampler"):
        return ["sound: the film is not saved with the sampled sound: whether the lock holds cannot be heard"]
    new = _free(found.graph, "sampled_sound")
    found.graph[new] = {
        "class_type": "VAEDecodeAudio",
        "inputs": {"samples": [facts.node, 0], "vae": [audio_vae, 0]},
    }
    found.graph[video]["inputs"]["audio"] = [new, 0]
    return [
        f"sound: changed: node {new} decodes the sampled sound into the film, so that the lock can be heard"
    ]


def _free(graph: Graph, wanted: str) -> str:
    while wanted in graph:
        wanted += "_"
    return wanted
