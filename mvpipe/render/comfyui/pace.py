"""How a render goes, from what is heard of it: steps, what else the server spends its time on, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from mvpipe.render.comfyui.news import Kind, News


class Spent(StrEnum):
    """What a server spends a render's time on."""

    TEXT = "text"  # the prompt is encoded
    LOAD = "load"  # all else before the first step: models, pictures, sounds
    SAMPLE = "sample"
    FINISH = "finish"  # decoded, coded, written


_HEARD = (Kind.BEGUN, Kind.STEP, Kind.GREETED)
_OVER = (Kind.ENDING, Kind.ENDED)


class Pace:
    """Steps, and where the time goes.

    Parameters
    ----------
    samplers : nodes whose steps count; empty where nobody knows, then every node's do
    steps : how many there will be; 0 where nobody knows
    encoders : nodes that encode text
    wall : clock, Unix seconds

    Attributes
    ----------
    progress : (steps done, of how many)
    """

    def __init__(
        self,
        samplers: frozenset[str],
        steps: int,
        encoders: frozenset[str] = frozenset(),
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._samplers, self._encoders, self._wall = samplers, encoders, wall
        self.progress = (0, max(1, steps))
        self._sent: float | None = None
        self._sent_at = 0.0
        self._begun: float | None = None
        self._ended: float | None = None
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._at = ("", 0.0)
        self._parts = dict.fromkeys(Spent, 0.0)

    def sent(self) -> None:
        """It is sent, from the beginning."""
        self._sent, self._sent_at = time.monotonic(), self._wall()
        self.progress = (0, self.progress[1])
        self._begun = self._ended = self._first = self._last = None
        self._at, self._parts = ("", 0.0), dict.fromkeys(Spent, 0.0)

    def heard(self, news: News, now: float) -> bool:
        """Take news into account; whether they say that it runs.

        Parameters
        ----------
        now : monotonic seconds
        """
        if news.kind in _OVER:
            self._close(now)
        if news.kind not in _HEARD:
            return False
        if self._begun is None:
            self._begun = now
        if news.node and news.node != self._at[0]:
            self._charge(now)
            self._at = news.node, now
        if news.kind is Kind.STEP and (news.node in self._samplers or not self._samplers):
            self._step(news.value, max(news.most, 1.0), now)
        return True

    def record(self) -> dict[str, Any]:
        """What was measured; what was not is left out. Times of day are Unix seconds."""
        found: dict[str, Any] = {}
        now = time.monotonic()
        if self._sent is not None:
            found["sent_at"], found["wall_s"] = round(self._sent_at, 3), round(now - self._sent, 3)
            if self._begun is not None:
                found["waited_s"] = round(self._begun - self._sent, 3)
        if (step_s := self._step_s) is not None:
            found["step_s"] = round(step_s, 4)
        if self._begun is not None and self._ended is not None:
            found["begun_at"] = round(self._wall() - (now - self._begun), 3)
            found["ended_at"] = round(self._wall() - (now - self._ended), 3)
            found["parts"] = {spent.value: round(seconds, 3) for spent, seconds in self._split().items()}
        return found

    @property
    def _step_s(self) -> float | None:
        if self._first and self._last and self._last[0] > self._first[0]:
            return (self._last[1] - self._first[1]) / (self._last[0] - self._first[0])
        return None

    def _step(self, value: float, most: float, now: float) -> None:
        if self._last and value < self._last[0]:
            self._first = None  # another sampler of the graph, or another pass
        self._first = self._first or (value, now)
        self._last = (value, now)
        self.progress = (min(int(value), int(most)), int(most))

    def _charge(self, now: float) -> None:
        """The node that was at work until now has used this time."""
        node, since = self._at
        if not node:
            return
        if node in self._samplers:
            spent = Spent.SAMPLE
        elif node in self._encoders:
            spent = Spent.TEXT
        else:
            spent = Spent.FINISH if self._parts[Spent.SAMPLE] else Spent.LOAD
        self._parts[spent] += now - since

    def _close(self, now: float) -> None:
        if self._ended is None and self._begun is not None:
            self._charge(now)
            self._at, self._ended = ("", now), now

    def _split(self) -> dict[Spent, float]:
        """Models are loaded when the sampler begins: what it took beyond its steps is that."""
        parts = dict(self._parts)
        if (step_s := self._step_s) is not None and self._last:
            steps = min(self._last[0] * step_s, parts[Spent.SAMPLE])
            parts[Spent.LOAD] += parts[Spent.SAMPLE] - steps
            parts[Spent.SAMPLE] = steps
        return parts
