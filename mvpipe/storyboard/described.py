"""What is seen, as it is written: the people, the places, and the shots of each section."""

from __future__ import annotations

from pydantic import Field

from mvpipe.film import Continuity, ShotKind
from mvpipe.storyboard.fields import (
    BarNumber,
    CastName,
    FilePath,
    Flag,
    Line,
    PictureSize,
    PlaceName,
    Text,
    Time,
    WithoutVoice,
    Words,
)
from mvpipe.storyboard.part import Part
from mvpipe.storyboard.scalars import Size


class Picture(Part):
    """The picture of the film."""

    size: PictureSize = Field(
        default=Size(1344, 768),
        description="Width x height in pixels, each a multiple of 32 from 64 to 2048.",
        examples=["1344x768", "960x544", "672x384", "768x1344"],
    )


class CastMember(Part):
    """Somebody who is seen."""

    description: Words = Field(
        alias="is",
        description="How they look, in words a stranger could draw from: age, hair, face, clothes.",
        examples=["a woman of twenty-five, silver bob, red raincoat over a white shirt"],
    )
    pictures: tuple[FilePath, ...] = Field(
        default=(),
        description="Pictures of them, beside the storyboard; every shot is made from the same ones. "
        "A clear face from the front first, then other sides. At most nine.",
        examples=[["refs/mira-front.png", "refs/mira-left.png"]],
    )
    videos: tuple[FilePath, ...] = Field(
        default=(),
        description="Films of them, beside the storyboard, at most three: how they look from all sides and "
        "how they move. Their sound is left out. H3 sees the first 15 seconds, and every second of them "
        "costs as much as a second of the shot.",
        examples=[["refs/mira-walks.mp4"]],
    )
    voice: FilePath | None = Field(
        default=None,
        description="A recording of their voice alone, beside the storyboard: twenty seconds, sung if that "
        "can be had. sound: {singers: by-voice} tells by it who sings; render: {send_voices: true} gives H3 "
        "its first 15 seconds.",
        examples=["refs/mira.wav"],
    )
    sings: Flag = Field(
        default=False,
        description="Whether their mouth follows the voice in performance shots.",
        examples=[True],
    )


class Place(Part):
    """Where shots play."""

    description: Words = Field(
        alias="is",
        description="What one sees there: space, materials, light, time of day.",
        examples=["a narrow street of broken neon signs at night, wet asphalt"],
    )
    pictures: tuple[FilePath, ...] = Field(
        default=(),
        description="Pictures of the place, beside the storyboard.",
        examples=[["refs/street.png"]],
    )
    videos: tuple[FilePath, ...] = Field(
        default=(),
        description="Films of the place, beside the storyboard, at most three; as those of cast.",
        examples=[["refs/street.mp4"]],
    )


class Shot(Part):
    """One described shot; it becomes one or more shots of the film."""

    prompt: Text = Field(
        default="",
        description="What is seen and what happens, in plain sentences.",
        examples=["Mira walks towards us through the rain and sings"],
    )
    kind: ShotKind = Field(
        default=ShotKind.PERFORMANCE,
        description="performance: somebody sings, the mouth follows the voice. b-roll: nobody sings.",
        examples=["performance", "b-roll"],
    )
    cast: tuple[CastName, ...] = Field(
        default=(), description="Who is seen, by their names under cast.", examples=[["mira"]]
    )
    place: PlaceName | None = Field(
        default=None, description="Where it plays, by its name under places.", examples=["street"]
    )
    framing: Line = Field(
        default="",
        description="How close and from where. Left out, mvpipe varies it from shot to shot.",
        examples=["medium close-up", "close-up, three-quarter from the left", "wide, low angle"],
    )
    at: Time | None = Field(
        default=None,
        description="The moment of the song that must fall in this shot.",
        examples=["0:31.0", "1:02.500"],
    )
    bar: BarNumber | None = Field(
        default=None,
        description="The bar of the song, counted from 1, that must begin in this shot.",
        examples=[17],
    )
    continuity: Continuity = Field(
        default=Continuity.CUT,
        description="cut: rendered from the pinned pictures alone. chain: goes on from the picture of the "
        "shot before it in the film, is rendered after it, and again whenever that one changes; the pictures "
        "stay pinned. Needs a graph with a start_picture, such as multishot-pinned; the animatic draws it as "
        "any other. Long chains gather errors: keep them short.",
        examples=["cut", "chain"],
    )
    without_voice: WithoutVoice | None = Field(
        default=None,
        description="What H3 hears in this shot if nobody sings in it, where that is not what render says: "
        "silence, accompaniment or none.",
        examples=["accompaniment"],
    )
    lyric: Line = Field(
        default="",
        description="The line sung in this shot, which is placed on it; #2 behind it means its second time "
        "in the song, and must be there where a line is sung more than once. Without lyrics it is only said.",
        examples=["no way home", "no way home#2"],
    )


class Section(Part):
    """A part of the song: its shots are dealt over the cuts planned in it, in order."""

    name: Words = Field(description="What musicians call it.", examples=["verse 1", "chorus", "bridge"])
    start: Time | None = Field(
        default=None,
        description="When it begins. Left out, mvpipe places it and says where.",
        examples=["0:12.4", "1:30"],
    )
    shots: tuple[Shot, ...] = Field(
        default=(),
        description="What is seen, in order; repeated with varied framing where the section has more cuts.",
        examples=[[{"prompt": "Mira walks towards us and sings", "cast": ["mira"]}]],
    )
