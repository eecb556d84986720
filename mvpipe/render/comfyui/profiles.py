"""Sampling profiles and what is known of weights and LoRAs, from `data/profiles.yaml`, with their sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.graph import base_name
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.written import modelled, read_yaml

HERE = Path(__file__).parent / "data"

Task = Literal["ref2va", "fl2va"]


def _pair(text: Any) -> Any:
    """`12/3` as (12.0, 3.0)."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", text) if isinstance(text, str) else None
    return (float(found[1]), float(found[2])) if found else text


def _size(text: Any) -> Any:
    """`960x544` as (960, 544)."""
    found = re.fullmatch(r"(\d+)x(\d+)", text) if isinstance(text, str) else None
    return (int(found[1]), int(found[2])) if found else text


Shift = Annotated[tuple[float, float], BeforeValidator(_pair)]
"""(video, audio)"""

Size = Annotated[tuple[int, int], BeforeValidator(_size)]
"""(width, height)"""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Known(_Part):
    """Figures of one kind: what is right, what else is claimed, and why anything else is refused."""

    source: str
    disputed: tuple[Any, ...] = ()
    other: str = ""
    wrong: str = ""


class Shifts(_Known):
    """Known shifts."""

    right: tuple[Shift, ...]
    disputed: tuple[Shift, ...] = ()


class Calls(_Known):
    """Known numbers of model calls."""

    right: tuple[int, ...]


class Names(_Known):
    """Known samplers or schedulers."""

    right: tuple[str, ...]


class Sized(_Part):
    """A size somebody trained or tested at."""

    size: Size
    source: str

    @property
    def area(self) -> int:
        """Pixels."""
        return self.size[0] * self.size[1]


class Known(_Part):
    """What is known of weights or a LoRA."""

    task: Task
    trained: Sized | None = None
    tested: Sized | None = None
    shift: Shifts
    calls: Calls
    sampler: Names
    scheduler: Names
    note: str = ""

    @property
    def largest(self) -> int | None:
        """Pixels of the largest picture it was made or tested for; None if any."""
        areas = [sized.area for sized in (self.trained, self.tested) if sized]
        return max(areas, default=None)


class Profile(_Part):
    """Settings that belong together.

    Parameters
    ----------
    about : for people
    lora : its file, or None for the weights alone
    shift : of picture and sound
    """

    about: str
    lora: str | None
    lora_strength: float = 1.0
    shift: Shift
    steps: int
    sampler: str
    scheduler: str
    picture_detail: Literal["match", "max"] = "match"

    def values(self) -> dict[str, Fill]:
        """What goes into a template's slots."""
        return {
            "lora": self.lora,
            "lora_strength": self.lora_strength,
            "shift_video": self.shift[0],
            "shift_audio": self.shift[1],
            "steps": self.steps,
            "sampler": self.sampler,
            "scheduler": self.scheduler,
            "picture_detail": self.picture_detail,
        }

    def fitted(self, takes: Callable[[str], bool]) -> tuple[dict[str, Fill], tuple[str, ...]]:
        """Its values for the slots a template has, and the names of those it has not.

        What a graph has no slot for stays as the graph says; the check of the filled graph judges it.
        """
        values = self.values()
        there = {name: value for name, value in values.items() if takes(name)}
        return there, tuple(name for name in values if name not in there)


class Figure(_Part):
    """A number and where it comes from."""

    value: int
    source: str


class Limits(_Part):
    """What holds for all weights."""

    rate: Figure
    multiple: Figure
    area: Figure
    frames: Figure
    shortest: Figure


class Samplers(_Part):
    """Samplers by model calls a step."""

    once: tuple[str, ...]
    twice: tuple[str, ...]
    thrice: tuple[str, ...]

    def calls(self, sampler: str) -> int | None:
        """Model calls a step; None where it is not known."""
        for calls, names in enumerate((self.once, self.twice, self.thrice), 1):
            if sampler in names:
                return calls
        return None


class Profiles(_Part):
    """The whole file."""

    version: Literal[1] = Field(alias="mvpipe-profiles")
    sources: Mapping[str, str]
    limits: Limits
    samplers: Samplers
    weights: Mapping[str, Known]
    loras: Mapping[str, Known]
    profiles: Mapping[str, Profile]

    def source(self, name: str) -> str:
        """A source in full."""
        return self.sources.get(name, name)

    def lora(self, file: str) -> Known | None:
        """What is known of a LoRA, by its file's name; the longest name that fits wins."""
        return _of_file(self.loras, file)

    def weights_of(self, file: str) -> Known | None:
        """What is known of weights, by their file's name."""
        return _of_file(self.weights, file)


def _of_file(known: Mapping[str, Known], file: str) -> Known | None:
    whole = r"(?<![0-9A-Za-z]){}(?![0-9A-Za-z]|\.\d)"
    fits = [name for name in known if re.search(whole.format(re.escape(name)), base_name(file))]
    return known[max(fits, key=len)] if fits else None


@lru_cache(maxsize=1)
def known() -> Profiles:
    """The profiles that come with mvpipe."""
    path = HERE / "profiles.yaml"
    return modelled(Profiles, read_yaml(path), path)


def find_profile(name: str) -> Profile:
    """A profile by its name.

    Raises
    ------
    SettingsError : there is none
    """
    profiles = known().profiles
    if name not in profiles:
        near = get_close_matches(name, profiles, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(profiles))}"
        raise SettingsError(f"profile: {name}: no such profile", hint=hint)
    return profiles[name]


def default_profile(size: tuple[int, int]) -> str:
    """The profile for a picture of this size: the 4-step LoRA as far as it was tested, else the 768p one."""
    small = "ref2va-turbo-4"
    lora = known().profiles[small].lora or ""
    tested = known().lora(lora)
    fits = tested is not None and tested.largest is not None and size[0] * size[1] <= tested.largest
    return small if fits else "ref2va-turbo-8"
