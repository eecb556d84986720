"""A night at a server: a film of twelve small H3 shots, made in this process or in one that may be killed.

The song is heard and cut once; every night starts from a copy in which all but the takes is there already,
so that it costs what the takes cost. `python -m tests.whole.night FOLDER URL` is one that may be killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from mvpipe import pipeline, takes
from mvpipe.backends import JOBS
from mvpipe.build.key import file_digest
from mvpipe.errors import BackendError
from mvpipe.film import Slate
from mvpipe.pipeline import Ready, Watcher
from mvpipe.production import CLIP, Crew
from mvpipe.project import Project, open_project
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.jobs import job_id
from mvpipe.render.comfyui.ordering import key_of
from mvpipe.render.comfyui.patience import Patience
from mvpipe.shoot import ShotWork
from mvpipe.testing.standin import Standin, standin
from mvpipe.tools import sound
from tests.render.comfyui.rig import QUICK, misdeeds
from tests.whole.studio import Studio, build

SHOTS = 12
"""At least; how many there are is the planner's business."""

SECONDS = 70.0

ATTEMPTS = 3
"""Of each shot that are known from the calm night: the first, and those after failed takes. A retake comes
next in line, and may be what a second fault strikes."""

RUNS = 40
"""Ids of one key that are looked for in the server's ledger; no night comes near."""

STUBBORN = replace(QUICK, frees=9, deaths=9, losses=30)
"""For nights that strike at random, and may meet a job more than once."""

TRIES = 6
"""Of the same command, in a night that strikes at random."""

ROOT = Path(__file__).parents[2]
BETTER = ("not-comfyui", "view-gone", "input-gone", "stale-file", "stale-file-gone", "file-damaged")
"""Faults of which the catalogue promises no more than an end, and which mvpipe mends."""

LOOKS = ("/queue", "/history", "/jobs", "/prompt")
"""What a client that polls would ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One attempt at a shot: slate, key of its take, key of its job, digest of its file, what is decoded."""

    slate: Slate
    key: str
    job: str
    file: str
    digest: str

    @property
    def ids(self) -> set[str]:
        """The ids its job may run under."""
        return {job_id(self.job, attempt) for attempt in range(1, RUNS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """The night in which nothing goes wrong.

    Parameters
    ----------
    folder : song, voice, storyboard, and the project without takes
    shots : of each shot its attempts, in order
    seen : keys of the takes that are seen, shot by shot
    """

    folder: Path
    shots: tuple[tuple[Wanted, ...], ...]
    seen: tuple[str, ...]

    @property
    def all(self) -> list[Wanted]:
        """Every attempt that is known."""
        return [wanted for attempts in self.shots for wanted in attempts]

    @property
    def first(self) -> list[str]:
        """Keys of the takes that are seen where no take fails."""
        return [attempts[0].key for attempts in self.shots]

    @property
    def digests(self) -> dict[str, str]:
        """Key of a take -> what is decoded of it."""
        return {wanted.key: wanted.digest for wanted in self.all}

    @property
    def ids(self) -> set[str]:
        """Every id that is ours."""
        return set().union(*(wanted.ids for wanted in self.all))


def calm_night(folder: Path) -> Calm:
    """A film in which nothing goes wrong, and the other attempts at each of its shots."""
    studio = build(folder / "calm", seconds=SECONDS)
    studio.edit("192x128", "64x64")
    studio.edit("look:", "render: {backend: comfyui}\ngate: {sync: off}\nlook:")
    with standin(folder / "calm-server") as server, opened(studio, server.url) as (project, ready):
        pipeline.shoot(project, ready, watcher=Watcher())
        shots = tuple(
            tuple(_wanted(project, ready, slate, paths) for slate, paths in attempts)
            for attempts in _slates(project, ready)
        )
    keys = tuple(seen(studio))
    studio.forget_takes()
    return Calm(folder=studio.folder, shots=shots, seen=keys)


def _slates(project: Project, ready: Ready) -> Iterator[list[tuple[Slate, dict[str, Path]]]]:
    """Of every shot its attempts, each with the files that go with it."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    for shot in ready.production.plan.shots:
        voice = project.vault.find(ShotWork(crew, shot).voice_alone().bind({}).task.key)
        assert voice is not None
        assets = ready.backend.assets(ready.production.setup(shot, voice))
        paths = {role: asset.path for role, asset in assets.items()}
        yield [(slate, paths) for slate in islice(ShotWork(crew, shot).slates(voice), ATTEMPTS)]


def _wanted(project: Project, ready: Ready, slate: Slate, paths: dict[str, Path]) -> Wanted:
    key = takes.take_task(slate).key
    entry = project.vault.find(key)
    path = entry.path(CLIP) if entry else project.folder / "again.mp4"
    if not entry:
        ready.backend.render(slate, paths, path, lambda done, of: None)
    return Wanted(slate=slate, key=key, job=key_of(slate), file=file_digest(path), digest=decoded(path))


def copy_of(calm: Calm, folder: Path) -> Studio:
    """A project in which everything is there but the takes."""
    shutil.copytree(calm.folder, folder, copy_function=os.link)
    return Studio(folder)


@contextmanager
def opened(studio: Studio, url: str, patience: Patience = QUICK) -> Iterator[tuple[Project, Ready]]:
    """The project, ready to shoot at a server, with a client in a hurry."""
    with open_project(studio.project) as project:
        ready = pipeline.prepare(project, studio.request(url), Watcher())
        client = Client(address(url), project.folder / JOBS, patience)
        try:
            yield project, replace(ready, backend=ComfyUI(client=client, beside=studio.folder))
        finally:
            client.close()


def shoot(studio: Studio, url: str, patience: Patience = QUICK) -> None:
    """Make the film, as `mvpipe render` does.

    Raises
    ------
    MvpipeError : what `mvpipe render` would end with
    """
    with opened(studio, url, patience) as (project, ready):
        assert isinstance(ready.backend, ComfyUI)
        ready.backend.greet()
        made = pipeline.shoot(project, ready, watcher=Watcher())
    assert not made.slugs, made.slugs
    assert {proof["result"] for proof in made.proofs.values()} == {"pass"}


def finish(studio: Studio, url: str) -> None:
    """Make the film, with the same command again where the server is away just as it is asked."""
    for left in reversed(range(TRIES)):
        try:
            return shoot(studio, url, STUBBORN)
        except BackendError:
            if not left:
                raise
            time.sleep(1.0)


@contextmanager
def shooting(studio: Studio, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """The same in a process of its own, which is killed at the end if it still runs."""
    argv = [sys.executable, "-m", "tests.whole.night", str(studio.folder), url]
    child = subprocess.Popen(argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def seen(studio: Studio) -> list[str]:
    """Keys of the takes that are seen, shot by shot; empty for a slug."""
    from mvpipe.plan import load_plan

    with open_project(studio.project) as project:
        used = [takes.last_used(project.journal, shot.number) for shot in load_plan(project.plan).shots]
    return [str(one["key"]) if one else "" for one in used]


def other_bytes(studio: Studio, calm: Calm) -> list[str]:
    """Keys of takes in the vault of which something else is decoded than in the calm night."""
    same = {(wanted.key, wanted.file) for wanted in calm.all}
    odd = [one for one in studio.entries("take").values() if (one.key, one.digest(CLIP)) not in same]
    return [one.key for one in odd if calm.digests.get(one.key) != decoded(one.path(CLIP))]


def decoded(path: Path) -> str:
    """Digest of all that is decoded of a take, pictures and sound, whatever stands in its metadata."""
    from mvpipe.reel.proof import picture_digest

    facts = sound.probe(path)
    heard = hashlib.sha256()
    for block in sound.decode(path, facts.sample_format):
        heard.update(block)
    return f"{picture_digest(path)} {heard.hexdigest()}"


def sampled(server: Standin) -> Counter[str]:
    """Look of everything that was sampled to its end -> how often, by the server's own ledger."""
    return Counter(str(one["look"]) for run in server.runs() for one in run["sampled"])


def twice(server: Standin) -> int:
    """How often something was sampled that had been sampled before."""
    return sum(many - 1 for many in sampled(server).values())


def charges(server: Standin, calm: Calm) -> list[str]:
    """What the server's log holds against its client: others' work touched, its own left behind."""
    state, ours = server.state(), calm.ids
    found = misdeeds(server)
    found += [f"left behind: {one}" for one in (*state["running"], *state["waiting"]) if one in ours]
    posted = {line["prompt_id"] for line in server.requests("/prompt", "POST")}
    found += [f"posted, and not the film's: {one}" for one in posted - ours]
    found += [f"stopped, and not ours: {one}" for one in _stopped(server) if one not in ours]
    return found


def _stopped(server: Standin) -> Iterator[str]:
    """Ids that were asked to be stopped or taken off the queue."""
    for line in server.requests("", "POST"):
        path = line["path"].removeprefix("/api")
        if path.startswith("/jobs/") and path.endswith("/cancel"):
            yield path.split("/")[2]
        elif path in ("/queue", "/interrupt") and line["body"].startswith("{"):
            wish = json.loads(line["body"])
            yield from wish.get("delete", ())
            yield from filter(None, [wish.get("prompt_id")])


def looks_while_sampling(server: Standin) -> Counter[str]:
    """Path -> how often a job was asked after while the server sampled."""
    asked = [line for line in server.requests("", "GET") if line["sampling"]]
    paths = [line["path"].removeprefix("/api") for line in asked]
    return Counter(path for path in paths if path.startswith(LOOKS))


def main() -> None:
    """Shoot, until killed."""
    folder, url = sys.argv[1:]
    shoot(Studio(Path(folder)), url, STUBBORN)


if __name__ == "__main__":
    main()
