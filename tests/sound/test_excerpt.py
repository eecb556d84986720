"""The real excerpt, held against marks made by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.sound import read
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.listen import listen
from mvpipe.sound.spleeter import Spleeter
from tests import excerpt
from tests.sound.cuttings import plan, starts
from tests.sound.mixes import voice
from tests.synth import pieces

pytestmark = pytest.mark.real


@cache
def stems() -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
    song, _ = read.measure(excerpt.path())
    mix = np.concatenate(list(read.blocks(song)))
    return mix, voice(Spleeter(device="cpu"), mix), song.sample_rate


def heard(*, separated: bool = True) -> Hearing:
    mix, stem, rate = stems()
    return listen(pieces(mix), pieces(stem if separated else mix), sample_rate=rate)


def test_its_two_lines_are_found() -> None:
    found = (heard().phrases / 100).tolist()
    assert len(found) == len(excerpt.LINES)
    for (start, stop), (begins, ends) in zip(found, excerpt.LINES, strict=True):
        assert abs(start - begins) <= 0.1
        assert abs(stop - ends) <= 0.15


def test_its_long_note_is_held() -> None:
    held = heard().held / 100
    longest = held[np.argmax(held[:, 1] - held[:, 0])]
    assert longest[0] < excerpt.HELD[0] + 0.15
    assert longest[1] > excerpt.HELD[1] - 0.15


def test_it_is_cut_between_the_lines_and_through_nothing_that_is_sung() -> None:
    cuts = starts(plan(heard()))
    assert len(cuts) == 1
    assert excerpt.LINES[0][1] < cuts[0] / 24 < excerpt.LINES[1][0]
    assert not excerpt.TRUTH.inside_word(cuts[0] / 24)


def test_in_the_mix_alone_the_lines_are_not_found() -> None:
    """The planted fault: a separator that separates nothing."""
    found = (heard(separated=False).phrases / 100).tolist()
    assert all(abs(start - excerpt.LINES[0][0]) > 0.1 for start, _ in found)
