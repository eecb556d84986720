"""Waiting for one job: when to look, when to listen anew, when to give up. Pure: the time is handed in."""

from __future__ import annotations

from mvpipe.render.comfyui.news import Kind, News
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.server import Place, Sight

DEAD = "jobs wait and nothing runs: its worker is dead"
MUTE = (
    "it is said to run, and nothing is heard of it: its worker is dead, or a node hangs before the first step"
)
HUNG = "no sign of life: a node hangs, or its worker is dead"
LINE = "no sign of life of the jobs before it"


class Vigil:
    """The state of one wait.

    Attributes
    ----------
    next : when to look, on the clock the times are of
    sight : what was seen last; None before the first look
    """

    def __init__(self, patience: Patience, now: float, *, hears: bool) -> None:
        self._patience = patience
        self._life = now
        self._heard = now
        self._idle: float | None = None
        self._begun = False
        self._ending = False
        self.sight: Sight | None = None
        self._remaining: int | None = None
        self._pause = patience.look_s
        self.next = now + (patience.quiet_s if hears else patience.look_s)

    def due(self, now: float) -> bool:
        """Whether it is time to look."""
        return now >= self.next

    def heard(self, news: News, now: float) -> None:
        """Something was said."""
        patience = self._patience
        if news.kind is Kind.DROPPED:
            self._look_by(now + patience.look_s)
            return
        self._heard = now
        if news.kind is Kind.OPENED:
            self._look_by(now + patience.settle_s)
        elif news.kind is Kind.QUEUE:
            self._count(news.remaining, now)
        elif news.kind is not Kind.GREETED:  # a node that hangs is greeted from as well
            self._life = now
        if news.kind in (Kind.BEGUN, Kind.STEP, Kind.GREETED):
            self._begun, self._idle = True, None
            self.next = self.next if self._ending else now + patience.quiet_s
        elif news.kind is Kind.ENDING:
            self._ending = True
            self._look_by(now + patience.settle_s)
        elif news.kind is Kind.ENDED:
            self._ending, self.next = True, now

    def saw(self, sight: Sight, now: float, *, hears: bool) -> None:
        """A look found the job waiting or running."""
        if sight != self.sight:
            self.sight, self._life, self._pause = sight, now, self._patience.look_s
        stuck = sight.place is Place.WAITS and not sight.running
        self._idle = None if not stuck else now if self._idle is None else self._idle
        self.next = now + self._until_next(stuck=stuck, hears=hears)

    def silent(self, now: float) -> bool:
        """Whether it runs and the socket has said nothing for so long: the server may have forgotten it."""
        runs = self.sight is not None and self.sight.place is Place.RUNS
        return runs and now - self._heard >= self._patience.quiet_s

    def overdue(self, now: float, *, hears: bool) -> str:
        """Why to give up, in words; empty while there is hope."""
        sight, patience = self.sight, self._patience
        if sight is None:
            return ""
        if sight.place is Place.RUNS:
            begun = self._begun or not hears
            limit, why = (patience.life_s, HUNG) if begun else (patience.start_s, MUTE)
            return why if now - self._life > limit else ""
        if self._idle is not None:
            return DEAD if now - self._idle > patience.stuck_s else ""
        return LINE if now - self._life > patience.queue_s else ""

    def _until_next(self, *, stuck: bool, hears: bool) -> float:
        patience = self._patience
        if self._ending:
            return patience.settle_s
        if stuck:
            return patience.stuck_s / 4
        if hears:
            return patience.quiet_s
        pause, self._pause = self._pause, min(patience.look_most_s, self._pause * 1.4)
        return pause

    def _count(self, remaining: int, now: float) -> None:
        before, self._remaining = self._remaining, remaining
        if before is not None and remaining < before:
            self._life = now
            if not self._begun or not remaining:  # ours may be next, or gone
                self._look_by(now + self._patience.settle_s)

    def _look_by(self, moment: float) -> None:
        self.next = min(self.next, moment)
