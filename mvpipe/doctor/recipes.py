"""Recipes from `data/recipes.yaml`: files, flags, nodes and settings for a kind of machine."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mvpipe.doctor.check import DATA, Case, NotVisible
from mvpipe.doctor.checks_machine import card_memory, is_radeon
from mvpipe.doctor.facts import GIB, Facts, Unseen
from mvpipe.doctor.machine import Eyes, look
from mvpipe.doctor.wanted import want
from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.judge_nodes import CONSUMER_BLACKWELL
from mvpipe.render.comfyui.written import modelled, read_yaml


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class File(_Part):
    """A file, the folder it goes to, and its size in words."""

    name: str
    folder: str
    size: str


class Machine(_Part):
    """For which machines: card memory from `least_gib` to below `most_gib`; `host_gib` is advised."""

    maker: Literal["amd", "nvidia", "none"]
    blackwell: bool = False
    least_gib: float = Field(ge=0)
    most_gib: float = Field(gt=0)
    host_gib: int


class Figure(_Part):
    """Seconds, or None where nobody published any; and who says so."""

    value: float | None
    source: str = Field(min_length=4)


class Recipe(_Part):
    """All that belongs together on one kind of machine."""

    title: str
    machine: Machine
    backend: Literal["comfyui", "animatic"]
    graph: str
    profile: str
    size: str = Field(pattern=r"^\d+x\d+$")
    text_device: Literal["", "cpu"] = ""
    files: tuple[File, ...]
    flags: tuple[str, ...]
    nodes: tuple[str, ...]
    notes: tuple[str, ...]
    step_s: Figure
    shot_s: Figure
    source: str = Field(min_length=4)
    unproved: tuple[str, ...]

    def settings(self) -> dict[str, str]:
        """What it says in a storyboard's `render`."""
        told = {"backend": self.backend, "graph": self.graph, "profile": self.profile}
        told |= {"weights": self._file("diffusion_models"), "video_vae": self._file("vae")}
        told |= {"text_device": self.text_device}
        return {name: value for name, value in told.items() if value}

    def _file(self, folder: str) -> str:
        """The first file of a folder, or empty."""
        return next((one.name for one in self.files if one.folder == folder), "")

    def text(self, name: str) -> str:
        """For people."""
        rows = [("machine", _machine(self.machine)), ("render", _line(self.settings())), ("size", self.size)]
        rows += [("file", f"models/{one.folder}/{one.name}  ({one.size})") for one in self.files]
        rows += [("start", f"python main.py {' '.join(self.flags)}")] if self.flags else []
        rows += [("nodes", node) for node in self.nodes]
        rows += [("a step", _seconds(self.step_s)), ("a shot", _seconds(self.shot_s))]
        rows += [("note", note) for note in self.notes]
        rows += [("unproved", one) for one in self.unproved]
        rows += [("source", self.source)]
        return "\n".join([f"{name}: {self.title}", *(f"  {head.ljust(8)}  {text}" for head, text in rows)])


class Recipes(_Part):
    """The whole file; `files` holds what recipes share."""

    version: Literal[1] = Field(alias="mvpipe-recipes")
    files: Mapping[str, File]
    recipes: Mapping[str, Recipe]


@lru_cache(maxsize=1)
def known_recipes() -> Mapping[str, Recipe]:
    """Recipes by name."""
    path = DATA / "recipes.yaml"
    return modelled(Recipes, read_yaml(path), path).recipes


def find_recipe(name: str) -> Recipe:
    """A recipe by its name.

    Raises
    ------
    SettingsError : there is none
    """
    recipes = known_recipes()
    if name not in recipes:
        near = get_close_matches(name, recipes, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(recipes)}"
        raise SettingsError(f"recipe: {name}: no such recipe", hint=hint)
    return recipes[name]


def suggest(case: Case) -> str:
    """The recipe for what was seen; empty where the card is not visible."""
    try:
        memory = card_memory(case) / GIB
    except NotVisible:
        return "cpu-animatic" if _no_card(case.facts) else ""
    if _renders_on_cpu(case.facts):
        return "cpu-animatic"
    maker = "amd" if is_radeon(case) else "nvidia"
    blackwell = bool(CONSUMER_BLACKWELL.search(_name(case.facts)))
    fits = {
        name: recipe.machine
        for name, recipe in known_recipes().items()
        if recipe.machine.maker == maker and recipe.machine.least_gib <= memory < recipe.machine.most_gib
    }
    own = [name for name, machine in fits.items() if machine.blackwell == blackwell]
    return next(iter([*own, *fits]), "")


def suggest_here(folder: Path, eyes: Eyes | None = None) -> str:
    """The recipe for this machine, where no server was asked; empty where its card is not visible."""
    return suggest(Case(facts=Facts(machine=look(folder, eyes)), wanted=want()))


def _name(facts: Facts) -> str:
    if not isinstance(facts.server, Unseen):
        return facts.server.device
    cards = (
        ()
        if isinstance(facts.machine, Unseen) or isinstance(facts.machine.cards, Unseen)
        else facts.machine.cards
    )
    return cards[0].name if cards else ""


def _renders_on_cpu(facts: Facts) -> bool:
    server = facts.server
    return not isinstance(server, Unseen) and bool(server.devices) and server.devices[0].kind == "cpu"


def _no_card(facts: Facts) -> bool:
    """Whether this machine has none, rather than that it was not looked at."""
    return isinstance(facts.server, Unseen) and not isinstance(facts.machine, Unseen)


def _machine(machine: Machine) -> str:
    if machine.maker == "none":
        return "no graphics card"
    to = f" to {machine.most_gib:g}" if machine.most_gib < 1000 else " or more"
    return f"{machine.maker}, {machine.least_gib:g}{to} GiB; {machine.host_gib} GiB of host memory"


def _seconds(figure: Figure) -> str:
    return f"{'not known' if figure.value is None else f'{figure.value:g} s'} ({figure.source})"


def _line(settings: Mapping[str, Any]) -> str:
    return f"render: {{{', '.join(f'{name}: {value}' for name, value in settings.items())}}}"


def render_line(name: str) -> str:
    """A recipe as the line of a storyboard."""
    return _line(find_recipe(name).settings())
