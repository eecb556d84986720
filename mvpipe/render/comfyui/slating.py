"""From a shot to its slate: prompt, pictures, sound and profile filled into a graph. Asks no server.

The seed stays out of the slate's graph, which would else be another for every take of the same shot; it is
put in when the graph is sent, as are the names that only the server decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from mvpipe.errors import MediaError, SettingsError, StoryboardError
from mvpipe.film import Continuity, Shot, ShotKind
from mvpipe.render.backend import Asset, Conditioning, Setup
from mvpipe.render.comfyui import advice, media
from mvpipe.render.comfyui.bank import References, references
from mvpipe.render.comfyui.filling import fill
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.model_files import own_models
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.pictures import upload_name
from mvpipe.render.comfyui.profiles import default_profile, find_profile
from mvpipe.render.comfyui.prompt import compose
from mvpipe.render.comfyui.sampling import placed
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.slots import Fill, Lock
from mvpipe.render.comfyui.template import REFERENCES, Template
from mvpipe.render.comfyui.vocal import silent_window, wav_bytes

NO_SEED = 0
VOCALS, START, JOIN = "vocals", "start_picture", "join"
SOUND_ROLES = {Sounding.VOICE: VOCALS, Sounding.ACCOMPANIMENT: "accompaniment"}
"""Roles of the sounds that are files of the film; they go into the same slot."""


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
    bank : the references, numbered
    conditioning : what they add to every step
    notes : what the user should know
    """

    graph: Graph
    prompt: str
    profile: str
    sound: Sounding
    lock: Lock
    bank: References
    conditioning: Conditioning
    notes: tuple[str, ...]

    @property
    def wired(self) -> dict[str, int]:
        """How many references of each kind the prompt must name."""
        return self.bank.wired(self.sound is not Sounding.NONE)


def sound_of(shot: Shot, template: Template, options: Options) -> Sounding:
    """What a shot is locked to: the voice if it is a performance in which somebody is heard.

    Any other to what its card says, else to what the storyboard says for all.
    """
    if not template.takes(VOCALS):
        return Sounding.NONE
    if shot.card.kind is ShotKind.PERFORMANCE and shot.voice > 0:
        return Sounding.VOICE
    return Sounding(shot.card.without_voice) if shot.card.without_voice else options.without_voice


def goes_on(shot: Shot, template: Template) -> bool:
    """Whether a shot is chained to the one before.

    Raises
    ------
    SettingsError : it is, and the graph has no place for a picture to go on from
    """
    if shot.card.continuity is not Continuity.CHAIN:
        return False
    if not template.takes(START):
        raise SettingsError(
            f"shot {shot.number}: continuity: chain: graph {template.name} has no {START}: it renders every "
            "shot from the bank alone",
            hint="graph: multishot-pinned, or continuity: cut",
        )
    return True


def bank_of(setup: Setup, template: Template, options: Options) -> References:
    """The references of a shot, as `references`; voices where they are asked for and somebody sings."""
    sung = sound_of(setup.shot, template, options) is Sounding.VOICE
    return references(setup, template.room(), voices=options.send_voices and sung)


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
    SettingsError : no such profile, a graph that cannot do what the shot needs, or whose film could not be
        told from others
    """
    if not template.takes("filename_prefix"):
        raise SettingsError(
            f"{template.path}: slots: no filename_prefix",
            hint="name the input of the node that saves the film: a take is known by its file's name",
        )
    goes_on(setup.shot, template)
    sound = sound_of(setup.shot, template, options)
    bank = bank_of(setup, template, options)
    prompt = compose(setup, bank, sound, lyrics=options.lyrics)
    name = options.profile or default_profile(setup.size)
    settings, left = find_profile(name).fitted(template.takes)
    own = placed(template, options.sampling) | own_models(template, options.models)
    values: dict[str, Fill] = {
        **settings,
        **own,
        "prompt": prompt.text,
        "width": setup.size[0],
        "height": setup.size[1],
        "length": len(setup.shot.window),
        "seed": NO_SEED,
        "filename_prefix": "mvpipe",
    }
    if template.takes(START):
        values[START] = [upload_name(setup.join.digest, ".png")] if setup.join else []
    values |= {
        name: [media.upload_name(one.role, one.asset.digest) for one in getattr(bank, name)]
        for name in REFERENCES
        if template.takes(name)
    }
    if template.takes(VOCALS):
        values[VOCALS] = _sound_file(setup, sound)
    shot = f"shot {setup.shot.number}"
    odd = [f"{shot}: {note}" for one in bank.all for note in media.remarks(one.role, one.asset)]
    odd += advice.cost(shot, setup, bank)
    unused = [f"{shot}: profile {name}: graph {template.name} has no {', '.join(left)}"] if left else []
    unused += [f"{shot}: {note}" for note in advice.otherwise(options, name)]
    graph, lock = fill(template, values), template.lock(values)
    if own:
        unused += advice.judged(f"{shot}: render", graph)
    return ShotGraph(
        graph=graph,
        prompt=prompt.text,
        profile=name,
        sound=sound,
        lock=lock,
        bank=bank,
        conditioning=advice.conditioning(setup, bank, str(values.get("picture_detail", "match"))),
        notes=(*prompt.notes, *odd, *unused),
    )


def _sound_file(setup: Setup, sound: Sounding) -> str | None:
    """The name of what a shot is locked to."""
    if sound is Sounding.SILENCE:
        return silence(len(setup.shot.window))[0]
    heard = _heard(setup, sound)
    return voice_name(heard.digest) if heard else None


def _heard(setup: Setup, sound: Sounding) -> Asset | None:
    """The file a shot is locked to, where there is one.

    Raises
    ------
    MediaError : nobody has cut the accompaniment
    """
    if sound is Sounding.VOICE:
        return setup.vocals
    if sound is not Sounding.ACCOMPANIMENT:
        return None
    if setup.accompaniment is None:
        raise MediaError(f"shot {setup.shot.number}: its accompaniment was not cut")
    return setup.accompaniment


def voice_name(digest: str) -> str:
    """The name a shot's sound is uploaded under."""
    return upload_name(digest, ".wav")


def record(made: ShotGraph, template: Template) -> dict[str, Any]:
    """What the slate keeps of it: all that decides a take, and nothing that is only for people."""
    return {
        "template": template.identity,
        "graph": made.graph,
        "lock": made.lock,
        "sound": made.sound.value,
    }


def assets(made: ShotGraph, setup: Setup) -> Mapping[str, Asset]:
    """The files it is made from, by role."""
    pinned = {one.role: one.asset for one in made.bank.all}
    if setup.join:
        pinned[JOIN] = setup.join
    heard = _heard(setup, made.sound)
    return pinned if heard is None else {SOUND_ROLES[made.sound]: heard, **pinned}


def without_sound(setup: Setup) -> Setup:
    """A setup that can be filled though nobody has cut its sounds."""
    cut = setup.accompaniment or setup.vocals.digest
    return setup if cut else replace(setup, accompaniment=setup.vocals)


def model_files(graph: Graph) -> list[str]:
    """Files of weights that a graph names."""
    values = {value for node in graph.values() for value in node["inputs"].values() if isinstance(value, str)}
    return sorted(value for value in values if value.endswith((".safetensors", ".gguf")))


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


def check_join(setup: Setup) -> None:
    """Whether a chained shot has its picture to go on from.

    Raises
    ------
    MediaError : it has not
    """
    if setup.shot.card.continuity is Continuity.CHAIN and setup.join is None:
        raise MediaError(f"shot {setup.shot.number}: chained, without a picture of the shot before")
