"""The animatic's shots, of several places, framings and cameras, have nothing wrong with their pictures."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mvpipe.film import Outcome, ShotKind
from mvpipe.gate.judge import judge
from mvpipe.render.backend import Place
from tests.gate import takes
from tests.render.animatic import stage

SHOTS: dict[str, dict[str, Any]] = {
    "a close-up that stands": {},
    "a wide shot by the sea": {
        "framing": "wide", "prompt": "slow push-in",
        "place": Place(name="sea", description="a beach at dawn"),
    },
    "a forest at night": {
        "prompt": "she walks, tracking shot",
        "place": Place(name="wood", description="a dark forest at night"),
    },
    "two on a stage": {
        "cast": (stage.MIRA, stage.JON), "framing": "medium", "prompt": "fast pan, strobing lights",
        "place": Place(name="stage", description="a concert stage with spotlights"),
    },
    "nobody in a room": {
        "kind": ShotKind.B_ROLL, "cast": (), "prompt": "rain on a window, zoom out",
        "place": Place(name="room", description="a bedroom with a window"),
    },
}  # fmt: skip


@pytest.mark.parametrize("changes", SHOTS.values(), ids=SHOTS.keys())
def test_nothing_is_wrong_with_it(changes: dict[str, Any], tmp_path: Path) -> None:
    voice = stage.sing(tmp_path / "voice.wav")
    stage.shoot(stage.setup(voice.asset, **changes), tmp_path / "take.mp4")
    sight = takes.sight(tmp_path / "take.mp4")
    found = judge(sight, frames=stage.FRAMES, rate=Fraction(24), size=stage.SIZE, others={})
    assert found.outcome is Outcome.PASS, found.reason
    assert max(sight.strange) < 0.2
