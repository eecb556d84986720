"""What a worker elsewhere does with work that it is sent: unpack it, make it into its vault, say how it went.

A worker keeps a vault of its own beside the shared store, so that the next thing of the same song finds what
it needs. The store has the last word: what is there is not made again, whoever asks.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import mvpipe
from mvpipe.build.graph import Progress
from mvpipe.build.parcel import Unpacker
from mvpipe.build.store import Store
from mvpipe.build.trim import trim
from mvpipe.build.vault import Vault
from mvpipe.errors import Cancelled, MvpipeError

TELL_S = 2.0
"""Seconds between two words of progress of one piece of work."""

KEPT_BYTES = 50 * 10**9
"""What a machine's workers keep of what the store has: some thirty songs."""

TRIM_S = 600.0
"""Seconds between two looks at how much that is."""

HALT_S = 10.0
"""Seconds that work which was told to stop has to take back what it has begun elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What a worker has of its own.

    Parameters
    ----------
    folder : where its vault lies; of all workers of a machine
    own : name -> what work may ask for by that name: its server
    greet : what is wrong with its server; empty where nothing is
    tidy : takes back from its server what nobody here makes any more
    """

    folder: Path
    own: Mapping[str, Callable[[], Any]]
    greet: Callable[[], str] = lambda: ""
    tidy: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Work on its way to a worker.

    Parameters
    ----------
    name : by which the cluster knows it
    key : of its task
    parcel : the work, packed
    store : URL of the shared store
    kit : finds what the worker has of its own
    version : of whoever packed it
    """

    name: str
    key: str
    parcel: bytes
    store: str
    kit: Callable[[], Kit]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error as it travels: whatever its class wants to be made of, this is what it is."""

    kind: type[MvpipeError]
    words: tuple[Any, ...]
    state: Mapping[str, Any]

    @classmethod
    def of(cls, error: MvpipeError) -> Fault:
        """An error, to be sent."""
        state = {name: value for name, value in vars(error).items() if not name.startswith("__")}
        return cls(kind=type(error), words=error.args, state=state)

    def error(self) -> MvpipeError:
        """The error it was."""
        made = self.kind.__new__(self.kind, *self.words)
        made.args = self.words
        vars(made).update(self.state)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How an errand went.

    Parameters
    ----------
    by : the worker
    seconds : it took, made or not; 0 where it was there already
    at : when it ended, by the worker's clock, Unix seconds
    fault : why it could not be done
    stopped : whether it was told to stop
    misfit : why this worker can do nothing for whoever sent it
    """

    by: str
    seconds: float = 0.0
    at: float = 0.0
    fault: Fault | None = None
    stopped: bool = False
    misfit: str = ""


_running: dict[str, threading.Event] = {}
_left: list[str] = []
_guard = threading.Lock()
_trimmed: dict[Path, float] = {}


@lru_cache(maxsize=1)
def version() -> str:
    """What must be the same at both ends: code travels by name, and its closures as bytes of one Python."""
    import cloudpickle

    found, root = sha256(), Path(mvpipe.__file__).parent
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    digest = found.hexdigest()[:8]
    return f"mvpipe {mvpipe.__version__} ({digest}), Python {python}, cloudpickle {cloudpickle.__version__}"


def do(errand: Errand, by: str, tell: Callable[[int, int], None]) -> Answer:
    """Do it, in a thread of the worker.

    Parameters
    ----------
    by : name of the worker
    tell : told of progress now and then
    """
    if errand.version != version():
        return Answer(by=by, misfit=f"has {version()}, and not {errand.version}")
    halted = threading.Event()
    with _guard:
        _running[errand.name] = halted
    began = time.monotonic()
    try:
        seconds = _make(errand, by, _paced(tell, halted))
        return Answer(by=by, seconds=seconds, at=time.time())
    except MvpipeError as exc:
        return Answer(by=by, seconds=time.monotonic() - began, at=time.time(), fault=Fault.of(exc))
    except Cancelled as exc:
        with _guard:
            _left.extend(map(str, exc.args))
        return Answer(by=by, stopped=True)
    finally:
        with _guard:
            _running.pop(errand.name, None)


async def halt(names: Sequence[str]) -> list[str]:
    """Have errands end, and wait until they have taken back what they began; what is left all the same."""
    with _guard:
        told = [name for name in names if name in _running]
        for name in told:
            _running[name].set()
    until = time.monotonic() + HALT_S
    while any(name in _running for name in told) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    with _guard:
        found = [*_left, *(f"{name}: still at work" for name in told if name in _running)]
        _left.clear()
    return found


def sees(url: str, note: str, words: bytes, own: str) -> str:
    """Whether this machine reads from the store what another wrote, and may write; what is wrong if not."""
    try:
        store = Store(url)
        if store.marked(note) != words:
            return "another place there: it does not hold what this machine has just written"
        store.mark(own, words)
    except MvpipeError as exc:
        return str(exc)
    return ""


async def greet(kit: Callable[[], Kit]) -> str:
    """What is wrong with the server of this worker."""
    try:
        return await asyncio.to_thread(lambda: kit().greet())
    except MvpipeError as exc:
        return str(exc)


async def tidy(kit: Callable[[], Kit]) -> None:
    """Take back from this worker's server what was begun there by somebody who died, and made elsewhere."""
    await asyncio.to_thread(lambda: kit().tidy())


def _make(errand: Errand, by: str, progress: Progress) -> float:
    """Seconds it took."""
    kit = errand.kit()
    vault = _vault(kit.folder, errand.store, by)
    if found := vault.find(errand.key):
        vault.share(found)
        return 0.0
    began = time.monotonic()
    work = Unpacker(vault=vault, own=kit.own).unpack(errand.parcel)
    progress(0, 0)
    vault.make(work.task, lambda folder: work.make(folder, progress))
    _keep_small(vault)
    return time.monotonic() - began


def _keep_small(vault: Vault) -> None:
    """Now and then; of several threads and processes any may do it."""
    with _guard:
        due = time.monotonic() - _trimmed.get(vault.root, -TRIM_S) >= TRIM_S
        if due:
            _trimmed[vault.root] = time.monotonic()
    if due:
        with suppress(OSError):  # another worker of this machine does it just now
            trim(vault.root, KEPT_BYTES)


@lru_cache(maxsize=4)
def _vault(folder: Path, store: str, by: str) -> Vault:
    return Vault(folder, store=Store(store), by=by)


def _paced(tell: Callable[[int, int], None], halted: threading.Event) -> Progress:
    """Progress that is told seldom, and that ends what was told to end."""
    told = 0.0

    def progress(done: int, of: int) -> None:
        nonlocal told
        if halted.is_set():
            raise Cancelled
        now = time.monotonic()
        if now - told >= TELL_S:
            told = now
            tell(done, of)

    return progress
