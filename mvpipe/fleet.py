"""Several servers as one lane: who renders what next, who is away, who is slow, and what moves elsewhere.

Each server has one take that runs and one that is queued behind it. The order is the schedule's; it is dealt
anew when a take is added, a server comes or goes, or times turn out other than foreseen. A take that lost its
server, or that a server cannot do, goes to another one; it fails when there is no other one left.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mvpipe.berth import Berth
from mvpipe.build.lane import ATTEMPTS, Ready
from mvpipe.errors import BackendError, MvpipeError, RenderTimeout, Unreachable
from mvpipe.film import Slate
from mvpipe.fitness import Fitness
from mvpipe.ledger import Ledger, State
from mvpipe.render.backend import UNHEARD, Host, Progress, Ran
from mvpipe.schedule import Ask, Schedule, deal

DEPTH = 2
"""Takes a server has at once: one renders, one is queued, its files uploaded."""

LAST = 8
"""Takes a server that wait at most when the end is near: from there on every turn is dealt anew, by what each
server really has left, and given out late; before, a deal holds until something new is known. In 80 nights of
60 shots and 9 retakes servers then wait for 1.6 % of the time instead of 2.3 % (scheduling benchmark)."""

PROBE_S = 5.0
"""Seconds between two questions whether a server is back."""

HOLD_S = 120.0
"""Seconds for which what a lost server had begun waits for it, before another one begins it anew."""

FORSAKEN_S = 1800.0
"""Seconds after which, with every server away, what waits is given up."""


LEFT_OUT = "it gets no more while others are there; restart ComfyUI on it"
NOTHING = "nothing waits to be rendered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A take that was rendered.

    Parameters
    ----------
    host : name of the server
    ask : what was asked
    seconds : it took, from the end of the one before on the same server
    foreseen_s : what was foreseen of it
    ran : how it went, as far as it was heard
    """

    host: str
    ask: Ask
    seconds: float
    foreseen_s: float
    ran: Ran


class Fleet:
    """A lane (`build.lane.Lane`) of one or more servers.

    Parameters
    ----------
    berths : the servers; those known to be away are lost already
    ledger : where all that servers do is noted
    first : names of takes that are rendered before all others, as `schedule.early` chooses them
    say : told in words what happens to servers
    now : clock, seconds

    Attributes
    ----------
    timed : name of a take -> how long it took; the last of that name
    held : why no more takes are begun, in words; empty while they are
    """

    def __init__(
        self,
        berths: Sequence[Berth],
        *,
        ledger: Ledger | None = None,
        first: Collection[str] = (),
        say: Callable[[str], None] = lambda _: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not berths:
            raise ValueError("a fleet has at least one server")
        self._berths = {berth.name: berth for berth in berths}
        self._say, self._now = say, now
        self._ledger = ledger or Ledger()
        self.held: Callable[[], str] = lambda: ""
        self._waiting: dict[str, Ready] = {}
        self._first = frozenset(first)
        self._at: dict[str, str] = {}
        self._fitness = Fitness(self._berths.keys())
        self._homes: dict[str, str] = {}
        self._ran: dict[str, Ran] = {}
        self._orders: dict[str, list[str]] | None = None
        self._gone: list[tuple[Ready, MvpipeError]] = []
        self._answers: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        self._prober: threading.Thread | None = None
        self.timed: dict[str, Timed] = {}
        self._note_states()

    @property
    def width(self) -> int:
        """Takes at once, over all servers."""
        return DEPTH * len(self._berths)

    @property
    def waiting(self) -> int:
        """Takes that no server has yet."""
        return len(self._waiting)

    def where(self, ready: Ready) -> str:
        """Name of the server that has a take."""
        return self._at[ready.key]

    def offer(self, ready: Ready) -> None:
        """A take is wanted; its hint is an `Ask`."""
        self._waiting[ready.key] = ready
        self._orders = None

    def next(self) -> Ready | None:
        """The next take of the server that has least to do."""
        self._look_for_the_lost()
        turn = self._next() if self._waiting else None
        self._note_states()
        return turn

    def _next(self) -> Ready | None:
        now, soon = self._now(), len(self._waiting) <= LAST * len(self._berths)
        free = [berth for berth in self._berths.values() if berth.there and berth.has_room(now, soon)]
        if not any((self._orders or {}).values()) or (soon and free):
            self._deal()
        for berth in sorted(free, key=lambda b: len(b.flying)):
            order = (self._orders or {}).get(berth.name, [])
            while order:
                if (ready := self._waiting.pop(order.pop(0), None)) is not None:
                    return self._assign(berth, ready)
        return None

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """A place is free; whether the take goes back into the line."""
        berth = self._berths[self._at.pop(ready.key)]
        ask, ran = berth.flying.pop(ready.key), self._ran.pop(ready.key, UNHEARD)
        now = self._now()
        seconds, berth.since = now - berth.since, now
        self._ledger.ran(
            berth.name,
            name=ready.name,
            key=ready.key,
            begun=ran.begun,
            ended=ran.ended,
            age_s=seconds,
            parts=ran.parts,
            why="" if error is None else str(error) or type(error).__name__,
        )
        again = self._move(berth, ready, error) if error else self._learn(berth, ask, seconds, ran)
        self._note_states()
        return again

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """What no server can do any more."""
        gone, self._gone = self._gone, []
        return gone

    def render(self, slate: Slate, key: str, assets: Mapping[str, Path], into: Path, tell: Progress) -> None:
        """Render a take on the server it was given to, in a worker thread."""
        self._ran[key] = self._berths[self._at[key]].host.render(slate, assets, into, tell)

    def close(self) -> None:
        """No more takes will come."""
        self._ledger.close(list(self._berths))

    def server_of(self, name: str) -> str:
        """Name of the server that has a take now; empty for none."""
        has = (b.name for b in self._berths.values() for ask in b.flying.values() if ask.name == name)
        return next(has, "")

    def conditions(self) -> dict[str, str]:
        """What is wrong with each server, in words; empty for nothing."""
        return {name: "away" if not berth.there else berth.ill for name, berth in self._berths.items()}

    def left_s(self) -> float:
        """Seconds until all that is wanted now is made, if the work is shared as well as can be."""
        now, berths = self._now(), self._fit() or list(self._berths.values())
        work = sum(berth.post(now).busy_s * berth.speed for berth in berths)
        work += sum(ready.hint.seconds for ready in self._waiting.values())
        return float(work / sum(berth.speed for berth in berths))

    def schedule(self) -> Schedule:
        """What is foreseen for all that waits, from now on."""
        now = self._now()
        asks = [ready.hint for ready in self._waiting.values()]
        return deal(
            asks, [berth.post(now) for berth in self._fit() or self._berths.values()], first=self._first
        )

    def _fit(self) -> list[Berth]:
        """Servers that may be given work: those that are there, the ill only if there are no others."""
        there = [berth for berth in self._berths.values() if berth.there]
        return [berth for berth in there if not berth.ill] or there

    def _deal(self) -> None:
        """Deal what waits to the servers that are there and can do it."""
        fit, now = [berth.name for berth in self._fit()], self._now()
        there = [berth.name for berth in self._berths.values() if berth.there]
        asks, keys = [], {}
        for ready in list(self._waiting.values()):
            # who is ill is better than nobody, where those that are well cannot do it
            if able := self._able(ready, fit) or self._able(ready, there):
                asks.append(replace(ready.hint, only=frozenset(able)))
                keys[ready.hint.name] = ready.key
            elif error := self._fitness.hopeless(ready):
                del self._waiting[ready.key]
                self._gone.append((ready, error))
        homes = {name for ask in asks for name in ask.only} - {*fit}
        posts = [self._berths[name].post(now) for name in (*fit, *sorted(homes))]
        orders = deal(asks, posts, first=self._first).orders if asks else {}
        self._orders = {name: [keys[ask.name] for ask in order] for name, order in orders.items()}

    def _able(self, ready: Ready, names: list[str]) -> tuple[str, ...]:
        """Who may be given a take: the server that has begun it, while there is hope that it returns.

        It may have made it, so that it is asked for it although nothing new may be begun there.
        """
        home = self._berths.get(self._homes.get(ready.key, ready.hint.home))
        able = self._fitness.able(ready, names)
        if home and home.there and not self._fitness.has_failed(home.name, ready):
            return (home.name,)
        hope = home and home.away_since is not None and self._now() - home.away_since < HOLD_S
        return () if hope else able

    def _assign(self, berth: Berth, ready: Ready) -> Ready:
        if not berth.flying:
            berth.since = self._now()
        berth.flying[ready.key] = ready.hint
        self._at[ready.key] = berth.name
        return ready

    def _learn(self, berth: Berth, ask: Ask, seconds: float, ran: Ran) -> bool:
        """What a take that was made tells of its server; it is not wanted again."""
        self._fitness.well(berth.name)
        foreseen_s, was_slow = berth.foreseen_s(ask) / berth.speed, berth.slow
        if seconds > 0:
            self.timed[ask.name] = Timed(
                host=berth.name, ask=ask, seconds=seconds, foreseen_s=foreseen_s, ran=ran
            )
            if berth.time(ask, seconds, ran):
                self._orders = None
        berth.warm = ask.group
        if berth.slow and not was_slow:
            self._say(f"{berth.name}: {berth.slow}: {LEFT_OUT}, and look at its card's temperature and power")
        elif was_slow and not berth.slow:
            self._say(f"{berth.name}: as fast as before")
        if swollen := berth.weigh(ask, ran):
            self._relieve(berth, swollen)
        return False

    def _relieve(self, berth: Berth, swollen: str) -> None:
        """Its memory grows from take to take: have it freed, and where that did not help, restarted."""
        if berth.swollen:
            return
        self._orders = None
        if berth.freed:
            berth.swollen = f"{swollen}, though it was freed"
            self._say(f"{berth.name}: {berth.swollen}: {LEFT_OUT}")
            return
        berth.freed, berth.warm = True, None
        self._say(f"{berth.name}: {swollen}: ComfyUI is asked to free it")
        threading.Thread(target=berth.host.free, daemon=True).start()

    def _move(self, berth: Berth, ready: Ready, error: BaseException) -> bool:
        """Whether a take that failed goes back into the line, and what that says of its server."""
        self._orders = None
        if not isinstance(error, BackendError):
            return False
        if isinstance(error, RenderTimeout) and len(self._berths) == 1:
            return error.retryable and ready.attempt < ATTEMPTS  # it answers: there is no return to wait for
        if isinstance(error, RenderTimeout) or (isinstance(error, Unreachable) and error.retryable):
            if berth.there:
                self._say(f"{berth.name}: away: {error}")
                berth.lose(self._now(), str(error))
            self._homes[ready.key] = berth.name if error.pending else ""
            return ready.attempt < ATTEMPTS * len(self._berths)
        others = self._fitness.note(berth.name, ready, error)
        self._homes[ready.key] = ""
        if others:
            self._say(f"{berth.name}: cannot do {ready.name}, another server is tried: {error}")
        return others

    def _note_states(self) -> None:
        for name, berth in self._berths.items():
            if berth.flying:
                self._ledger.state(name, State.BUSY)
            elif not berth.there:
                self._ledger.state(name, State.AWAY, berth.away_why)
            else:
                self._ledger.state(name, State.IDLE, self._idle(berth))

    def _idle(self, berth: Berth) -> str:
        """Why a server has nothing to do."""
        if held := self.held():
            return held
        if not self._waiting:
            return NOTHING
        return berth.ill or "what waits is not for this server"

    def _look_for_the_lost(self) -> None:
        """Take back servers that answer again; give up when nobody has for too long."""
        while not self._answers.empty():
            name, answers = self._answers.get()
            self._hear_of(self._berths[name], answers=answers)
        lost = [berth for berth in self._berths.values() if not berth.there]
        ill = [berth for berth in self._berths.values() if berth.ill and not berth.flying]
        if not lost and not ill:
            return
        if self._prober is None or not self._prober.is_alive():
            hosts = [(berth.host, not berth.there) for berth in (*lost, *ill)]
            self._prober = threading.Thread(target=self._probe, args=(hosts,), daemon=True)
            self._prober.start()
        now = self._now()
        forsaken = {b.name for b in lost if now - (b.away_since or 0.0) > FORSAKEN_S}
        if forsaken:
            self._give_up(forsaken)

    def _give_up(self, forsaken: set[str]) -> None:
        """Takes that only servers could do which have been away for too long."""
        for ready in list(self._waiting.values()):
            unfit = self._fitness.lacks(ready)
            hope = [n for n in self._berths if n not in forsaken | unfit.keys() and ready.hint.may_go_to(n)]
            if not hope:
                away = Unreachable(
                    f"{', '.join(sorted(forsaken))}: nobody has answered for {FORSAKEN_S / 60:.0f} minutes",
                    hint="start ComfyUI; then the same command goes on where it stands",
                )
                self._gone.append((ready, next(iter(unfit.values()), away)))
                del self._waiting[ready.key]

    def _hear_of(self, berth: Berth, *, answers: bool) -> None:
        """A server that was lost is back, or one that is ill is being restarted."""
        if answers and not berth.there:
            self._say(f"{berth.name}: back")
            berth.welcome()
            self._fitness.forget(berth.name)
            self._orders = None
        elif not answers and berth.there and berth.ill:
            berth.lose(self._now(), "it is being restarted")

    def _probe(self, hosts: Sequence[tuple[Host, bool]]) -> None:
        """In a thread of its own: ask the lost, and the ill, once."""
        for host, lost in hosts:
            answers = host.alive()
            if answers and lost:
                host.tidy()
            self._answers.put((host.name, answers))
        time.sleep(PROBE_S)
