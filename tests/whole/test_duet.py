"""A film of two people in which the wrong one's mouth moves: told by their pictures, named, and taken again.

Both are in every take; which mouth follows the voice is the backend's doing.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from mvpipe import pipeline, takes
from mvpipe.film import Outcome, Slate
from mvpipe.gate.mouth import HOPS, voice_curves
from mvpipe.gate.offset import LEAD_MS
from mvpipe.pipeline import Watcher
from mvpipe.project import open_project
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.backend import Asset, Progress, Setup
from mvpipe.report import summarise
from mvpipe.sound import wav
from tests.benchmarks.sync.shelf import ADA
from tests.gate.faces_synth import Image, Part, Sitter, _head, shoot
from tests.gate.photo_synth import Photo
from tests.whole.studio import build
from tests.whole.test_gate import Actors, ready

STORYBOARD = """\
mvpipe: 1
title: Two People
picture: {size: 480x256}
cast:
  ada: {is: a woman with freckles, sings: true, pictures: [ada.jpg]}
  jon: {is: a man who listens, pictures: [jon.png]}
sections:
  - name: verse
    start: 0
    shots:
      - {prompt: Ada sings to us while Jon listens, cast: [ada, jon]}
"""


def sitters() -> tuple[Sitter, Sitter]:
    """Ada, who is painted, and Jon, who is drawn."""
    ada = Photo(np.asarray(cv2.imread(str(ADA)), np.uint8))
    return ada, partial(_head, np.array([120.0, 165, 215]))


def portrait(sitter: Sitter) -> Image:
    """Somebody before a grey wall."""
    head = sitter(0.0, 0.5, 0.0, "none")
    alpha = head[..., 3:] / 255
    face = head[..., :3] * alpha + 90 * (1 - alpha)
    return np.asarray(np.pad(face, ((60, 60), (60, 60), (0, 0)), constant_values=90), np.uint8)


@dataclass
class Duet:
    """Films both; in the takes of `wrong`, `(shot, attempt)`, it is Jon whose mouth follows the voice."""

    wrong: frozenset[tuple[int, int]]
    rendered: list[tuple[int, int]] = field(default_factory=list)

    name = "duet/1"
    slots = 1

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        return dataclasses.replace(Animatic().slate(setup, take=take, seed=seed), backend=self.name)

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        return Animatic().assets(setup)

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        self.rendered.append((slate.shot, slate.take))
        rng = np.random.default_rng(slate.seed)
        voice = wav.read(assets["vocals"], mono=True)
        loud = voice_curves(voice, wav.shape(assets["vocals"]).sample_rate).sum(0)
        at = (np.arange(slate.frames) / 24 + LEAD_MS / 1000) * HOPS
        sung = np.clip(np.interp(at, np.arange(len(loud)), loud) / np.percentile(loud, 95), 0, 1)
        mouths = [
            (np.clip(opening + 0.02 * rng.standard_normal(slate.frames), 0, 1), np.full(slate.frames, 0.5))
            for opening in (sung, np.zeros(slate.frames))
        ]
        if (slate.shot, slate.take) in self.wrong:
            mouths.reverse()
        part = Part(seed=slate.shot, size=slate.size, seconds=slate.frames / 24, heads=2, head=1.3, noise=2)
        shoot(part, rng, mouths, into, sitters())

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        return frames / 100


@pytest.mark.slow
def test_the_wrong_singer_is_named_and_the_shot_is_taken_again(tmp_path: Path) -> None:
    studio = build(tmp_path, seconds=17.0)
    (tmp_path / "board.yaml").write_text(STORYBOARD, "utf-8")
    shutil.copy(ADA, tmp_path / "ada.jpg")
    cv2.imwrite(str(tmp_path / "jon.png"), portrait(sitters()[1]))
    with open_project(studio.project) as project:
        prepared = ready(project, studio.folder, Actors())
        plan = prepared.production.plan
        wrong = max(plan.shots, key=lambda shot: shot.voice).number
        backend = Duet(frozenset({(wrong, 1)}))
        prepared = dataclasses.replace(prepared, backend=backend)
        report = summarise(project, plan, pipeline.shoot(project, prepared, watcher=Watcher()))

        first, second = takes.known_takes(project.journal, plan.shots[wrong - 1].cut)
        assert (first.outcome, second.outcome) == (Outcome.FAIL, Outcome.PASS)
        assert first.words.endswith("jon sings instead")
        assert first.lips["numbers"]["instead"] == "jon"
        assert not first.slip, "moving the picture would mend nothing"
        assert [one.shot for one in report.stand.passed_over] == [wrong]
        assert report.stand.common == ()
        others = {shot.number for shot in plan.shots} - {wrong}
        assert all((number, 2) not in backend.rendered for number in others)
        assert all(one.outcome is not Outcome.FAIL for one in report.stand.shots)
