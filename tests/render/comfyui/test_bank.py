"""Which pictures a shot uses, and that none is left out in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mvpipe.errors import StoryboardError
from mvpipe.render.backend import CastMember, Place
from mvpipe.render.comfyui.bank import MOST_PICTURES, references
from tests.render.comfyui.setups import MIRA, STREET, TOMAS, asset, setup


def member(name: str, many: int) -> CastMember:
    pictures = tuple(asset(f"{name}-{i}.png") for i in range(many))
    return CastMember(name=name, description="somebody", pictures=pictures)


def roles(*cast: CastMember, place: Place | None = None, most: int = 9) -> list[str]:
    return [one.role for one in references(setup(cast=cast, place=place), most).pictures]


def test_cast_in_the_card_s_order_then_the_place() -> None:
    found = references(setup(cast=(TOMAS, MIRA)))
    assert [(one.number, one.role) for one in found.pictures] == [
        (1, "picture:tomas/0"), (2, "picture:mira/0"), (3, "picture:mira/1"), (4, "place:street/0"),
    ]  # fmt: skip
    assert found.cast == {"tomas": (1,), "mira": (2, 3)}
    assert found.place == (4,)
    assert found.notes == ()


def test_nobody_and_nowhere() -> None:
    found = references(setup(cast=(), place=None))
    assert (found.pictures, found.cast, found.place) == ((), {}, ())


def test_the_same_shot_uses_the_same_files_whatever_else_is_in_the_film() -> None:
    assert references(setup()) == references(setup("another prompt", framing="wide"))


def test_nine_are_shared_fairly_and_the_rest_is_named() -> None:
    cast, street = (member("ada", 6), member("bo", 2)), replace(STREET, pictures=member("street", 4).pictures)
    found = references(setup(cast=cast, place=street))
    assert len(found.pictures) == MOST_PICTURES
    assert [len(found.cast["ada"]), len(found.cast["bo"]), len(found.place)] == [4, 2, 3]
    assert found.notes == (
        "shot 3: the graph takes 9 pictures: left out of ada's: ada-4.png, ada-5.png",
        "shot 3: the graph takes 9 pictures: left out of street's: street-3.png",
    )


def test_with_room_for_one_the_place_goes_first() -> None:
    found = references(setup(cast=(TOMAS,)), most=1)
    assert [one.role for one in found.pictures] == ["picture:tomas/0"]
    assert found.notes == ("shot 3: the graph takes 1 pictures: left out of street's: street.png",)


def test_a_singer_without_a_picture_is_an_error_not_a_note() -> None:
    with pytest.raises(
        StoryboardError, match=r"rain\.yaml:20: cast: no room for a picture of tomas"
    ) as caught:
        references(setup(cast=(MIRA, TOMAS)), most=1)
    assert "fewer people" in caught.value.hint
    with pytest.raises(StoryboardError, match="no room for a picture of p9"):
        references(setup(cast=tuple(member(f"p{i}", 1) for i in range(10)), place=None))


def test_a_picture_shared_by_two_is_sent_once() -> None:
    both = asset("both.png")
    cast = (replace(MIRA, pictures=(both,)), replace(TOMAS, pictures=(both, asset("tomas.png"))))
    found = references(setup(cast=cast, place=None))
    assert [one.role for one in found.pictures] == ["picture:mira/0", "picture:tomas/1"]
    assert found.cast == {"mira": (1,), "tomas": (1, 2)}


def test_more_than_the_node_takes_is_never_allowed() -> None:
    assert len(roles(member("ada", 12), most=20)) == MOST_PICTURES
