"""Where sections begin, and which are the same music again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.form import Form, form
from mvpipe.sound.spectrum import HOPS
from tests.sound.hearings import by_hand

Floats = NDArray[np.float32]


def made(*parts: tuple[str, int], voice: str = "") -> Form:
    """The form of a song of these parts: a letter for what is played, and seconds; `voice`: sung."""
    rng = np.random.default_rng(440)
    colour, tone, effort = [], [], []
    for letter, seconds in parts:
        own = np.random.default_rng(ord(letter))
        colour.append(own.uniform(-40, -20, 40) + rng.standard_normal((2 * seconds, 40)))
        tone.append(own.random(64) * rng.uniform(0.8, 1.2, (20 * seconds, 64)))
        effort.append(np.full(HOPS * seconds, float(letter in voice)))
    whole = (np.concatenate(rows).astype(np.float32) for rows in (colour, tone, effort))
    return form(*whole)


def test_a_section_begins_where_the_sound_changes_for_long() -> None:
    assert made(("a", 30), ("b", 30)).changes.tolist() == [30 * HOPS]


def test_a_short_intro_is_a_section_and_a_last_chord_is_none() -> None:
    assert made(("i", 4), ("v", 30)).changes.tolist() == [4 * HOPS]
    assert not len(made(("v", 40), ("x", 2)).changes)


def test_the_same_music_has_the_same_label() -> None:
    song = made(("i", 12), ("v", 24), ("c", 20), ("v", 24), ("c", 20), ("b", 16), ("c", 20))
    assert song.labels.tolist() == [0, 1, 2, 1, 2, 3, 2]
    assert (song.changes / HOPS).tolist() == [12, 36, 56, 80, 100, 116]


def test_a_voice_alone_makes_a_section() -> None:
    rng = np.random.default_rng(440)
    colour = rng.uniform(-30, -28, (160, 40)).astype(np.float32)
    tone = np.ones((1600, 64), np.float32)
    effort = np.repeat([0, 1, 0, 1], 20 * HOPS).astype(np.float32)
    song = form(colour, tone, effort)
    assert song.labels.tolist() == [0, 1, 0, 1]
    assert not len(form(colour, tone, effort * 0).changes)


def test_a_sound_that_stays_is_one_section() -> None:
    song = made(("a", 100))
    assert not len(song.changes)
    assert song.labels.tolist() == [0]


def test_other_music_that_only_ends_alike_has_another_label() -> None:
    assert made(("a", 40), ("b", 40), ("z", 40)).labels.tolist() == [0, 1, 2]


def test_labels_are_letters_and_count_their_times() -> None:
    hearing = replace(by_hand(40, [(10, 20)], sections=[10, 20, 30]), labels=np.array([0, 1, 0, 27]))
    assert [(part.label, part.time) for part in hearing.parts] == [("A", 1), ("B", 1), ("A", 2), ("AB", 1)]
    assert [part.voice for part in hearing.parts] == [0, 1, 0, 0]
    assert hearing.parts[0].start == 0
    assert hearing.parts[-1].stop == hearing.hops
