"""A Dask cluster does the work of a walk: all that mvpipe knows of Dask.

The walk stays here and decides, for the graph grows with every verdict; what is ready is sent as one errand
under a name that derives from its key. Dask finds a worker that has the resource, and another one where that
one is lost. The store is the truth: a worker that finds an entry there makes nothing.

An errand outlives whoever sent it (`fire_and_forget`). So a run that was killed loses nothing that had begun:
the next one sends the same names, and waits for what is still under way. Only a stop takes errands back.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from distributed import Client, Future, fire_and_forget, get_worker
from distributed.client import ClosedClientError, FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker, Scheduler
from distributed.versions import VersionMismatchWarning

from mvpipe.build import errand as errands
from mvpipe.build.errand import Answer, Errand, Kit
from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import digest
from mvpipe.build.lane import Ready
from mvpipe.build.parcel import Packer
from mvpipe.build.places import NOBODY, Hand, Stint
from mvpipe.build.store import Store
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import (
    Cancelled,
    SettingsError,
    ToolError,
    Unreachable,
    VaultError,
)

CONNECT_S = 8.0
"""Seconds that a scheduler may need to answer."""

CENSUS_S = 2.0
"""Seconds for which it is believed who is there."""

GLANCE_S = 0.5
"""Seconds between two looks whether work that is waited for is still wanted."""

LOST = (OSError, CommClosedError, ClosedClientError, FutureCancelledError)
"""What Dask raises where its scheduler is gone."""

TOPIC = "mvpipe"
"""Under which workers tell of progress."""

URGENT = 10
"""Of work that needs a resource: a worker's next free thread is for its graphics card."""


@dataclass
class _Flight:
    """An errand on its way: its node's name, the last word of progress and from whom, whether it is done."""

    name: str
    told: tuple[int, int] | None = None
    by: str = ""
    done: threading.Event = field(default_factory=threading.Event)


class Cluster:
    """Whoever does a walk's work elsewhere (`build.run.Hands`, `build.places.Workforce`).

    Parameters
    ----------
    client : connected
    vault : has the store
    own : type -> name of what every worker has of its own
    kit : finds that on a worker; a function both ends can import
    """

    def __init__(
        self, client: Client, vault: Vault, *, own: Mapping[type[Any], str], kit: Callable[[], Kit]
    ) -> None:
        self._client, self._vault, self._kit = client, vault, kit
        self._store = self.store.url
        self._packer = Packer(vault, own)
        self._tag = digest("store", self._store)[:8]
        self._flights: dict[str, _Flight] = {}
        self._allowed: dict[str, tuple[list[str], str]] = {}
        self._blamed: dict[str, str] = {}
        self._took: dict[str, Stint] = {}
        self._hands: tuple[Hand, ...] = ()
        self._spared = set[tuple[str, str]]()
        self._counted = -CENSUS_S
        self._stopping = threading.Event()
        self._left: list[str] = []
        client.subscribe_topic(TOPIC, self._hear)

    @property
    def store(self) -> Store:
        """What all workers share with this machine."""
        assert self._vault.store is not None
        return self._vault.store

    def everyone(
        self, function: Callable[..., Any], *words: Any, workers: Collection[str] | None = None
    ) -> dict[str, Any]:
        """What a function says on every worker, or what it raised: by the worker's address."""
        found = self._client.run(function, *words, workers=workers and list(workers), on_error="return")
        return dict(found)

    def scheduler(self, function: Callable[..., Any]) -> Any:
        """What a function says on the scheduler, or that it cannot be loaded there."""
        try:
            return self._client.run_on_scheduler(function)
        except (ImportError, AttributeError) as exc:
            return exc

    def spare(self, names: Collection[str], resource: str) -> None:
        """Workers that get nothing in this run that needs the resource; it is as if they had none of it."""
        self._spared |= {(name, resource) for name in names}
        self._counted = -CENSUS_S

    def hands(self) -> tuple[Hand, ...]:
        """The workers there are now."""
        now = time.monotonic()
        if now - self._counted >= CENSUS_S and self._is_there:
            with suppress(*LOST):
                self._hands = tuple(map(self._as_spared, self._client.run_on_scheduler(_census)))
                self._miss({hand.name for hand in self._hands})
            self._counted = time.monotonic()
        return self._hands

    def _as_spared(self, hand: Hand) -> Hand:
        left = {name: has for name, has in hand.resources.items() if (hand.name, name) not in self._spared}
        return replace(hand, resources=left)

    def _miss(self, there: Collection[str]) -> None:
        """Whoever is not there any more has nothing."""
        for flight in list(self._flights.values()):
            if flight.by not in there:
                flight.by = ""

    def allow(self, key: str, workers: Collection[str], resource: str) -> None:
        """What is sent next under this key may go to workers at these addresses, and needs that of one."""
        self._allowed[key] = list(workers), resource

    def blame(self, key: str) -> str:
        """Name of the worker that failed to do it; empty where nobody knows."""
        return self._blamed.pop(key, "")

    def where(self, name: str) -> str:
        """Name of the worker that has a node's work now, as far as it was heard of; empty for none."""
        return next((flight.by for flight in list(self._flights.values()) if flight.name == name), "")

    def took(self, key: str) -> Stint:
        """Who had it last in this run, and has made it or failed to; `NOBODY` where nobody had to."""
        return self._took.get(key, NOBODY)

    def make(self, ready: Ready, work: Work, progress: Progress) -> Entry:
        """Have it made, wait for it, and fetch it; in a thread of its own.

        Raises
        ------
        MvpipeError : what the worker says; `ToolError` where it killed several workers, `Unreachable` where
            the cluster is gone
        Cancelled : `stop` was called
        """
        sent = Errand(
            name=f"mvpipe-{ready.key}-{self._tag}-{ready.attempt}",
            key=ready.key,
            parcel=self._packer.pack(work),
            store=self._store,
            kit=self._kit,
            version=errands.version(),
        )
        self._took.pop(ready.key, None)
        flight = self._flights[sent.name] = _Flight(name=ready.name)
        try:
            answer = self._wait(self._send(sent), flight, progress)
        finally:
            del self._flights[sent.name]
        self._settle(ready, answer)
        entry = self._vault.find(ready.key)
        if entry is None:
            raise Unreachable(f"{answer.by}: {ready.name}: says it is made, and {self._store} has none")
        return entry

    def stop(self) -> None:
        """Take back all that is under way; those who wait for it are told."""
        self._stopping.set()
        if not self._is_there:
            return
        names = list(self._flights)
        asked = threading.Thread(target=self._take_back, args=(names,), daemon=True)
        asked.start()
        asked.join(errands.HALT_S + CONNECT_S)

    def tidy(self) -> None:
        """Take back from the workers' servers what was begun by workers that died, and made by others."""
        if self._is_there:
            with suppress(*LOST):
                self.everyone(errands.tidy, self._kit)

    @property
    def _is_there(self) -> bool:
        """Whether its scheduler is, as far as is known."""
        return bool(self._client.status == "running")

    def _take_back(self, names: list[str]) -> None:
        futures = [Future(name, self._client) for name in names]
        with suppress(*LOST):
            self._client.cancel(futures, force=True)
            left = self._client.run(errands.halt, names, on_error="ignore")
            self._left += [f"{worker}: {what}" for worker, found in left.items() for what in found]

    def _send(self, sent: Errand) -> Future[Answer]:
        workers, resource = self._allowed.pop(sent.key, ([], ""))
        try:
            future = self._client.submit(
                _perform,
                sent,
                key=sent.name,
                workers=workers or None,
                resources={resource: 1} if resource else None,
                priority=URGENT if resource else 0,
                pure=False,
            )
            fire_and_forget(future)
        except LOST as exc:
            raise Gone(f"{sent.name}: the cluster is gone: {exc}", hint=GO_ON) from exc
        return future

    def _wait(self, future: Future[Answer], flight: _Flight, progress: Progress) -> Answer:
        name = flight.name
        future.add_done_callback(lambda _: flight.done.set())
        heard = None
        while not flight.done.wait(GLANCE_S):
            if self._stopping.is_set():
                break
            if self._client.status == "closed":
                raise Gone(f"{name}: the cluster is gone", hint=GO_ON)
            if flight.told is not None and flight.told != heard:
                heard = flight.told
                progress(*heard)
        if self._stopping.is_set():
            left, self._left = self._left, []
            raise Cancelled(*left)
        try:
            answer: Answer = future.result(timeout=CONNECT_S)
            return answer
        except KilledWorker as exc:
            raise ToolError(
                f"{name}: {exc.allowed_failures + 1} workers died of it, last {exc.last_worker.address}",
                hint="what its log says last; often more memory than `dask worker --memory-limit` allows",
            ) from exc
        except (FutureCancelledError, CommClosedError, OSError) as exc:
            raise Unreachable(
                f"{name}: the cluster is gone: {exc}", hint="is its scheduler running?"
            ) from exc

    def _settle(self, ready: Ready, answer: Answer) -> None:
        """Act on what is not as it should be."""
        heard = time.time()
        if answer.seconds:
            self._took[ready.key] = Stint(
                by=answer.by, seconds=answer.seconds, ended=heard, ahead_s=answer.at - heard
            )
        if answer.misfit:
            self._blamed[ready.key] = answer.by
            raise Misfit(f"worker {answer.by}: {answer.misfit}", hint="install the same at both ends")
        if answer.stopped:
            raise Unreachable(f"{answer.by}: {ready.name}: an earlier run has stopped it")
        if answer.fault is None:
            return
        self._blamed[ready.key] = answer.by
        error = answer.fault.error()
        if isinstance(error, VaultError):
            raise Unreachable(f"worker {answer.by}: {error}", hint=error.hint)
        raise error

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        told = event[1]
        if flight := self._flights.get(told["name"]):
            flight.by, flight.told = told["by"], (told["done"], told["of"])


GO_ON = "start its scheduler and workers again; then the same command goes on where it stands"


class Gone(Unreachable):
    """The scheduler: whoever asks again finds nobody."""

    retryable = False


class Misfit(Unreachable):
    """A worker that can do nothing for us; another one may."""


@contextmanager
def connected(
    address: str, vault: Vault, *, own: Mapping[type[Any], str], kit: Callable[[], Kit]
) -> Iterator[Cluster]:
    """A cluster, until left; `build.muster` says whether it is of use.

    Raises
    ------
    SettingsError : no such kind of address
    Unreachable : no scheduler answers there
    """
    for name in [known for known in logging.Logger.manager.loggerDict if known.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what it has to say is said by errors here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client = Client(address, timeout=CONNECT_S, set_as_default=False, name="mvpipe")
    except ValueError as exc:
        raise SettingsError(f"--cluster: {address}: {exc}", hint="such as tcp://host:8786") from exc
    except (OSError, CommClosedError) as exc:
        raise Unreachable(
            f"{address}: no Dask scheduler answers: {exc}",
            hint="start one: dask scheduler; then workers: dask worker ADDRESS --resources h3=1",
        ) from exc
    try:
        yield Cluster(client, vault, own=own, kit=kit)
    finally:
        client.close(timeout=CONNECT_S)


def _census(dask_scheduler: Scheduler) -> list[Hand]:
    return [
        Hand(
            address=worker.address,
            name=str(worker.name),
            threads=worker.nthreads,
            resources=dict(worker.resources),
        )
        for worker in dask_scheduler.workers.values()
    ]


def _perform(sent: Errand) -> Answer:
    """On the worker, in a thread."""
    worker = get_worker()
    by = str(worker.name)

    def tell(done: int, of: int) -> None:
        worker.log_event(TOPIC, {"name": sent.name, "by": by, "done": done, "of": of})

    return errands.do(sent, by, tell)
