"""Performances lie where there is voice: each begins before its phrase, with real sound in front of it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from mvpipe.clock import Span, frames_in
from mvpipe.film import Card, ShotKind
from mvpipe.sound.cutting import HANDLES, Cutting
from mvpipe.storyboard.deal import SINGS_FROM, deal
from tests.songbook import KINDS, Entry, made
from tests.sound.cuttings import plan
from tests.sound.hearings import hear
from tests.storyboard.making import loaded
from tests.synth import SynthSong

DUET = "cast: {mira: {is: x, sings: true}, tomas: {is: y, sings: true}, anna: {is: z}}\n"
GUARD_S = 0.04
"""A cut so little inside a phrase does not count as inside."""


@cache
def song(name: str) -> SynthSong:
    return made(Entry(next(kind for kind in KINDS if kind.name == name), 11, held_out=False), 48.0)


@cache
def cutting(name: str) -> Cutting:
    return plan(hear(song(name), song(name).separated))


def dealt(folder: Path, cut: Cutting, board: str = DUET) -> tuple[Card, ...]:
    return deal(loaded(folder, board), cut.spans, voice=[shot.voice for shot in cut.shots]).cards


def begins_late(name: str, spans: tuple[Span, ...], cards: tuple[Card, ...]) -> list[Span]:
    """Performances, but for the first shot, that begin when their phrase has begun."""
    phrases = song(name).truth.phrases
    return [
        span
        for span, card in zip(spans[1:], cards[1:], strict=True)
        if card.kind is ShotKind.PERFORMANCE
        and any(a + GUARD_S < span.start / 24 < b - GUARD_S for a, b in phrases)
    ]


@pytest.mark.parametrize("name", ["pop", "waltz", "choir", "half-time drop"])
def test_a_performance_begins_before_its_phrase_and_shows_one_singer(tmp_path: Path, name: str) -> None:
    cut = cutting(name)
    cards = dealt(tmp_path, cut)
    assert begins_late(name, cut.spans, cards) == []
    for shot, card in zip(cut.shots, cards, strict=True):
        assert (card.kind is ShotKind.PERFORMANCE) == (shot.voice >= SINGS_FROM)
        assert len(card.cast) == (1 if card.kind is ShotKind.PERFORMANCE else 0)
        assert not set(card.cast) & {"anna"}
    assert {card.kind for card in cards} == set(ShotKind)


@pytest.mark.parametrize("name", ["pop", "waltz"])
def test_before_what_is_seen_the_song_itself_is_heard(name: str) -> None:
    """A third of a second at least, of the song's own samples: nothing is made up, repeated or silenced."""
    made = song(name)
    frames = frames_in(len(made.mix), made.sample_rate)
    for shot in cutting(name).shots[1:]:
        assert shot.cut.start - shot.window.start >= HANDLES
        assert shot.window.start >= 0
        assert shot.window.stop <= frames
        first = shot.window.samples(made.sample_rate).start
        before = made.separated[first : shot.cut.samples(made.sample_rate).start]
        assert before.any()
    for one, after in pairwise(cutting(name).shots):
        assert after.window.start < one.cut.stop, "the pre-roll is the sound of the shot before"


def test_shots_of_equal_length_begin_late(tmp_path: Path) -> None:
    """The planted fault: cuts that nobody listened for."""
    spans = tuple(Span(at, at + 144) for at in range(0, 48 * 24, 144))
    cards = deal(loaded(tmp_path, DUET), spans, voice=[0.9] * len(spans)).cards
    assert len(begins_late("pop", spans, cards)) >= len(spans) // 3


def test_more_than_one_singer_is_seen_where_that_is_asked(tmp_path: Path) -> None:
    both = DUET + "sections: [{name: v, start: 0, shots: [{prompt: they sing, cast: [mira, tomas]}]}]\n"
    assert {card.cast for card in dealt(tmp_path, cutting("pop"), both)} == {("mira", "tomas")}
