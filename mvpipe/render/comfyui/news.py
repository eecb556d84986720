"""What a server says over its WebSocket, as far as it is about our job or shows that the server lives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a message means to whoever waits for a job."""

    BEGUN = "begun"  # our job goes on
    GREETED = "greeted"  # it runs, as a new socket is told; that it goes on is not said
    STEP = "step"  # a node of it has come so far
    ENDING = "ending"  # it is over, its record is not yet written
    ENDED = "ended"  # it is over, and the record is there
    QUEUE = "queue"  # the number of waiting and running jobs
    LIFE = "life"  # the server works, if not for us
    OPENED = "opened"  # the socket is there again; what was said meanwhile is lost
    DROPPED = "dropped"  # the socket is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One message.

    Parameters
    ----------
    kind : what it means
    node, value, most : of a step
    remaining : of the queue
    """

    kind: Kind
    node: str = ""
    value: float = 0.0
    most: float = 0.0
    remaining: int = 0


LIFE = News(kind=Kind.LIFE)
OPENED = News(kind=Kind.OPENED)
DROPPED = News(kind=Kind.DROPPED)

_OVER = frozenset({"execution_success", "execution_error", "execution_interrupted"})
_GOING = frozenset({"execution_start", "execution_cached", "executed"})


def read(message: str | bytes, prompt_id: str) -> News | None:
    """A message as news for whoever waits for `prompt_id`; None for what means nothing.

    Progress of jobs that were posted without a client goes to everybody, so nothing is ours but by its id.
    """
    if isinstance(message, bytes):
        return LIFE  # a preview; whose it is, only some of them say
    try:
        whole = json.loads(message)
        event, data = str(whole["type"]), dict(whole["data"])
    except (ValueError, KeyError, TypeError):
        return None
    if event == "status":
        return _queue(data)
    if event == "executing" and "prompt_id" not in data:
        return News(kind=Kind.GREETED)  # after a reconnect, to the client of the running job alone
    if data.get("prompt_id") == prompt_id:
        return _ours(event, data)
    return LIFE if "prompt_id" in data else None


def _queue(data: dict[str, Any]) -> News | None:
    try:
        return News(kind=Kind.QUEUE, remaining=int(data["status"]["exec_info"]["queue_remaining"]))
    except (KeyError, TypeError, ValueError):
        return None


def _ours(event: str, data: dict[str, Any]) -> News:
    if event in _OVER:
        return News(kind=Kind.ENDING)
    if event == "executing":
        return News(kind=Kind.ENDED) if data.get("node") is None else _begun(data)
    if event == "progress":
        try:
            value, most = float(data["value"]), float(data["max"])
        except (KeyError, TypeError, ValueError):
            return _begun(data)
        return News(kind=Kind.STEP, node=str(data.get("node") or ""), value=value, most=most)
    return _begun(data) if event in _GOING or event == "progress_state" else LIFE


def _begun(data: dict[str, Any]) -> News:
    return News(kind=Kind.BEGUN, node=str(data.get("node") or ""))
