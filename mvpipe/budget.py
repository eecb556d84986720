"""How long and how much may be rendered: a lane that stops giving work out, and says why."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mvpipe.build.lane import Lane, Ready
from mvpipe.errors import MvpipeError, NotRendered, SettingsError
from mvpipe.wording import counted

UNTRIED = "not rendered: "
"""How the reason begins that stands in the slug of a shot nobody has tried."""

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may use.

    Parameters
    ----------
    until : Unix seconds; once not even the shortest take would end by then, none is begun; what runs is
        finished. None: no end
    takes : begun at most; None: no limit
    stop : asked before every take and every second; why no more is to be begun, or empty; may raise
        `Cancelled` to end all that runs
    """

    until: float | None = None
    takes: int | None = None
    stop: Callable[[], str] = lambda: ""

    def __post_init__(self) -> None:
        if self.takes is not None and self.takes < 0:
            raise SettingsError(f"--max-takes: must not be negative: {self.takes}")


def until(clock: str, hours: float | None, *, now: float) -> float | None:
    """When a run has to end.

    Parameters
    ----------
    clock : `07:00`: the next time it is that late, on this machine's clock; empty for none
    hours : from now; None for none
    now : Unix seconds

    Raises
    ------
    SettingsError : neither a time of day nor a positive number of hours
    """
    ends = []
    if clock:
        if not (match := _CLOCK.fullmatch(clock.strip())):
            raise SettingsError(f"--until: not a time of day such as 07:00: {clock!r}")
        begun = datetime.fromtimestamp(now).astimezone()
        then = begun.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
        ends.append((then if then > begun else then + timedelta(days=1)).timestamp())
    if hours is not None:
        if not 0 < hours < 10_000:
            raise SettingsError(f"--max-hours: not a number of hours: {hours:g}")
        ends.append(now + hours * 3600)
    return min(ends, default=None)


@dataclass
class Budgeted:
    """A lane within a budget.

    Parameters
    ----------
    lane : where the work is done
    budget : what it may use
    foresee_s : seconds a take will need, so that none is begun that cannot end in time
    now : clock, Unix seconds
    """

    lane: Lane
    budget: Budget
    foresee_s: Callable[[Ready], float] = lambda _: 0.0
    now: Callable[[], float] = time.time
    begun: int = field(default=0, init=False)
    why: str = field(default="", init=False)
    _line: dict[str, Ready] = field(default_factory=dict[str, Ready], init=False)

    @property
    def width(self) -> int:
        """As the lane's."""
        return self.lane.width

    def offer(self, ready: Ready) -> None:
        """It waits; once the budget is used up, only to be dropped."""
        self._line[ready.key] = ready
        if not self.why:
            self.lane.offer(ready)

    def next(self) -> Ready | None:
        """The lane's next, while the budget lasts."""
        self.why = self._spent() or self.why
        if self.why or (turn := self.lane.next()) is None:
            return None
        del self._line[turn.key]
        self.begun += turn.attempt == 1
        return turn

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """As the lane says."""
        return self.lane.end(ready, error)

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """What the lane gives up; all that waits, once the budget is used up."""
        gone = self.lane.dropped()
        for ready, _ in gone:
            self._line.pop(ready.key, None)
        if self.why:
            hint = "the same command goes on where it stands"
            gone += [(ready, NotRendered(f"{UNTRIED}{self.why}", hint=hint)) for ready in self._line.values()]
            self._line.clear()
        return gone

    def _spent(self) -> str:
        if why := self.budget.stop():
            return why
        if self.budget.takes is not None and self.begun >= self.budget.takes:
            return counted(
                self.budget.takes, "take was allowed, and is made", "takes were allowed, and are made"
            )
        if self.budget.until is not None and self._line:
            shortest = min(self.foresee_s(ready) for ready in self._line.values())
            if self.now() + shortest > self.budget.until:
                return f"the time is up at {datetime.fromtimestamp(self.budget.until).astimezone():%H:%M}"
        return ""
