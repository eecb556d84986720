"""Ten thousand shots through the wired path: foreseen, rolled and queued at four servers that are nowhere.

What is measured is all that a shoot does before its first take: the forecast as `plan` prints it; then the
walk with every shot's voice, slates, asks and place in the line, until a server has its first take. Then
every shot is finished, by entries that are made up, and the same command resumes: up to where the reel would
be assembled, first without a journal, then with all that it knows. CPU seconds of this process, and how much
its memory has grown at the peak.

`python -m tests.benchmarks many [SHOTS]`
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mvpipe import pipeline
from mvpipe.backends import JOBS
from mvpipe.build.key import Task
from mvpipe.build.run import Step
from mvpipe.build.vault import Entry
from mvpipe.clock import Span
from mvpipe.errors import Cancelled
from mvpipe.film import Finding, Outcome, Shot
from mvpipe.gate.look import ARRAYS
from mvpipe.mezzanine import MEZZANINE, conformed
from mvpipe.pipeline import Ready, Watcher
from mvpipe.plan import Plan
from mvpipe.production import CLIP, Crew
from mvpipe.project import Project, open_project
from mvpipe.render.backend import Host, Progress, Ran
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI
from mvpipe.render.comfyui.client import Client
from mvpipe.shoot import works
from mvpipe.takes import take_task
from mvpipe.tools import process
from tests.gate import takes
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
        _tell("foreseen", lambda: _foresee(project, ready), shots)
        _tell("queued", lambda: _shoot(project, ready), shots)
        assert any(server.asked_at for server in idle), "nobody was asked for a take"
        _finish(project, ready)
        asked = [len(server.asked_at) for server in idle]
        _tell("resumed, no journal", lambda: _shoot(project, ready), shots)
        _tell("resumed", lambda: _shoot(project, ready), shots)
        assert asked == [len(server.asked_at) for server in idle], "something was rendered again"


def _foresee(project: Project, ready: Ready) -> None:
    wanted = pipeline.to_render(project, ready, Watcher())
    pipeline.foretell(project, ready, only=wanted)


def _shoot(project: Project, ready: Ready) -> None:
    """Until a server has its first take, or all shots are there."""

    def step(one: Step) -> None:
        if one.name == "reel":
            raise Cancelled

    with suppress(Cancelled):
        pipeline.shoot(project, ready, watcher=Watcher(step=step))
        raise AssertionError("the reel was assembled")


def _finish(project: Project, ready: Ready) -> None:
    """Have in the vault all that a night would have made, as far as a resume asks for it."""
    process.allow()  # the run before was stopped
    sight = takes.sight(takes.write(project.folder / "clip.mp4", takes.moving()))
    sight = replace(sight, size=ready.production.size)
    good = Finding(check="made up", outcome=Outcome.PASS, value=0, limit=0, reason="nobody looked")
    for work in works(Crew(production=ready.production, project=project, backend=ready.backend)):
        voice = project.vault.find(work.voice_alone().bind({}).task.key)
        assert voice
        slate = next(work.slates(voice))
        take = _put(project, take_task(slate), {"slate": asdict(slate)}, CLIP, str(work.shot.number))
        seen = replace(sight, digest=take.digest(CLIP)).as_json()
        look = _put(project, work.looking(take).task, {"sight": seen}, ARRAYS)
        promise = work.lips.casting.promise(work.shot, take, slate, look, {})
        _put(project, promise.task, {"findings": [asdict(good)]})
        shot = conformed(work.shot, take, size=ready.production.size)
        _put(project, shot.task, {}, MEZZANINE, str(work.shot.number))


def _put(project: Project, task: Task, facts: Mapping[str, Any], file: str = "", text: str = "") -> Entry:
    def make(folder: Path) -> Mapping[str, Any]:
        if file:
            (folder / file).write_text(text)
        return facts

    return project.vault.make(task, make)


def _tell(what: str, do: Callable[[], object], shots: int) -> None:
    began, peak = time.process_time(), _peak_mb()
    do()
    spent = time.process_time() - began
    print(
        f"{shots} shots {what:<19} {spent:7.2f} CPU s, {1000 * spent / shots:6.2f} ms each, "
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
