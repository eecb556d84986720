"""What is sung when counts, and neither loudness, tone nor phase."""

from __future__ import annotations

import numpy as np
import pytest

from mvpipe.tools.audible import ALIKE
from mvpipe.tools.likeness import alike, levels, likeness
from tests.render.comfyui import rig
from tests.tools.sounds import SILENCE, VOICE, heard, sung


def test_a_sound_is_like_itself() -> None:
    assert likeness(heard(VOICE), heard(VOICE)) == pytest.approx(1)


def test_neither_loudness_nor_tone_matters() -> None:
    tilted = np.diff(VOICE, prepend=VOICE[:1]).astype(np.float32)
    assert likeness(heard(VOICE), heard(0.01 * VOICE)) > 0.99
    assert likeness(heard(VOICE), heard(tilted)) > 0.9


def test_other_voices_are_not_alike() -> None:
    one, *rest = (rig.sung(seed) for seed in range(1, 22))
    found = [likeness(heard(one, 32_000), heard(other, 32_000)) for other in rest]
    assert max(found) < ALIKE
    assert abs(float(np.mean(found))) < 0.2


@pytest.mark.parametrize("count", [0, 1, 1279, 1280, 2000])
def test_hardly_any_sound_is_like_nothing(count: int) -> None:
    short = heard(VOICE[:count])
    assert levels(short).shape[1] == 20
    assert likeness(short, heard(VOICE)) <= 1


def test_silence_is_like_nothing() -> None:
    assert likeness(heard(SILENCE), heard(VOICE)) <= 0
    assert likeness(heard(SILENCE), heard(SILENCE)) <= 0


def test_levels_say_the_same_as_the_sounds() -> None:
    one, other = heard(VOICE), heard(sung(2, len(VOICE)))
    assert alike(levels(one), levels(other)) == likeness(one, other)
