"""How fast a render goes, from what is heard of it."""

from __future__ import annotations

import time
from typing import Any

from mvpipe.render.comfyui.news import Kind, News


class Pace:
    """Steps and their times.

    Parameters
    ----------
    samplers : nodes whose steps count; empty where nobody knows, then every node's do
    steps : how many there will be; 0 where nobody knows

    Attributes
    ----------
    progress : (steps done, of how many)
    """

    def __init__(self, samplers: frozenset[str], steps: int) -> None:
        self._samplers = samplers
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._sent: float | None = None
        self._sent_at = 0.0
        self._begun: float | None = None
        self.progress = (0, max(1, steps))

    def sent(self) -> None:
        """It is sent, from the beginning."""
        self._sent, self._sent_at = time.monotonic(), time.time()
        self._begun = self._first = self._last = None
        self.progress = (0, self.progress[1])

    def heard(self, news: News, now: float) -> bool:
        """Take news into account; whether they say that it runs."""
        if news.kind not in (Kind.BEGUN, Kind.STEP, Kind.GREETED):
            return False
        if self._begun is None:
            self._begun = now
        if news.kind is Kind.STEP and (news.node in self._samplers or not self._samplers):
            self._step(news.value, max(news.most, 1.0), now)
        return True

    def record(self) -> dict[str, Any]:
        """What was measured; what was not is left out."""
        found: dict[str, Any] = {}
        now = time.monotonic()
        if self._sent is not None:
            found["sent_at"], found["wall_s"] = round(self._sent_at, 3), round(now - self._sent, 3)
            if self._begun is not None:
                found["waited_s"] = round(self._begun - self._sent, 3)
        if self._first and self._last and self._last[0] > self._first[0]:
            steps = self._last[0] - self._first[0]
            found["step_s"] = round((self._last[1] - self._first[1]) / steps, 4)
        return found

    def _step(self, value: float, most: float, now: float) -> None:
        if self._last and value < self._last[0]:
            self._first = None  # another sampler of the graph, or another pass
        self._first = self._first or (value, now)
        self._last = (value, now)
        self.progress = (min(int(value), int(most)), int(most))
