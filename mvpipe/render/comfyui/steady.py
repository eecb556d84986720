"""Asking until there is an answer: what may be asked twice is asked again while a server is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from mvpipe.errors import BackendError, RenderTimeout
from mvpipe.render.comfyui.failures import NotComfyUI
from mvpipe.render.comfyui.patience import Patience

T = TypeVar("T")

SLICE_S = 0.25
"""Seconds between two chances to be stopped."""

FIRST_PAUSE_S, GROWTH = 0.5, 1.6


class Steady:
    """One job's view of whether its server is there.

    Parameters
    ----------
    patience : how long to go on
    tick : called several times a second while waiting; stops the wait by raising
    met : whether the server has answered before, so that an answer that is not ComfyUI's comes from a
        proxy whose server is away, and not from a wrong address
    """

    def __init__(self, patience: Patience, tick: Callable[[], None], *, met: bool) -> None:
        self.patience, self.tick, self.met = patience, tick, met

    def __call__(self, call: Callable[[], T]) -> T:
        """What a call returns. It must do no harm when it is made twice.

        Raises
        ------
        BackendError : as the call says; what may pass is only raised when it does not
        """
        began, pause = time.monotonic(), FIRST_PAUSE_S
        while True:
            self.tick()
            try:
                found = call()
            except BackendError as exc:
                gone_s = time.monotonic() - began
                if gone_s >= self._limit(exc):
                    raise
            else:
                self.met = True
                return found
            self.rest(min(pause, self.patience.look_most_s))
            pause *= GROWTH

    def rest(self, seconds: float) -> None:
        """Wait, and be stopped meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(SLICE_S, left))
            self.tick()

    def _limit(self, exc: BackendError) -> float:
        """Seconds after which a failure does not pass any more."""
        may_pass = exc.retryable or (self.met and isinstance(exc, NotComfyUI))
        if not may_pass:
            return 0.0
        if not self.met:
            return self.patience.greet_s
        # one who is late is not away: the port accepts, and a node holds everything up
        return self.patience.life_s if isinstance(exc, RenderTimeout) else self.patience.away_s
