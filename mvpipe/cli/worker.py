"""What a worker of a cluster has of its own: a vault in its user's cache, and the server beside it.

The server is what a plain `mvpipe render` on that machine would use: `MVPIPE_BACKEND` in the worker's
environment (an address, or a name from its `settings.toml`), else the first server of that file, else
http://127.0.0.1:8188. Its headers and certificates stay on that machine.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.backends import JOBS, OTHERS_S
from mvpipe.build.errand import Kit
from mvpipe.cli.servers import find_server
from mvpipe.cli.settings import default_cache
from mvpipe.errors import BackendError, RenderFailed
from mvpipe.render.backend import Progress
from mvpipe.render.comfyui.address import Address
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.jobs import State
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.patience import Patience

if TYPE_CHECKING:
    from mvpipe.doctor.check import Row
    from mvpipe.doctor.wanted import Wanted

OWN = {Client: "server"}
"""What is sent by name: every worker has its own."""

FOLDER = "cluster"


def kit() -> Kit:
    """What this worker has of its own."""
    return Kit(folder=_folder() / "vault", own={"server": _server}, greet=_greet, tidy=_tidy)


async def diagnosed(wanted: Wanted) -> tuple[Row, ...]:
    """What `mvpipe doctor` says of this worker's server and machine: every line of its table.

    Raises
    ------
    MvpipeError : it cannot be asked
    """
    from mvpipe.doctor.diagnose import Place, diagnose

    _folder().mkdir(parents=True, exist_ok=True)
    where = _address()
    place = Place(url=str(where), server=where, folder=_folder(), kept=default_cache().parent)
    return (await asyncio.to_thread(diagnose, wanted, place)).rows


class Own(Client):
    """The client of this worker's server, which knows what it makes just now."""

    def __init__(self, where: Address, records: Path, patience: Patience) -> None:
        super().__init__(where, records, patience)
        self.makes: Counter[str] = Counter()

    def make(self, order: Order, into: Path, tell: Progress) -> Made:
        """As any client does."""
        self.makes[order.key] += 1
        try:
            return super().make(order, into, tell)
        finally:
            self.makes[order.key] -= 1

    def tidy(self) -> None:
        """Take back what a worker before this one has begun, and did not end."""
        for key in self.records.keys(self.server.name):
            job = self.records.read(key, self.server.name)
            if job.state in (State.SENT, State.RUNNING) and not self.makes[key]:
                with suppress(RenderFailed):  # it knows no such job any more
                    self.server.cancel(job.prompt_id)
                self.records.write(job.with_state(State.FAILED))


def _folder() -> Path:
    given = os.environ.get("MVPIPE_CACHE")
    return (Path(given) if given else default_cache()) / FOLDER


def _address() -> Address:
    authority = os.environ.get("MVPIPE_AUTHORITY")
    return find_server(os.environ.get("MVPIPE_BACKEND"), authority=Path(authority) if authority else None)


@lru_cache(maxsize=1)
def _server() -> Own:
    return Own(_address(), _folder() / JOBS, replace(Patience(), away_s=OTHERS_S))


def _greet() -> str:
    try:
        _server().greet()
    except BackendError as exc:
        return str(exc)
    return ""


def _tidy() -> None:
    with suppress(BackendError):  # away: its records keep it for the next time
        _server().tidy()
