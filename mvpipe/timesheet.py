"""The takes lane of a cluster, with a ledger of its renderers: as a fleet keeps one of its servers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from mvpipe.build.lane import Ready
from mvpipe.build.places import Places, Workforce
from mvpipe.crowd import rendering
from mvpipe.errors import MvpipeError
from mvpipe.fleet import NOTHING
from mvpipe.ledger import Ledger, State
from mvpipe.render.backend import UNHEARD, Ran

LEFT = "it has left the cluster"
ON_ITS_WAY = "a take is on its way to a worker"
SHUNNED = "its server did not answer"


class Timesheet:
    """A lane (`build.lane.Lane`) around the takes' own.

    Who has a take is known as soon as the worker says that it has begun; of one that is lost, when the
    cluster misses it. What a worker's server tells of a take is set by this machine's clock.

    Parameters
    ----------
    lane : in which the takes wait
    force : the cluster
    ledger : where all that workers do is noted
    went : how a take went, by its key
    now : clock, Unix seconds

    Attributes
    ----------
    held : why no more takes are begun, in words; empty while they are
    """

    def __init__(
        self,
        lane: Places,
        force: Workforce,
        ledger: Ledger,
        went: Callable[[str], Ran],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._lane, self._force, self._ledger, self._went, self._now = lane, force, ledger, went, now
        self.held: Callable[[], str] = lambda: ""
        self._flying: dict[str, Ready] = {}
        self._has: dict[str, tuple[str, float]] = {}
        self._known: dict[str, None] = {}
        self._note_states()

    @property
    def width(self) -> int:
        """As the lane's."""
        return self._lane.width

    def offer(self, ready: Ready) -> None:
        """It waits from now on."""
        self._lane.offer(ready)

    def next(self) -> Ready | None:
        """The lane's next."""
        turn = self._lane.next()
        if turn is not None:
            self._flying[turn.key] = turn
        self._note_states()
        return turn

    def end(self, ready: Ready, error: BaseException | None) -> bool:
        """As the lane says."""
        self._note_run(ready, error)
        del self._flying[ready.key]
        again = self._lane.end(ready, error)
        self._note_states()
        return again

    def dropped(self) -> list[tuple[Ready, MvpipeError]]:
        """What the lane gives up."""
        return self._lane.dropped()

    def close(self) -> None:
        """No more takes will come."""
        self._note_states()
        self._ledger.close(self._known)

    def _note_run(self, ready: Ready, error: BaseException | None) -> None:
        """What its last worker did; one that was there already has kept nobody busy."""
        stint, had = self._force.took(ready.key), self._has.pop(ready.key, None)
        why = "" if error is None else str(error) or type(error).__name__
        if stint.by:
            ran, ahead_s = self._went(ready.key) if error is None else UNHEARD, stint.ahead_s
            begun = stint.ended - stint.seconds if ran.begun is None else ran.begun - ahead_s
            ended = stint.ended if ran.ended is None else ran.ended - ahead_s
            self._ledger.ran(
                stint.by,
                name=ready.name,
                key=ready.key,
                begun=begun,
                ended=ended,
                age_s=stint.seconds,
                parts=ran.parts,
                why=why,
            )
        elif had and why:
            self._note_failure(ready, had, why)

    def _note_failure(self, ready: Ready, had: tuple[str, float], why: str) -> None:
        worker, since = had
        self._ledger.ran(
            worker, name=ready.name, key=ready.key, begun=since, age_s=self._now() - since, why=why
        )

    def _note_states(self) -> None:
        there = rendering(self._force)
        self._known |= dict.fromkeys(there)
        self._find_out(there)
        busy = {worker for worker, _ in self._has.values()}
        for worker in self._known:
            if worker not in there:
                self._ledger.state(worker, State.AWAY, LEFT)
            elif worker in busy:
                self._ledger.state(worker, State.BUSY)
            else:
                self._ledger.state(worker, State.IDLE, self._idle(worker))

    def _find_out(self, there: Collection[str]) -> None:
        """Who has what now. One that nobody names may have ended just now, unless its worker is gone."""
        for key, ready in self._flying.items():
            worker, had = self._force.where(ready.name), self._has.get(key)
            if had and (had[0] not in there or worker not in ("", had[0])):
                self._note_failure(ready, self._has.pop(key), LEFT)
            if worker in there:
                self._has.setdefault(key, (worker, self._now()))

    def _idle(self, worker: str) -> str:
        """Why a worker has nothing to do."""
        if held := self.held():
            return held
        if self._flying.keys() - self._has.keys():
            return ON_ITS_WAY
        if not self._lane.waiting:
            return NOTHING
        return SHUNNED if self._lane.shuns(worker) else "what waits is not for this worker"
