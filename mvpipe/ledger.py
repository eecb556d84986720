"""What servers do, noted as it happens, so that every second of them can be accounted for (`account.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Any

STATE, RAN = "server", "ran"
"""Kinds of the journal's events."""


class State(StrEnum):
    """What a server is to a run."""

    BUSY = "busy"  # it has a take of ours
    IDLE = "idle"  # it has none, and the reason says why
    AWAY = "away"  # it does not answer
    CLOSED = "closed"  # the run has ended
    CUT = "cut"  # the run died, and this was its last sign of life


Note = Callable[..., None]
"""As `Journal.note`."""


def _nowhere(kind: str, subject: str, **data: Any) -> None:
    """Nobody keeps it."""


class Ledger:
    """Notes changes, and nothing twice. Times are whole milliseconds since 1970.

    Parameters
    ----------
    note : where it is kept
    now : clock, Unix seconds
    """

    def __init__(self, note: Note = _nowhere, now: Callable[[], float] = time.time) -> None:
        self._note, self._now = note, now
        self._last: dict[str, tuple[State, str]] = {}

    def state(self, server: str, state: State, why: str = "") -> None:
        """A server is from now on in a state, for a reason."""
        if self._last.get(server) != (state, why):
            self._last[server] = state, why
            self._note(STATE, server, at=ms(self._now()), state=state.value, why=why)

    def ran(  # noqa: PLR0913
        self,
        server: str,
        *,
        name: str,
        key: str,
        begun: float | None,
        age_s: float,
        ended: float | None = None,
        parts: Mapping[str, float] | None = None,
        why: str = "",
    ) -> None:
        """A server has rendered a take.

        Parameters
        ----------
        begun, ended : when it worked on it, Unix seconds; where nobody heard, since `age_s` ago, till now
        parts : what its seconds went into
        why : the error it ended with; empty for a take that was made
        """
        now = self._now()
        start, stop = ms(now - age_s if begun is None else begun), ms(now if ended is None else ended)
        shares = {part: round(seconds * 1000) for part, seconds in (parts or {}).items()}
        self._note(RAN, server, name=name, key=key, start=start, stop=max(start, stop), parts=shares, why=why)

    def close(self, servers: Collection[str]) -> None:
        """The run has ended."""
        for server in servers:
            self.state(server, State.CLOSED)


def ms(seconds: float) -> int:
    """Whole milliseconds."""
    return round(seconds * 1000)
