"""Walk a graph: ask the vault, do the rest, keep every lane busy, and grow as results come in.

One thread decides and writes the journal; lanes of worker threads do the work. This is the only place that
tries anything again, and only what says of itself that trying again may help.
"""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from mvpipe.build.graph import NO_GROWTH, Graph, Growth, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.lane import ATTEMPTS, Lane, Pool, Ready
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import Cancelled, MvpipeError, VaultError

PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
"""Seconds before the second attempt; each further one waits twice as long, up to the longest."""

GLANCE_S = 1.0
"""Seconds after which a lane that holds work back is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that happened to a node, for whoever watches.

    Parameters
    ----------
    name : the node
    what : `hit` (was there already), `begin`, `progress`, `end`, `retry`, `fail`, or `rescue` (failed,
        but something else is tried instead)
    done, of : progress
    note : the error in words
    """

    name: str
    what: str
    done: int = 0
    of: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a walk came to.

    Parameters
    ----------
    entries : of every node that was made or was there
    failures : of every node that failed
    """

    entries: Mapping[str, Entry]
    failures: Mapping[str, MvpipeError] = field(default_factory=dict[str, MvpipeError])


class Hands(Protocol):
    """Whoever does the work, if not this process."""

    def make(self, ready: Ready, work: Work, progress: Progress) -> Entry:
        """The entry, in this walk's vault; called in a thread of the work's lane."""

    def stop(self) -> None:
        """Have all that is under way end soon; called once when the walk is broken off."""


def run(
    graph: Graph,
    vault: Vault,
    journal: Journal,
    *,
    lanes: Mapping[str, int | Lane],
    watch: Callable[[Step], None] = lambda _: None,
    stop: Callable[[], None] = lambda: None,
    hands: Hands | None = None,
) -> Outcome:
    """Make everything the graph asks for.

    Parameters
    ----------
    lanes : lane -> how many things it does at once, or who decides that
    watch : told of every step, in the calling thread
    stop : makes work that is under way end soon; called once when the walk is broken off
    hands : who does the work; None for this process

    Raises
    ------
    VaultError : the vault or journal cannot be written; nothing more is begun
    Cancelled : the user stopped it
    """
    return _Walk(graph, vault, journal, lanes, watch, hands).walk(stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flight:
    """Work on its way: waiting for its turn, under way, or waiting to be tried again."""

    lane: str
    work: Work
    nodes: list[Node]


class _Walk:
    def __init__(
        self,
        graph: Graph,
        vault: Vault,
        journal: Journal,
        lanes: Mapping[str, int | Lane],
        watch: Callable[[Step], None],
        hands: Hands | None,
    ) -> None:
        self.graph, self.vault, self.journal, self.watch = graph, vault, journal, watch
        self.hands = hands
        self.lanes = {name: Pool(lane) if isinstance(lane, int) else lane for name, lane in lanes.items()}
        self.pools = {
            name: ThreadPoolExecutor(lane.width, thread_name_prefix=name) for name, lane in self.lanes.items()
        }
        self.entries: dict[str, Entry] = {}
        self.failures: dict[str, MvpipeError] = {}
        self.ended: set[str] = set()
        self.begun: set[str] = set()
        self.flights: dict[str, _Flight] = {}
        self.later: list[tuple[float, str, Ready]] = []
        self.jobs: dict[str, int] = {}
        self.inbox: queue.SimpleQueue[Step | tuple[Ready, Future[Entry]]] = queue.SimpleQueue()
        self.stopping = threading.Event()

    def walk(self, stop: Callable[[], None]) -> Outcome:
        try:
            self._advance(list(self.graph))
            self._dispatch()
            while self.flights:
                self._wait()
                self._dispatch()
            return Outcome(entries=self.entries, failures=self.failures)
        except BaseException as exc:
            self.stopping.set()
            stop()
            if self.hands:
                self.hands.stop()
            self._close()
            self._log_stopped()
            if isinstance(exc, KeyboardInterrupt | Cancelled):
                raise Cancelled(*exc.args, *self._left_behind()) from exc
            raise
        finally:
            self._close()

    def _close(self) -> None:
        for pool in self.pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def _left_behind(self) -> list[str]:
        """What work that was stopped says of itself."""
        found: list[str] = []
        while not self.inbox.empty():
            message = self.inbox.get()
            if isinstance(message, Step) or message[1].cancelled():
                continue
            error = message[1].exception()
            found += map(str, error.args) if isinstance(error, Cancelled) else []
        return found

    def _log_stopped(self) -> None:
        for job in self.jobs.values():
            self.journal.end(job, "stopped")
        self.jobs.clear()

    def _wait(self) -> None:
        """Take one message; come back without one when a lane is to be asked again."""
        until = min(GLANCE_S, self.later[0][0] - time.monotonic()) if self.later else GLANCE_S
        try:
            message = self.inbox.get(timeout=max(0.0, until))
        except queue.Empty:
            return
        self._receive(message)

    def _dispatch(self) -> None:
        """Begin all that may begin now."""
        while self.later and self.later[0][0] <= time.monotonic():
            _, key, ready = heapq.heappop(self.later)
            self.lanes[self.flights[key].lane].offer(ready)
        for name, lane in self.lanes.items():
            for ready, error in lane.dropped():
                self._lose(ready, error)
            while (turn := lane.next()) is not None:
                self._launch(name, turn)

    def _launch(self, lane: str, ready: Ready) -> None:
        future = self.pools[lane].submit(self._do, ready, self.flights[ready.key].work)
        future.add_done_callback(lambda done: self.inbox.put((ready, done)))

    def _advance(self, nodes: list[Node]) -> None:
        """Offer those of the nodes that are ready, and all that becomes ready through hits.

        What a hit makes ready comes first: one piece of work is followed to where it waits, while what was
        read of it is still at hand.
        """
        line = deque(nodes)
        while line:
            node = line.popleft()
            needs = self.graph.needs(node.name)
            if node.name in self.begun or not self.ended.issuperset(needs):
                continue
            self.begun.add(node.name)
            if lost := [need for need in needs if need in self.failures]:
                ready = self._fail(node, MvpipeError(f"{node.name}: {lost[0]} failed"), blocked=True)
            else:
                ready = self._begin(node, {n: self.entries[n] for n in needs if n in self.entries})
            line.extendleft(reversed(ready))

    def _begin(self, node: Node, entries: Mapping[str, Entry]) -> list[Node]:
        try:
            work = node.bind(entries)
        except MvpipeError as exc:
            return self._fail(node, exc)
        key = work.task.key
        if key in self.flights:
            self.flights[key].nodes.append(node)
            return []
        if found := self.vault.find(key):
            self.watch(Step(name=node.name, what="hit"))
            return self._end(node, found)
        self.flights[key] = _Flight(lane=node.lane, work=work, nodes=[node])
        self.lanes[node.lane].offer(Ready(name=node.name, key=key, hint=node.hint))
        return []

    def _do(self, ready: Ready, work: Work) -> Entry:
        """In a worker thread: make the entry."""

        def progress(done: int, of: int) -> None:
            if self.stopping.is_set():
                raise Cancelled
            self.inbox.put(Step(name=ready.name, what="progress", done=done, of=of))

        if self.stopping.is_set():
            raise Cancelled
        self.inbox.put(Step(name=ready.name, what="begin", note=ready.key))
        if self.hands:
            return self.hands.make(ready, work, progress)
        return self.vault.make(work.task, lambda folder: work.make(folder, progress))

    def _receive(self, message: Step | tuple[Ready, Future[Entry]]) -> None:
        if isinstance(message, Step):
            if message.what == "begin":
                self.jobs[message.name] = self.journal.begin(message.name, message.note)
            self.watch(message)
            return
        ready, future = message
        error = future.exception()
        again = self.lanes[self.flights[ready.key].lane].end(ready, error)
        if error is None:
            entry = future.result()
            self._settle(ready.name, "done", entry.by)
            self.watch(Step(name=ready.name, what="end", note=entry.by))
            nodes = self.flights.pop(ready.key).nodes
            self._advance([waiting for each in nodes for waiting in self._end(each, entry)])
            return
        self._settle(ready.name, "failed", str(error))
        if not isinstance(error, MvpipeError) or isinstance(error, VaultError):
            raise error
        if again:
            self._try_again(ready, error)
        else:
            self._lose(ready, error)

    def _try_again(self, ready: Ready, error: MvpipeError) -> None:
        """Offer it anew after a pause."""
        self.watch(Step(name=ready.name, what="retry", done=ready.attempt, of=ATTEMPTS, note=str(error)))
        at = time.monotonic() + min(PAUSE_S * 2 ** (ready.attempt - 1), LONGEST_PAUSE_S)
        again = replace(ready, attempt=ready.attempt + 1)
        heapq.heappush(self.later, (at, ready.key, again))

    def _lose(self, ready: Ready, error: MvpipeError) -> None:
        """It will not come to be."""
        nodes = self.flights.pop(ready.key).nodes
        self._advance([waiting for each in nodes for waiting in self._fail(each, error)])

    def _settle(self, name: str, outcome: str, note: str = "") -> None:
        if (job := self.jobs.pop(name, None)) is not None:
            self.journal.end(job, outcome, note)

    def _end(self, node: Node, entry: Entry) -> list[Node]:
        self.entries[node.name] = entry
        return self._grow(node, node.then(entry) if node.then else NO_GROWTH)

    def _fail(self, node: Node, error: MvpipeError, *, blocked: bool = False) -> list[Node]:
        if node.rescue and not blocked:
            try:
                growth = node.rescue(error)
            except MvpipeError as exc:
                error = exc
            else:
                self.watch(Step(name=node.name, what="rescue", note=str(error)))
                return self._grow(node, growth)
        self.watch(Step(name=node.name, what="fail", note=str(error)))
        self.failures[node.name] = error
        return self._grow(node, NO_GROWTH)

    def _grow(self, node: Node, growth: Growth) -> list[Node]:
        self.ended.add(node.name)
        self.graph.end(node.name)
        self.graph.grow(growth)
        return [*growth.nodes, *(self.graph[name] for name in self.graph.waiting(node.name))]
