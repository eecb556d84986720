"""One of several servers, as whoever deals out takes sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from mvpipe.errors import BackendError, RenderTimeout, Unreachable
from mvpipe.film import Slate
from mvpipe.render.backend import NO_LIMITS, Limits, Progress, Ran
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.jobs import Job, State
from mvpipe.render.comfyui.steady import aside

ALIVE_S = 5.0
"""Seconds within which a server that is there says so."""

RenderAt = Callable[[Client, Slate, Mapping[str, Path], Path, Progress], Ran]


class Station:
    """A server and what it has of ours (`mvpipe.render.backend.Host`).

    Parameters
    ----------
    client : of the server
    render_at : makes a take with it
    key_of : the key of a slate's job
    limits : what it is to be given

    Attributes
    ----------
    others : the other servers of the same fleet
    """

    def __init__(
        self,
        client: Client,
        render_at: RenderAt,
        key_of: Callable[[Slate], str],
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._client, self._render_at, self._key_of = client, render_at, key_of
        self.limits = limits
        self._lock = threading.Lock()
        self._has: set[str] = set()
        self.others: list[Station] = []

    @property
    def name(self) -> str:
        """The server's address, without secrets."""
        return self._client.server.name

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> Ran:
        """Write the take; as `ComfyUI.render_at`."""
        key = self._key_of(slate)
        with self._lock:
            self._has.add(key)
        try:
            return self._render_at(self._client, slate, assets, into, progress)
        finally:
            with self._lock:
                self._has.discard(key)

    def alive(self) -> bool:
        """Whether it answers now as ComfyUI does."""
        return self._asks(self._client.greet)

    def _asks(self, ask: Callable[[], object]) -> bool:
        """Whether it takes a request within a few seconds."""
        try:
            aside(ask, lambda: None, within_s=ALIVE_S)
        except (BackendError, TimeoutError):
            return False
        return True

    def free(self) -> bool:
        """Have ComfyUI let go of its memory once nothing runs."""
        return self._asks(self._client.server.free)

    def tidy(self) -> None:
        """Take back what was sent here, and is made or being made elsewhere."""
        if not self.others:
            return
        for key in self._client.records.keys(self.name):
            job = self._client.records.read(key, self.name)
            open_here = job.state in (State.SENT, State.RUNNING) and key not in self._has
            if open_here and any(other.has(key) for other in self.others):
                self._take_back(job)

    def has(self, key: str) -> bool:
        """Whether a job is being made here, or was."""
        return key in self._has or self._client.records.read(key, self.name).state is State.DONE

    def _take_back(self, job: Job) -> None:
        """Stop one job of ours; where the server is away, its record keeps it for the next time."""
        server = self._client.server
        try:
            aside(lambda: server.cancel(job.prompt_id), lambda: None, within_s=ALIVE_S)
        except (Unreachable, RenderTimeout, TimeoutError):
            return
        except BackendError:
            pass  # it knows no such job any more
        self._client.records.write(job.with_state(State.FAILED))
