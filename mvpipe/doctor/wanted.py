"""What is to be rendered: the graphs of a storyboard's cards, filled as a render would fill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.render.comfyui.examine import Facts as Sampling
from mvpipe.render.comfyui.examine import examine
from mvpipe.render.comfyui.filling import fill
from mvpipe.render.comfyui.graph import base_name, is_link
from mvpipe.render.comfyui.judge import Setting, setting_of
from mvpipe.render.comfyui.locks import value_of
from mvpipe.render.comfyui.profiles import default_profile, find_profile
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import DEFAULT, Template, load

if TYPE_CHECKING:
    from mvpipe.film import Card
    from mvpipe.render.backend import Setup
    from mvpipe.storyboard.load import Loaded

Graph = Mapping[str, Mapping[str, Any]]

FRAMES = 124
"""The shortest shot H3 was trained at: the checks hold a graph of it, for the cuts are not known yet."""

SIZE = 1344, 768
"""Where no storyboard says another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be rendered.

    Parameters
    ----------
    template : the graph it is made with
    graph : of one shot
    setting : what that graph claims of itself
    profile : name of the sampling profile
    size : (width, height)
    takes : shots that are to be rendered, or 0 where that is not known
    own : slot -> value, of what the storyboard sets otherwise than profile and graph
    prompts : (where in the storyboard, prompt, how many of each kind are wired) of every card
    """

    template: Template
    graph: Graph
    setting: Setting
    profile: str
    size: tuple[int, int]
    takes: int = 0
    own: Mapping[str, Fill] = field(default_factory=dict[str, Fill])
    prompts: tuple[tuple[str, str, Mapping[str, int]], ...] = ()

    @property
    def sampling(self) -> Sampling | None:
        """The first node that samples, and what reaches it."""
        found = examine(self.graph)
        return found[0] if found else None

    @property
    def weights(self) -> str:
        """The weights' file, or empty."""
        return base_name(self.sampling.weights or "") if self.sampling else ""

    @property
    def loras(self) -> tuple[str, ...]:
        """The LoRAs' files."""
        return tuple(base_name(one.file) for one in self.sampling.loras) if self.sampling else ()

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the graph that is known by its role."""
        roles = (self.file(role) for role in ("text_encoder", "video_vae", "audio_vae"))
        return tuple(name for name in (self.weights, *self.loras, *roles) if name)

    def file(self, role: str) -> str:
        """The file that plays a role, or empty: text_encoder, video_vae, audio_vae."""
        if role == "text_encoder":
            loaders = [node for node in self.graph.values() if "clip_name" in node["inputs"]]
            return base_name(str(loaders[0]["inputs"]["clip_name"])) if loaders else ""
        return next((file for kind, file in self._vaes() if kind == role), "")

    def _vaes(self) -> Iterator[tuple[str, str]]:
        """(role, file) of every VAE that a node is given, by the input's name or the node's class."""
        for node in self.graph.values():
            for name, value in node["inputs"].items():
                if is_link(value) and value[0] in self.graph:
                    file = value_of(self.graph, value[0], "vae_name")
                    sound = "audio" in name.lower() or ("Audio" in str(node["class_type"]) and name == "vae")
                    if isinstance(file, str):
                        yield "audio_vae" if sound else "video_vae", base_name(file)


def want(
    graph: str = DEFAULT, *, profile: str = "", size: tuple[int, int] = SIZE, beside: Path | None = None
) -> Wanted:
    """A graph with a voice and a picture, without a storyboard.

    Raises
    ------
    SettingsError : no such graph or profile, or it cannot be filled
    """
    template = load(graph, beside)
    name = profile or default_profile(size)
    values: dict[str, Fill] = {
        "prompt": "a singer, seen by <Audio 1>",
        "width": size[0],
        "height": size[1],
        "length": FRAMES,
        "seed": 0,
        "pictures": ["picture.png"],
        "vocals": "vocal.wav",
        **find_profile(name).values(),
    }
    there = {slot: value for slot, value in values.items() if template.takes(slot)}
    setting = setting_of(template, there)
    return Wanted(template=template, graph=fill(template, there), setting=setting, profile=name, size=size)


def want_film(loaded: Loaded, *, takes: int = 0) -> Wanted:
    """What a storyboard asks for: the graph of its first sung card, and the prompts of all.

    Raises
    ------
    MvpipeError : something in it cannot be filmed
    """
    from mvpipe.render.comfyui.options import Options, read_options
    from mvpipe.render.comfyui.script import Sounding
    from mvpipe.render.comfyui.slating import VOCALS, shot_graph
    from mvpipe.storyboard.check import check

    check(loaded)
    render = loaded.storyboard.render
    options = read_options(render.options_for("comfyui"), Options())
    template = load(options.graph, loaded.path.absolute().parent)
    size = loaded.storyboard.picture.size
    made = [(where, shot_graph(setup, template, options)) for where, setup in _setups(loaded)]
    if not made:
        return want(
            options.graph, profile=options.profile, size=(size.width, size.height), beside=loaded.path.parent
        )
    shot = next((one for _, one in made if one.sound is Sounding.VOICE), made[0][1])
    sounds = shot.sound is not Sounding.NONE
    return Wanted(
        template=template,
        graph=shot.graph,
        setting=Setting(lock=shot.lock, vocals=template.loader(VOCALS) if sounds else ""),
        profile=shot.profile,
        size=(size.width, size.height),
        takes=takes,
        own={**options.sampling, **options.models},
        prompts=tuple((where, one.prompt, one.wired) for where, one in made),
    )


def _setups(loaded: Loaded) -> Iterator[tuple[str, Setup]]:
    """A shot of the shortest length for every card that is written."""
    from mvpipe.bank import pin
    from mvpipe.clock import Span
    from mvpipe.film import Shot
    from mvpipe.render.backend import Asset, Setup

    bank, size = pin(loaded), loaded.storyboard.picture.size
    whole = Span(0, FRAMES, Fraction(24))
    for number, (where, card) in enumerate(_cards(loaded), 1):
        yield (
            where,
            Setup(
                shot=Shot(number=number, cut=whole, window=whole, card=card, voice=1.0),
                title=loaded.storyboard.title,
                look=loaded.storyboard.look,
                cast=tuple(bank.cast[name] for name in card.cast),
                place=bank.places[card.place] if card.place else None,
                vocals=Asset(path=loaded.path, digest="0" * 64),
                accompaniment=Asset(path=loaded.path, digest="1" * 64),
                size=(size.width, size.height),
                options=loaded.storyboard.render.options_for("comfyui"),
            ),
        )


def _cards(loaded: Loaded) -> Iterator[tuple[str, Card]]:
    from mvpipe.film import Card, ShotKind

    for section in loaded.storyboard.sections:
        for number, shot in enumerate(section.shots, 1):
            card = Card(
                prompt=shot.prompt,
                kind=ShotKind(shot.kind),
                cast=tuple(shot.cast),
                place=shot.place or "",
                framing=shot.framing or "",
                section=section.name,
                without_voice=shot.without_voice or "",
                continuity=shot.continuity,
            )
            yield f"{section.name}, shot {number}", card
