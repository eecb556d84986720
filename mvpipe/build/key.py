"""Keys: what a task is, as a digest of everything that decides its bytes.

Inputs enter by content, never by path or time. Options (deadlines, worker counts) cannot change a result
and stay out. A task's version is raised by hand when equal inputs would now give other bytes; source code
is never hashed, so moving code renders nothing again. The names in a key are for ever: golden tests pin them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text.

    Raises
    ------
    ValueError : a float that is not finite
    TypeError : something JSON cannot hold
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def digest(kind: str, value: Any) -> str:
    """sha256 (hex) of a JSON value and its kind, so that equal values of two kinds never collide."""
    return hashlib.sha256(canonical([kind, value]).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 (hex) of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Work with named inputs whose outcome is files.

    Parameters
    ----------
    name : the kind of work
    version : raised when equal inputs would now give other bytes
    inputs : role -> content digest
    params : everything else that decides the bytes; JSON values
    """

    name: str
    version: int
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def key(self) -> str:
        """The task's identity."""
        return digest("task", self.record())

    def record(self) -> dict[str, Any]:
        """All of it as one JSON value."""
        return {
            "name": self.name,
            "version": self.version,
            "inputs": dict(self.inputs),
            "params": dict(self.params),
        }
