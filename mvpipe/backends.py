"""Which backend makes the takes."""

from __future__ import annotations

from mvpipe.errors import SettingsError
from mvpipe.render.backend import Backend
from mvpipe.request import Request


def find_backend(request: Request) -> Backend:
    """The backend the request names, else the storyboard's.

    Raises
    ------
    SettingsError : there is none of that name
    """
    name = request.backend or request.loaded.storyboard.render.backend
    if name != "animatic":
        raise SettingsError(
            f"backend: {name}: not in this version of mvpipe", hint="use animatic: --backend animatic"
        )
    from mvpipe.render.animatic.backend import Animatic

    return Animatic()
