"""One server of a fleet: what it has, how fast it is, and whether it is well."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mvpipe.render.backend import Host, Ran
from mvpipe.schedule import Ask, Post, end_of

LEAD, LEAD_S = 0.3, 60.0
"""A take is queued behind another when that has this share, or these seconds, left to run as foreseen: early
enough that the card never waits, late enough that a retake or a faster server may still come first."""

SLOW = 1.8
"""Steps this much slower than the server's own median mark it as ill (issue of cards that throttle or fall
off the bus: h3.md, section 7)."""

MEDIAN_OF = 12
"""Last takes of a server its speed is read from."""

KNOWN_FROM = 3
"""Takes from which on a server's median means something."""

DEAL_AGAIN = 0.25
"""A take that needed this share more or less than foreseen has the rest dealt anew."""

SWELLS, SWELLS_OF = 0.04, 4
"""Memory that grows by this share of the whole over so many takes of one model, take after take, leaks: what
is cached between takes of one size stays what it is. A guess; 4 % of 24 GB is 1 GB."""


@dataclass
class Berth:
    """A server and what it has.

    Parameters
    ----------
    host : the server
    speed : as given, until takes tell
    text_s, load_s : seconds to encode a text and to load models, at speed 1

    Attributes
    ----------
    flying : key -> what it has, in order
    warm : the group it rendered last
    since : when what it renders now was begun, as far as is known here
    away_since : when it was lost; None while it is there
    away_why : the error it was lost with
    slow, swollen : in words that its steps have become slow, that its memory grows though it was freed; empty
        where that is not so
    freed : whether it was asked to free its memory since it was there
    """

    host: Host
    speed: float = 1.0
    text_s: float = 0.0
    load_s: float = 0.0
    flying: dict[str, Ask] = field(default_factory=dict[str, Ask])
    warm: tuple[str, str] | None = None
    since: float = 0.0
    away_since: float | None = None
    away_why: str = ""
    slow: str = ""
    swollen: str = ""
    ratios: deque[float] = field(default_factory=lambda: deque[float](maxlen=MEDIAN_OF))
    paces: deque[float] = field(default_factory=lambda: deque[float](maxlen=MEDIAN_OF))
    levels: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    freed: bool = False

    @property
    def name(self) -> str:
        """Of the server."""
        return self.host.name

    @property
    def ill(self) -> str:
        """What is wrong with it, in words; empty for nothing."""
        return self.slow or self.swollen

    @property
    def there(self) -> bool:
        """Whether it answers, as far as is known."""
        return self.away_since is None

    def post(self, now: float) -> Post:
        """As the schedule sees it."""
        pace = Post(name=self.name, speed=self.speed, text_s=self.text_s, load_s=self.load_s, warm=self.warm)
        asks = list(self.flying.values())
        busy_s = max(0.0, end_of(asks, pace) - (now - self.since)) if asks else 0.0
        return replace(pace, busy_s=busy_s, warm=asks[-1].group if asks else self.warm)

    def has_room(self, now: float, soon: bool) -> bool:
        """Whether it is time to give it another take.

        Parameters
        ----------
        soon : the night's end is near
        """
        if len(self.flying) != 1:
            return not self.flying
        (ask,) = self.flying.values()
        lead = 0.0 if soon else LEAD * ask.seconds / self.speed
        return self.post(now).busy_s <= max(LEAD_S, lead)

    def lose(self, now: float, why: str) -> None:
        """It does not answer any more."""
        self.away_since, self.away_why, self.warm = now, why, None

    def welcome(self) -> None:
        """It is back, and whoever was away has been restarted: what was wrong with it is forgotten."""
        self.away_since, self.away_why, self.slow, self.swollen = None, "", "", ""
        self.levels.clear()
        self.freed = False

    def foreseen_s(self, ask: Ask) -> float:
        """Seconds a take should need at speed 1, after what was rendered here before."""
        post = Post(name="", speed=1, text_s=self.text_s, load_s=self.load_s)
        return post.setup_s(self.warm, ask.group) + ask.seconds

    def time(self, ask: Ask, seconds: float, ran: Ran) -> bool:
        """Learn from a take that was made; whether the rest is to be dealt anew."""
        ratio = seconds / self.foreseen_s(ask)
        pace = ran.step_s / ask.step_s if ran.step_s and ask.step_s else ratio
        usual = statistics.median(self.paces) if len(self.paces) >= KNOWN_FROM else None
        before = self.speed, self.slow
        if usual and pace > SLOW * usual:
            self.slow = f"{pace / usual:.1f} times slower than its takes before"
            return before[1] == ""
        self.slow = ""
        self.ratios.append(ratio)
        self.paces.append(pace)
        self.speed = 1 / statistics.median(self.ratios)
        return before[1] != "" or abs(before[0] / self.speed - 1) > DEAL_AGAIN

    def weigh(self, ask: Ask, ran: Ran) -> str:
        """Which kind of memory grows from take to take, with figures; empty while none does."""
        for kind, used in ran.used.items():
            levels = self.levels.setdefault(f"{kind} {ask.model}", [])
            levels.append(used)
            if len(levels) <= SWELLS_OF:
                continue
            del levels[: -SWELLS_OF - 1]
            grown = levels[-1] - levels[0]
            rises = all(a <= b for a, b in pairwise(levels))
            if rises and grown > SWELLS * ran.whole[kind]:
                self.levels.clear()
                return f"{grown / 1e9:.1f} GB more {kind} memory in use than {SWELLS_OF} takes ago"
        return ""
