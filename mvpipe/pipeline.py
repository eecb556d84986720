"""The film as tasks. Read this first.

::

    prep    song ──► vocals ──► hearing ──► plan                       a value, written to plan.json
    shoot   voice N ──► take N.k ──► look N.k ──► shot N ──► reel ──► film, phone

`prep` reads the song, separates the voice, listens, and cuts; it ends in a `Plan`. `shoot` is a graph built
from that value: every shot on its way from the slice of the voice to the mezzanine (`shoot.py`), then the
reel and the films. Both walk the same way (`build/run.py`): what the vault holds is not done again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from mvpipe import takes
from mvpipe.backends import Greets, find_backend, kind_of
from mvpipe.bank import pin
from mvpipe.build.graph import Graph, Node, Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.run import Outcome, Step, run
from mvpipe.build.vault import Entry
from mvpipe.cutting import cut_song, keep_plan
from mvpipe.errors import ProofFailed
from mvpipe.film import Reel, Shot
from mvpipe.foresee import Change, change
from mvpipe.prep import Chooser, prep_nodes
from mvpipe.production import Crew, Production
from mvpipe.project import Project, publish
from mvpipe.render.backend import Backend, Setup
from mvpipe.request import Request, given_vocals, note_request
from mvpipe.shoot import CLIP, MEZZANINE, ShotWork, take_place
from mvpipe.tools import process

REEL = "reel.mp4"
FILMS = {"film": ("film.mkv", ".mkv"), "phone": ("phone.mp4", ".mp4")}
CPU_LANE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Whoever looks on.

    Parameters
    ----------
    step : told of every step of a walk
    expect : told of every node to come and what it costs, in units of its stage
    say : told in words what the person should know
    """

    step: Callable[[Step], None] = lambda _: None
    expect: Callable[[str, int], None] = lambda _name, _weight: None
    say: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a shoot came to.

    Parameters
    ----------
    films : published files by kind: `film` and `phone`
    proofs : what was proved of each, as JSON values
    slugs : number of each shot without a take -> why
    """

    films: Mapping[str, Path]
    proofs: Mapping[str, Any]
    slugs: Mapping[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """All that a shoot needs.

    Parameters
    ----------
    production : the plan and what its shots share
    backend : makes the takes
    file_stem : name of the films, without ending
    workers : takes made at once
    """

    production: Production
    backend: Backend
    file_stem: str
    workers: int


def greet(project: Project, request: Request) -> None:
    """Ask the backend's server, where there is one, before any work is done for it.

    Raises
    ------
    BackendError : it does not answer, or is not one of these; says what to start
    """
    backend = find_backend(request, project.folder)
    if isinstance(backend, Greets):
        backend.greet()


def prepare(project: Project, request: Request, watcher: Watcher) -> Ready:
    """From the song to the plan; the plan is written to the project, with a picture of it.

    Raises
    ------
    MvpipeError : whatever is wrong with the song or the storyboard, before anything is rendered
    """
    from mvpipe.storyboard.check import check

    check(request.loaded)
    backend = find_backend(request, project.folder)
    bank, storyboard = pin(request.loaded), request.loaded.storyboard
    note_request(project.folder, request)
    for name in ("song", "vocals", "hearing"):
        watcher.expect(name, 1)
    chooser = None if given_vocals(request) else Chooser(project, request, watcher.say)
    made = _walk(project, prep_nodes(request, chooser), {"cpu": 1}, watcher)
    notice = [chooser.notice] if chooser and chooser.notice else []
    plan, cutting = cut_song(request, made.entries, notes=notice, predict=backend.predict_s)
    keep_plan(project, plan, cutting, made.entries["hearing"])
    production = Production(
        plan=plan,
        look=storyboard.look,
        cast=bank.cast,
        places=bank.places,
        size=(storyboard.picture.size.width, storyboard.picture.size.height),
        seed=storyboard.render.seed,
        takes=storyboard.render.takes,
        options=storyboard.render.options_for(kind_of(request)),
        vocals=made.entries["vocals"],
    )
    return Ready(
        production=production,
        backend=backend,
        file_stem=storyboard.file_stem,
        workers=request.workers or backend.slots,
    )


def setups(project: Project, ready: Ready, watcher: Watcher) -> list[Setup]:
    """All that the backend is given for each shot; only slices of the voice are made."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    return [ready.production.setup(shot, voice) for shot, voice in _voices(crew, watcher)]


def foresee(project: Project, ready: Ready, watcher: Watcher) -> list[Change]:
    """What a shoot would do to each shot; only slices of the voice are made."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    return [change(crew, shot, voice) for shot, voice in _voices(crew, watcher)]


def _voices(crew: Crew, watcher: Watcher) -> list[tuple[Shot, Entry]]:
    """Every shot with the slice of the voice that belongs to it."""
    shots = crew.production.plan.shots
    nodes = [ShotWork(crew, shot).voice_alone() for shot in shots]
    made = _walk(crew.project, nodes, {"cpu": CPU_LANE}, watcher)
    return [(shot, made.entries[node.name]) for shot, node in zip(shots, nodes, strict=True)]


def shoot(project: Project, ready: Ready, *, only: Collection[int] | None = None, watcher: Watcher) -> Made:
    """Make the takes, the reel and the films, and show them under their human names.

    Parameters
    ----------
    only : numbers of the shots that may be rendered; None for all

    Raises
    ------
    MvpipeError : the first failure that keeps the film from being made; whatever was finished is kept
    """
    production, backend = ready.production, ready.backend
    crew = Crew(
        production=production,
        project=project,
        backend=backend,
        only=only,
        expect=watcher.expect,
        say=watcher.say,
    )
    works = [ShotWork(crew, shot) for shot in production.plan.shots]
    nodes = [node for work in works for node in work.nodes()]
    nodes += [_reel(production), *(_film(production, kind) for kind in FILMS)]
    for name in ("reel", *FILMS):
        watcher.expect(name, 1)
    lanes = {"cpu": CPU_LANE, "render": ready.workers}
    made = _walk(project, nodes, lanes, watcher)
    _show_takes(project, works)
    films = {}
    for kind, (name, ending) in FILMS.items():
        films[kind] = project.film / f"{ready.file_stem}{ending}"
        publish(made.entries[kind].path(name), films[kind])
    return Made(
        films=films,
        proofs={kind: made.entries[kind].facts["proof"] for kind in FILMS},
        slugs={work.shot.number: work.slug for work in works if work.take is None},
    )


def _walk(project: Project, nodes: list[Node], lanes: Mapping[str, int], watcher: Watcher) -> Outcome:
    """Walk the graph; the first failure is raised, whatever else could be done has been done."""
    process.allow()
    outcome = run(
        Graph(nodes), project.vault, project.journal, lanes=lanes, watch=watcher.step, stop=process.stop_all
    )
    for error in outcome.failures.values():
        raise error
    return outcome


def _reel(production: Production) -> Node:
    shots = production.plan.shots
    names = [f"shot {shot.number}" for shot in shots]

    def bind(entries: Mapping[str, Entry]) -> Work:
        mezzanines = [
            (entries[name].path(MEZZANINE), len(shot.cut)) for name, shot in zip(names, shots, strict=True)
        ]

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel.assemble import assemble
            from mvpipe.reel.proof import picture_digest

            reel = assemble(mezzanines, production.plan.rate, folder / REEL)
            shown = {"frames": reel.frames, "rate": str(reel.rate), "size": list(reel.size)}
            return {**shown, "pictures": picture_digest(reel.path)}

        inputs = {f"{i:05}": entries[name].digest(MEZZANINE) for i, name in enumerate(names)}
        params = {"rate": str(production.plan.rate)}
        return Work(task=Task(name="reel", version=1, inputs=inputs, params=params), make=make)

    return Node(name="reel", needs=tuple(names), bind=bind)


def _film(production: Production, kind: str) -> Node:
    """The reel with the song under it, proved before it comes to exist."""
    name, _ = FILMS[kind]
    song, plan = production.plan.song, production.plan

    def bind(entries: Mapping[str, Entry]) -> Work:
        facts = entries["reel"].facts
        reel = Reel(
            path=entries["reel"].path(REEL),
            frames=facts["frames"],
            rate=Fraction(facts["rate"]),
            size=(facts["size"][0], facts["size"][1]),
        )

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel import mux, proof

            write = mux.lay if kind == "film" else mux.phone
            write(reel, song, folder / name, title=plan.title)
            proved = proof.prove(
                folder / name, song, frames=plan.frames, rate=plan.rate, pictures=facts["pictures"]
            )
            if not proved.ok:
                raise ProofFailed(
                    f"{kind}: {'; '.join(proved.problems)}",
                    hint="the takes are kept; please report this with the log in the project folder",
                )
            return {"proof": {**proved.as_json(), "song": song.path.name}}

        inputs = {"reel": entries["reel"].digest(REEL), "song": song.digest}
        return Work(task=Task(name=kind, version=1, inputs=inputs, params={"title": plan.title}), make=make)

    return Node(name=kind, needs=("reel",), bind=bind)


def _show_takes(project: Project, works: list[ShotWork]) -> None:
    """Show the takes under human names: `takes/shot-003/take-1.mp4`; `seen.mp4` is in the film."""
    shutil.rmtree(project.takes, ignore_errors=True)
    for work in works:
        for known in takes.known_takes(project.journal, work.shot.cut):
            if entry := project.vault.find(known.key):
                publish(entry.path(CLIP), take_place(project, work.shot, known.number))
        if work.take:
            publish(work.take.path(CLIP), take_place(project, work.shot, 0).with_name("seen.mp4"))
