"""Which backend makes the takes, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from mvpipe.render.backend import Backend
from mvpipe.request import Request

ANIMATIC, COMFYUI = "animatic", "comfyui"

LOCAL_SERVER = "http://127.0.0.1:8188"
"""Where ComfyUI listens unless told otherwise."""

JOBS = "jobs"
"""The project's folder of what was asked of servers; a run that died takes it up from there."""


@runtime_checkable
class Greets(Protocol):
    """A backend that stands on a server."""

    def greet(self) -> object:
        """Ask the server what it is; raises if it is not there, or not one of these."""


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

    named = request.backend if request.backend not in (None, COMFYUI) else LOCAL_SERVER
    client = Client(address(named), folder / JOBS)
    return ComfyUI(client=client, beside=request.loaded.path.absolute().parent)
