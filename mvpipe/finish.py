"""The last tasks: the shots become the reel, and the reel with the song under it the films."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from mvpipe.build.graph import Node, Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.errors import ProofFailed
from mvpipe.film import Reel
from mvpipe.mezzanine import MEZZANINE
from mvpipe.production import Production
from mvpipe.shoot import ShotWork

REEL = "reel.mp4"
FILMS = {"film": ("film.mkv", ".mkv"), "phone": ("phone.mp4", ".mp4")}
"""Kind -> its file in the vault, and the ending it is published with."""


def film_nodes(production: Production, shots: list[ShotWork]) -> list[Node]:
    """The reel of all shots, and every kind of film made of it."""
    return [_reel(production), *(_film(production, kind, shots) for kind in FILMS)]


def _reel(production: Production) -> Node:
    shots = production.plan.shots
    names = [f"shot {shot.number}" for shot in shots]

    def bind(entries: Mapping[str, Entry]) -> Work:
        mezzanines = [
            (entries[name].path(MEZZANINE), len(shot.cut)) for name, shot in zip(names, shots, strict=True)
        ]

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel.assemble import assemble
            from mvpipe.reel.proof import picture_digest

            reel = assemble(mezzanines, production.plan.rate, folder / REEL)
            shown = {"frames": reel.frames, "rate": str(reel.rate), "size": list(reel.size)}
            return {**shown, "pictures": picture_digest(reel.path)}

        inputs = {f"{i:05}": entries[name].digest(MEZZANINE) for i, name in enumerate(names)}
        params = {"rate": str(production.plan.rate)}
        return Work(task=Task(name="reel", version=1, inputs=inputs, params=params), make=make)

    return Node(name="reel", needs=tuple(names), bind=bind)


def _film(production: Production, kind: str, shots: list[ShotWork]) -> Node:
    """The reel with the song under it, proved before it comes to exist."""
    name, _ = FILMS[kind]
    song, plan = production.plan.song, production.plan

    def bind(entries: Mapping[str, Entry]) -> Work:
        facts = entries["reel"].facts
        reel = Reel(
            path=entries["reel"].path(REEL),
            frames=facts["frames"],
            rate=Fraction(facts["rate"]),
            size=(facts["size"][0], facts["size"][1]),
        )

        told = _told(shots) if production.embed and kind == "film" else ""

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel import mux, proof

            if kind == "film":
                mux.lay(reel, song, folder / name, title=plan.title, told=told)
            else:
                mux.phone(reel, song, folder / name, title=plan.title)
            proved = proof.prove(
                folder / name, song, frames=plan.frames, rate=plan.rate, pictures=facts["pictures"]
            )
            if not proved.ok:
                raise ProofFailed(
                    f"{kind}: {'; '.join(proved.problems)}",
                    hint="the takes are kept; please report this with the log in the project folder",
                )
            return {"proof": {**proved.as_json(), "song": song.path.name}}

        inputs = {"reel": entries["reel"].digest(REEL), "song": song.digest}
        params = {"title": plan.title, **({"told": told} if told else {})}
        return Work(task=Task(name=kind, version=1, inputs=inputs, params=params), make=make)

    return Node(name=kind, needs=("reel",), bind=bind)


def _told(shots: list[ShotWork]) -> str:
    """What the takes that are seen were made from, as JSON."""
    slates = [work.take.facts["slate"] for work in shots if work.take]
    return json.dumps(slates, sort_keys=True, ensure_ascii=False)
