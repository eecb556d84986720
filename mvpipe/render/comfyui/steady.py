"""Asking until there is an answer: what may be asked twice is asked again while a server is away.

A frozen server keeps a call waiting for minutes, and nothing in Python ends such a wait from outside. So
every call is made aside, in a thread of its own, and whoever is stopped leaves it to itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from mvpipe.errors import BackendError, RenderTimeout
from mvpipe.render.comfyui.failures import NotComfyUI
from mvpipe.render.comfyui.patience import Patience

T = TypeVar("T")

SLICE_S = 0.25
"""Seconds between two chances to be stopped."""

FIRST_PAUSE_S, GROWTH = 0.5, 1.6


def aside(call: Callable[[], T], tick: Callable[[], None], *, within_s: float = float("inf")) -> T:
    """What a call returns, made in a thread of its own.

    Parameters
    ----------
    tick : called several times a second meanwhile; ends the wait by raising
    within_s : seconds to wait for it at most

    Raises
    ------
    TimeoutError : it takes longer; it goes on alone, and nobody learns how it ends
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as exc:  # whoever waits raises it again
            done.set_exception(exc)

    # a daemon: the process ends without it
    threading.Thread(target=run, name="call", daemon=True).start()
    until = time.monotonic() + within_s
    while True:
        try:
            return done.result(timeout=max(0.0, min(SLICE_S, until - time.monotonic())))
        except TimeoutError:
            if done.done():
                raise
        tick()
        if time.monotonic() >= until:
            raise TimeoutError


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
                found = self.once(call)
            except BackendError as exc:
                gone_s = time.monotonic() - began
                if gone_s >= self._limit(exc):
                    raise
            else:
                self.met = True
                return found
            self.rest(min(pause, self.patience.look_most_s))
            pause *= GROWTH

    def once(self, call: Callable[[], T]) -> T:
        """What a call returns that must not be made twice; left to itself when the wait is stopped."""
        return aside(call, self.tick)

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
