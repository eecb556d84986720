"""Odd songs: each is heard, and gets the plan that is right for it."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.clock import FILM_RATE, frames_in
from mvpipe.film import BoundaryKind
from mvpipe.sound.cut import cut
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.listen import listen
from mvpipe.sound.voice import LOST_HOPS
from tests.songbook import KINDS, RATE, Entry, made
from tests.sound.cuttings import check_is_a_plan, plan, starts
from tests.sound.hearings import by_hand, hear, synth
from tests.synth import clicks

Sound = NDArray[np.float32]


def heard(mix: Sound, voice: Sound) -> Hearing:
    return listen([mix], [voice], sample_rate=RATE)


def of_kind(name: str, seconds: float = 48.0) -> tuple[Hearing, Entry]:
    entry = Entry(next(kind for kind in KINDS if kind.name == name), 7, held_out=False)
    song = made(entry, seconds)
    return hear(song, song.vocals), entry


def check(hearing: Hearing) -> None:
    check_is_a_plan(plan(hearing), frames_in(hearing.samples, hearing.sample_rate, FILM_RATE), FILM_RATE)


def test_no_voice() -> None:
    song = synth(seconds=60.0, instrumental=True)
    hearing = hear(song, song.vocals)
    cutting = plan(hearing)
    assert all(shot.voice == 0 for shot in cutting.shots)
    kinds = {shot.boundary.kind for shot in cutting.shots[1:] if shot.boundary}
    assert kinds == {BoundaryKind.SECTION, BoundaryKind.BAR}
    assert all(min(abs(frame / 24 - bar) for bar in song.truth.bars) < 0.05 for frame in starts(cutting))
    assert not len(hearing.breaths)
    check(hearing)


NEVER = 10**6


@pytest.mark.parametrize(
    ("believed", "lost", "words"), [(25.0, NEVER, 0), (1000.0, LOST_HOPS, 0), (1000.0, NEVER, 1)]
)
def test_where_a_separator_takes_the_voice_out_with_a_drum_no_word_is_cut(
    monkeypatch: pytest.MonkeyPatch, believed: float, lost: int, words: int
) -> None:
    song = made(Entry(next(kind for kind in KINDS if kind.name == "pop"), 7, held_out=False), 48.0)
    stem = song.vocals.copy()
    for start, _ in song.truth.phrases:  # what Spleeter does to words that begin on a kick
        stem[round((start + 0.05) * RATE) : round((start + 0.17) * RATE)] *= 1e-4
    monkeypatch.setattr("mvpipe.sound.listen.HIDDEN_DB", believed)
    monkeypatch.setattr("mvpipe.sound.voice.LOST_HOPS", lost)
    inside = [frame for frame in starts(plan(hear(song, stem))) if song.truth.inside_word(frame / 24)]
    assert min(len(inside), 1) == words


def test_only_voice() -> None:
    hearing, _ = of_kind("a cappella")
    assert hearing.metre == 0
    assert plan(hearing).inside_voice == 0
    check(hearing)


def test_one_note_held_for_30_seconds() -> None:
    t = np.arange(30 * RATE) / RATE
    note = np.zeros(len(t), np.float32)
    for partial in range(1, 20):
        note += (0.1 / partial * np.sin(2 * np.pi * 220 * partial * t)).astype(np.float32)
    hearing = heard(note, note)
    assert hearing.voice_share > 0.99
    held = (hearing.held[:, 1] - hearing.held[:, 0]).sum()
    assert held > 0.95 * hearing.hops
    cutting = plan(hearing)
    assert [shot.harm for shot in cutting.shots[1:]] == ["the voice, in a held vowel"] * 2
    check(hearing)


def test_a_fifth_of_a_second() -> None:
    voice = np.full(RATE // 5, 0.1, np.float32)
    hearing = heard(voice, voice)
    assert len(plan(hearing).shots) == 1
    check(hearing)


def test_an_hour_is_planned_in_two_seconds() -> None:
    phrases = [(k * 4.3, k * 4.3 + 3.9) for k in range(837)]
    hearing = by_hand(3600, phrases)
    began = time.process_time()
    cutting = cut(hearing, frames=86_400)
    took = time.process_time() - began
    assert cutting.inside_voice == 0
    assert took < 4, "twice the goal, for busy machines"


def test_silence() -> None:
    nothing = np.zeros(30 * RATE, np.float32)
    hearing = heard(nothing, nothing)
    assert [part.label for part in hearing.parts] == ["A"]
    assert all(shot.voice == 0 for shot in plan(hearing).shots)
    check(hearing)


def test_clicks() -> None:
    click = clicks(120, 40, RATE)
    hearing = heard(click, np.zeros_like(click))
    assert all(shot.voice == 0 for shot in plan(hearing).shots)
    beats = hearing.beats / 100
    assert all(np.abs(beats - frame / 24).min() < 0.05 for frame in starts(plan(hearing)))
    check(hearing)


@pytest.mark.parametrize(("name", "counts"), [("waltz", 3), ("seven eight", 7), ("pop", 4)])
def test_the_metre_is_found(name: str, counts: int) -> None:
    hearing, _ = of_kind(name, 64.0)
    assert hearing.metre == counts
    assert plan(hearing).inside_voice == 0


def test_rubato_without_drums_has_no_beats_and_the_same_right_to_a_plan() -> None:
    hearing, _ = of_kind("no drums, rubato")
    assert hearing.metre == 0
    assert not len(hearing.bars)
    assert plan(hearing).inside_voice == 0
    check(hearing)


@pytest.mark.parametrize("name", ["very quiet", "crushed loud", "whispered verse", "half-time drop"])
def test_no_word_is_cut_in(name: str) -> None:
    entry = Entry(next(kind for kind in KINDS if kind.name == name), 9, held_out=False)
    song = made(entry, 48.0)
    cuts = starts(plan(hear(song, song.vocals)))
    assert not any(song.truth.inside_word(frame / 24) for frame in cuts)
    assert Fraction(len(cuts), 48) > Fraction(1, 12)
