"""Described shots over planned cuts."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.clock import NTSC_FILM_RATE, Span, tile
from mvpipe.film import Card, Line, ShotKind
from mvpipe.storyboard.deal import deal
from mvpipe.storyboard.load import Loaded, load
from mvpipe.storyboard.variety import B_ROLL, SINGING, SINGING_TOGETHER
from tests.storyboard.making import SAMPLES, loaded, steady

CAST = "cast: {mira: {is: x, sings: true}, tomas: {is: y}}\nplaces: {street: {is: z}}\n"


def even(frames: int, length: int) -> list[Span]:
    return tile(range(length, frames, length), frames)


def prompts(cards: tuple[Card, ...]) -> str:
    return " ".join(card.prompt for card in cards)


def notes(film: Loaded, spans: list[Span], lyrics: tuple[Line, ...] = ()) -> list[str]:
    head = f"{film.path}:"
    return [str(note).removeprefix(head) for note in deal(film, spans, lyrics=lyrics).notes]


def test_shots_are_dealt_in_order_and_again(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections:\n"
        "  - {name: v, shots: [{prompt: a}, {prompt: b}]}\n"
        "  - {name: c, start: 30, shots: [{prompt: c}]}\n",
    )
    dealt = deal(film, even(50 * 24, 6 * 24))
    assert prompts(dealt.cards) == "a b a b a c c c c"
    assert [card.section for card in dealt.cards] == ["v"] * 5 + ["c"] * 4
    assert dealt.notes == ()
    assert dealt.cards[1].origin == f"{film.path}:4"


def test_a_span_belongs_to_the_section_that_has_most_of_it(tmp_path: Path) -> None:
    film = loaded(
        tmp_path, "sections: [{name: v, shots: [{prompt: a}]}, {name: c, start: 14, shots: [{prompt: b}]}]"
    )
    assert prompts(deal(film, [Span(0, 240), Span(240, 431), Span(431, 500)]).cards) == "a a b"
    assert (
        prompts(deal(film, [Span(0, 240), Span(240, 432), Span(432, 500)]).cards) == "a a b"
    )  # half and half
    assert prompts(deal(film, [Span(0, 240), Span(240, 433), Span(433, 500)]).cards) == "a b b"


def test_shots_with_at_go_to_the_span_that_holds_it(tmp_path: Path) -> None:
    film = loaded(tmp_path, "sections: [{name: v, shots: [{prompt: a}, {prompt: X, at: 12}, {prompt: b}]}]")
    spans = even(30 * 24, 6 * 24)
    assert prompts(deal(film, spans).cards) == "a b X a b"
    early = loaded(
        tmp_path, "sections: [{name: v, shots: [{prompt: a}, {prompt: X, at: 11.97}, {prompt: b}]}]"
    )
    assert prompts(deal(early, spans).cards) == "a X b a b"


def test_the_time_of_a_cut_as_it_is_printed_is_the_shot_it_begins(tmp_path: Path) -> None:
    film = loaded(tmp_path, "sections: [{name: v, shots: [{prompt: a}, {prompt: X, at: 0:31.031}]}]")
    spans = tile([744], 1000, NTSC_FILM_RATE)  # frame 744 begins at 31.031 s
    assert prompts(deal(film, spans).cards) == "a X"


def test_the_last_half_frame_belongs_to_the_last_shot(tmp_path: Path) -> None:
    film = loaded(tmp_path, "sections: [{name: v, shots: [{prompt: a}, {prompt: X, at: 9.99}]}]")
    assert prompts(deal(film, even(240, 120)).cards) == "a X"


def test_a_section_of_nothing_but_tied_shots_repeats_them(tmp_path: Path) -> None:
    film = loaded(tmp_path, "sections: [{name: v, shots: [{prompt: X, at: 1}, {prompt: Y, at: 20}]}]")
    assert prompts(deal(film, even(30 * 24, 6 * 24)).cards) == "X X Y Y X"


def test_what_finds_no_cut_is_noted(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections:\n  - name: v\n    shots:\n"
        "      - {prompt: a}\n      - {prompt: b}\n      - {prompt: X, at: 7}\n      - {prompt: Y, at: 8}\n"
        "      - {prompt: c}\n",
    )
    spans = even(18 * 24, 6 * 24)
    assert prompts(deal(film, spans).cards) == "a X b"
    assert notes(film, spans) == [
        "9:9: sections[0].shots[3]: left over: shot 2 of the film is tied to another one",
        "10:9: sections[0].shots[4]: left over: v has fewer free cuts than shots, 2 for 3",
    ]


def test_a_section_too_short_for_a_cut_is_noted(tmp_path: Path) -> None:
    film = loaded(
        tmp_path, "sections: [{name: v, shots: [{prompt: a}]}, {name: c, start: 5, shots: [{prompt: b}]}]"
    )
    assert notes(film, [Span(0, 144)]) == [
        "3:73: sections[1].shots[0]: left over: c has fewer free cuts than shots, 0 for 1"
    ]


def test_sections_without_a_start_are_placed_evenly_on_cuts(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections:\n"
        + "".join(f"  - {{name: {name}, shots: [{{prompt: {name}}}]}}\n" for name in "abc")
        + "  - {name: d, start: 40, shots: [{prompt: d}]}\n  - {name: e, shots: [{prompt: e}]}\n",
    )
    spans = even(60 * 24, 6 * 24)
    assert prompts(deal(film, spans).cards) == "a a b b c c c d e e"
    assert notes(film, spans) == [
        "5:5: sections[1]: placed at 0:12.000 by mvpipe: give start: to fix it",
        "6:5: sections[2]: placed at 0:24.000 by mvpipe: give start: to fix it",
        "8:5: sections[4]: placed at 0:48.000 by mvpipe: give start: to fix it",
    ]


def test_what_comes_before_the_first_section_is_b_roll(tmp_path: Path) -> None:
    film = loaded(tmp_path, CAST + "look: wet\nsections: [{name: v, start: 12, shots: [{prompt: a}]}]")
    dealt = deal(film, even(24 * 24, 6 * 24))
    assert [(card.kind, card.prompt, card.cast, card.section) for card in dealt.cards[1:3]] == [
        (ShotKind.B_ROLL, "wet", (), ""),
        (ShotKind.PERFORMANCE, "a", (), "v"),
    ]
    assert notes(film, even(24 * 24, 6 * 24)) == [
        "6:12: sections[0]: begins late: shots before it made from the look: 2"
    ]


def test_without_sections_whoever_sings_is_filmed(tmp_path: Path) -> None:
    film = loaded(tmp_path, CAST + "look: wet")
    dealt = deal(film, even(12 * 24, 6 * 24))
    assert dealt.cards[0] == Card(
        prompt="mira sings to us", cast=("mira",), place="street", framing=SINGING[0]
    )
    assert [card.framing for card in dealt.cards] == list(SINGING[:2])
    assert notes(film, even(12 * 24, 6 * 24)) == [
        "1:1: storyboard: no sections: shots made from look and cast: 2"
    ]
    assert deal(loaded(tmp_path, "look: wet"), [Span(0, 100)]).cards[0].prompt == "wet"
    assert deal(loaded(tmp_path, ""), [Span(0, 100)]).cards[0].prompt == "Neon Rain"


def test_a_section_without_shots_films_whoever_sings(tmp_path: Path) -> None:
    film = loaded(tmp_path, CAST + "sections: [{name: v}]")
    dealt = deal(film, even(12 * 24, 6 * 24))
    assert [(card.cast, card.section) for card in dealt.cards] == [(("mira",), "v")] * 2
    assert notes(film, even(12 * 24, 6 * 24)) == [
        "5:12: sections[0]: describes no shots: made from look and cast: 2"
    ]


@pytest.mark.parametrize("shots", range(1, 12))
def test_framing_varies_where_it_is_left_open(tmp_path: Path, shots: int) -> None:
    rows = ", ".join(f"{{prompt: p{number}, cast: [mira]}}" for number in range(shots))
    cards = deal(loaded(tmp_path, f"{CAST}sections: [{{name: v, shots: [{rows}]}}]"), even(4000, 100)).cards
    assert {card.framing for card in cards} == set(SINGING)
    for before, after in pairwise(cards):
        assert before.framing != after.framing
    for before, again in zip(cards, cards[shots:], strict=False):
        assert (before.prompt, before.framing) != (again.prompt, again.framing)


def test_coming_round_again_a_shot_suits_what_is_heard(tmp_path: Path) -> None:
    rows = "{prompt: a, cast: [mira]}, {prompt: b, cast: [mira]}, {prompt: x, kind: b-roll}"
    film = loaded(tmp_path, f"{CAST}sections: [{{name: v, shots: [{rows}]}}]")
    voice = [0.8, 0.0, 0.9, 0.7, 0.6, 0.0, 0.0, 0.9]
    dealt = deal(film, even(8 * 144, 144), voice=voice)
    assert prompts(dealt.cards) == "a b x a b x x a"
    assert dealt.notes == ()
    assert dealt.sources[3] == (0, 0)


def test_made_up_shots_show_one_singer_and_none_where_nobody_sings(tmp_path: Path) -> None:
    cast = "cast: {mira: {is: x, sings: true}, ines: {is: y, sings: true}}\nlook: wet\n"
    cards = deal(loaded(tmp_path, cast), even(4 * 144, 144), voice=[0.9, 0.0, 0.9, 0.9]).cards
    assert [card.cast for card in cards] == [("mira",), (), ("mira",), ("ines",)]
    assert cards[1].kind is ShotKind.B_ROLL


def test_shots_are_tied_to_bars(tmp_path: Path) -> None:
    film = loaded(
        tmp_path, "sections: [{name: v, shots: [{prompt: a}, {prompt: X, bar: 5}, {prompt: b, bar: 99}]}]"
    )
    bars = [Fraction(2 * bar) for bar in range(12)]
    dealt = deal(film, even(4 * 144, 144), bars=bars)
    assert prompts(dealt.cards) == "a X b a"
    assert [note.text for note in dealt.notes] == ["the song has 12 bars: the shot is dealt in order"]
    assert "no bars can be trusted" in deal(film, even(4 * 144, 144)).notes[0].text


LIKE = "{prompt: a, cast: [mira], framing: 'medium close-up, front'}"


@pytest.mark.parametrize(
    ("second", "framing", "notes"),
    [
        ("cast: [mira]", SINGING[1], []),
        (
            "cast: [mira], framing: medium close-up from the front",
            "medium close-up from the front",
            ["a jump cut: shots 1 and 2 show the same people alike, medium close-up from the front"],
        ),
        ("cast: [mira], place: street, framing: 'medium close-up, front'", "medium close-up, front", []),
        ("cast: [tomas], kind: b-roll, framing: 'medium close-up, front'", "medium close-up, front", []),
    ],
)
def test_no_cut_between_like_pictures_of_the_same_person(
    tmp_path: Path, second: str, framing: str, notes: list[str]
) -> None:
    rows = f"  - {{name: v, shots: [{LIKE}]}}\n  - {{name: c, start: 6, shots: [{{prompt: b, {second}}}]}}\n"
    dealt = deal(loaded(tmp_path, f"{CAST}sections:\n{rows}"), even(288, 144))
    assert dealt.cards[1].framing == framing
    assert [note.text for note in dealt.notes] == notes


def test_framing_that_is_written_stays(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        CAST + "sections: [{name: v, shots: [{framing: profile}, {kind: b-roll}, {cast: [mira, tomas]}]}]",
    )
    cards = deal(film, even(600, 100)).cards
    assert [card.framing for card in cards] == [
        "profile",
        B_ROLL[1],
        SINGING_TOGETHER[2],
        "profile",
        B_ROLL[4],
        SINGING_TOGETHER[0],
    ]


SONG = (
    Line("no way home", Fraction(1), Fraction(4)),
    Line("the rain", Fraction(7), Fraction(17)),
    Line("No way home!", Fraction(20), Fraction(22)),
)


def test_timed_lyrics_stand_on_the_cards_and_place_shots(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections: [{name: v, shots: [{prompt: a, lyric: written}, "
        '{prompt: X, lyric: "no way home#2"}, {prompt: b}]}]',
    )
    spans = even(24 * 24, 6 * 24)
    dealt = deal(film, spans, lyrics=SONG)
    assert [(card.prompt, card.lyric) for card in dealt.cards] == [
        ("a", "no way home"),
        ("b", "the rain"),
        ("a", "the rain"),
        ("X", "No way home!"),
    ]
    assert notes(film, spans, SONG) == [
        "3:49: sections[0].shots[0].lyric: not in the lyrics: the shot is dealt in order"
    ]


def test_without_timed_lyrics_the_written_line_stands_once(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections: [{name: v, shots: "
        '[{prompt: a, lyric: "no way home#2", at: 1}, {prompt: b, lyric: rain}]}]',
    )
    dealt = deal(film, even(24 * 24, 6 * 24), lyrics=(Line("no way home"),))
    assert [(card.prompt, card.lyric) for card in dealt.cards] == [
        ("a", "no way home"), ("b", "rain"), ("b", ""), ("b", ""),
    ]  # fmt: skip


def test_no_spans_are_a_mistake_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one shot"):
        deal(loaded(tmp_path, ""), [])


@st.composite
def films(draw: st.DrawFn) -> tuple[str, list[Span]]:
    """A storyboard whose prompts are `<section>/<shot>`, and cuts for a song of about two minutes."""
    frames = draw(st.integers(240, 2880))
    cuts = draw(st.sets(st.integers(1, frames - 1), max_size=25))
    starts = sorted(draw(st.sets(st.integers(0, frames - 1), min_size=1, max_size=5)))
    rows = []
    for section, start in enumerate(starts):
        shown = draw(st.booleans())
        stop = starts[section + 1] if section + 1 < len(starts) else frames
        shots = []
        for shot in range(draw(st.integers(0, 4))):
            at = draw(st.one_of(st.none(), st.integers(start, stop - 1)))
            tied = "" if at is None or not shown else f", at: {float(Fraction(at, 24)):.3f}"
            shots.append(f"{{prompt: {section}/{shot}{tied}}}")
        begin = f"start: {float(Fraction(start, 24)):.3f}, " if shown else ""
        rows.append(f"  - {{name: s{section}, {begin}shots: [{', '.join(shots)}]}}\n")
    return f"{CAST}sections:\n{''.join(rows)}", tile(cuts, frames)


@steady
@given(film=films(), data=st.data())
def test_every_span_has_one_card_and_an_edit_changes_only_those_that_carry_it(
    tmp_path_factory: pytest.TempPathFactory, film: tuple[str, list[Span]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text, spans = film
    before = deal(loaded(folder, text), spans).cards
    assert len(before) == len(spans)
    assert before == deal(loaded(folder, text), spans).cards
    edited = data.draw(st.sampled_from(sorted({card.prompt for card in before})))
    after = deal(loaded(folder, text.replace(f"prompt: {edited}", "prompt: edited")), spans).cards
    for old, new in zip(before, after, strict=True):
        assert (old == new) == (old.prompt != edited or "/" not in edited)


@steady
@given(film=films())
def test_every_shot_is_filmed_or_left_over(
    tmp_path_factory: pytest.TempPathFactory, film: tuple[str, list[Span]]
) -> None:
    text, spans = film
    board = loaded(tmp_path_factory.getbasetemp(), text)
    dealt = deal(board, spans)
    described = Counter(shot.prompt for section in board.storyboard.sections for shot in section.shots)
    filmed = {card.prompt for card in dealt.cards}
    left = sum("left over" in note.text for note in dealt.notes)
    assert sum(prompt not in filmed for prompt in described) <= left


def test_cutting_one_section_otherwise_leaves_the_others_alone(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "sections:\n  - {name: a, start: 0, shots: [{prompt: a}, {prompt: b}]}\n"
        "  - {name: c, start: 24, shots: [{prompt: c}, {prompt: d}, {prompt: e}]}\n",
    )
    coarse = deal(film, [*even(24 * 24, 6 * 24), *(Span(576 + k, 576 + k + 100) for k in range(0, 700, 100))])
    fine = deal(film, [*even(24 * 24, 2 * 24), *(Span(576 + k, 576 + k + 100) for k in range(0, 700, 100))])
    assert coarse.cards[-7:] == fine.cards[-7:]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_the_samples_fill_a_song(sample: Path) -> None:
    cards = deal(load(sample), even(200 * 24, 6 * 24)).cards
    assert all(card.prompt and card.framing and card.section for card in cards)
    assert any(card.kind is ShotKind.PERFORMANCE for card in cards) == (sample.stem != "lyric-video")


DUET = "cast: {mira: {is: x, sings: true}, tomas: {is: y, sings: true}}\n"


def who(film: Loaded, *singers: str) -> list[tuple[str, ...]]:
    spans = even(len(singers) * 144, 144)
    return [card.cast for card in deal(film, spans, voice=[0.9] * len(spans), singers=singers).cards]


def test_whoever_is_heard_is_seen_where_nobody_is_named(tmp_path: Path) -> None:
    film = loaded(tmp_path, DUET)
    assert who(film, "tomas", "tomas", "mira") == [("tomas",), ("tomas",), ("mira",)]
    assert deal(film, even(288, 144), singers=["tomas", ""]).cards[0].prompt == "tomas sings to us"
    assert who(film, "", "", "") == [("mira",), ("tomas",), ("mira",)]
    named = loaded(tmp_path, DUET + "sections: [{name: v, shots: [{prompt: a, cast: [mira]}, {prompt: b}]}]")
    assert who(named, "tomas", "tomas") == [("mira",), ("tomas",)]


def test_coming_round_again_a_shot_of_whoever_is_heard_is_taken(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        DUET + "sections: [{name: v, shots: [{prompt: a, cast: [mira]}, {prompt: b, cast: [tomas]}]}]",
    )
    assert who(film, "mira", "mira", "tomas", "mira", "") == [
        ("mira",), ("tomas",), ("tomas",), ("mira",), ("tomas",)
    ]  # fmt: skip


def test_a_silent_span_shows_no_singer_though_one_was_heard_before(tmp_path: Path) -> None:
    film = loaded(tmp_path, DUET)
    dealt = deal(film, even(288, 144), voice=[0.9, 0.0], singers=["tomas", ""])
    assert [card.cast for card in dealt.cards] == [("tomas",), ()]
