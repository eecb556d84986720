"""The canary: one smallest useful render by the chosen graph, looked into; then what seed and LoRA change.

416x256, 22 frames, 4 steps: the smallest proof anybody published (the build log of a Radeon RX 6650 XT).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mvpipe.clock import FILM_RATE
from mvpipe.doctor.ablation import Ablation, Luma, distance, luma
from mvpipe.doctor.canary import recipe_of
from mvpipe.doctor.facts import Canary, Unseen
from mvpipe.doctor.props import FRAMES, LONG, phrase, portrait
from mvpipe.doctor.wanted import Wanted
from mvpipe.errors import RenderFailed
from mvpipe.film import Outcome, Slate
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.filling import fill, finished
from mvpipe.render.comfyui.fitting import fitted
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge import Setting
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.pictures import upload_name
from mvpipe.render.comfyui.profiles import find_profile
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import Template
from mvpipe.render.comfyui.vocal import VOCAL_RATE, wav_bytes
from mvpipe.tools.heard import Heard

SIZE = (416, 256)
PROMPT = "A woman in medium close-up faces us and speaks, her mouth in full view. <Audio 1> is her voice."
PICTURE_CHECKS = ("decodable", "rate", "size", "black", "plain", "noise")

ASK_S = 0.5
"""Seconds between two looks at the card's memory. A canary is short, and what decodes it makes no steps: a
spike of under half a second is all that is missed."""

STILL = 0.75
"""Share of the frames that stand still in a frozen take; a coder takes some to settle on one picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Take:
    """One render of the canary: which, and where it goes.

    Parameters
    ----------
    name : in messages
    seed : of sampling
    voice : name under which the voice is sent; another name has the server sample again what it still has
    lora : false to leave it out
    """

    name: str
    seed: int
    voice: str
    lora: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shot:
    """What came of a render; `luma` is None of one that cannot be looked at."""

    faults: tuple[str, ...]
    luma: Luma | None
    step_s: float | Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prober:
    """Renders canaries on one server, and notes the card's least free memory."""

    wanted: Wanted
    client: Client
    scratch: Path
    now: float
    say: Callable[[str], None]
    free: list[int]

    def render(self, take: _Take, *, watch: bool = False) -> _Shot:
        """Render one; where `watch`, memory is asked for meanwhile, which may slow its steps a little."""
        self.say(f"canary: {take.name}")
        into = self.scratch / f"{take.name}.mp4"
        graph = _graph(self.wanted, take)
        steps = (self.wanted.sampling.steps if self.wanted.sampling else 0) or 0
        try:
            made = self.client.make(self._order(take, graph), into, self._watch() if watch else _unseen)
        except RenderFailed as exc:
            return _Shot(faults=(str(exc),), luma=None, step_s=Unseen("it did not render"))
        self._note_memory()
        return _looked(self.wanted.template, graph, into, made, steps)

    def _order(self, take: _Take, graph: Graph) -> Order:
        template = self.wanted.template
        return Order(
            key=hashlib.sha256(f"canary {self.now} {take} {graph}".encode()).hexdigest(),
            title=f"canary, {take.name}",
            graph=graph,
            outputs=template.slots.outputs,
            steps=0,
            uploads={
                take.voice: wav_bytes(phrase(frames_of(template))),
                **dict.fromkeys(_pictures(template), portrait()),
            },
            fit=partial(_fit, template),
            finish=partial(finished, template),
        )

    def _watch(self) -> Callable[[int, int], None]:
        """Notes the card's free memory all the while, twice a second."""
        last = [0.0]

        def tell(done: int, of: int) -> None:
            if time.monotonic() - last[0] >= ASK_S:
                last[0] = time.monotonic()
                self._note_memory()

        return tell

    def _note_memory(self) -> None:
        self.free.extend(
            int(one["vram_free"]) for one in self.client.server.devices()[:1] if "vram_free" in one
        )


def _unseen(done: int, of: int) -> None:
    """Nothing is done at a step: this render is the one that is timed."""


def prove(
    wanted: Wanted, client: Client, scratch: Path, *, now: float, say: Callable[[str], None] = lambda _: None
) -> Canary:
    """Render the canary and look into it; then once more, with another seed, and without its LoRA.

    What is wrong with the first take is told, and nothing more is rendered: a bad take proves nothing.

    Parameters
    ----------
    scratch : folder for the takes
    now : Unix seconds; the seeds derive from it, so that no server's cache answers

    Raises
    ------
    BackendError : the server does not answer, or refuses the graph
    """
    facts = client.greet()
    prober = _Prober(wanted=wanted, client=client, scratch=scratch, now=now, say=say, free=[])
    say(f"canary: {SIZE[0]}x{SIZE[1]}, {frames_of(wanted.template)} frames, graph {wanted.template.name}")
    seed, voice = int(now) % 2**32, hashlib.sha256(wav_bytes(phrase(frames_of(wanted.template)))).hexdigest()
    first = _Take(name="first", seed=seed, voice=f"mvpipe/{voice}.wav")
    whole = prober.render(first, watch=True)
    found = _ablated(prober, first, whole) if whole.luma is not None and not whole.faults else {}
    total = int(facts.devices[0].get("vram_total") or 0) if facts.devices else 0
    told: dict[str, Any] = {"faults": whole.faults, "step_s": whole.step_s, **found}
    if prober.free and total:
        told["peak"] = total - min(prober.free)
    if total:
        told["total"] = total
    return Canary(version=facts.version, recipe=recipe_of(wanted), at=now, **told)


def _ablated(prober: _Prober, first: _Take, whole: _Shot) -> dict[str, Any]:
    """What the other renders tell: facts of a Canary by name."""
    again = prober.render(replace(first, name="same seed again", voice=f"{first.voice[:-4]}-again.wav"))
    other = prober.render(replace(first, name="another seed", seed=(first.seed + 1) % 2**32))
    faults = tuple(f"{name}: {fault}" for name, shot in (("same seed again", again), ("another seed", other))
                   for fault in shot.faults)  # fmt: skip
    told: dict[str, Any] = {"faults": faults, "step_s": again.step_s}
    if again.luma is None or other.luma is None or whole.luma is None:
        return told | {"lora": Unseen("the canary failed when it was rendered again")}
    slot = prober.wanted.template.slots.slots.get("lora")
    bare = None
    if prober.wanted.loras and slot is not None and slot.without is not None:
        bare = prober.render(replace(first, name="without LoRA", lora=False))
    found = Ablation(
        itself=distance(whole.luma, again.luma),
        seed=distance(whole.luma, other.luma),
        lora=None if bare is None or bare.luma is None else distance(whole.luma, bare.luma),
    )
    told |= {"itself": found.itself, "by_seed": found.seed}
    if not found.seed_works:
        told["faults"] += (
            "two seeds give the same picture: the seed does nothing, or an old film was named",
        )
    if bare is not None and bare.luma is None:
        told["lora"] = Unseen(f"without it nothing was rendered: {'; '.join(bare.faults)}")
    elif found.lora is not None:
        told |= {"by_lora": found.lora, "lora": found.lora_works}
    return told


def frames_of(template: Template) -> int:
    """Of its canary: a graph whose length is in seconds is LongMedia's, which makes no fewer than 124."""
    slot = template.slots.slots.get("length")
    in_seconds = slot is not None and any("seconds" in place[2:] for place in slot.at)
    return LONG if in_seconds else FRAMES


def _pictures(template: Template) -> list[str]:
    """Names of the pictures it cannot do without: the same face, however many."""
    slot = template.slots.slots.get("pictures")
    name = upload_name(hashlib.sha256(portrait()).hexdigest(), ".png")
    return [name] * (slot.least if slot else 0)


def _graph(wanted: Wanted, take: _Take) -> Graph:
    values: dict[str, Fill] = {
        **find_profile(wanted.profile).values(),
        **wanted.own,
        "prompt": PROMPT,
        "width": SIZE[0],
        "height": SIZE[1],
        "length": frames_of(wanted.template),
        "seed": take.seed,
        "pictures": _pictures(wanted.template),
        "vocals": take.voice,
        "filename_prefix": "mvpipe",
    }
    if not take.lora:
        values |= {"lora": None}
    return fill(
        wanted.template, {name: value for name, value in values.items() if wanted.template.takes(name)}
    )


def _fit(template: Template, server: Server, graph: Mapping[str, Any]) -> Graph:
    """Held against the server's schemas; what a film would be refused for, a probe may be on purpose."""
    known = {name: info for name in template.asks() if (info := server.schema(name)) is not None}
    device = server.facts().devices
    setting = Setting(device=str(device[0].get("name", "")) if device else "", probe=True)
    bare = "lora" in template.slots.slots and not any("lora_name" in n["inputs"] for n in graph.values())
    if bare:  # few steps without a LoRA are what the ablation is about
        from mvpipe.render.comfyui.filling import with_loaders
        from mvpipe.render.comfyui.model_files import placed_files

        schemas = read_schemas(known)
        return placed_files(with_loaders(template, graph, schemas.__contains__), schemas)
    return fitted(template, graph, read_schemas(known), setting).graph


def _looked(template: Template, graph: Graph, take: Path, made: Made, steps: int) -> _Shot:
    frames = frames_of(template)
    from mvpipe.gate.judge import judge, still_frames
    from mvpipe.gate.look import look
    from mvpipe.render.comfyui import viewing

    lock = template.lock({"vocals": "voice"})
    told = {"lock": lock, "sound": Sounding.VOICE}
    slate = Slate(shot=1, take=1, seed=0, backend="canary", frames=frames, size=SIZE, graph=told, inputs={})
    voice = Heard(samples=phrase(frames), sample_rate=VOCAL_RATE)
    faults = viewing.faults(slate, take, voice, made, steps)
    seen = None
    if not any("cannot be decoded" in fault for fault in faults):
        sight = look(take, faces=False).sight
        seen = luma(take)
        verdict = judge(sight, frames=frames, rate=FILM_RATE, size=SIZE, others={})
        bad = (one for one in verdict.findings if one.outcome is Outcome.FAIL and one.check in PICTURE_CHECKS)
        faults += [f"{one.check}: {one.reason}" for one in bad]
        if (still := sum(still_frames(sight))) >= STILL * (sight.frames - 1):
            faults.append(f"frozen: {still} of {sight.frames} frames show what the one before showed")
    step = made.facts.get("step_s")
    return _Shot(
        faults=tuple(faults),
        luma=seen,
        step_s=float(step) if isinstance(step, int | float) else Unseen("no step was heard of"),
    )
