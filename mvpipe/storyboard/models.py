"""The storyboard as it is written: frozen models whose descriptions become the schema that editors show.

A single value is read by `fields`, from text or from what the text stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mvpipe.film import ShotKind
from mvpipe.storyboard import scalars
from mvpipe.storyboard.fields import (
    CastName,
    FilePath,
    Flag,
    FolderPath,
    Key,
    Line,
    Milliseconds,
    Name,
    PictureSize,
    PlaceName,
    Seed,
    ShotNumber,
    Takes,
    Text,
    Time,
    TimeSpan,
    Tolerance,
    Version,
    Words,
)
from mvpipe.storyboard.scalars import Size


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _left_out(cls, value: Any) -> Any:
        """A known key with nothing behind it counts as left out; an unknown one is still refused."""
        if not isinstance(value, dict):
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: item for key, item in value.items() if item is not None or key not in known}


class Picture(_Part):
    """The picture of the film."""

    size: PictureSize = Field(
        default=Size(1344, 768),
        description="Width x height in pixels, each a multiple of 32 from 64 to 2048.",
        examples=["1344x768", "960x544", "672x384", "768x1344"],
    )


class CastMember(_Part):
    """Somebody who is seen."""

    description: Words = Field(
        alias="is",
        description="How they look, in words a stranger could draw from: age, hair, face, clothes.",
        examples=["a woman of twenty-five, silver bob, red raincoat over a white shirt"],
    )
    pictures: tuple[FilePath, ...] = Field(
        default=(),
        description="Pictures of them, beside the storyboard; every shot is made from the same ones. "
        "A clear face from the front first, then other sides. At most nine are used.",
        examples=[["refs/mira-front.png", "refs/mira-left.png"]],
    )
    sings: Flag = Field(
        default=False,
        description="Whether their mouth follows the voice in performance shots.",
        examples=[True],
    )


class Place(_Part):
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


class Shot(_Part):
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
    lyric: Line = Field(
        default="",
        description="The line sung in this shot; #2 behind it means its second time in the song. "
        "Where the lyrics carry times, the shot is placed on the line.",
        examples=["no way home", "no way home#2"],
    )


class Section(_Part):
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


class Cuts(_Part):
    """Where the editor has the last word about cuts."""

    keep: tuple[Time, ...] = Field(
        default=(), description="Moments at which a cut must fall.", examples=[["0:41", "1:12.5"]]
    )
    avoid: tuple[TimeSpan, ...] = Field(
        default=(), description="Stretches in which no cut may fall.", examples=[["1:02 - 1:03.5"]]
    )
    at: Mapping[ShotNumber, Time] = Field(
        default={},
        description="Cuts moved by hand: shot number to the time it starts.",
        examples=[{"4": "0:23.5"}],
    )


class Sound(_Part):
    """How the voice is taken from the song."""

    separator: Name = Field(
        default="auto",
        description="Which network separates the voice: auto, htdemucs, htdemucs_ft, spleeter, or the "
        "name of another Demucs model. auto takes htdemucs where its weights are at hand, and says so "
        "where they are not.",
        examples=["auto", "htdemucs", "htdemucs_ft", "spleeter"],
    )
    vocals: FilePath | None = Field(
        default=None,
        description="A vocal stem of your own, exactly as long as the song; nothing is separated then.",
        examples=["neon_rain.vocals.wav"],
    )
    repo: FolderPath | None = Field(
        default=None, description="A folder of Demucs models to take the separator from.", examples=["models"]
    )


class Animatic(_Part):
    """Settings of the drawn storyboard film; all but the first mouth are for tests and teaching."""

    mouth: Literal["follow", "closed", "frozen", "unrelated"] = Field(
        default="follow",
        description="What the drawn mouth does with the voice.",
        examples=["follow", "closed"],
    )
    offset_ms: Milliseconds = Field(
        default=0,
        description="Milliseconds by which the mouth is late (negative: early).",
        examples=[0, 120, -80],
    )


class Render(_Part):
    """How takes are made."""

    backend: Literal["animatic", "comfyui"] = Field(
        default="animatic",
        description="animatic: drawn cards, on any computer. comfyui: MiniMax H3 on a ComfyUI server.",
        examples=["animatic", "comfyui"],
    )
    graph: Name | None = Field(
        default=None,
        description="The ComfyUI template by its name, or the path of a graph with its slots file beside it.",
        examples=["native-ref2va", "graphs/mine.json"],
    )
    profile: Name | None = Field(
        default=None, description="The sampling profile, by its name.", examples=["ref2va-turbo-8"]
    )
    without_voice: Literal["silence", "none"] = Field(
        default="silence",
        description="What H3 hears in shots in which nobody sings: silence keeps mouths shut; none lets it "
        "make sounds of its own, which never reach the film.",
        examples=["silence"],
    )
    lyrics: Line = Field(
        default="",
        description="Language of the lyrics, if H3 may be told them word for word; left out, it is not.",
        examples=["English"],
    )
    takes: Takes = Field(
        default=3, description="How often a shot is tried before a slug stands in.", examples=[3]
    )
    seed: Seed = Field(default=7, description="Where the seeds of all takes derive from.", examples=[7])
    animatic: Animatic = Field(
        default_factory=Animatic,
        description="Settings of the animatic backend.",
        examples=[{"mouth": "follow"}],
    )

    @property
    def options(self) -> dict[str, Any]:
        """The settings of the chosen backend, as canonical values."""
        return self.options_for(self.backend)

    def options_for(self, backend: str) -> dict[str, Any]:
        """The settings of a backend, as canonical values."""
        if backend == "animatic":
            return self.animatic.model_dump()
        return self.model_dump(include={"graph", "profile", "without_voice", "lyrics"}, exclude_none=True)


class Gate(_Part):
    """When a take is good enough."""

    offset_frames: Tolerance = Field(
        default=1,
        description="Frames (at 25 a second) by which mouth and voice may differ.",
        examples=[1],
    )
    on_fail: Literal["retake"] = Field(
        default="retake",
        description="What follows a failed take: another one, with a new seed.",
        examples=["retake"],
    )


class Storyboard(_Part):
    """A film as its maker describes it."""

    mvpipe: Version = Field(description="Version of this format: 1.", examples=[1])
    title: Words = Field(
        description="Title of the film; the files are named after it.", examples=["Neon Rain"]
    )
    lyrics: FilePath | None = Field(
        default=None,
        description="The lyrics, beside the storyboard: .lrc, .srt or .vtt with times, or plain .txt.",
        examples=["neon_rain.lrc"],
    )
    picture: Picture = Field(
        default_factory=Picture, description="Its size in pixels.", examples=[{"size": "1344x768"}]
    )
    look: Text = Field(
        default="",
        description="The look of the whole film: stock, lens, light, colour.",
        examples=["35 mm film, wet neon streets, shallow depth of field"],
    )
    cast: Mapping[Key, CastMember] = Field(
        default={},
        description="Who is seen, each under a name of your choice.",
        examples=[{"mira": {"is": "a woman of twenty-five, silver bob, red raincoat", "sings": True}}],
    )
    places: Mapping[Key, Place] = Field(
        default={},
        description="Where it plays, each under a name of your choice.",
        examples=[{"street": {"is": "a narrow street of broken neon signs"}}],
    )
    sections: tuple[Section, ...] = Field(
        default=(),
        description="The parts of the song in order, with the shots described for them.",
        examples=[[{"name": "verse 1", "start": "0:12.4", "shots": [{"prompt": "rain", "kind": "b-roll"}]}]],
    )
    cuts: Cuts = Field(default_factory=Cuts, description="Cuts you insist on.", examples=[{"keep": ["0:41"]}])
    sound: Sound = Field(
        default_factory=Sound, description="How the voice is found.", examples=[{"separator": "auto"}]
    )
    render: Render = Field(
        default_factory=Render,
        description="Who films the takes, how often, and from which seed.",
        examples=[{"backend": "animatic"}],
    )
    gate: Gate = Field(
        default_factory=Gate, description="What a take must pass to be used.", examples=[{"offset_frames": 1}]
    )

    @property
    def file_stem(self) -> str:
        """The title as the name of a file."""
        return scalars.file_stem(self.title)
