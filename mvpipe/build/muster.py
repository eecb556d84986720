"""Whether a cluster can do what is wanted, before anything is rendered: one clear error for what lacks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from mvpipe.build import errand
from mvpipe.build.errand import Kit
from mvpipe.build.places import Hand
from mvpipe.build.store import Store
from mvpipe.errors import BackendError, Unreachable, VaultError


class Force(Protocol):
    """A cluster, as it is mustered."""

    @property
    def store(self) -> Store:
        """What all workers share with this machine."""

    def hands(self) -> Collection[Hand]:
        """The workers there are now."""

    def everyone(
        self, function: Callable[..., Any], *words: Any, workers: Collection[str] | None = None
    ) -> Mapping[str, Any]:
        """What a function says on every worker, or what it raised: by the worker's address."""

    def spare(self, names: Collection[str], resource: str) -> None:
        """Workers that get nothing in this run that needs the resource."""

    def scheduler(self, function: Callable[..., Any]) -> Any:
        """What a function says on the scheduler, or that it cannot be loaded there."""


def muster(force: Force, address: str, resource: str, kit: Callable[[], Kit]) -> dict[str, Unreachable]:
    """Ask scheduler and workers what they are; address of every worker whose server lacks, and what it lacks.

    Parameters
    ----------
    resource : what a worker must have to render; empty where it needs nothing
    kit : what a worker has of its own

    Raises
    ------
    BackendError : no workers, none with the resource, none whose server answers, or other versions
    VaultError : a worker does not see the store
    """
    check_versions(force, address)
    able = check_hands(force.hands(), address, resource)
    check_store(force, address)
    return check_servers(force, kit, able) if resource else {}


def check_versions(force: Force, address: str) -> None:
    """Whether scheduler and workers run the code that is sent to them by name."""
    own = errand.version()
    found = {f"worker {name}": has for name, has in force.everyone(errand.version).items()}
    found["its scheduler"] = force.scheduler(errand.version)
    for who, has in found.items():
        if has != own:
            what = f"mvpipe does not load there: {has}" if isinstance(has, BaseException) else f"has {has}"
            raise BackendError(
                f"{address}: {who}: {what}; here is {own}", hint="install the same on every machine of it"
            )


def check_hands(hands: Collection[Hand], address: str, resource: str) -> list[str]:
    """Addresses of the workers that may render."""
    if not hands:
        raise BackendError(f"{address}: no workers", hint=f"start some: dask worker {address}")
    found = [hand.address for hand in hands if not resource or hand.resources.get(resource, 0) >= 1]
    if not found:
        raise BackendError(
            f"{address}: {len(hands)} workers, and none with {resource}: nobody can render",
            hint=f"beside every ComfyUI: dask worker {address} --resources {resource}=1",
        )
    return found


def check_store(force: Force, address: str) -> None:
    """Whether every worker reads what is written here, and what it writes is read here."""
    store, note, words = force.store, f"probe-{uuid.uuid4().hex}", uuid.uuid4().bytes
    store.mark(note, words)
    try:
        for worker, found in force.everyone(sees, store.url, note, words).items():
            if fault := _unseen(store, found, words):
                raise VaultError(
                    f"{address}: worker {worker}: does not see the vault {store.url}: {fault}",
                    hint="--vault: a path that all have mounted at the same place, or a store like s3://...",
                )
    finally:
        store.unmark(note)


def sees(url: str, note: str, words: bytes) -> tuple[str, str]:
    """On a worker: the name of the note it leaves, and what is wrong with the store."""
    own = f"{note}-{uuid.uuid4().hex[:8]}"
    return own, errand.sees(url, note, words, own)


def _unseen(store: Store, found: Any, words: bytes) -> str:
    if isinstance(found, BaseException):
        return str(found)
    own, fault = found
    seen = store.marked(own)
    store.unmark(own)
    return fault or ("" if seen == words else "what it writes there is not seen here")


def check_servers(force: Force, kit: Callable[[], Kit], workers: list[str]) -> dict[str, Unreachable]:
    """Of the workers whose servers do not answer: address -> what is wrong; at least one answers."""
    found = force.everyone(errand.greet, kit, workers=workers)
    faults = {worker: Unreachable(f"worker {worker}: {said}") for worker, said in found.items() if said}
    if len(faults) == len(found):
        raise BackendError(
            f"no worker's server answers: {next(iter(faults.values()))}",
            hint="start ComfyUI beside them, or say where it is: MVPIPE_BACKEND in the worker's environment",
        )
    return faults
