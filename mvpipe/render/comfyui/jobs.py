"""Jobs on disk: what was sent under which id, so that after a crash nothing is sent twice and nothing lost.

A job's ids derive from its key: the same work has the same ids, whoever asks for it and however often.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from mvpipe.errors import VaultError
from mvpipe.render.comfyui.failures import GO_ON

FORMAT = 1
SPACE = UUID("6f0e7a52-3f0c-5d0e-9d4b-6d7670697065")
"""Namespace of our ids; never changed, or running jobs would be lost sight of."""


class State(StrEnum):
    """How far a job is known to have come."""

    NEW = "new"  # nothing was sent under its id
    SENT = "sent"  # it may have been
    RUNNING = "running"  # it was seen to run
    DONE = "done"  # it ended well; its files are known
    FAILED = "failed"  # it ended, and not well


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job's record.

    Parameters
    ----------
    key : digest of all that decides the take's bytes
    server : its address, without secrets
    attempt : which of the ids is used, from 1
    state : how far the present attempt is known to have come
    losses : attempts that vanished
    deaths : of these, how often the server died while it ran the job
    frees : how often memory was freed for it
    strays : how often it named a file that is not its own
    cancelled : whether we asked to stop the present attempt
    outputs : files of the last good end, as the server names them
    facts : what is known of the server and of how the render went
    """

    key: str
    server: str
    attempt: int = 1
    state: State = State.NEW
    losses: int = 0
    deaths: int = 0
    frees: int = 0
    strays: int = 0
    cancelled: bool = False
    outputs: tuple[Mapping[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def begun(self) -> bool:
        """Whether the server has it, or has made it, as far as is known."""
        return self.state in (State.SENT, State.RUNNING, State.DONE)

    @property
    def prompt_id(self) -> str:
        """The present id: a UUID in lower case, as the server wants it."""
        return job_id(self.key, self.attempt)

    @property
    def past_ids(self) -> frozenset[str]:
        """The ids of this and all earlier attempts."""
        return frozenset(job_id(self.key, attempt) for attempt in range(1, self.attempt + 1))

    @property
    def client_id(self) -> str:
        """Who is told of it; the same for all attempts."""
        return uuid5(SPACE, f"{self.key} client").hex

    def with_state(self, state: State) -> Job:
        """The same attempt, come so far."""
        return replace(self, state=state)

    def again(self, **changes: Any) -> Job:
        """The next attempt, under an id of its own."""
        return replace(
            self, attempt=self.attempt + 1, state=State.NEW, cancelled=False, outputs=(), **changes
        )

    def renewed(self) -> Job:
        """The next attempt of somebody who asks anew: what happened before does not count."""
        return self.again(losses=0, deaths=0, frees=0, strays=0, facts={})


def job_id(key: str, attempt: int) -> str:
    """The id of an attempt."""
    return str(uuid5(SPACE, f"{key} {attempt}"))


@dataclass(frozen=True, slots=True)
class Records:
    """Job records, one small file a job and server: what moved elsewhere may still run where it was.

    Parameters
    ----------
    folder : where they lie; made when first written to
    """

    folder: Path

    def read(self, key: str, server: str) -> Job:
        """The job's record; a new one where there is none that can be read, or one of another server."""
        new = Job(key=key, server=server)
        try:
            kept = json.loads(self._path(key, server).read_text("utf-8"))
            if kept.pop("format") != FORMAT:
                return new
            job = _job(kept)
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return new  # the ids derive from the key, so that even then a running job is found again
        return job if (job.key, job.server) == (key, server) else new

    def write(self, job: Job) -> Job:
        """Keep the record: whole, on the disk, before anything else is done.

        Raises
        ------
        VaultError : it cannot be written
        """
        text = json.dumps({"format": FORMAT, **asdict(job)}, indent=1, sort_keys=True) + "\n"
        path = self._path(job.key, job.server)
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with scratch.open("w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(scratch, path)
        except OSError as exc:
            raise VaultError(
                f"{path}: cannot be written: {(exc.strerror or str(exc)).lower()}", hint=GO_ON
            ) from exc
        return job

    def last(self, key: str, servers: Sequence[str]) -> str:
        """Which of some servers has made a job, or else was given it last; empty for none."""
        begun = [server for server in servers if self.read(key, server).begun]
        made = [server for server in begun if self.read(key, server).state is State.DONE]
        return max(made or begun, key=lambda server: self._path(key, server).stat().st_mtime_ns, default="")

    def keys(self, server: str) -> list[str]:
        """Keys of all jobs that a server was ever given."""
        return sorted(path.name.partition(".")[0] for path in self.folder.glob(f"*.{_tag(server)}.json"))

    def _path(self, key: str, server: str) -> Path:
        return self.folder / f"{key}.{_tag(server)}.json"


def _tag(server: str) -> str:
    """A server in the name of a file."""
    return uuid5(SPACE, server).hex[:12]


def _job(kept: dict[str, Any]) -> Job:
    names = {f.name for f in fields(Job)}
    if kept.keys() != names or not isinstance(kept["attempt"], int) or kept["attempt"] < 1:
        raise ValueError("not a job's record")
    outputs = tuple(dict(output) for output in kept["outputs"])
    return Job(**{**kept, "state": State(kept["state"]), "outputs": outputs})
