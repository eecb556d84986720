"""The types of single fields: how each is read, written canonically, and shown in the schema."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

from mvpipe.storyboard import scalars
from mvpipe.storyboard.files import existing
from mvpipe.storyboard.scalars import Size, Stretch, Wrong

_SCALAR = ["string", "number", "boolean", "null"]
"""Whatever an editor takes a bare word for (`on`, `1999`, `null`), it is text here."""

_TIME = r"^\s*(\d+:)?(\d+:)?\d+(\.\d+)?\s*$"


def _listed(group: str) -> AfterValidator:
    def check(name: str, info: ValidationInfo) -> str:
        listed = (info.context or {}).get(group)
        if listed is not None and name not in listed:
            raise Wrong(f"not in {group}: {scalars.show(name)}", hint=lambda: _others(name, group, listed))
        return name

    return AfterValidator(check)


def _others(name: str, group: str, listed: Sequence[str]) -> str:
    others = f"{group} has {', '.join(listed[:12])}" if listed else f"describe it under {group}"
    return scalars.did_you_mean(name, listed) or others


def _found(kind: str) -> AfterValidator:
    def check(name: str, info: ValidationInfo) -> str:
        folder = (info.context or {}).get("folder")
        if folder is not None:
            existing(folder, name, kind)
        return name

    return AfterValidator(check)


def _range(low: int, high: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})


_BARE = WithJsonSchema({"type": _SCALAR})

Text = Annotated[str, BeforeValidator(scalars.text), _BARE]
Line = Annotated[str, BeforeValidator(scalars.line), _BARE]
Words = Annotated[str, BeforeValidator(scalars.words), _BARE]
Name = Annotated[str, BeforeValidator(scalars.name), _BARE]
Key = Annotated[str, BeforeValidator(scalars.name)]
CastName = Annotated[str, BeforeValidator(scalars.name), _listed("cast"), _BARE]
PlaceName = Annotated[str, BeforeValidator(scalars.name), _listed("places"), _BARE]
FilePath = Annotated[str, BeforeValidator(scalars.words), _found("file"), WithJsonSchema({"type": "string"})]
FolderPath = Annotated[
    str, BeforeValidator(scalars.words), _found("folder"), WithJsonSchema({"type": "string"})
]

Time = Annotated[
    Fraction,
    BeforeValidator(scalars.time),
    PlainSerializer(str),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": _TIME}, {"type": "number", "minimum": 0}]}),
]
TimeSpan = Annotated[
    Stretch,
    BeforeValidator(scalars.stretch),
    PlainSerializer(lambda span: [str(span.start), str(span.stop)]),
    WithJsonSchema({"type": "string", "pattern": r"^\s*[\d:.]+\s*[-\u2013\u2014]\s*[\d:.]+\s*$"}),
]
PictureSize = Annotated[
    Size,
    BeforeValidator(scalars.size),
    PlainSerializer(list),
    WithJsonSchema({"type": "string", "pattern": r"^\s*\d+\s*[xX\u00d7]\s*\d+\s*$"}),
]
Flag = Annotated[bool, BeforeValidator(scalars.flag), WithJsonSchema({"type": "boolean"})]
ShotNumber = Annotated[int, BeforeValidator(scalars.shot_number)]
BarNumber = Annotated[int, BeforeValidator(scalars.whole(1, 99_999)), _range(1, 99_999)]
Version = Annotated[int, BeforeValidator(scalars.version), WithJsonSchema({"const": 1})]
Takes = Annotated[int, BeforeValidator(scalars.whole(1, 20)), _range(1, 20)]
LongestShot = Annotated[int, BeforeValidator(scalars.whole(5, 15)), _range(5, 15)]
Thrift = Annotated[int, BeforeValidator(scalars.whole(0, 1000)), _range(0, 1000)]
Seed = Annotated[int, BeforeValidator(scalars.whole(0, 2**32 - 1)), _range(0, 2**32 - 1)]
Milliseconds = Annotated[int, BeforeValidator(scalars.whole(-2000, 2000)), _range(-2000, 2000)]
Figure = Annotated[float, BeforeValidator(scalars.number), WithJsonSchema({"type": "number"})]
Tolerance = Annotated[int, BeforeValidator(scalars.whole(0, 12)), _range(0, 12)]

WithoutVoice = Literal["silence", "accompaniment", "none"]
