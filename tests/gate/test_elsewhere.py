"""Stretches of a song that are as long as a shot, elsewhere, and sung in."""

from __future__ import annotations

import numpy as np
import pytest

from mvpipe.gate.elsewhere import ROOM_S, STEP, choose, levels
from mvpipe.gate.pairs import RATE

SAMPLE_RATE = 1000


def song(seconds: int, silent: tuple[int, int] = (0, 0)) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    voice = np.sin(np.arange(seconds * SAMPLE_RATE) / 3).astype(np.float32)
    voice[silent[0] * SAMPLE_RATE : silent[1] * SAMPLE_RATE] = 0
    return voice


def test_they_are_many_spread_and_apart_from_the_shot() -> None:
    heard = levels(song(204), SAMPLE_RATE)
    assert len(heard) == 204 * RATE / STEP
    own = (60.0, 66.0)
    found = choose(heard, own, many=20)
    assert len(found) == 20
    assert sorted(found) == list(found)
    assert found[0] == 0
    assert found[-1] == 198 * RATE
    assert all(at / RATE + 6 <= own[0] - ROOM_S or at / RATE >= own[1] + ROOM_S for at in found)
    assert {at % STEP for at in found} == {0}, "on one grid"
    assert choose(heard, own, many=20) == found


def test_somebody_sings_in_each() -> None:
    heard = levels(song(200, silent=(80, 180)), SAMPLE_RATE)
    for at in choose(heard, (10.0, 16.0), many=20):
        inside = heard[at // STEP : (at + 6 * RATE) // STEP]
        assert (inside > 0.1).mean() >= 0.4


@pytest.mark.parametrize("seconds", [0, 5, 8])
def test_a_song_that_is_too_short_has_none(seconds: int) -> None:
    assert choose(levels(song(seconds), SAMPLE_RATE), (0.0, 6.0), many=20) == ()
