"""Nights of a fleet with shots of less than a second: sixty of them, so that many nights are affordable.

All that is real is real: the storyboard, the pipeline, HTTP and WebSockets to stand-ins in processes of their
own, the journal, the vault, the film and its proof. Only the windows are shorter than H3's, and whoever waits
is in a hurry. `python -m tests.whole.short_nights FOLDER FULL_AFTER URL...` is a run that may be killed.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from mvpipe import film, fleet, pipeline, takes
from mvpipe.account import Account, account
from mvpipe.backends import JOBS
from mvpipe.build import run
from mvpipe.clock import Span
from mvpipe.errors import BackendError, VaultError
from mvpipe.film import Shot
from mvpipe.pipeline import Ready, Watcher
from mvpipe.plan import Plan
from mvpipe.production import CLIP, Crew
from mvpipe.project import Project, open_project
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.jobs import job_id
from mvpipe.render.comfyui.ordering import key_of
from mvpipe.shoot import ShotWork
from mvpipe.testing.standin import standin
from tests.render.comfyui.rig import QUICK
from tests.whole.night import ROOT, RUNS, TRIES, decoded
from tests.whole.studio import Studio, build

SECONDS, FRAMES = 60.0, 39
"""Of the song: a shot a second; and of a window."""

STUBBORN = replace(QUICK, away_s=4.0, frees=9, deaths=9, losses=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """The night in which nothing goes wrong.

    Parameters
    ----------
    folder : song, voice, storyboard, and the project without takes
    keys : of the takes that are seen, shot by shot
    files : key of a take -> sha256 of its file, digest of what is decoded of it
    ids : every id that a job of ours may run under
    """

    folder: Path
    keys: tuple[str, ...]
    files: dict[str, tuple[str, str]]
    ids: frozenset[str]


HASTE: tuple[tuple[ModuleType, str, float], ...] = (
    (film, "SHORTEST_WINDOW", FRAMES),
    (fleet, "PROBE_S", 0.2),
    (fleet, "HOLD_S", 3.0),
    (fleet, "FORSAKEN_S", 60.0),
    (run, "PAUSE_S", 0.1),
    (run, "GLANCE_S", 0.1),
)


def hurry() -> None:
    """Windows as short as the shots are, and nobody waits for long; for the rest of this process."""
    for module, name, value in HASTE:
        setattr(module, name, value)


def short(plan: Plan) -> Plan:
    """The plan with many short shots in the place of the film's own."""
    whole = plan.frames
    many = round(whole / 24)
    ends = [round(k * whole / many) for k in range(many + 1)]
    cards = [planned.shot.card for planned in plan.planned]
    made = []
    for k, (start, stop) in enumerate(pairwise(ends)):
        first = min(max(0, start - (FRAMES - (stop - start)) // 2), whole - FRAMES)
        shot = Shot(
            number=k + 1,
            cut=Span(start, stop, plan.rate),
            window=Span(first, first + FRAMES, plan.rate),
            card=cards[k % len(cards)],
            voice=0.5,
        )
        made.append(replace(plan.planned[0], shot=shot, why="short"))
    return replace(plan, planned=tuple(made))


@contextmanager
def opened(studio: Studio, urls: Sequence[str]) -> Iterator[tuple[Project, Ready]]:
    """The project, ready to shoot at servers, with clients in a hurry."""
    with open_project(studio.project) as project:
        ready = pipeline.prepare(project, studio.request(urls[0]), Watcher(), keep=False)
        clients = [Client(address(url), project.folder / JOBS, STUBBORN) for url in urls]
        backend = ComfyUI(
            client=clients[0], others=tuple((one, 1.0) for one in clients[1:]), beside=studio.folder
        )
        production = replace(ready.production, plan=short(ready.production.plan))
        try:
            yield project, replace(ready, backend=backend, production=production)
        finally:
            for client in clients:
                client.close()


def shoot(studio: Studio, urls: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
    """Make the film, as `mvpipe render` does.

    Parameters
    ----------
    say : told what the person would be told

    Raises
    ------
    MvpipeError : what `mvpipe render` would end with
    """
    with opened(studio, urls) as (project, ready):
        assert isinstance(ready.backend, ComfyUI)
        ready.backend.greet()
        made = pipeline.shoot(project, ready, watcher=Watcher(say=say))
    assert not made.slugs, made.slugs
    assert {proof["result"] for proof in made.proofs.values()} == {"pass"}


def finish(studio: Studio, urls: Sequence[str]) -> int:
    """Make the film, with the same command again where a person had to do something first; how often it was.

    Raises
    ------
    MvpipeError : of the last try
    """
    for again in range(TRIES):
        try:
            shoot(studio, urls)
        except (BackendError, VaultError):
            if again == TRIES - 1:
                raise
            time.sleep(2.0)
        else:
            return again + 1
    raise AssertionError


def calm_night(folder: Path, seconds: float = SECONDS) -> Calm:
    """A film of short shots in which nothing goes wrong; whoever asks is in a hurry."""
    studio = build(folder / "calm", seconds=seconds)
    studio.edit("192x128", "64x64")
    studio.edit("look:", "render: {backend: comfyui}\ngate: {sync: off}\nlook:")
    with standin(folder / "calm-server", flags=("--no-previews",)) as server:
        shoot(studio, [server.url])
        with opened(studio, [server.url]) as (project, ready):
            keys, jobs = zip(*_first_attempts(project, ready), strict=True)
        made = {
            key: (entry.digest(CLIP), decoded(entry.path(CLIP)))
            for key, entry in studio.entries("take").items()
        }
    ids = {job_id(job, attempt) for job in jobs for attempt in range(1, RUNS)}
    studio.forget_takes()
    return Calm(folder=studio.folder, keys=keys, files=made, ids=frozenset(ids))


def _first_attempts(project: Project, ready: Ready) -> Iterator[tuple[str, str]]:
    """Key of the take and of the job, of each shot's first attempt."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    for shot in ready.production.plan.shots:
        work = ShotWork(crew, shot)
        voice = project.vault.find(work.voice_alone().bind({}).task.key)
        assert voice is not None
        slate = next(work.slates(voice))
        yield takes.take_task(slate).key, key_of(slate)


def copy_of(calm: Calm, folder: Path) -> Studio:
    """A project in which everything is there but the takes."""
    shutil.copytree(calm.folder, folder, copy_function=os.link)
    return Studio(folder)


def seen(studio: Studio, shots: int) -> list[str]:
    """Keys of the takes that are seen, shot by shot; empty for a slug."""
    with open_project(studio.project) as project:
        used = [takes.last_used(project.journal, number) for number in range(1, shots + 1)]
    return [str(one["key"]) if one else "" for one in used]


def accounted(studio: Studio) -> Account:
    """Where the time of its servers went."""
    with open_project(studio.project) as project:
        return account(project.journal)


@contextmanager
def shooting(
    studio: Studio, urls: Sequence[str], full_after: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A run in a process of its own, which is killed at the end if it still runs.

    Parameters
    ----------
    full_after : entries of the vault after which its disk is full for one; None for never
    """
    argv = [sys.executable, "-m", "tests.whole.short_nights", str(studio.folder), str(full_after or 0), *urls]
    child = subprocess.Popen(
        argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def _fill_disk(after: int) -> None:
    """Have the disk full when so many entries are sealed; a person makes room at once."""
    from mvpipe.build import seal as sealing
    from mvpipe.build import vault

    real, left = sealing.seal, [after]

    def seal(*args: Any, **more: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "vault")
        return real(*args, **more)

    setattr(vault, "seal", seal)  # noqa: B010


def main() -> None:
    """Shoot, until killed."""
    folder, full_after, *urls = sys.argv[1:]
    hurry()
    if int(full_after):
        _fill_disk(int(full_after))
    shoot(Studio(Path(folder)), urls)


if __name__ == "__main__":
    main()
