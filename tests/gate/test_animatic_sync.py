"""The animatic through the gate, with offsets and mouths it was told to have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvpipe.clock import Span
from mvpipe.film import Card, Outcome, Shot
from mvpipe.gate.sync import SyncVerdict
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.backend import Asset, CastMember, Setup
from mvpipe.sound import wav
from tests.gate.faces_synth import SAMPLE_RATE, Samples, speak
from tests.gate.takes import check_sync

Judge = Callable[..., SyncVerdict]


@pytest.fixture(scope="module")
def voice() -> Samples:
    sound, _ = speak(np.random.default_rng(7), 192 / 24, sings=True)
    return np.asarray(0.5 * sound / np.abs(sound).max(), np.float32)


@pytest.fixture
def judge(voice: Samples, tmp_path: Path) -> Judge:
    """The verdict on an animatic's take with these options."""

    def one(**options: Any) -> SyncVerdict:
        path = tmp_path / "voice.wav"
        wav.write(path, [voice[:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice))
        span = Span(0, 192)
        setup = Setup(
            shot=Shot(number=1, cut=span, window=span, card=Card(prompt="Mira sings", cast=("mira",))),
            title="Film",
            look="plain",
            cast=(CastMember(name="mira", description="a woman", sings=True),),
            place=None,
            vocals=Asset(path=path, digest=hashlib.sha256(path.read_bytes()).hexdigest()),
            size=(672, 384),
            options=options,
        )
        animatic = Animatic()
        slate = animatic.slate(setup, take=1, seed=3)
        assets = {role: asset.path for role, asset in animatic.assets(setup).items()}
        animatic.render(slate, assets, tmp_path / "take.mp4", lambda _done, _of: None)
        return check_sync(tmp_path / "take.mp4", voice, SAMPLE_RATE)

    return one


def test_a_mouth_that_follows_passes(judge: Judge) -> None:
    verdict = judge()
    assert verdict.outcome is Outcome.PASS, verdict.reason
    assert verdict.deciding is not None
    assert verdict.deciding.control.ok


@pytest.mark.parametrize("late_ms", [-240, 200])
def test_an_injected_offset_fails_and_is_measured(judge: Judge, late_ms: int) -> None:
    verdict = judge(offset_ms=late_ms)
    assert verdict.outcome is Outcome.FAIL, verdict.reason
    assert verdict.as_json()["offset_ms"] == pytest.approx(late_ms, abs=40)


@pytest.mark.parametrize("mouth", ["closed", "frozen", "unrelated"])
def test_another_mouth_does_not_pass(judge: Judge, mouth: str) -> None:
    assert judge(mouth=mouth).outcome is not Outcome.PASS
