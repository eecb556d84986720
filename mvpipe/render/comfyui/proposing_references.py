"""Where reference films and voices come into a graph that mvpipe did not write."""

from __future__ import annotations

from mvpipe.render.comfyui.bank import MOST
from mvpipe.render.comfyui.examine import Facts
from mvpipe.render.comfyui.found import Answer, Found
from mvpipe.render.comfyui.graph import consumers, upstream
from mvpipe.render.comfyui.proposing_media import LOADS_SOUND, vocals

LOADS_VIDEO = "LoadVideo"
VIDEOS, SOUNDS = "ref_videos.ref_video_", "ref_audios.ref_audio_"
"""Growing groups of MiniMaxH3ReferenceToVideo, and of T8's node."""


def videos(found: Found, facts: Facts) -> Answer:
    """The loader of the first reference film, and how many there is room for."""
    wired = _wired(found, facts, VIDEOS)
    if not wired:
        return {}, []
    ends = {number: upstream(found.graph, [source]) for number, source in wired.items()}
    first = min(wired)
    loaders = [one for one in ends[first] if found.class_of(one) == LOADS_VIDEO]
    if len(loaders) != 1 or not _leads_only(found, loaders[0], facts.conditioning):
        return {}, [f"videos: {VIDEOS}{first} has no {LOADS_VIDEO} of its own: it stays as the graph has it"]
    slot = {
        "is": "videos",
        "at": [[loaders[0], "file"]],
        "into": [[facts.conditioning, f"{VIDEOS}{{}}"]],
        "first": first,
        "most": MOST.videos,
    }
    return {"videos": slot}, ["videos: the storyboard's; where it names none, the graph's own is left out"]


def voices(found: Found, facts: Facts) -> Answer:
    """The loader of the first reference voice beside the vocal, which must be counted before it."""
    slots, _ = vocals(found, facts)
    taken = {place[0] for slot in slots.values() for place in slot["at"]}
    group = _wired(found, facts, SOUNDS)
    before = {group.get(0, ""), found.source(facts.conditioning, "drive_audio")}
    wired = {number: one for number, one in group.items() if one not in taken}
    if not wired or not before & taken:
        return {}, []
    first = min(wired)
    loader = wired[first]
    if found.class_of(loader) != LOADS_SOUND or len(consumers(found.graph, loader)) != 1:
        return {}, [f"voices: {SOUNDS}{first} has no {LOADS_SOUND} of its own: it stays as the graph has it"]
    slot = {
        "is": "sounds",
        "at": [[loader, "audio"]],
        "into": [[facts.conditioning, f"{SOUNDS}{{}}"]],
        "first": first,
        "most": MOST.voices,
    }
    return {"voices": slot}, ["voices: the storyboard's; where it names none, the graph's own is left out"]


def _wired(found: Found, facts: Facts, group: str) -> dict[int, str]:
    """Number -> node that a growing group is linked to."""
    names = (name for name in found.inputs(facts.conditioning) if name.startswith(group))
    linked = ((name, found.source(facts.conditioning, name)) for name in names)
    return {int(name.removeprefix(group)): source for name, source in linked if source}


def _leads_only(found: Found, node_id: str, end: str) -> bool:
    """Whether all that a node gives arrives at one other, and on one way."""
    users = consumers(found.graph, node_id)
    if len(users) != 1:
        return False
    return users[0][0] == end or _leads_only(found, users[0][0], end)
