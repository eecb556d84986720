"""What ComfyUI's start flags do to H3, from `data/flags.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mvpipe.doctor.check import DATA
from mvpipe.render.comfyui.written import modelled, read_yaml

Effect = Literal["helpful", "no effect", "harmful", "dangerous", "workaround"]


class Flag(BaseModel):
    """One flag.

    Parameters
    ----------
    effect : what it does to H3
    says : why, in a sentence
    unless : a flag beside which this does not hold
    source : who says so
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    effect: Effect
    says: str = Field(min_length=10)
    unless: str = ""
    source: str = Field(min_length=4)


class Flags(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = Field(alias="mvpipe-flags")
    flags: Mapping[str, Flag]


@lru_cache(maxsize=1)
def known_flags() -> Mapping[str, Flag]:
    """Flags by name."""
    path = DATA / "flags.yaml"
    return modelled(Flags, read_yaml(path), path).flags


def given(argv: Sequence[str]) -> list[str]:
    """The flags of a command line, without their values."""
    return [word.partition("=")[0] for word in argv if word.startswith("--")]


def of_effect(argv: Sequence[str], effect: Effect) -> list[str]:
    """Flags of a command line that have this effect, each with its reason and source."""
    there, known = given(argv), known_flags()
    return [
        f"{flag}: {known[flag].says} ({known[flag].source})"
        for flag in there
        if flag in known and known[flag].effect == effect and known[flag].unless not in there
    ]
