"""Who is heard in each shot, and what is said of it."""

from __future__ import annotations

from fractions import Fraction

from mvpipe.clock import Span
from mvpipe.film import Card, ShotKind, SungBy
from mvpipe.singing import in_shots, notes

SPANS = [Span(0, 144), Span(144, 288), Span(288, 432)]


def phrase(start: int, stop: int, name: str = "", like: str = "mira", sure: float = 0.6) -> SungBy:
    known = max(sure, 0.95) if name else sure
    return SungBy(start=Fraction(start), stop=Fraction(stop), name=name, likeliest=name or like, sure=known)


def said(sung: list[SungBy], *cards: Card) -> list[str]:
    return list(notes(in_shots(sung, SPANS[: len(cards)]), cards))


def shows(*cast: str, kind: ShotKind = ShotKind.PERFORMANCE) -> Card:
    return Card(prompt="", cast=cast, kind=kind)


def test_a_shot_is_whose_most_of_it_is() -> None:
    sung = [
        phrase(1, 4, "mira"),
        phrase(5, 9, "tomas"),
        phrase(9, 10, "mira"),
        phrase(12, 15),
        phrase(15, 17),
    ]
    heard = in_shots(sung, SPANS)
    assert [one.name for one in heard] == ["mira", "tomas", ""]
    assert heard[0].seconds == {"mira": 3, "tomas": 1}
    assert [one.doubt for one in heard] == ["", "", "like mira, 60%"]


def test_two_who_share_a_shot_are_told_as_such() -> None:
    (one,) = in_shots([phrase(0, 3, "mira"), phrase(3, 6, "tomas")], SPANS[:1])
    assert (one.name, one.doubt) == ("", "mira 3.0 s, tomas 3.0 s")


def test_where_it_was_not_asked_nothing_is_said() -> None:
    assert in_shots([], SPANS) == ()


def test_a_silent_shot_is_nobodys_and_in_no_doubt() -> None:
    heard = in_shots([phrase(7, 9, "mira")], SPANS)
    assert [(one.name, one.doubt) for one in heard] == [("", ""), ("mira", ""), ("", "")]


def test_a_shot_that_shows_another_one_is_said() -> None:
    assert said([phrase(1, 5, "tomas")], shows("mira")) == [
        "another one sings than is seen: shot 1 at 0:00.000 (tomas is heard, mira seen)"
    ]
    assert said([phrase(1, 5, "tomas")], shows("mira", "tomas")) == []
    assert said([phrase(1, 5, "tomas")], shows("mira", kind=ShotKind.B_ROLL)) == []


def test_a_doubt_is_said_with_its_number() -> None:
    assert said([phrase(1, 5), phrase(7, 9, sure=0.0)], shows("mira"), shows()) == [
        "who sings cannot be told by voice, and is as the storyboard has it: "
        "shot 1 at 0:00.000 (like mira, 60%), shot 2 at 0:06.000 (like none of them)"
    ]


def test_whoever_is_heard_as_well_and_not_seen_is_said() -> None:
    assert said([phrase(0, 3, "mira"), phrase(4, 6, "tomas")], shows("mira")) == [
        "somebody is heard in it who is not seen: shot 1 at 0:00.000 (tomas 2.0 s)"
    ]
