"""The storyboard as it is written: frozen models whose descriptions become the schema that editors show.

A single value is read by `fields`, from text or from what the text stands for.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from mvpipe.storyboard import scalars
from mvpipe.storyboard.described import CastMember, Picture, Place, Section
from mvpipe.storyboard.fields import FilePath, Key, Text, Version, Words
from mvpipe.storyboard.part import Part
from mvpipe.storyboard.settings import Cuts, Gate, Render, Sound


class Storyboard(Part):
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
