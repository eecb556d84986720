"""The nouns are frozen, can only be built valid, and windows are the shortest that H3 renders."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, sets

from mvpipe import film
from mvpipe.clock import NTSC_FILM_RATE, Span, tile
from mvpipe.film import (
    LONGEST_WINDOW,
    SHORTEST_WINDOW,
    Boundary,
    BoundaryKind,
    Card,
    Clip,
    Curve,
    Film,
    Finding,
    Line,
    Outcome,
    Reel,
    Shot,
    Slate,
    Slug,
    Song,
    Stem,
    SungBy,
    SungLine,
    Take,
    Timeline,
    Timing,
    Verdict,
    Word,
    window_length,
)

SIZE = (672, 384)
RENDERED = [17 * k + 5 for k in range(7, 22)]
"""Every length from 124 to 362 frames of the form 17k+5, written out."""

SONG = Song(
    path=Path("song.flac"),
    digest="0" * 64,
    sample_rate=44_100,
    samples=441_000,
    channels=2,
    sample_format="s16",
)
STEM = Stem(
    name="vocals",
    path=Path("vocals.wav"),
    sample_rate=44_100,
    samples=441_000,
    channels=2,
    separator="spleeter",
)
CURVE = Curve(values=np.zeros(100, np.float32), hop=Fraction(1, 100))
BOUNDARY = Boundary(sample=1000, kind=BoundaryKind.SILENCE, weight=0.9)
SHOT = Shot(number=1, cut=Span(0, 100), window=Span(0, 124), card=Card(prompt="rain"))
SLATE = Slate(
    shot=1, take=1, seed=7, backend="animatic/1", frames=124, size=SIZE, graph={"prompt": "rain"}, inputs={}
)
TAKE = Take(slate=SLATE, key="k", path=Path("take.mp4"), digest="d", frames=124, rate=Fraction(24), size=SIZE)
FINDING = Finding(check="black", outcome=Outcome.PASS, value=0.0, limit=0.9, reason="no black frames")
CLIP = Clip(shot=SHOT, take=TAKE)
SLUG = Slug(shot=SHOT, reason="three takes failed")
REEL = Reel(path=Path("reel.mkv"), frames=100, rate=Fraction(24), size=SIZE)
FILM = Film(path=Path("film.mkv"), frames=100, song="0" * 64)
WORD = Word("rain", Fraction(1), Fraction(3, 2))
SUNG_BY = SungBy(start=Fraction(1), stop=Fraction(2), name="zoe", likeliest="zoe", sure=0.9)
SUNG = SungLine(
    text="rain",
    start=Fraction(1),
    stop=Fraction(2),
    words=(WORD,),
    timing=Timing.GIVEN,
    word_timing=Timing.GUESSED,
    sure=0.5,
)
NOUNS: list[Any] = [
    WORD, Line("rain", words=(WORD,)), SUNG, SUNG_BY,
    SONG, STEM, CURVE, BOUNDARY, SHOT.card, SHOT, SLATE, TAKE, FINDING, Verdict(findings=(FINDING,)), CLIP,
    SLUG, Timeline((CLIP,)), REEL, FILM,
]  # fmt: skip


def shot(cut: Span, *, number: int = 1, head: int = 0) -> Shot:
    """A shot of `cut` in the shortest window that holds it and `head` frames before."""
    start = cut.start - head
    return Shot(
        number=number,
        cut=cut,
        window=Span(start, start + window_length(cut.stop - start), cut.rate),
        card=Card(prompt="rain"),
    )


class TestWindowLength:
    def test_it_is_the_shortest_that_holds_the_frames(self) -> None:
        for frames in range(1, LONGEST_WINDOW + 1):
            assert window_length(frames) == min(length for length in RENDERED if length >= frames)

    @pytest.mark.parametrize("length", RENDERED)
    def test_a_length_h3_renders_stays(self, length: int) -> None:
        assert window_length(length) == length

    def test_the_ends_of_the_range_are_lengths_h3_renders(self) -> None:
        assert (RENDERED[0], RENDERED[-1]) == (SHORTEST_WINDOW, LONGEST_WINDOW)

    @pytest.mark.parametrize("frames", [0, -1, LONGEST_WINDOW + 1, 10_000])
    def test_no_window_holds_nothing_or_too_much(self, frames: int) -> None:
        with pytest.raises(ValueError, match=f"a window holds 1..362 frames: {frames}"):
            window_length(frames)


class TestEveryNoun:
    def test_none_is_forgotten_here(self) -> None:
        defined = {thing for thing in vars(film).values() if isinstance(thing, type) and is_dataclass(thing)}
        assert {type(noun) for noun in NOUNS} == {cls for cls in defined if cls.__module__ == film.__name__}

    @pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: type(noun).__name__)
    def test_it_is_frozen(self, noun: Any) -> None:
        name = fields(noun)[0].name
        with pytest.raises(FrozenInstanceError):
            setattr(noun, name, getattr(noun, name))
        assert not hasattr(noun, "__dict__"), "slots keep a misspelt attribute from passing"

    @pytest.mark.parametrize(
        ("noun", "change"),
        [
            (SONG, {"samples": 0}),
            (SONG, {"samples": -5}),
            (SONG, {"sample_rate": 0}),
            (SONG, {"channels": 0}),
            (STEM, {"samples": 0}),
            (STEM, {"sample_rate": -1}),
            (STEM, {"channels": 6}),
            (CURVE, {"values": np.zeros((4, 2), np.float32)}),
            (CURVE, {"hop": Fraction(0)}),
            (BOUNDARY, {"sample": -1}),
            (BOUNDARY, {"weight": 1.01}),
            (BOUNDARY, {"weight": -0.01}),
            (BOUNDARY, {"weight": float("nan")}),
            (SHOT, {"number": 0}),
            (SHOT, {"voice": 1.5}),
            (SHOT, {"voice": float("nan")}),
            (SHOT, {"window": Span(0, 124, NTSC_FILM_RATE)}),
            (SHOT, {"window": Span(1, 125)}),
            (SHOT, {"cut": Span(0, 125)}),
            (SHOT, {"window": Span(0, 123)}),
            (SHOT, {"window": Span(0, 125)}),
            (SLATE, {"shot": 0}),
            (SLATE, {"take": 0}),
            (SLATE, {"frames": 0}),
            (SLATE, {"seed": -1}),
            (SLATE, {"seed": 2**64}),
            (SLATE, {"size": (673, 384)}),
            (SLATE, {"size": (672, 383)}),
            (SLATE, {"size": (14, 384)}),
            (TAKE, {"frames": 0}),
            (TAKE, {"rate": Fraction(0)}),
            (TAKE, {"size": (0, 384)}),
            (FINDING, {"reason": ""}),
            (CLIP, {"take": replace(TAKE, frames=123)}),
            (CLIP, {"slip": -1}),
            (CLIP, {"slip": 25}),
            (REEL, {"frames": 0}),
            (REEL, {"rate": Fraction(-24)}),
            (FILM, {"frames": 0}),
        ],
        ids=lambda value: type(value).__name__ if is_dataclass(value) else str(value),
    )
    def test_it_can_only_be_built_valid(self, noun: Any, change: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"\w"):
            replace(noun, **change)


class TestShot:
    def test_handles_are_what_is_rendered_and_not_seen(self) -> None:
        made = shot(Span(200, 310), head=12)
        assert (made.head, len(made.cut), made.tail) == (12, 110, 2)
        assert made.head + len(made.cut) + made.tail == len(made.window) == 124

    @given(start=integers(0, 80_000), frames=integers(1, 300), head=integers(0, 60))
    def test_every_cut_that_fits_has_a_window(self, start: int, frames: int, head: int) -> None:
        made = shot(Span(start, start + frames), head=min(head, start))
        assert made.head + frames + made.tail == len(made.window) in RENDERED

    def test_where_a_card_stands_in_the_file_does_not_make_it_another(self) -> None:
        assert Card(prompt="rain", origin="a.yaml:3") == Card(prompt="rain", origin="a.yaml:9")


class TestClip:
    @pytest.mark.parametrize("slip", [-12, 0, 2])
    def test_a_slip_stays_within_the_handles(self, slip: int) -> None:
        made = Clip(shot=shot(Span(200, 310), head=12), take=TAKE, slip=slip)
        assert made.first == 12 + slip
        assert 0 <= made.first <= made.first + 110 <= TAKE.frames

    @pytest.mark.parametrize("slip", [-13, 3])
    def test_a_slip_beyond_them_is_refused(self, slip: int) -> None:
        with pytest.raises(ValueError, match=f"a slip of {slip} frames leaves the handles"):
            Clip(shot=shot(Span(200, 310), head=12), take=TAKE, slip=slip)


class TestSong:
    def test_its_length_is_exact(self) -> None:
        song = replace(SONG, samples=479_001, sample_rate=44_100)
        assert song.seconds == Fraction(479_001, 44_100)
        assert song.frames() == 261
        assert song.frames(Fraction(25)) == 272


class TestVerdict:
    FAILED = replace(FINDING, check="frozen", outcome=Outcome.FAIL, reason="frozen from frame 9")
    UNCLEAR = replace(FINDING, check="sync", outcome=Outcome.CANNOT_JUDGE, reason="no face")

    @pytest.mark.parametrize(
        ("findings", "outcome", "reason"),
        [
            ((FINDING,), Outcome.PASS, "every check passed"),
            ((FINDING, UNCLEAR), Outcome.CANNOT_JUDGE, "no face"),
            ((UNCLEAR, FAILED, FINDING), Outcome.FAIL, "frozen from frame 9"),
            ((FAILED, replace(FAILED, reason="black")), Outcome.FAIL, "frozen from frame 9; black"),
            ((FAILED, FAILED), Outcome.FAIL, "frozen from frame 9"),
        ],
    )
    def test_it_is_as_good_as_its_worst_finding(
        self, findings: tuple[Finding, ...], outcome: Outcome, reason: str
    ) -> None:
        verdict = Verdict(findings=findings)
        assert (verdict.outcome, verdict.reason) == (outcome, reason)

    def test_one_without_findings_judges_nothing(self) -> None:
        with pytest.raises(ValueError, match="without findings"):
            Verdict(findings=())


class TestTimeline:
    @given(cuts=sets(integers(1, 86_399), max_size=300).filter(lambda cuts: len(cuts) > 0))
    def test_it_is_as_long_as_its_shots(self, cuts: set[int]) -> None:
        grid = sorted({0, 86_400, *cuts, *range(300, 86_400, 300)} - {0, 86_400})
        spans = tile(grid, 86_400, NTSC_FILM_RATE)
        line = Timeline(tuple(Slug(shot=shot(span, number=n), reason="-") for n, span in enumerate(spans, 1)))
        assert (line.frames, line.rate) == (86_400, NTSC_FILM_RATE)

    @pytest.mark.parametrize(
        ("spans", "message"),
        [
            ([], "at least one shot"),
            ([Span(1, 100)], "starts at frame 1, not 0"),
            ([Span(0, 100), Span(101, 200)], "do not meet"),
            ([Span(0, 100), Span(99, 200)], "do not meet"),
            ([Span(100, 200), Span(0, 100)], "starts at frame 100"),
            ([Span(0, 100), Span(100, 200, NTSC_FILM_RATE)], "do not meet"),
        ],
    )
    def test_a_hole_or_an_overlap_is_refused(self, spans: list[Span], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Timeline(tuple(Slug(shot=shot(span, number=n), reason="-") for n, span in enumerate(spans, 1)))
