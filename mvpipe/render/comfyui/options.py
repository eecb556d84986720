"""What a storyboard's `render` may ask of the ComfyUI backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

from mvpipe.errors import StoryboardError
from mvpipe.render.comfyui.sampling import read_sampling
from mvpipe.render.comfyui.script import WITHOUT_VOICE, Sounding
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import DEFAULT

OWN = ("weights", "text_encoder", "text_device", "video_vae", "audio_vae")
"""Slots of models, and of where the text encoder runs, that a storyboard may fill."""

DEVICES = ("default", "cpu")
"""Of CLIPLoader's text encoder (ComfyUI 0.33.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings, checked.

    Parameters
    ----------
    graph : a template's name, or the path of a graph with its slots file beside it
    profile : a sampling profile's name; empty for the one that fits the picture's size
    weights, text_encoder, video_vae, audio_vae : model files; empty for the graph's own
    text_device : where the text encoder runs; empty for the graph's own
    without_voice : what shots in which nobody sings are locked to
    sampling : slot -> figure, where it is not the profile's
    lyrics : language in which the cards' lyrics may be said in the prompt; empty: never
    send_voices : whether recordings of the singers' voices are references beside the song's
    """

    graph: str = DEFAULT
    profile: str = ""
    weights: str = ""
    text_encoder: str = ""
    text_device: str = ""
    video_vae: str = ""
    audio_vae: str = ""
    without_voice: Sounding = WITHOUT_VOICE
    sampling: Mapping[str, Fill] = field(default_factory=dict[str, Fill])
    lyrics: str = ""
    send_voices: bool = False

    @property
    def models(self) -> dict[str, Fill]:
        """Slot -> model file or device, of those that are not the graph's own."""
        named = {name: getattr(self, name) for name in OWN}
        return {name: value for name, value in named.items() if value}


KNOWN = tuple(f.name for f in fields(Options))
CHOICES = (Sounding.SILENCE.value, Sounding.ACCOMPANIMENT.value, Sounding.NONE.value)
"""For shots in which nobody sings."""


def read_options(settings: Mapping[str, Any], defaults: Options) -> Options:
    """The options of a storyboard's settings, over what the command line or nobody says.

    Raises
    ------
    StoryboardError : an option that is not known, or a value it cannot have
    """
    given: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in KNOWN:
            near = get_close_matches(name, KNOWN, 1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(KNOWN)}"
            raise StoryboardError(f"render.{name}: unknown option of the comfyui backend", hint=hint)
        if name == "sampling":
            given[name] = read_sampling(value)
            continue
        if name == "send_voices" and isinstance(value, bool):
            given[name] = value
            continue
        if not isinstance(value, str):
            raise StoryboardError(f"render.{name}: a text is wanted: {value!r}")
        if name == "text_device" and value not in DEVICES:
            raise StoryboardError(f"render.text_device: {value}: one of {', '.join(DEVICES)} is wanted")
        given[name] = _sounding(value) if name == "without_voice" else value
    return replace(defaults, **given)


def _sounding(text: str) -> Sounding:
    if text not in CHOICES:
        raise StoryboardError(f"render.without_voice: {text}: one of {', '.join(CHOICES)} is wanted")
    return Sounding(text)
