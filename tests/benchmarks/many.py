"""Ten thousand shots through the wired path: foreseen, rolled and queued at four servers that are nowhere.

What is measured is all that a shoot does before its first take: the forecast as `plan` prints it; then the
walk with every shot's voice, slates, asks and place in the line, until a server has its first take. CPU
seconds of this process, and how much its memory has grown at the peak.

`python -m tests.benchmarks many [SHOTS]`
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from mvpipe import pipeline
from mvpipe.backends import JOBS
from mvpipe.clock import Span
from mvpipe.errors import Cancelled
from mvpipe.film import Shot
from mvpipe.pipeline import Ready, Watcher
from mvpipe.plan import Plan
from mvpipe.project import Project, open_project
from mvpipe.render.backend import Host, Progress, Ran
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI
from mvpipe.render.comfyui.client import Client
from tests.night import Server
from tests.whole.studio import build

SHOTS, FRAMES = 10_000, 124
SPEEDS = (1.0, 0.7, 0.5, 0.3)


@dataclass
class Idle(Server):
    """A server that is asked for one take, and ends the run."""

    asked_at: list[float] = field(default_factory=list)

    def render(self, slate: object, assets: object, into: Path, progress: Progress) -> Ran:
        self.asked_at.append(time.process_time())
        raise Cancelled


@dataclass
class Nowhere(ComfyUI):
    """The backend, with servers that are nowhere."""

    idle: tuple[Idle, ...] = ()

    def hosts(self) -> Sequence[tuple[Host, float]]:
        return list(zip(self.idle, SPEEDS, strict=True))


def many(plan: Plan, shots: int) -> Plan:
    """The plan with so many shots, all different; they overlap, and are never laid into a film."""
    cards, room = [planned.shot.card for planned in plan.planned], plan.frames - FRAMES
    made = []
    for k in range(shots):
        start, length = k % room, 1 + k // room
        cut, window = Span(start, start + length, plan.rate), Span(start, start + FRAMES, plan.rate)
        card = replace(cards[k % len(cards)], prompt=f"{cards[k % len(cards)].prompt}, {k % 300}")
        made.append(replace(plan.planned[0], shot=Shot(number=k + 1, cut=cut, window=window, card=card)))
    return replace(plan, planned=tuple(made))


def measure(folder: Path, shots: int) -> None:
    """Print the table."""
    studio = build(folder, seconds=60.0)
    studio.edit("look:", "render: {backend: comfyui}\ngate: {sync: off}\nlook:")
    url = "http://127.0.0.1:9"
    with open_project(studio.project) as project:
        ready = pipeline.prepare(project, studio.request(url), Watcher(), keep=False)
        idle = tuple(Idle(name=f"server {k}") for k in range(len(SPEEDS)))
        backend = Nowhere(client=Client(address(url), project.folder / JOBS), beside=studio.folder, idle=idle)
        plan = many(ready.production.plan, shots)
        ready = replace(ready, backend=backend, production=replace(ready.production, plan=plan))
        _tell("voices, once", lambda: pipeline.setups(project, ready, Watcher()), shots)
        _tell("foreseen", lambda: pipeline.foretell(project, ready), shots)
        _tell("queued", lambda: _queue(project, ready), shots)
        assert any(server.asked_at for server in idle), "nobody was asked for a take"


def _queue(project: Project, ready: Ready) -> None:
    with suppress(Cancelled):
        pipeline.shoot(project, ready, watcher=Watcher())


def _tell(what: str, do: Callable[[], object], shots: int) -> None:
    began, peak = time.process_time(), _peak_mb()
    do()
    spent = time.process_time() - began
    print(
        f"{shots} shots {what:<14} {spent:7.2f} CPU s, {1000 * spent / shots:6.2f} ms each, "
        f"{_peak_mb() - peak:5.0f} MB more at the peak",
        flush=True,
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else SHOTS)


if __name__ == "__main__":
    main()
