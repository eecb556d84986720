"""The ComfyUI backend: MiniMax H3 takes from a server, their mouths locked to the isolated voice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mvpipe.errors import MediaError, RenderFailed, SettingsError
from mvpipe.film import Slate
from mvpipe.render.backend import Asset, Progress, Setup, VoiceFormat
from mvpipe.render.comfyui import slating
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.examine import examine
from mvpipe.render.comfyui.filling import finished, put
from mvpipe.render.comfyui.fitting import Fitted, fitted
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge import Setting
from mvpipe.render.comfyui.options import Options, read_options
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.pictures import still, upload_name
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.server import Facts, Server
from mvpipe.render.comfyui.slating import VOCALS, ShotGraph, shot_graph
from mvpipe.render.comfyui.template import Template, load
from mvpipe.render.comfyui.times import predict_s
from mvpipe.render.comfyui.vocal import VOCAL_RATE, vocal_samples

NAME = "comfyui/1"
"""The number is raised when the same slate would give other bytes."""

FACTS = ".facts.json"
"""Beside a take: what was known of the server and of how the render went."""


@dataclass
class ComfyUI:
    """The backend (`mvpipe.render.backend.Backend`, and `WantsVoice`).

    Parameters
    ----------
    client : of the server
    defaults : what the storyboard does not say
    beside : folder that relative paths of graphs start from: the storyboard's
    """

    client: Client
    defaults: Options = field(default_factory=Options)
    beside: Path = field(default_factory=Path)
    _asked: dict[str, Template] = field(default_factory=dict[str, Template], init=False, repr=False)
    _named: dict[str, Template] = field(default_factory=dict[str, Template], init=False, repr=False)

    @property
    def name(self) -> str:
        """With the version of what decides the bytes."""
        return NAME

    @property
    def slots(self) -> int:
        """One that renders, and one that is queued before it ends."""
        return 2

    def greet(self) -> Facts:
        """What the server tells of itself: for one clear error before the work begins; as `Client.greet`."""
        return self.client.greet()

    def voice_format(self, frames: int) -> VoiceFormat:
        """As the audio VAE takes it whole: what has another length is cropped, and the mouth is early."""
        return VoiceFormat(sample_rate=VOCAL_RATE, channels=2, samples=vocal_samples(frames))

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        """What decides the take's bytes; asks no server.

        Raises
        ------
        StoryboardError : an option, a picture or words that cannot be used
        SettingsError : no such graph or profile
        GraphRejected : the graph cannot do what the shot needs
        """
        slating.check_rate(setup)
        template, made = self._filled(setup)
        return Slate(
            shot=setup.shot.number,
            take=take,
            seed=seed,
            backend=NAME,
            frames=len(setup.shot.window),
            size=setup.size,
            graph=slating.record(made, template),
            inputs={role: asset.digest for role, asset in slating.assets(made, setup).items()},
        )

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        """The sound, and the pictures the shot is made from."""
        return slating.assets(self._filled(setup)[1], setup)

    def prompt(self, setup: Setup) -> str:
        """The exact prompt of a shot."""
        return self._filled(setup)[1].prompt

    def notes(self, setup: Setup) -> tuple[str, ...]:
        """What the user should know of a shot before the night."""
        return self._filled(setup)[1].notes

    def fit(self, slate: Slate) -> tuple[str, ...]:
        """Hold a slate against the server without sending anything; what may be wrong, in words.

        Raises
        ------
        GraphRejected : it does not fit, with every reason
        BackendError : the server cannot be asked
        """
        return self._fitted(slate, self.client.server, slate.graph["graph"]).notes

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        """Write the take, and beside it what is known of it (`take.facts.json` beside `take.mp4`).

        Raises
        ------
        BackendError : as `Client.make`; `RenderFailed` also for a take that is not what was asked for
        """
        from mvpipe.render.comfyui import viewing

        voice = viewing.sent(slate, assets)
        order = self._order(slate, assets)
        made = self.client.make(order, into, progress)
        if faults := viewing.faults(slate, into, voice, made, order.steps):
            self.client.reject(order.key)
            into.unlink()
            raise RenderFailed(f"{order.title}: {'; '.join(faults)}", hint="another seed is tried next")
        self._keep_facts(slate, made, into)

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        """Seconds for a take on a 24 GB card, as far as anybody published a figure."""
        return predict_s(frames, size, self.defaults.profile)

    def _template(self, asked: str) -> Template:
        """By what the storyboard asks for; a slate knows it by its name alone, which is remembered here."""
        if asked not in self._asked:
            found = load(asked, self.beside)
            known = self._named.setdefault(found.name, found)
            if known.path != found.path:
                raise SettingsError(
                    f"graph: {found.path}: of the same name as {known.path}", hint="rename one"
                )
            self._asked[asked] = found
        return self._asked[asked]

    def _filled(self, setup: Setup) -> tuple[Template, ShotGraph]:
        options = read_options(setup.options, self.defaults)
        template = self._template(options.graph)
        return template, shot_graph(setup, template, options)

    def _order(self, slate: Slate, assets: Mapping[str, Path]) -> Order:
        template, graph = self._named[slate.graph["template"]], slate.graph["graph"]
        facts = examine(graph)
        return Order(
            key=key_of(slate),
            title=f"shot {slate.shot}, take {slate.take}",
            graph=graph,
            outputs=template.slots.outputs,
            steps=(facts[0].steps or 0) if facts else 0,
            uploads=_uploads(slate, assets),
            fit=lambda server, filled: self._fitted(slate, server, filled).graph,
            finish=partial(_finish, template, slate.seed),
            whole=_is_whole,
        )

    def _fitted(self, slate: Slate, server: Server, graph: Mapping[str, Any]) -> Fitted:
        template = self._named[slate.graph["template"]]
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


def key_of(slate: Slate) -> str:
    """Digest of all that decides a take: the shot's number and the attempt stay out."""
    decides = [slate.backend, slate.frames, slate.size, slate.seed, slate.graph, dict(slate.inputs)]
    text = json.dumps(decides, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _finish(
    template: Template, seed: int, graph: Mapping[str, Any], prefix: str, names: Mapping[str, str]
) -> Graph:
    return finished(template, put(template, graph, {"seed": seed}), prefix, names)


def _uploads(slate: Slate, assets: Mapping[str, Path]) -> dict[str, Path | bytes]:
    found: dict[str, Path | bytes] = {}
    if slate.graph["sound"] == Sounding.SILENCE:
        found |= [slating.silence(slate.frames)]
    for role, digest in slate.inputs.items():
        if role == VOCALS:
            found[slating.voice_name(digest)] = assets[role]
        else:
            found[upload_name(digest, ".png")] = still(assets[role], digest).png
    return found


def _is_whole(path: Path) -> bool:
    from mvpipe.tools import picture

    try:
        return len(picture.times(path)) > 0
    except MediaError:
        return False
