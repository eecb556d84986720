"""Which references a shot uses, and that none is left out in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mvpipe.errors import StoryboardError
from mvpipe.render.backend import CastMember, Place
from mvpipe.render.comfyui.bank import MOST, Room, Shown, references
from tests.render.comfyui.setups import MIRA, STREET, TOMAS, asset, setup


def member(name: str, many: int) -> CastMember:
    pictures = tuple(asset(f"{name}-{i}.png") for i in range(many))
    return CastMember(name=name, description="somebody", pictures=pictures)


def roles(*cast: CastMember, place: Place | None = None, most: int = 9) -> list[str]:
    return [one.role for one in references(setup(cast=cast, place=place), Room(pictures=most)).pictures]


def test_cast_in_the_card_s_order_then_the_place() -> None:
    found = references(setup(cast=(TOMAS, MIRA)))
    assert [(one.number, one.role) for one in found.pictures] == [
        (1, "picture:tomas/0"), (2, "picture:mira/0"), (3, "picture:mira/1"), (4, "place:street/0"),
    ]  # fmt: skip
    assert found.cast == {"tomas": Shown(pictures=(1,)), "mira": Shown(pictures=(2, 3))}
    assert found.place == Shown(pictures=(4,))
    assert found.notes == ()


def test_nobody_and_nowhere() -> None:
    found = references(setup(cast=(), place=None))
    assert (found.all, found.cast, found.place) == ((), {}, Shown())


def test_the_same_shot_uses_the_same_files_whatever_else_is_in_the_film() -> None:
    assert references(setup()) == references(setup("another prompt", framing="wide"))


def test_nine_are_shared_fairly_and_the_rest_is_named() -> None:
    cast, street = (member("ada", 6), member("bo", 2)), replace(STREET, pictures=member("street", 4).pictures)
    found = references(setup(cast=cast, place=street))
    assert len(found.pictures) == MOST.pictures
    seen = [found.cast["ada"], found.cast["bo"], found.place]
    assert [len(one.pictures) for one in seen] == [4, 2, 3]
    assert found.notes == (
        "shot 3: the graph takes 9 pictures: left out of ada's: ada-4.png, ada-5.png",
        "shot 3: the graph takes 9 pictures: left out of street's: street-3.png",
    )


def test_with_room_for_one_the_place_goes_first() -> None:
    found = references(setup(cast=(TOMAS,)), Room(pictures=1))
    assert [one.role for one in found.pictures] == ["picture:tomas/0"]
    assert found.notes == ("shot 3: the graph takes 1 pictures: left out of street's: street.png",)


def test_a_singer_without_a_picture_is_an_error_not_a_note() -> None:
    with pytest.raises(
        StoryboardError, match=r"rain\.yaml:20: cast: no room for a picture of tomas"
    ) as caught:
        references(setup(cast=(MIRA, TOMAS)), Room(pictures=1))
    assert "fewer people" in caught.value.hint
    with pytest.raises(StoryboardError, match="no room for a picture of p9"):
        references(setup(cast=tuple(member(f"p{i}", 1) for i in range(10)), place=None))


def test_a_picture_shared_by_two_is_sent_once() -> None:
    both = asset("both.png")
    cast = (replace(MIRA, pictures=(both,)), replace(TOMAS, pictures=(both, asset("tomas.png"))))
    found = references(setup(cast=cast, place=None))
    assert [one.role for one in found.pictures] == ["picture:mira/0", "picture:tomas/1"]
    assert found.cast == {"mira": Shown(pictures=(1,)), "tomas": Shown(pictures=(1, 2))}


def test_more_than_the_node_takes_is_never_allowed() -> None:
    assert len(roles(member("ada", 12), most=20)) == MOST.pictures


def filmed(name: str, many: int = 1, *, sings: bool = False) -> CastMember:
    videos = tuple(asset(f"{name}-{i}.mp4") for i in range(many))
    return CastMember(
        name=name, description="somebody", videos=videos, voice=asset(f"{name}.wav"), sings=sings
    )


class TestVideos:
    def test_are_numbered_by_themselves(self) -> None:
        mira, street = replace(MIRA, videos=(asset("walks.mp4"),)), replace(STREET, videos=(asset("s.mp4"),))
        found = references(setup(cast=(mira, filmed("ada")), place=street))
        assert [(one.number, one.role) for one in found.videos] == [
            (1, "video:mira/0"), (2, "video:ada/0"), (3, "place-video:street/0"),
        ]  # fmt: skip
        assert found.cast == {"mira": Shown(pictures=(1, 2), videos=(1,)), "ada": Shown(videos=(2,))}
        assert found.place == Shown(pictures=(3,), videos=(3,))
        assert found.wired(sound=True) == {"pictures": 3, "videos": 3, "audios": 1}
        assert found.notes == ()

    def test_three_are_shared_fairly_and_the_rest_is_named(self) -> None:
        found = references(setup(cast=(filmed("ada", 2), filmed("bo", 2)), place=None))
        assert [one.role for one in found.videos] == ["video:ada/0", "video:ada/1", "video:bo/0"]
        assert found.notes == ("shot 3: the graph takes 3 videos: left out of bo's: bo-1.mp4",)

    def test_three_are_room_for_three(self) -> None:
        found = references(setup(cast=(filmed("ada", 3),), place=None))
        assert (len(found.videos), found.notes) == (3, ())

    def test_whoever_is_pinned_by_videos_alone_is_not_forgotten(self) -> None:
        with pytest.raises(StoryboardError, match="no room for a video of ada: the graph takes 0") as caught:
            references(setup(cast=(MIRA, filmed("ada"))), Room(videos=0))
        assert "a graph that takes more videos" in caught.value.hint
        kept = references(setup(cast=(replace(MIRA, videos=(asset("m.mp4"),)),)), Room(videos=0))
        assert kept.notes == ("shot 3: the graph takes 0 videos: left out of mira's: m.mp4",)


class TestVoices:
    def test_are_not_sent_unless_they_are_asked_for(self) -> None:
        assert references(setup(cast=(filmed("ada", sings=True),))).voices == ()

    def test_stand_behind_the_song_s_own(self) -> None:
        cast = (filmed("ada", sings=True), filmed("bo"), filmed("cy", sings=True))
        found = references(setup(cast=cast), voices=True)
        assert [(one.number, one.role) for one in found.voices] == [(2, "voice:ada"), (3, "voice:cy")]
        assert found.wired(sound=True)["audios"] == 3

    def test_two_have_room_and_the_third_is_named(self) -> None:
        cast = tuple(filmed(name, sings=True) for name in ("ada", "bo", "cy"))
        found = references(setup(cast=cast), voices=True)
        assert len(found.voices) == MOST.voices
        said = "shot 3: the graph takes 2 voices beside the song's: left out of cy's: cy.wav"
        assert found.notes == (said,)
