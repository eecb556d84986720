"""A film in which every fault of `tests/gate/plant.py` is in a take: each is caught by its check and listed.

Shots get three takes: the first two have a fault each, the third is good and is seen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from mvpipe import pipeline, takes
from mvpipe.film import Outcome, Shot, Slate
from mvpipe.pipeline import Watcher
from mvpipe.project import Project, open_project
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.backend import Asset, Progress, Setup
from mvpipe.report import summarise
from mvpipe.tools.heard import Heard, hear
from tests.gate.plant import PICTURES, SOUNDS, plant
from tests.whole.studio import build
from tests.whole.test_gate import Actors, ready

FAULTS = [*PICTURES, "rate", *(f"sound: {name}" for name in SOUNDS)]


@dataclass
class Saboteur:
    """Locks its sound, draws its mouths, and plants a fault into some takes: `(shot, attempt) -> fault`."""

    faults: Mapping[tuple[int, int], str] = field(default_factory=dict)
    rendered: list[tuple[int, int]] = field(default_factory=list)

    name = "saboteur/1"
    slots = 2
    draws_mouths = "from the voice"

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        slate = Animatic().slate(setup, take=take, seed=seed)
        return dataclasses.replace(slate, backend=self.name)

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        return Animatic().assets(setup)

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        self.rendered.append((slate.shot, slate.take))
        good = into.with_name("good.mp4")
        Animatic().render(slate, assets, good, progress)
        if fault := self.faults.get((slate.shot, slate.take)):
            plant(fault, good, into)
            good.unlink()
        else:
            good.rename(into)

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        return frames / 100

    def locks(self, slate: Slate) -> bool:
        return True

    def locked(self, slate: Slate, assets: Mapping[str, Path]) -> Heard | None:
        return hear(assets["vocals"])


def check_of(fault: str) -> str:
    """The check that must name it."""
    named = {"white flash": "flash", "sound: another": "locked sound"}
    return named.get(fault, "sound" if fault.startswith("sound: ") else fault)


def told(project: Project, shot: Shot, attempt: int) -> dict[str, Outcome]:
    """What the checks of an attempt came to, by name."""
    known = takes.known_takes(project.journal, shot.cut)[attempt - 1]
    return {str(one["check"]): Outcome(one["outcome"]) for one in known.findings}


@pytest.mark.slow
def test_every_fault_is_caught_by_its_check_listed_and_taken_again(tmp_path: Path) -> None:
    studio = build(tmp_path, seconds=60.0)
    studio.edit("192x128", "320x192")
    with open_project(studio.project) as project:
        prepared = ready(project, studio.folder, Actors())
        plan = prepared.production.plan
        sung = [shot.number for shot in plan.shots if shot.voice > 0.3]
        places = list(product(sung, (1, 2)))
        assert len(places) >= len(FAULTS)
        faults = dict(zip(places, FAULTS, strict=False))
        backend = Saboteur(faults)
        prepared = dataclasses.replace(prepared, backend=backend)
        made = pipeline.shoot(project, prepared, watcher=Watcher())

        for (number, attempt), fault in faults.items():
            assert told(project, plan.shots[number - 1], attempt)[check_of(fault)] is Outcome.FAIL, fault
        report = summarise(project, plan, made)
        assert report.result == "complete"
        assert {(one.shot, one.take) for one in report.stand.passed_over} == set(faults)
        text = report.text()
        for one in report.stand.passed_over:
            assert one.page in text
            assert (project.folder / one.page).read_bytes()[:4] == b"\x89PNG"
        spared = [shot.number for shot in plan.shots if (shot.number, 1) not in faults]
        assert all((number, 2) not in backend.rendered for number in spared), "a good take fails nothing"
        quick = [entry for entry in project.vault.entries() if entry.task["name"] == "look"]
        assert not any(entry.facts["faces"] for entry in quick), "no face is looked for where none is judged"
