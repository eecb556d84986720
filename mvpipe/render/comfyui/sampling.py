"""Figures of a profile that a storyboard sets otherwise: read here, judged with the filled graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Any

from mvpipe.errors import SettingsError, StoryboardError
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import Template

CFG = "cfg"


def read_sampling(settings: Mapping[str, Any]) -> dict[str, Fill]:
    """Slot -> value, from the texts of a storyboard's `render.sampling`.

    Raises
    ------
    StoryboardError : a figure that is not known, or not one
    """
    found: dict[str, Fill] = {}
    for name, text in settings.items():
        if name not in READERS:
            near = get_close_matches(name, READERS, 1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(READERS)}"
            raise StoryboardError(f"render.sampling.{name}: unknown", hint=hint)
        try:
            found |= READERS[name](str(text).strip())
        except ValueError as exc:
            raise StoryboardError(f"render.sampling.{name}: {text}: {exc}") from None
    return found


def placed(template: Template, figures: Mapping[str, Fill]) -> dict[str, Fill]:
    """The figures for a template's slots; guidance of 1 needs none, for the weights are distilled to it.

    Raises
    ------
    SettingsError : the graph has no place for one
    """
    there = {name: value for name, value in figures.items() if template.takes(name)}
    absent = [name for name in figures if name not in there and (name, figures[name]) != (CFG, 1.0)]
    if absent:
        raise SettingsError(
            f"graph {template.name}: render.sampling: it has no slot {absent[0]}",
            hint="leave it out, or name its place in the graph's slots file"
            if absent[0] != CFG
            else "the weights are guidance-distilled: cfg 1 is right",
        )
    return there


def changed(figures: Mapping[str, Fill], profile: Mapping[str, Fill]) -> list[str]:
    """What is set otherwise than by the profile, in words."""
    return [
        f"{name} {_said(value)} instead of {_said(profile.get(name))}"
        for name, value in figures.items()
        if value != profile.get(name, 1.0 if name == CFG else None)
    ]


def _said(value: Fill) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "none" if value is None else str(value)


def _shift(text: str) -> dict[str, Fill]:
    video, slash, audio = text.partition("/")
    if not slash:
        raise ValueError("of picture and sound, such as 12/3")
    return {"shift_video": _number(video), "shift_audio": _number(audio)}


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and value >= 0):
        raise ValueError("a number is wanted")
    return value


def _steps(text: str) -> dict[str, Fill]:
    if not (text.isdecimal() and 1 <= int(text) <= 1000):
        raise ValueError("a whole number from 1 to 1000 is wanted")
    return {"steps": int(text)}


def _detail(text: str) -> dict[str, Fill]:
    if text not in ("match", "max"):
        raise ValueError("match or max is wanted")
    return {"picture_detail": text}


READERS: dict[str, Callable[[str], dict[str, Fill]]] = {
    "shift": _shift,
    "steps": _steps,
    "sampler": lambda text: {"sampler": text},
    "scheduler": lambda text: {"scheduler": text},
    "cfg": lambda text: {CFG: _number(text)},
    "lora": lambda text: {"lora": None if text == "none" else text},
    "lora_strength": lambda text: {"lora_strength": _number(text)},
    "picture_detail": _detail,
}
