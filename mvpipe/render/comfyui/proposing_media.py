"""Where pictures and sounds come into a graph that mvpipe did not write, and whether its lock is heard."""

from __future__ import annotations

import re
from typing import Any

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
        [node_id, PASSED[found.class_of(node_id)]]
        for node_id in upstream(found.graph, [facts.node])
        if found.class_of(node_id) in PASSED
        and loader in upstream(found.graph, [node_id])
        and "image" not in found.inputs(node_id)  # of a guide, which then brings more than the vocal
    ]
    gone = {node_id for node_id, _ in bypass}
    optional = [[one, field] for one, field, _ in uses if OPTIONAL.match(field)]
    rest = {one for one, field, _ in uses if not OPTIONAL.match(field)}
    if any(not _ends_in(found, one, gone) for one in rest):
        return None
    return {**({"bypass": bypass} if bypass else {}), **({"unlink": optional} if optional else {})}


PASSED = {
    "LTXVConcatAVLatent": "video_latent",
    "VRGDG_MiniMaxH3AudioDrive": "av_latent",
    "MiniMaxH3SongMaskedAVContext": "latent",
    "MiniMaxH3AddGuide": "positive",
}
"""Nodes that bring the vocal in, and what is handed on without them."""

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


def _ends_in(found: Found, node_id: str, gone: set[str], passed: frozenset[str] = frozenset()) -> bool:
    """Whether all that uses a node's outputs is taken out, sooner or later."""
    if node_id in gone:
        return True
    users = {one for one, _, _ in consumers(found.graph, node_id)}
    passed |= {node_id}
    return bool(users - passed) and all(_ends_in(found, one, gone, passed) for one in users)


def heard(found: Found) -> list[str]:
    """Let the take have the sampled sound, where the film is saved with another; say what was changed.

    Only the sampled sound shows whether the lock held.
    """
    facts, video = found.facts, found.source(found.outputs[0], "video") or found.outputs[0]
    if facts is None or "images" not in found.inputs(video):
        return []
    pictures_from, sound_from = found.source(video, "images"), found.source(video, "audio")
    gives = SOUNDED.get(found.class_of(pictures_from))
    audio_vae = found.source(facts.conditioning, "audio_vae")
    if _is_sampled(found, facts.node, sound_from):
        return []
    if gives is not None:
        link: list[Any] = [pictures_from, gives]
    elif audio_vae and found.class_of(facts.node).startswith("SamplerCustom"):
        link = [_free(found.graph, "sampled_sound"), 0]
        samples = {"samples": [facts.node, 0], "vae": [audio_vae, 0]}
        found.graph[link[0]] = {"class_type": "VAEDecodeAudio", "inputs": samples}
    else:
        return ["sound: the film is not saved with the sampled sound: whether the lock holds cannot be heard"]
    found.graph[video]["inputs"]["audio"] = link
    return [
        f"sound: changed: the film is saved with the sampled sound (node {link[0]}): the lock can be heard"
    ]


SOUNDED = {"MiniMaxH3LatentLabLongMediaDecode": 1, "H3MultishotMemorySampler": 1}
"""Nodes that give the sampled sound beside their pictures, and at which output."""


def _is_sampled(found: Found, sampler: str, sound: str) -> bool:
    decodes = found.class_of(sound) in {"VAEDecodeAudio", "MiniMaxH3AVDecodeT8", *SOUNDED}
    return decodes and sampler in upstream(found.graph, [sound])


def whole_songs(found: Found) -> list[str]:
    """Let nodes that cut a window out of a whole song cut it at 0: mvpipe sends the window; say so."""
    notes = []
    for node_id, node in found.graph.items():
        if node["class_type"] == "MiniMaxH3SongMaskedAVContext" and node["inputs"].get("clip_start_seconds"):
            node["inputs"]["clip_start_seconds"] = 0.0
            notes.append(
                f"vocals: changed: node {node_id} cuts at 0 s, for it is sent the window and not the song"
            )
    return notes


def left_as_they_are(found: Found, slots: dict[str, SlotText]) -> list[str]:
    """Files that no slot fills: the server must have them, and every shot uses the same."""
    filled = {place[0] for slot in slots.values() for place in slot["at"]}
    ends = [end for slot in slots.values() for end in slot.get("into", ())]
    grown = {
        one
        for cond, pattern in ends
        for name in found.inputs(cond)
        if name.startswith(pattern.removesuffix("{}"))
        for one in upstream(found.graph, [found.source(cond, name)])
    }
    return [
        f"node {node_id} ({found.class_of(node_id)}): keeps its file, which the server must have"
        for node_id in upstream(found.graph, found.outputs)
        if found.class_of(node_id) in LOADERS and node_id not in filled | grown
    ]


LOADERS = frozenset({LOADS_PICTURE, LOADS_SOUND, "LoadVideo"})


def _free(graph: Graph, wanted: str) -> str:
    while wanted in graph:
        wanted += "_"
    return wanted
