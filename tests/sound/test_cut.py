"""Where cuts fall: the optimum, its limits, the editor's pins, and how few words are cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.clock import FILM_RATE, NTSC_FILM_RATE, Span, frames_in
from mvpipe.film import BoundaryKind, Word
from mvpipe.sound import costs
from mvpipe.sound.boundaries import MARGIN_HOPS, ROOM_HOPS, boundaries, marks
from mvpipe.sound.cut import SECOND_BEST_APART, cut
from mvpipe.sound.cutting import Cutting, Lengths, Pins
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.ruler import Ruler
from tests.sound.cuttings import check_is_a_plan, plan, starts
from tests.sound.hearings import by_hand, hear, heard, shuffled, synth

STRICT = Lengths(brief=Fraction(9, 2), most=Fraction(8))
"""4.5 to 8 s and nothing else, whatever it cuts."""

RATES = (FILM_RATE, NTSC_FILM_RATE)

SONGS: tuple[dict[str, Any], ...] = (
    {"seed": 1, "bpm": 100.0, "seconds": 96.0},  # of 90 s, the end leaves no way round a word
    {"seed": 2, "bpm": 84.0, "voice": "low"},
    {"seed": 3, "bpm": 128.0, "vocal_db": -4.0},
    {"seed": 4, "bpm": 100.0, "metre": 3},
)


def in_words(cutting: Cutting, kw: dict[str, Any]) -> float:
    cuts = starts(cutting)
    return sum(synth(**kw).truth.inside_word(f / 24) for f in cuts) / len(cuts)


@st.composite
def hearings(draw: st.DrawFn, longest: float = 90.0) -> Hearing:
    ends = sorted(draw(st.lists(st.floats(0, longest), max_size=16, unique=True)))
    phrases = [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=False) if b - a > 0.2]
    seconds = draw(st.floats(max(ends, default=0) + 0.2, longest + 10))
    beats = np.arange(0, seconds, 0.6).tolist() if draw(st.booleans()) else []
    return by_hand(seconds, phrases, beats=beats, bars=beats[::4])


@given(hearings(), st.sampled_from(RATES))
@settings(deadline=None, max_examples=150)
def test_every_plan_tiles_and_can_be_rendered(hearing: Hearing, rate: Fraction) -> None:
    frames = frames_in(hearing.samples, hearing.sample_rate, rate)
    cutting = cut(hearing, frames=frames, rate=rate)
    check_is_a_plan(cutting, frames, rate)
    ruler = Ruler.of(Lengths(), rate, float)
    if frames >= ruler.brief:
        assert all(ruler.brief <= len(span) <= ruler.most for span in cutting.spans)
    strict = cut(hearing, frames=frames, rate=rate, lengths=STRICT)
    if frames >= ruler.brief and any(not ruler.least <= len(span) <= ruler.longest for span in cutting.spans):
        assert strict.inside_voice >= cutting.inside_voice
    assert plan(hearing, rate) == cutting


@pytest.mark.parametrize("seconds", [0.2, 1, 4.4, 4.6, 7.9, 8.1, 8.5, 8.9, 9, 9.5, 10, 60, 600, 3600])
@pytest.mark.parametrize("rate", RATES)
def test_totals_of_any_length(seconds: float, rate: Fraction) -> None:
    hearing = by_hand(seconds)
    cutting = plan(hearing, rate)
    check_is_a_plan(cutting, frames_in(hearing.samples, hearing.sample_rate, rate), rate)
    if seconds <= 8:
        assert len(cutting.shots) == 1
    if 9 <= seconds <= 10:
        assert len(cutting.shots) == 2


def test_between_8_and_9_seconds_one_shot_is_a_little_long() -> None:
    assert [len(span) for span in plan(by_hand(8.3)).spans] == [200]


def test_of_9_seconds_a_good_boundary_makes_two_shots_a_little_short() -> None:
    cutting = plan(by_hand(9.3, [(0.1, 4.1), (4.9, 9.2)], sections=[4.49]))
    assert len(cutting.shots) == 2
    assert min(len(span) for span in cutting.spans) >= 100


def test_shots_out_of_range_stay_as_few_as_they_must() -> None:
    avoid = Span(150, 400)
    spans = plan(by_hand(120), pins=Pins(avoid=(avoid,))).spans
    assert sum(not 108 <= len(span) <= 192 for span in spans) == 1


def brute_force(hearing: Hearing, lengths: Lengths, frames: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(price, cuts) of every plan, added up from what `costs` says of each cut and length."""
    ruler, known = Ruler.of(lengths, FILM_RATE, float), marks(hearing, frames=frames, rate=FILM_RATE)

    def rest(start: int, before: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        for length in range(ruler.brief, ruler.most + 1):
            stop, window = start + length, ruler.window(length)
            here = (
                ruler.out_of_length(length) + ruler.render(length) + (ruler.same if window == before else 0)
            )
            if stop == frames:
                yield here, ()
            elif stop < frames:
                for price, cuts in rest(stop, window):
                    yield price + here + int(known.price[stop]), (stop, *cuts)

    return rest(0, -1)


@given(hearings(longest=1.6), st.integers(26, 34))
@settings(deadline=None, max_examples=20)
def test_no_plan_is_cheaper_and_no_runner_up_is_closer(hearing: Hearing, frames: int) -> None:
    short = Lengths(
        shortest=Fraction(7, 24),
        longest=Fraction(10, 24),
        least=Fraction(6, 24),
        brief=Fraction(5, 24),
        most=Fraction(12, 24),
    )
    every = dict((cuts, price) for price, cuts in brute_force(hearing, short, frames))
    cutting = cut(hearing, frames=frames, lengths=short)
    assert cutting.price == min(every.values())
    assert every[tuple(starts(cutting))] == cutting.price
    for shot in cutting.shots[1:]:
        if shot.runner_up:
            other = shot.runner_up.frame
            assert abs(other - shot.cut.start) >= SECOND_BEST_APART
            assert shot.runner_up.more == min(p for c, p in every.items() if other in c) - cutting.price


def test_the_prices_keep_their_order_and_have_sources() -> None:
    ruler = Ruler.of(Lengths(), FILM_RATE, float)
    most_in_voice = costs.IN_VOICE.value + costs.IN_VOICE_LOUD.value
    far = max(ruler.out_of_length(ruler.brief), ruler.out_of_length(ruler.most)) / costs.UNIT
    weak, render, same = 1.0, ruler.render(ruler.most) / costs.UNIT, costs.SAME_LENGTH.value
    short = ruler.out_of_length(108) / costs.UNIT
    assert costs.OUT_OF_RANGE.value > 10_000
    assert costs.IN_WORD.value > most_in_voice + far + weak + render + same
    assert costs.IN_VOICE.value > far + weak + render + same
    rows = [weak, short, ruler.render(192) / costs.UNIT, same]
    assert all(row > sum(rows[i + 1 :]) for i, row in enumerate(rows))


def test_the_order_of_harm_is_as_stated() -> None:
    ruler = Ruler.of(Lengths(), FILM_RATE, float)
    a_little_long, longest = ruler.out_of_length(204), ruler.out_of_length(345)
    borrowed = ruler.out_of_length(357)
    dip, held = costs.micro(costs.IN_VOICE), costs.micro(costs.IN_VOICE) + costs.micro(costs.HELD_LOUD)
    torn = costs.micro(costs.IN_VOICE) + costs.micro(costs.IN_VOICE_LOUD)
    order = [a_little_long, longest, borrowed, dip, held, torn, costs.micro(costs.IN_WORD)]
    assert order == sorted(order)


def test_lines_of_4_3_seconds_stay_whole() -> None:
    lines = [(k * 4.3, k * 4.3 + 3.95) for k in range(20)]
    hearing = by_hand(86, lines)
    assert cut(hearing, frames=86 * 24, lengths=STRICT).inside_voice == 5
    cutting = plan(hearing)
    assert cutting.inside_voice == 0
    assert all(108 <= len(span) <= 204 for span in cutting.spans)


def test_a_shot_that_leaves_no_room_borrows_from_its_handles() -> None:
    hearing = by_hand(44, [(0, 14.5), (15.0, 29.4), (30, 44)])
    cutting = plan(hearing)
    assert cutting.inside_voice == 0
    middle = cutting.shots[1]
    assert 346 < len(middle.cut) <= 358
    assert len(middle.window) == 362
    check_is_a_plan(cutting, 44 * 24, FILM_RATE)


def test_a_longer_shot_costs_nothing_where_a_good_one_is_to_be_had() -> None:
    phrases = [(k * 6.0, k * 6.0 + 5.4) for k in range(10)]
    assert all(len(span) <= 192 for span in plan(by_hand(60, phrases)).spans)


def test_a_held_vowel_is_cut_rather_than_a_consonant() -> None:
    hearing = by_hand(30, [(0, 30)])
    held = np.array([[1020, 1100], [1900, 1960]])
    cutting = plan(replace(hearing, held=held))
    assert [shot.harm for shot in cutting.shots[1:]] == ["the voice, in a held vowel"] * len(starts(cutting))
    assert "inside the voice, in a held vowel" in cutting.shots[1].why


def test_a_dip_is_cut_rather_than_a_held_vowel() -> None:
    hearing = replace(by_hand(20, [(0, 20)], dips=[9.0]), held=np.array([[950, 1200]]))
    (shot,) = plan(hearing).shots[1:]
    assert shot.harm == "the voice, in a dip"


def words_of(*spans: tuple[float, float]) -> tuple[Word, ...]:
    return tuple(Word(f"w{k}", Fraction(a), Fraction(b)) for k, (a, b) in enumerate(spans))


def test_no_word_that_is_known_is_cut() -> None:
    hearing = by_hand(40, [(0.2, 39.8)])
    spans = [(k * 2.0 + 0.5, k * 2.0 + 2.45) for k in range(19)]
    words = words_of(*spans)
    blind, known = plan(hearing), plan(hearing, words=words)
    assert blind.inside_voice > 0
    assert known.inside_voice == 0
    assert all(shot.boundary and shot.boundary.kind is BoundaryKind.WORD_GAP for shot in known.shots[1:])
    for start in starts(known):
        assert not any(a + 0.05 < start / 24 < b - 0.05 for a, b in spans)


def test_a_known_word_forbids_what_sounds_like_a_gap() -> None:
    hearing = by_hand(12, [(0.2, 5.6), (6.2, 11.8)])
    (free,) = starts(plan(hearing))
    assert 5.6 < free / 24 < 6.2
    (shot,) = plan(hearing, words=words_of((0.2, 3.9), (4.0, 8.0), (8.1, 11.8))).shots[1:]
    assert not shot.harm
    assert abs(shot.cut.start / 24 - 3.95) < 0.1 or abs(shot.cut.start / 24 - 8.05) < 0.1


def test_where_a_word_must_be_cut_it_is_named() -> None:
    (shot,) = plan(by_hand(20, [(0, 20)]), words=words_of((0.0, 20.0))).shots[1:]
    assert shot.harm == 'the word "w0"'
    assert shot.inside
    figures = [f for f in vars(costs).values() if isinstance(f, costs.Figure)]
    assert all(f.source for f in [*figures, *costs.WEIGHT.values(), *costs.SUPPORT.values()])
    assert set(costs.WEIGHT) == set(BoundaryKind)


@pytest.mark.parametrize("kw", SONGS)
def test_no_word_is_cut_on_the_true_stem(kw: dict[str, Any]) -> None:
    cutting = plan(heard(**kw))
    assert in_words(cutting, kw) <= 0.01
    assert cutting.inside_voice == 0


def test_few_words_are_cut_on_leaky_stems() -> None:
    leaky = [{**kw, "leakage_db": 15.0} for kw in SONGS]
    assert np.mean([in_words(plan(heard(**kw)), kw) for kw in leaky]) <= 0.05


def test_words_are_cut_by_a_stem_that_does_not_fit() -> None:
    cuttings = [(plan(hear(synth(**kw), shuffled(synth(**kw).vocals))), kw) for kw in SONGS]
    assert np.mean([in_words(cutting, kw) for cutting, kw in cuttings]) > 0.2


def test_words_are_cut_by_equal_lengths() -> None:
    truths = [synth(**kw).truth for kw in SONGS]
    assert np.mean([t.inside_word(s) for t in truths for s in np.arange(6.5, 86, 6.5)]) > 0.4


def test_cuts_lie_where_the_voice_is_quietest() -> None:
    hearing = heard(seed=1)
    gaps = list(pairwise(hearing.phrases.tolist()))
    short = [b for b in boundaries(hearing) if b.kind in (BoundaryKind.PHRASE_END, BoundaryKind.BREATH)]
    assert len(short) >= 5
    for boundary in short:
        hop = boundary.sample * 100 // hearing.sample_rate
        (_, start), (stop, _) = next((a, b) for a, b in gaps if a[1] <= hop + 1 and hop <= b[0])
        breath = hearing.breaths[:, 0]
        blown = breath[(breath >= start + ROOM_HOPS) & (breath < stop)].tolist()
        end = blown[0] if blown else stop - MARGIN_HOPS
        assert hearing.voice_db[start:end].min() >= hearing.voice_db[hop - 1 : hop + 2].min() - 1


@pytest.mark.parametrize(("breaths", "earliest", "latest"), [([], 400, 430), ([70, 870], 430, 460)])
def test_where_breaths_are_not_heard_room_is_left_for_one(
    breaths: list[int], earliest: int, latest: int
) -> None:
    hearing = by_hand(12, [(1, 4), (4.6, 7), (9, 11)])
    level = hearing.voice_db.copy()
    level[400:430], level[430:460] = -50, -60  # inaudible, and quieter still just before the phrase
    runs = np.array([(at, at + 25) for at in breaths], np.int64).reshape(-1, 2)
    found = boundaries(replace(hearing, voice_db=level, breaths=runs))
    (hop,) = [b.sample / 480 for b in found if 4 * 48_000 <= b.sample < 4.6 * 48_000]
    assert earliest <= hop < latest


@pytest.mark.parametrize(("heard_at", "earliest", "latest"), [(410, 436, 458), (415, 400, 415)])
def test_a_breath_right_after_a_line_leaves_no_room_for_a_cut(
    heard_at: int, earliest: int, latest: int
) -> None:
    hearing = by_hand(12, [(1, 4), (4.6, 7), (9, 11)])
    level = hearing.voice_db.copy()
    level[400:436], level[436:460] = -40, -60  # the line still rings, then the singer has drawn breath
    runs = np.array([(70, 95), (heard_at, 436), (870, 895)], np.int64)
    found = boundaries(replace(hearing, voice_db=level, breaths=runs))
    (hop,) = [b.sample / 480 for b in found if 4 * 48_000 <= b.sample < 4.6 * 48_000]
    assert earliest <= hop < latest


def test_a_shot_is_rather_a_little_longer_than_cut_while_the_line_rings() -> None:
    hearing = by_hand(16, [(0, 8), (9.2, 16)])
    level = hearing.voice_db.copy()
    level[800:900] = -40
    (shot,) = plan(replace(hearing, voice_db=level)).shots[1:]
    assert 8.98 <= shot.cut.start / 24 <= 9.2


def test_evidence_nearby_raises_a_weight_and_moves_nothing() -> None:
    phrases = [(1, 5), (5.8, 11)]
    plain = [b for b in boundaries(by_hand(12, phrases)) if b.kind is BoundaryKind.PHRASE_END]
    held = [b for b in boundaries(by_hand(12, phrases, bars=[5.25])) if b.kind is BoundaryKind.PHRASE_END]
    assert [b.sample for b in plain] == [b.sample for b in held]
    assert [b.weight for b in plain] < [b.weight for b in held]


def test_a_closure_inside_a_word_is_no_gap() -> None:
    hearing = by_hand(24, [(0.1, 23.9)], dips=[11.9])
    (shot,) = plan(hearing).shots[1:]
    assert shot.inside
    assert shot.boundary is not None
    assert shot.boundary.kind in (BoundaryKind.VALLEY, BoundaryKind.WORD_GAP)
    assert abs(shot.cut.start / 24 - 11.9) < 0.03


def test_a_held_note_of_30_seconds_is_cut_as_rarely_as_can_be() -> None:
    cutting = plan(by_hand(30, [(0, 30)]))
    assert len(cutting.shots) == 3
    assert cutting.inside_voice == 2
    assert all(s.boundary and s.boundary.kind is BoundaryKind.FORCED for s in cutting.shots[1:])
    assert all(s.voice == pytest.approx(1) for s in cutting.shots)


def test_a_pause_is_one_zone_and_not_cut_more_than_it_must() -> None:
    hearing = by_hand(60, [(0.5, 6), (54, 59.5)])
    inner = [b for b in boundaries(hearing) if 6 * 48_000 < b.sample < 54 * 48_000]
    assert len(inner) == 2
    assert len(plan(hearing).shots) == 8  # 60 s in shots of at most 8 s


def test_in_a_pause_cuts_fall_on_bars_where_there_are_any() -> None:
    bars = np.arange(0, 60, 2.4).tolist()
    with_bars = plan(by_hand(60, beats=np.arange(0, 60, 0.6).tolist(), bars=bars))
    assert all(s.boundary and s.boundary.kind is BoundaryKind.BAR for s in with_bars.shots[1:])
    assert all(s.boundary and s.boundary.kind is BoundaryKind.SILENCE for s in plan(by_hand(60)).shots[1:])


def test_of_two_equal_gaps_the_one_on_a_bar_is_cut() -> None:
    phrases = [(0.0, 5.6), (6.0, 6.6), (7.0, 12.8)]
    early, late = (starts(plan(by_hand(12.8, phrases, beats=[bar], bars=[bar]))) for bar in (5.8, 6.8))
    assert len(early) == len(late) == 1
    assert abs(early[0] / 24 - 5.8) < 0.1
    assert abs(late[0] / 24 - 6.8) < 0.1


def test_bars_inside_the_voice_do_not_attract_cuts() -> None:
    phrases = [(0.2, 5.6), (6.2, 11.8), (12.4, 17.8)]
    off = np.arange(0.9, 18, 1.3).tolist()
    assert starts(plan(by_hand(18, phrases))) == starts(plan(by_hand(18, phrases, beats=off, bars=off)))


def test_two_bar_phrases_at_100_bpm_are_not_cut() -> None:
    phrases = [(i * 4.8, i * 4.8 + 4.4) for i in range(20)]
    assert plan(by_hand(96, phrases)).inside_voice == 0


def test_a_strict_floor_must_cut_them() -> None:
    phrases = [(i * 4.8, i * 4.8 + 4.4) for i in range(20)]
    strict = Lengths(least=Fraction(5), brief=Fraction(5), most=Fraction(8))
    assert plan(by_hand(96, phrases), lengths=strict).inside_voice > 0


def test_a_dear_window_is_avoided() -> None:
    def dear(frames: int) -> float:
        return 3.0 if frames == 192 else 1.0

    hearing = by_hand(22)
    assert 192 in [len(shot.window) for shot in plan(hearing).shots]
    cutting = plan(hearing, price=dear)
    assert 192 not in [len(shot.window) for shot in cutting.shots]
    assert len(cutting.shots) == len(plan(hearing).shots)  # but a cut more would be worse


def test_each_cut_says_why_and_what_was_second_best() -> None:
    cutting = plan(heard(seed=1))
    assert cutting.shots[0].why == "the film starts"
    for shot in cutting.shots[1:]:
        assert shot.boundary is not None
        assert str(shot.boundary.kind).replace("_", " ") in shot.why
        assert shot.runner_up is None or shot.runner_up.more >= 0
        assert "render" in str(shot.cost)
    assert cutting.price == sum(shot.cost.total for shot in cutting.shots)


def test_windows_have_their_handles_and_share_what_is_over() -> None:
    for shot in plan(by_hand(60)).shots[1:-1]:
        head, tail = shot.cut.start - shot.window.start, shot.window.stop - shot.cut.stop
        assert min(head, tail) >= 8
        assert abs(head - tail) <= 1


def test_eight_seconds_fit_209_frames() -> None:
    shot = plan(by_hand(24), pins=Pins(keep=(192, 384))).shots[1]
    assert (len(shot.cut), len(shot.window)) == (192, 209)
