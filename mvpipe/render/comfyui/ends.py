"""How a job ended, as history tells it, and what that means for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

FOLDER = "mvpipe"
"""Our folder below the server's input and output folders."""


class Cause(StrEnum):
    """Why a job did not end well."""

    INTERRUPTED = "interrupted"
    MEMORY = "out of memory"
    INPUT_GONE = "an input file is gone"
    DISK = "it could not write the file"
    NAN = "the sound is not a number"
    NODE = "a node failed"


_SIGNS: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    # packs raise plain RuntimeErrors of it, so the message counts as much as the type (protocol section 6)
    (Cause.MEMORY, re.compile(r"OutOfMemory|out of memory|CUBLAS_STATUS_ALLOC_FAILED|MPS backend out", re.I)),
    (Cause.DISK, re.compile(r"No space left|Permission denied|Read-only file system|Disk quota", re.I)),
    (Cause.INPUT_GONE, re.compile(r"FileNotFoundError|No such file or directory", re.I)),
    (Cause.NAN, re.compile(r"\(near\) NaN", re.I)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a job that did not end well says of itself.

    Parameters
    ----------
    cause : what it comes down to
    node, kind : the node's id and class, where it was in one
    words : type and first line of the message; inputs and traceback hold prompts and paths, and stay out
    """

    cause: Cause
    node: str = ""
    kind: str = ""
    words: str = ""

    def __str__(self) -> str:
        where = f"node {self.node} ({self.kind}): " if self.node else ""
        return f"{where}{self.words or self.cause.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A job that has ended.

    Parameters
    ----------
    failure : why not well; None where it did
    outputs : node -> what it shows
    cached : nodes that were not run, because an earlier job had made the same
    seconds : from its start to its end by the server's clock; None where the record does not say
    """

    failure: Failure | None
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cached: frozenset[str] = frozenset()
    seconds: float | None = None


UNKNOWN = End(failure=None)
"""An end whose record is gone."""


def read(outputs: Any, status: Any) -> End:
    """A record's `outputs` and `status` as an end. Whatever is missing in them is taken as not told."""
    told = status if isinstance(status, dict) else {}
    messages = [m for m in told.get("messages") or () if isinstance(m, Sequence) and len(m) == 2]
    by_event = {str(event): data for event, data in messages if isinstance(data, dict)}
    well = told.get("status_str") == "success" and told.get("completed") is not False
    return End(
        failure=None if well else _failure(by_event),
        outputs=outputs if isinstance(outputs, dict) else {},
        cached=frozenset(map(str, by_event.get("execution_cached", {}).get("nodes") or ())),
        seconds=_seconds(by_event),
    )


def _failure(by_event: Mapping[str, Mapping[str, Any]]) -> Failure:
    if told := by_event.get("execution_interrupted"):
        node, kind = _node(told)
        return Failure(cause=Cause.INTERRUPTED, node=node, kind=kind, words="interrupted")
    told = by_event.get("execution_error", {})
    node, kind = _node(told)
    message = str(told.get("exception_message") or "").strip()
    name = str(told.get("exception_type") or "error")
    words = f"{name}: {message.partition(chr(10))[0][:200]}" if message else name
    cause = next((cause for cause, sign in _SIGNS if sign.search(f"{name}: {message}")), Cause.NODE)
    return Failure(cause=cause, node=node, kind=kind, words=words)


def _node(told: Mapping[str, Any]) -> tuple[str, str]:
    return str(told.get("node_id") or ""), str(told.get("node_type") or "")


def _seconds(by_event: Mapping[str, Mapping[str, Any]]) -> float | None:
    start = by_event.get("execution_start", {}).get("timestamp")
    last = [data.get("timestamp") for event, data in by_event.items() if event != "execution_start"]
    stops = [stop for stop in last if isinstance(stop, int | float)]
    if not isinstance(start, int | float) or not stops:
        return None
    return max(0.0, (max(stops) - start) / 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file as a record names it."""

    node: str
    filename: str
    subfolder: str
    kind: str

    @property
    def query(self) -> dict[str, str]:
        """What /view asks for."""
        return {"filename": self.filename, "subfolder": self.subfolder, "type": self.kind}


def files(outputs: Mapping[str, Any]) -> list[File]:
    """Every file that is shown, wherever it is listed: videos stand under `images`, or where a pack likes."""
    return [
        File(
            node=str(node),
            filename=str(entry["filename"]),
            # a Windows server writes backslashes; only / leads anywhere on all of them
            subfolder=str(entry.get("subfolder") or "").replace("\\", "/"),
            kind=str(entry.get("type") or "output"),
        )
        for node, shown in outputs.items()
        if isinstance(shown, dict)
        for entries in shown.values()
        if isinstance(entries, list)
        for entry in entries
        if isinstance(entry, dict) and entry.get("filename")
    ]


def file_of(entry: Mapping[str, str]) -> File:
    """A file as a job's record keeps it."""
    return File(
        node=entry["node"], filename=entry["filename"], subfolder=entry["subfolder"], kind=entry["type"]
    )


VIDEOS = (".mp4", ".mkv", ".webm", ".mov", ".m4v")


def foreseen(prompt_id: str, node: str) -> File:
    """What a job's film is called; nobody else's is, so it is known without a record."""
    return File(node=node, filename=f"{prompt_id}_00001_.mp4", subfolder=FOLDER, kind="output")


def film(found: Sequence[File], nodes: Sequence[str]) -> File | None:
    """The take among the files: the first film of the first of these nodes that has one; None without any."""
    films = [file for file in found if file.filename.lower().endswith(VIDEOS) and file.kind != "temp"]
    ranked = sorted(films, key=lambda file: nodes.index(file.node) if file.node in nodes else len(nodes))
    return ranked[0] if ranked and (ranked[0].node in nodes or not nodes) else None
