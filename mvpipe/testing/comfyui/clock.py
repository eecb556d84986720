"""The server's time: real time, and ahead of it by whatever work was not waited for."""

from __future__ import annotations

import threading
import time


class Clock:
    """Time that runs on by itself and is pushed forward by work.

    Parameters
    ----------
    speed : how many seconds of work are done in a real one; `inf` does work in no time
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._ahead = 0.0
        self._lock = threading.Lock()

    def spend(self, seconds: float) -> None:
        """Work for so long: waits a fraction of it, and the clock shows that all of it has passed."""
        wait = seconds / self.speed
        if wait > 0:
            time.sleep(wait)
        with self._lock:
            self._ahead += seconds - wait

    def now(self) -> float:
        """Seconds since the epoch, by this clock."""
        with self._lock:
            return time.time() + self._ahead

    def ms(self) -> int:
        """Milliseconds since the epoch, by this clock."""
        return int(self.now() * 1000)
