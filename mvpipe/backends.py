"""Which backend makes the takes, and where it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from mvpipe.render.backend import Backend
from mvpipe.request import Machine, Request

ANIMATIC, COMFYUI = "animatic", "comfyui"

LOCAL_SERVER = "http://127.0.0.1:8188"
"""Where ComfyUI listens unless told otherwise."""

JOBS = "jobs"
"""The project's folder of what was asked of servers; a run that died takes it up from there."""


OTHERS_S = 60.0
"""Seconds that a server may be away before its takes go to another one: it needs 20 and more to start."""


@runtime_checkable
class Greets(Protocol):
    """A backend that stands on servers."""

    def greet(self) -> tuple[str, ...]:
        """Ask the servers what they are; what is wrong with those that lack; raises if all do."""


def kind_of(request: Request) -> str:
    """`animatic` or `comfyui`; an address means a ComfyUI server."""
    name = request.backend or request.loaded.storyboard.render.backend
    return ANIMATIC if name == ANIMATIC else COMFYUI


def find_backend(request: Request, folder: Path) -> Backend:
    """The backend the request names, else the storyboard's; no server is asked.

    Parameters
    ----------
    folder : the project folder, in which jobs are recorded

    Raises
    ------
    SettingsError : an address that is none
    """
    if kind_of(request) == ANIMATIC:
        from mvpipe.render.animatic.backend import Animatic

        return Animatic()
    from mvpipe.render.comfyui.address import address
    from mvpipe.render.comfyui.backend import ComfyUI
    from mvpipe.render.comfyui.client import Client
    from mvpipe.render.comfyui.patience import Patience

    named = request.backend if request.backend not in (None, COMFYUI) else LOCAL_SERVER
    machines = request.machines or (Machine(address=address(named)),)
    patience = Patience() if len(machines) == 1 else replace(Patience(), away_s=OTHERS_S)
    first, *others = [Client(one.address, folder / JOBS, patience) for one in machines]
    return ComfyUI(
        client=first,
        others=tuple(
            (client, one.weight / machines[0].weight)
            for client, one in zip(others, machines[1:], strict=True)
        ),
        limits={one.address.base: one.limits for one in machines},
        beside=request.loaded.path.absolute().parent,
    )
