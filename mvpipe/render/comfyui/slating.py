"""From a shot to its slate: prompt, pictures, sound and profile filled into a graph. Asks no server.

The seed stays out of the slate's graph, which would else be another for every take of the same shot; it is
put in when the graph is sent, as are the names that only the server decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mvpipe.errors import SettingsError, StoryboardError
from mvpipe.film import Shot, ShotKind
from mvpipe.render.backend import Asset, Setup
from mvpipe.render.comfyui.bank import References, references
from mvpipe.render.comfyui.filling import fill
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.pictures import still, upload_name
from mvpipe.render.comfyui.profiles import default_profile, find_profile
from mvpipe.render.comfyui.prompt import compose
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.slots import Fill, Lock
from mvpipe.render.comfyui.template import Template
from mvpipe.render.comfyui.vocal import silent_window, wav_bytes

NO_SEED = 0
VOCALS = "vocals"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotGraph:
    """A shot's graph, and all that went into it.

    Parameters
    ----------
    graph : filled, but for the seed
    prompt : as it stands in the graph
    profile : its name
    sound : what is heard in it
    lock : what the graph does to the audio rows
    bank : the pictures, numbered
    notes : what the user should know
    """

    graph: Graph
    prompt: str
    profile: str
    sound: Sounding
    lock: Lock
    bank: References
    notes: tuple[str, ...]


def sound_of(shot: Shot, template: Template, options: Options) -> Sounding:
    """What a shot is locked to: the voice if it is a performance in which somebody is heard."""
    if not template.takes(VOCALS):
        return Sounding.NONE
    sung = shot.card.kind is ShotKind.PERFORMANCE and shot.voice > 0
    return Sounding.VOICE if sung else options.without_voice


@lru_cache(maxsize=64)
def silence(frames: int) -> tuple[str, bytes]:
    """(name it is uploaded under, file) of silence as long as a shot's sound."""
    file = wav_bytes(silent_window(frames))
    return voice_name(hashlib.sha256(file).hexdigest()), file


def shot_graph(setup: Setup, template: Template, options: Options) -> ShotGraph:
    """A shot's graph, and all that went into it.

    Raises
    ------
    StoryboardError : a picture that cannot be used, words that cannot be said
    SettingsError : no such profile, or a graph whose film could not be told from others
    GraphRejected : the graph cannot do what the shot needs
    """
    if not template.takes("filename_prefix"):
        raise SettingsError(
            f"{template.path}: slots: no filename_prefix",
            hint="name the input of the node that saves the film: a take is known by its file's name",
        )
    sound = sound_of(setup.shot, template, options)
    bank = references(setup, template.most_pictures())
    prompt = compose(setup, bank, sound, lyrics=options.lyrics)
    name = options.profile or default_profile(setup.size)
    settings, left = find_profile(name).fitted(template.takes)
    values: dict[str, Fill] = {
        **settings,
        "prompt": prompt.text,
        "width": setup.size[0],
        "height": setup.size[1],
        "length": len(setup.shot.window),
        "seed": NO_SEED,
        "filename_prefix": "mvpipe",
    }
    if template.takes("pictures"):
        values["pictures"] = [upload_name(one.asset.digest, ".png") for one in bank.pictures]
    if template.takes(VOCALS):
        values[VOCALS] = _sound_file(setup, sound)
    odd = [note for one in bank.pictures for note in still(one.asset.path, one.asset.digest).notes]
    unused = [f"profile {name}: graph {template.name} has no {', '.join(left)}"] if left else []
    return ShotGraph(
        graph=fill(template, values),
        prompt=prompt.text,
        profile=name,
        sound=sound,
        lock=template.lock(values),
        bank=bank,
        notes=(*prompt.notes, *odd, *unused),
    )


def _sound_file(setup: Setup, sound: Sounding) -> str | None:
    """The name of what a shot is locked to."""
    if sound is Sounding.SILENCE:
        return silence(len(setup.shot.window))[0]
    return voice_name(setup.vocals.digest) if sound is Sounding.VOICE else None


def voice_name(digest: str) -> str:
    """The name a shot's sound is uploaded under."""
    return upload_name(digest, ".wav")


def record(made: ShotGraph, template: Template) -> dict[str, Any]:
    """What the slate keeps of it: all that decides a take, and nothing that is only for people."""
    return {
        "template": template.name,
        "graph": made.graph,
        "lock": made.lock,
        "sound": made.sound.value,
    }


def assets(made: ShotGraph, setup: Setup) -> Mapping[str, Asset]:
    """The files it is made from, by role."""
    pictures = {one.role: one.asset for one in made.bank.pictures}
    return {VOCALS: setup.vocals, **pictures} if made.sound is Sounding.VOICE else pictures


def check_rate(setup: Setup) -> None:
    """Whether H3 can render the window at all.

    Raises
    ------
    StoryboardError : another rate than 24
    """
    if setup.shot.window.rate != 24:
        raise StoryboardError(
            f"shot {setup.shot.number}: {setup.shot.window.rate} frames a second: H3 renders 24 only"
        )
