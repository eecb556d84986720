"""What a storyboard's `render` may ask of the ComfyUI backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from mvpipe.errors import StoryboardError
from mvpipe.render.comfyui.script import WITHOUT_VOICE, Sounding
from mvpipe.render.comfyui.template import DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings, checked.

    Parameters
    ----------
    graph : a template's name, or the path of a graph with its slots file beside it
    profile : a sampling profile's name; empty for the one that fits the picture's size
    without_voice : what shots in which nobody sings are locked to
    lyrics : language in which the cards' lyrics may be said in the prompt; empty: never
    """

    graph: str = DEFAULT
    profile: str = ""
    without_voice: Sounding = WITHOUT_VOICE
    lyrics: str = ""


KNOWN = tuple(f.name for f in fields(Options))
CHOICES = (Sounding.SILENCE.value, Sounding.NONE.value)
"""For shots in which nobody sings; the accompaniment is not among them, since no backend is given it."""


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
        if not isinstance(value, str):
            raise StoryboardError(f"render.{name}: a text is wanted: {value!r}")
        given[name] = _sounding(value) if name == "without_voice" else value
    return replace(defaults, **given)


def _sounding(text: str) -> Sounding:
    if text not in CHOICES:
        raise StoryboardError(f"render.without_voice: {text}: one of {', '.join(CHOICES)} is wanted")
    return Sounding(text)
