"""The ComfyUI backend: MiniMax H3 takes from a server, their mouths locked to the isolated voice."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import BackendError, RenderFailed
from mvpipe.film import Shot, Slate
from mvpipe.render.backend import NO_LIMITS, Asset, Host, Limits, Needs, Progress, Ran, Setup, VoiceFormat
from mvpipe.render.comfyui import advice, media, slating
from mvpipe.render.comfyui.bank import Reference
from mvpipe.render.comfyui.circumstances import ran
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.examine import examine
from mvpipe.render.comfyui.failures import sign
from mvpipe.render.comfyui.fitting import Fitted, fitted
from mvpipe.render.comfyui.graph import Node
from mvpipe.render.comfyui.judge import Setting
from mvpipe.render.comfyui.options import Options, read_options
from mvpipe.render.comfyui.order import Made
from mvpipe.render.comfyui.ordering import digest_of, key_of, order_of, telling
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.slating import VOCALS, ShotGraph, shot_graph
from mvpipe.render.comfyui.station import Station
from mvpipe.render.comfyui.template import Template, load
from mvpipe.render.comfyui.times import predict_s
from mvpipe.render.comfyui.vocal import VOCAL_RATE, vocal_samples

if TYPE_CHECKING:
    from mvpipe.tools.heard import Heard

NAME = "comfyui/1"
"""The number is raised when the same slate would give other bytes."""

FACTS = ".facts.json"
"""Beside a take: what was known of the server and of how the render went."""


LATELY = 8
"""Setups whose graphs are kept: filling one takes some milliseconds, and a film may have ten thousand."""


@dataclass
class ComfyUI:
    """The backend (`mvpipe.render.backend.Backend`, and `WantsAccompaniment`, `Chains`, `NotesPlan`).

    Parameters
    ----------
    client : of the server, or of the first of several
    defaults : what the storyboard does not say
    beside : folder that relative paths of graphs start from: the storyboard's
    others : clients of further servers, each with its speed against the first
    limits : name of a server -> what it is to be given, where that is not everything
    """

    client: Client
    defaults: Options = field(default_factory=Options)
    beside: Path = field(default_factory=Path)
    others: tuple[tuple[Client, float], ...] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    _lately: deque[tuple[Setup, tuple[Template, ShotGraph]]] = field(
        default_factory=lambda: deque[tuple[Setup, tuple[Template, ShotGraph]]](maxlen=LATELY),
        init=False,
        repr=False,
    )
    _asked: dict[str, Template] = field(default_factory=dict[str, Template], init=False, repr=False)
    _templates: dict[str, Template] = field(default_factory=dict[str, Template], init=False, repr=False)
    _nodes: dict[str, tuple[str, Node]] = field(
        default_factory=dict[str, tuple[str, Node]], init=False, repr=False
    )

    @property
    def name(self) -> str:
        """With the version of what decides the bytes."""
        return NAME

    @property
    def slots(self) -> int:
        """One that renders, and one that is queued before it ends."""
        return 2

    def greet(self) -> tuple[str, ...]:
        """Ask every server what it is; what is said of those that are not there, as long as one is.

        Raises
        ------
        BackendError : none is; as `Client.greet` of the first
        """
        missed = [error for client in self._clients if (error := _greeted(client))]
        if len(missed) == len(self._clients):
            raise missed[0]
        return tuple(map(str, missed))

    def hosts(self) -> Sequence[tuple[Host, float]]:
        """The servers, each with its speed against the first."""
        stations = [
            Station(client, self.render_at, key_of, self.limits.get(client.server.name, NO_LIMITS))
            for client in self._clients
        ]
        for station in stations:
            station.others = [other for other in stations if other is not station]
        return [
            (one, speed) for one, speed in zip(stations, (1.0, *(s for _, s in self.others)), strict=True)
        ]

    def home(self, slate: Slate) -> str:
        """Name of the server that has made a take, or begun it last."""
        return self.client.records.last(key_of(slate), [client.server.name for client in self._clients])

    def needs(self, setup: Setup) -> Needs:
        """What must be in memory for a shot, and what is encoded for it."""
        template, made = self._filled(slating.without_sound(setup))
        facts = examine(made.graph)
        return Needs(
            model=digest_of([template.name, made.profile, setup.size, slating.model_files(made.graph)]),
            text=digest_of([made.prompt, [one.asset.digest for one in made.bank.all]]),
            steps=(facts[0].steps or 0) if facts else 0,
            profile=made.profile,
            conditioning=made.conditioning,
        )

    def voice_format(self, frames: int) -> VoiceFormat:
        """As the audio VAE takes it whole: what has another length is cropped, and the mouth is early."""
        return VoiceFormat(sample_rate=VOCAL_RATE, channels=2, samples=vocal_samples(frames))

    def accompanies(self, shot: Shot, options: Mapping[str, Any]) -> bool:
        """Whether a shot is locked to the accompaniment."""
        asked = read_options(options, self.defaults)
        return slating.sound_of(shot, self._template(asked.graph), asked) is Sounding.ACCOMPANIMENT

    def chains(self, shot: Shot, options: Mapping[str, Any]) -> bool:
        """Whether a shot goes on from the one before; as `slating.goes_on`."""
        return slating.goes_on(shot, self._template(read_options(options, self.defaults).graph))

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        """What decides the take's bytes; asks no server.

        Raises
        ------
        StoryboardError : an option, a picture or words that cannot be used
        SettingsError : no such graph or profile, or the graph cannot do what the shot needs
        """
        slating.check_rate(setup)
        slating.check_join(setup)
        template, made = self._filled(setup)
        graph = slating.record(made, template)
        self._templates[digest_of(graph)] = template  # a slate tells no file
        return Slate(
            shot=setup.shot.number,
            take=take,
            seed=seed,
            backend=NAME,
            frames=len(setup.shot.window),
            size=setup.size,
            graph=graph,
            inputs={role: asset.digest for role, asset in slating.assets(made, setup).items()},
        )

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        """The sound, and the references the shot is made from."""
        return slating.assets(self._filled(setup)[1], setup)

    def pinned(self, setup: Setup) -> Mapping[str, Mapping[str, Any]]:
        """The references a shot is made from, by digest: size, length, as sent."""
        return {one.asset.digest: media.as_sent(one.role, one.asset) for one in self._bank(setup)}

    def make_ready(self, setup: Setup) -> None:
        """Make every reference of a shot as it will be sent, once."""
        for one in self._bank(setup):
            media.content(one.role, one.asset)

    def prompt(self, setup: Setup) -> str:
        """The exact prompt of a shot."""
        return self._filled(setup)[1].prompt

    def notes(self, setup: Setup) -> tuple[str, ...]:
        """What the user should know of a shot before the night."""
        return self._filled(slating.without_sound(setup))[1].notes

    def plan_notes(self, options: Mapping[str, Any], size: tuple[int, int]) -> tuple[str, ...]:
        """Figures of sampling that are not the profile's, and a graph that locks nothing."""
        asked = read_options(options, self.defaults)
        return advice.settings_notes(asked, self._template(asked.graph), size)

    def fit(self, slate: Slate) -> tuple[str, ...]:
        """Hold a slate against the server without sending anything; what may be wrong, in words.

        Raises
        ------
        GraphRejected : it does not fit, with every reason
        BackendError : the server cannot be asked
        """
        return self._fitted(slate, self.client.server, slate.graph["graph"]).notes

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        """Write the take, made by the first server; as `render_at`."""
        self.render_at(self.client, slate, assets, into, progress)

    def render_at(
        self, client: Client, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress
    ) -> Ran:
        """Write the take, and beside it what is known of it (`take.facts.json` beside `take.mp4`).

        Raises
        ------
        BackendError : as `Client.make`; `RenderFailed` also for a take that is not what was asked for
        """
        from mvpipe.render.comfyui import viewing

        voice = viewing.sent(slate, assets)
        template = self._templates[digest_of(slate.graph)]
        order = order_of(
            slate, template, assets, lambda server, graph: self._fitted(slate, server, graph).graph
        )
        made = client.make(order, into, progress)
        if faults := viewing.faults(slate, into, voice, made, order.steps) or telling(into):
            client.reject(order.key)
            into.unlink()
            what = "; ".join(faults)
            raise RenderFailed(f"{order.title}: {what}", hint="another seed is tried next", sign=sign(what))
        self._keep_facts(slate, made, into)
        return ran(made.facts)

    def locks(self, slate: Slate) -> bool:
        """Whether the graph freezes the sound that is sent."""
        return bool(slate.graph["lock"] == "exact")

    def locked(self, slate: Slate, assets: Mapping[str, Path]) -> Heard | None:
        """The sound that a take of this slate should carry; None where the graph does not freeze it."""
        from mvpipe.render.comfyui import viewing

        return viewing.sent(slate, assets) if self.locks(slate) else None

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        """Seconds for a take on a 24 GB card, as far as anybody published a figure."""
        return predict_s(frames, size, self.defaults.profile)

    @property
    def _clients(self) -> tuple[Client, ...]:
        return self.client, *(client for client, _ in self.others)

    def _template(self, asked: str) -> Template:
        """By what the storyboard asks for."""
        if asked not in self._asked:
            self._asked[asked] = load(asked, self.beside)
        return self._asked[asked]

    def _bank(self, setup: Setup) -> tuple[Reference, ...]:
        options = read_options(setup.options, self.defaults)
        return slating.bank_of(setup, self._template(options.graph), options).all

    def _filled(self, setup: Setup) -> tuple[Template, ShotGraph]:
        """A shot's graph; kept a while, since slates, assets and notes ask for the same in turn."""
        for known, filled in tuple(self._lately):
            if known is setup:
                return filled
        options = read_options(setup.options, self.defaults)
        template = self._template(options.graph)
        made = shot_graph(setup, template, options)
        graph = {name: self._kept(name, node) for name, node in made.graph.items()}
        filled = template, replace(made, graph=graph)
        self._lately.append((setup, filled))
        return filled

    def _kept(self, name: str, node: Node) -> Node:
        """A node of a graph; the one of the shot before where that says the same, as most do."""
        words, known = repr(node), self._nodes.get(name)
        if known and known[0] == words:  # 1 equals 1.0, and is another key
            return known[1]
        self._nodes[name] = words, node
        return node

    def _fitted(self, slate: Slate, server: Server, graph: Mapping[str, Any]) -> Fitted:
        template = self._templates[digest_of(slate.graph)]
        known = {name: info for name in template.asks() if (info := server.schema(name)) is not None}
        facts = server.facts()
        setting = Setting(
            device=str(facts.devices[0].get("name", "")) if facts.devices else "",
            argv=facts.system.get("argv") or (),
            lock=slate.graph["lock"],
            vocals="" if slate.graph["sound"] == Sounding.NONE else template.loader(VOCALS),
        )
        return fitted(template, graph, read_schemas(known), setting)

    def _keep_facts(self, slate: Slate, made: Made, into: Path) -> None:
        told = {**made.facts, "lock": slate.graph["lock"], "sound": slate.graph["sound"]}
        path = into.with_name(into.stem + FACTS)
        path.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", "utf-8")


def _greeted(client: Client) -> BackendError | None:
    """What is wrong with a server, if anything."""
    try:
        client.greet()
    except BackendError as exc:
        return exc
    return None
