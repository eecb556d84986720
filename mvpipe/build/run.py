"""Walk a graph: ask the vault, do the rest, keep every lane busy, and grow as results come in.

One thread decides and writes the journal; lanes of worker threads do the work. This is the only place that
tries anything again, and only what says of itself that trying again may help.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.build.graph import NO_GROWTH, Graph, Growth, Node, Work
from mvpipe.build.journal import Journal
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import Cancelled, MvpipeError, VaultError

ATTEMPTS = 3
"""How often a retryable failure is tried in all."""

PAUSE_S = 2.0
"""Seconds before the second attempt; each further one waits twice as long."""


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


def run(
    graph: Graph,
    vault: Vault,
    journal: Journal,
    *,
    lanes: Mapping[str, int],
    watch: Callable[[Step], None] = lambda _: None,
    stop: Callable[[], None] = lambda: None,
) -> Outcome:
    """Make everything the graph asks for.

    Parameters
    ----------
    lanes : lane -> how many things it does at once
    watch : told of every step, in the calling thread
    stop : makes work that is under way end soon; called once when the walk is broken off

    Raises
    ------
    VaultError : the vault or journal cannot be written; nothing more is begun
    Cancelled : the user stopped it
    """
    return _Walk(graph, vault, journal, lanes, watch).walk(stop)


class _Walk:
    def __init__(
        self,
        graph: Graph,
        vault: Vault,
        journal: Journal,
        lanes: Mapping[str, int],
        watch: Callable[[Step], None],
    ) -> None:
        self.graph, self.vault, self.journal, self.watch = graph, vault, journal, watch
        self.pools = {lane: ThreadPoolExecutor(many, thread_name_prefix=lane) for lane, many in lanes.items()}
        self.entries: dict[str, Entry] = {}
        self.failures: dict[str, MvpipeError] = {}
        self.ended: set[str] = set()
        self.begun: set[str] = set()
        self.flying: dict[str, list[Node]] = {}
        self.jobs: dict[str, int] = {}
        self.inbox: queue.SimpleQueue[Step | tuple[Node, Work, Future[Entry]]] = queue.SimpleQueue()
        self.stopping = threading.Event()

    def walk(self, stop: Callable[[], None]) -> Outcome:
        try:
            self._advance(list(self.graph))
            while self.flying:
                self._receive(self.inbox.get())
            return Outcome(entries=self.entries, failures=self.failures)
        except BaseException as exc:
            self.stopping.set()
            stop()
            self._close()
            self._log_stopped()
            if isinstance(exc, KeyboardInterrupt):
                raise Cancelled from exc
            raise
        finally:
            self._close()

    def _close(self) -> None:
        for pool in self.pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def _log_stopped(self) -> None:
        for job in self.jobs.values():
            self.journal.end(job, "stopped")
        self.jobs.clear()

    def _advance(self, nodes: list[Node]) -> None:
        """Begin those of the nodes that are ready, and all that becomes ready through hits."""
        line = deque(nodes)
        while line:
            node = line.popleft()
            needs = self.graph.needs(node.name)
            if node.name in self.begun or not self.ended.issuperset(needs):
                continue
            self.begun.add(node.name)
            if lost := [need for need in needs if need in self.failures]:
                line.extend(self._fail(node, MvpipeError(f"{node.name}: {lost[0]} failed"), blocked=True))
                continue
            line.extend(self._begin(node, {n: self.entries[n] for n in needs if n in self.entries}))

    def _begin(self, node: Node, entries: Mapping[str, Entry]) -> list[Node]:
        try:
            work = node.bind(entries)
        except MvpipeError as exc:
            return self._fail(node, exc)
        key = work.task.key
        if key in self.flying:
            self.flying[key].append(node)
            return []
        if found := self.vault.find(key):
            self.watch(Step(name=node.name, what="hit"))
            return self._end(node, found)
        self.flying[key] = [node]
        future = self.pools[node.lane].submit(self._do, node.name, work)
        future.add_done_callback(lambda done: self.inbox.put((node, work, done)))
        return []

    def _do(self, name: str, work: Work) -> Entry:
        """In a worker thread: make the entry, trying again where that may help."""

        def progress(done: int, of: int) -> None:
            if self.stopping.is_set():
                raise Cancelled
            self.inbox.put(Step(name=name, what="progress", done=done, of=of))

        def make(folder: Path) -> Mapping[str, Any]:
            return work.make(folder, progress)

        for attempt in range(1, ATTEMPTS + 1):
            if self.stopping.is_set():
                raise Cancelled
            self.inbox.put(Step(name=name, what="begin", note=work.task.key))
            try:
                return self.vault.make(work.task, make)
            except MvpipeError as exc:
                if not exc.retryable or attempt == ATTEMPTS:
                    raise
                self.inbox.put(Step(name=name, what="retry", done=attempt, of=ATTEMPTS, note=str(exc)))
                self.stopping.wait(PAUSE_S * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _receive(self, message: Step | tuple[Node, Work, Future[Entry]]) -> None:
        if isinstance(message, Step):
            self._log(message)
            self.watch(message)
            return
        node, work, future = message
        nodes = self.flying.pop(work.task.key)
        error = future.exception()
        if error is None:
            entry = future.result()
            self._settle(node.name, "done")
            self.watch(Step(name=node.name, what="end"))
            self._advance([ready for each in nodes for ready in self._end(each, entry)])
            return
        self._settle(node.name, "failed", str(error))
        if not isinstance(error, MvpipeError) or isinstance(error, VaultError):
            raise error
        self._advance([ready for each in nodes for ready in self._fail(each, error)])

    def _log(self, step: Step) -> None:
        if step.what == "begin":
            self.jobs[step.name] = self.journal.begin(step.name, step.note)
        elif step.what == "retry":
            self._settle(step.name, "failed", step.note)

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
        self.graph.grow(growth)
        return [*growth.nodes, *(self.graph[name] for name in self.graph.waiting(node.name))]
