"""ComfyUI as it is seen by whoever has the workers of a cluster talk to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mvpipe.build.places import Workforce
from mvpipe.crowd import rendering
from mvpipe.film import Slate
from mvpipe.render.backend import Backend, Host, Limits, Progress, Ran
from mvpipe.render.comfyui.backend import ComfyUI


def distant(backend: Backend, force: Workforce) -> Backend:
    """The backend as it is seen from here, where its servers are the workers' own."""
    if not isinstance(backend, ComfyUI):
        return backend
    own = {one.name: getattr(backend, one.name) for one in fields(backend) if one.init}
    return Distant(**{**own, "others": ()}, force=force)


@dataclass(kw_only=True)
class Distant(ComfyUI):
    """ComfyUI beside the workers of a cluster. What is sent to a worker is ComfyUI at that worker's server.

    Parameters
    ----------
    force : the cluster
    """

    force: Workforce
    known: Sequence[str] = ()

    def greet(self) -> tuple[str, ...]:
        """Nothing: the workers were asked when they were mustered."""
        return ()

    def hosts(self) -> Sequence[tuple[Host, float]]:
        """The workers that render, or that did when some were there, by name; takes tell how fast."""
        self.known = rendering(self.force) or self.known
        return [(Far(name=name), 1.0) for name in self.known]

    def home(self, slate: Slate) -> str:
        """Empty: what a worker has begun, the cluster knows."""
        return ""

    def __reduce__(self) -> tuple[Callable[..., ComfyUI], tuple[dict[str, Any]]]:
        state = {name: value for name, value in vars(self).items() if name not in ("force", "known")}
        return _near, (state,)


def _near(state: dict[str, Any]) -> ComfyUI:
    made = ComfyUI.__new__(ComfyUI)
    vars(made).update(state)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """A server (`render.backend.Host`) that only its worker talks to."""

    name: str
    limits: Limits = field(default_factory=Limits)

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> Ran:
        """Never called: takes go to the worker."""
        raise NotImplementedError("takes are made by the worker")

    def free(self) -> bool:
        """The worker does."""
        return False

    def alive(self) -> bool:
        """As far as it is here."""
        return True

    def tidy(self) -> None:
        """The worker does."""
