"""The slots file beside a graph: which of its inputs mvpipe fills, by name, so that code knows no node ids.

::

    mvpipe-template: 1
    title: Core nodes, vocal locked
    lock: exact
    outputs: [save]
    slots:
      prompt: {is: text, at: [[cond, prompt]], must: true}
      videos:
        is: videos                             # one loader each, and what stands between it and the input
        at: [[video, file]]
        into: [[cond, "ref_videos.ref_video_{}"]]
        most: 3
      vocals:
        is: sound
        at: [[vocal, audio]]
        without:                               # what changes when a shot has none
          bypass: [[av, video_latent]]
          unlink: [[cond, ref_audios.ref_audio_0]]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal["text", "whole", "number", "choice", "file", "sound", "pictures", "videos", "sounds"]
MANY = ("pictures", "videos", "sounds")
"""The kinds that take several files."""

Lock = Literal["exact", "soft", "none"]
Unit = Literal["as it is", "seconds", "half seconds"]

Fill = str | int | float | Sequence[str] | None
"""What is filled into a slot: a value, the names of files, or None to leave it empty."""

KNOWN = (
    "prompt", "width", "height", "length", "seed", "steps", "sampler", "scheduler", "shift_video",
    "shift_audio", "cfg", "lora", "lora_strength", "weights", "text_encoder", "text_device", "video_vae",
    "audio_vae", "pictures", "picture_detail", "start_picture", "videos", "voices", "vocals", "song",
    "filename_prefix",
)  # fmt: skip
"""The names mvpipe fills by itself; a graph of one's own may have more, which keep what the graph says."""

NodeId = Annotated[str, Field(min_length=1)]
Wire = tuple[NodeId, NodeId]
"""(node id, input)"""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Listed(_Part):
    @model_validator(mode="before")
    @classmethod
    def _tuples(cls, value: Any) -> Any:
        """YAML has lists where strict models want tuples."""
        return {k: _tupled(v) for k, v in value.items()} if isinstance(value, dict) else value


def _tupled(value: Any) -> Any:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


class Edits(_Listed):
    """What changes in the graph when a slot is left empty.

    Parameters
    ----------
    bypass : nodes taken out, each with the input that is handed on in its place
    unlink : inputs taken away
    put : (node, input, value) written
    """

    bypass: tuple[Wire, ...] = ()
    unlink: tuple[Wire, ...] = ()
    put: tuple[tuple[NodeId, NodeId, str | int | float | bool], ...] = ()


class Loader(_Part):
    """One of several node classes that can stand at a slot's first place; the server's own is taken.

    Parameters
    ----------
    class_type : the class
    input : its input that takes the file
    others : what else it has to be given
    """

    class_type: str = Field(alias="class")
    input: str
    others: Mapping[str, str | int | float | bool] = Field(default={}, alias="with")


class Slot(_Listed):
    """One thing that is filled in.

    Parameters
    ----------
    kind : what it takes
    at : (node, input) or (node, input, unit) of every place it is written to; of files that are loaded, the
        loader's
    must : whether it has no usable default
    folder : of files: below the server's models folder
    loaders : classes that may stand at its first place
    without : what changes when it is empty; without this it cannot be
    into : of several files: the inputs they arrive at; {} is replaced by their number
    first : number of the first file's input
    least, most : how many files it takes
    """

    kind: Kind = Field(alias="is")
    at: tuple[tuple[NodeId, NodeId] | tuple[NodeId, NodeId, Unit], ...] = Field(min_length=1)
    must: bool = False
    folder: str = ""
    loaders: tuple[Loader, ...] = ()
    without: Edits | None = None
    into: tuple[Wire, ...] = ()
    first: int = Field(default=0, ge=0)
    least: int = Field(default=0, ge=0)
    most: int = Field(default=9, ge=1, le=9)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Slot:
        if self.many != bool(self.into):
            raise ValueError(f"'into' belongs to {', '.join(MANY)}, and they need it")
        if self.most > 1 and any("{}" not in name for _, name in self.into):
            raise ValueError("an input without {} takes one file: say most: 1")
        if self.many and len(self.at) != 1:
            raise ValueError(f"{self.kind} have one loader, which is repeated")
        if (self.kind == "file") != bool(self.folder):
            raise ValueError("'folder' belongs to files, and files need it")
        return self

    @property
    def many(self) -> bool:
        """Whether it takes several files, each with a loader of its own."""
        return self.kind in MANY


def numbered(pattern: str, number: int) -> str:
    """The input of a growing group: `ref_images.ref_image_{}` and 0 make `ref_images.ref_image_0`."""
    return pattern.replace("{}", str(number))


class Pack(_Part):
    """A node pack that must be installed.

    Parameters
    ----------
    name : of its folder
    source : where it is had, owner/repository
    version : the one this graph was run with
    """

    name: str
    source: str = Field(alias="from")
    version: str = ""


class Clash(_Part):
    """A node class that must not be installed, and why."""

    class_type: str = Field(alias="class")
    why: str


class Needs(_Listed):
    """What the server must have.

    Parameters
    ----------
    core : the oldest core it is known to run on
    packs : node packs
    absent : classes that break it
    """

    core: str = ""
    packs: tuple[Pack, ...] = ()
    absent: tuple[Clash, ...] = ()


class Slots(_Listed):
    """A slots file.

    Parameters
    ----------
    version : of this format: 1
    title, about : for people
    needs : what the server must have
    lock : what the graph does to the audio rows: `exact` freezes them, `soft` pulls at them, `none`
    lock_note : where the lock's name says too much
    outputs : the nodes whose files are the take
    slots : by name
    """

    version: Literal[1] = Field(alias="mvpipe-template")
    title: str = Field(min_length=1)
    about: str = ""
    needs: Needs = Needs()
    lock: Lock
    lock_note: str = ""
    outputs: tuple[NodeId, ...] = Field(min_length=1)
    slots: Mapping[str, Slot]

    def wires(self) -> Iterator[tuple[str, str, str]]:
        """(where in this file, node id, input or empty) of everything that must be in the graph."""
        yield from (("outputs", node_id, "") for node_id in self.outputs)
        for name, slot in self.slots.items():
            where = f"slots.{name}"
            yield from ((f"{where}.at", place[0], place[1]) for place in slot.at)
            yield from ((f"{where}.into", node, numbered(field, slot.first)) for node, field in slot.into)
            if slot.without:
                edits = slot.without
                yield from ((f"{where}.without.bypass", *wire) for wire in edits.bypass)
                yield from ((f"{where}.without.unlink", *wire) for wire in edits.unlink)
                yield from ((f"{where}.without.put", node, field) for node, field, _ in edits.put)
