"""The film as tasks. Read this first.

::

    prep    song ──► vocals ──► hearing ──► plan                       a value, written to plan.json
    shoot   voice N ──► take N.k ──► look N.k ──► promise N.k ──► lips N.k ──► shot N ──► reel ──► film, phone
                                                                     └──► control, screening ──► another take

`prep` reads the song, separates the voice, listens, and cuts; it ends in a `Plan`. `shoot` is a graph built
from that value: every shot on its way from the slice of the voice to the mezzanine (`shoot.py`), the lips of
all shots weighed together (`screening.py`), then the reel and the films (`finish.py`). Both walk the same way
(`build/run.py`): what the vault holds is not done again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mvpipe import takes
from mvpipe.account import Account, account
from mvpipe.backends import ANIMATIC, Greets, find_backend, kind_of
from mvpipe.bank import listed, pin
from mvpipe.budget import Budget
from mvpipe.build.graph import Graph, Node
from mvpipe.build.lane import Lane
from mvpipe.build.places import Places
from mvpipe.build.run import Outcome, Step, run
from mvpipe.build.vault import Entry
from mvpipe.chain import with_followers
from mvpipe.cutting import Heard, cut_song, cutting_room, keep_plan
from mvpipe.film import Shot
from mvpipe.finish import FILMS, film_nodes
from mvpipe.floor import Floor, cluster_floor, open_floor, whole_s
from mvpipe.forecast import PREVIEW, Forecast, forecast, refuse_barred
from mvpipe.foresee import Change, change
from mvpipe.frontier import Choice, frontier
from mvpipe.gate import weights
from mvpipe.gate.decide import Common
from mvpipe.gate.rules import figures
from mvpipe.lips import Lips
from mvpipe.plan import Plan
from mvpipe.prep import Chooser, accompaniment_node, minus_note, prep_nodes
from mvpipe.production import CLIP, Crew, GateSettings, Production, Smaller
from mvpipe.project import Project, publish
from mvpipe.pulse import Pulse, feel
from mvpipe.render.backend import Backend, Chains, Hosted, NotesPlan, Pins, Setup, WantsAccompaniment
from mvpipe.request import Request, given_vocals, note_request
from mvpipe.room import check_room, needed
from mvpipe.screening import Screen
from mvpipe.shoot import ShotWork, take_place, works
from mvpipe.stopwatch import Stopwatch
from mvpipe.timing import Foresight, Times, foresight
from mvpipe.tools import process
from mvpipe.verdict_pages import Pager, Pages

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
    smaller : number of each shot whose take is smaller than the film -> how
    marked : number of each shot in which the best of failed takes is seen -> what is wrong with its lips
    unjudged : number of each shot whose lips nobody judged -> why
    common : offsets that many shots share: faults of the pipeline, or of the gate
    control : what the physical control came to, as JSON values; empty where no lips were judged
    pages : (shot, take) -> its verdict as a picture, of takes that do not pass and of those asked for
    foresight : how well the times of takes were foreseen; None where none was made by a server
    account : where the time of the servers went
    """

    films: Mapping[str, Path]
    proofs: Mapping[str, Any]
    slugs: Mapping[int, str] = field(default_factory=dict[int, str])
    smaller: Mapping[int, str] = field(default_factory=dict[int, str])
    marked: Mapping[int, str] = field(default_factory=dict[int, str])
    unjudged: Mapping[int, str] = field(default_factory=dict[int, str])
    common: tuple[Common, ...] = ()
    control: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pages: Mapping[tuple[int, int], Path] = field(default_factory=dict[tuple[int, int], Path])
    foresight: Foresight | None = None
    account: Account | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """All that a shoot needs.

    Parameters
    ----------
    production : the plan and what its shots share
    backend : makes the takes
    file_stem : name of the films, without ending
    workers : takes made at once
    heard : what the plan was made from
    kept : the user's folder for what all projects learn; None for none
    """

    production: Production
    backend: Backend
    file_stem: str
    workers: int
    heard: Heard
    kept: Path | None = None


def greet(project: Project, request: Request) -> tuple[str, ...]:
    """Ask the backend's servers, where there are any, before work is done for them; what those say that lack.

    Raises
    ------
    BackendError : none answers, or none is one of these; says what to start
    """
    if project.force:
        return ()  # its workers' servers were asked when they were mustered
    backend = find_backend(request, project.folder)
    return backend.greet() if isinstance(backend, Greets) else ()


def hear(project: Project, request: Request, watcher: Watcher) -> Heard:
    """From the song to its cuts; outside the vault nothing is written.

    Raises
    ------
    MvpipeError : whatever is wrong with the song, or with the storyboard's pins
    """
    for name in ("song", "vocals", "hearing"):
        watcher.expect(name, 1)
    chooser = None if given_vocals(request) else Chooser(project, request, watcher.say)
    made = _walk(project, prep_nodes(request, chooser), {"cpu": 1}, watcher)
    notice = [chooser.notice] if chooser and chooser.notice else []
    backend = find_backend(request, project.folder)
    return cut_song(request, made.entries, notes=notice, predict=backend.predict_s)


def prepare(project: Project, request: Request, watcher: Watcher, *, keep: bool = True) -> Ready:
    """From the song to all that a shoot needs; the plan is written to the project, with a picture of it.

    Parameters
    ----------
    keep : false where this only looks at what would be, and the project's plan stays as it is

    Raises
    ------
    MvpipeError : whatever is wrong with the song or the storyboard, before anything is rendered
    """
    from mvpipe.storyboard.check import check

    check(request.loaded)
    figures(request.loaded.storyboard.gate.changed)
    backend = _backend(project, request)
    bank, storyboard = pin(request.loaded), request.loaded.storyboard
    if keep:
        note_request(project.folder, request)
    heard = hear(project, request, watcher)
    options = storyboard.render.options_for(kind_of(request))
    band = _accompaniment(project, heard.plan, backend, options, heard.entries["vocals"], watcher)
    size = (storyboard.picture.size.width, storyboard.picture.size.height)
    notes: tuple[str, ...] = (minus_note(heard.plan.separator),) if band else ()
    if isinstance(backend, NotesPlan):
        notes += backend.plan_notes(options, size)
    heard = replace(heard, plan=replace(heard.plan, notes=(*heard.plan.notes, *notes)))
    production = Production(
        plan=heard.plan,
        look=storyboard.look,
        cast=bank.cast,
        places=bank.places,
        size=size,
        seed=storyboard.render.seed,
        takes=storyboard.render.takes,
        options=options,
        embed=request.embed or storyboard.render.embed,
        vocals=heard.entries["vocals"],
        accompaniment=band,
        gate=_gate(request),
        smaller=_smaller(request),
    )
    shown = [production.silent(shot) for shot in heard.plan.shots]
    planned = tuple(
        replace(one, seconds=whole_s(backend, Times(), setup))
        for one, setup in zip(heard.plan.planned, shown, strict=True)
    )
    heard = replace(heard, plan=replace(heard.plan, planned=planned, bank=listed(bank, shown, backend)))
    if keep:
        keep_plan(project, heard)
    return Ready(
        production=replace(production, plan=heard.plan),
        backend=backend,
        file_stem=storyboard.file_stem,
        workers=request.workers or backend.slots,
        heard=heard,
        kept=request.kept,
    )


def _backend(project: Project, request: Request) -> Backend:
    """The backend; at the servers of a cluster's workers, where there is one."""
    backend = find_backend(request, project.folder)
    if project.force is None:
        return backend
    from mvpipe.distant import distant

    return distant(backend, project.force)


def _accompaniment(
    project: Project,
    plan: Plan,
    backend: Backend,
    options: Mapping[str, Any],
    vocals: Entry,
    watcher: Watcher,
) -> Entry | None:
    """The song without its voice, if any shot is rendered to it."""
    if not isinstance(backend, WantsAccompaniment):
        return None
    if not any(backend.accompanies(shot, options) for shot in plan.shots):
        return None
    watcher.expect("accompaniment", 1)
    node = accompaniment_node(plan.song, vocals)
    return _walk(project, [node], {"cpu": 1}, watcher).entries[node.name]


def choices(ready: Ready, request: Request) -> tuple[Choice, ...]:
    """The plans to choose from, by how good the cuts are and how long they take to render."""
    room = cutting_room(request, ready.heard.entries, predict=ready.backend.predict_s)
    cuts = request.loaded.storyboard.cuts
    return frontier(room, longest=cuts.longest, thrift=cuts.thrift)


def _smaller(request: Request) -> Smaller | None:
    asked = request.loaded.storyboard.render.smaller
    if asked is None or kind_of(request) == ANIMATIC:
        return None
    return Smaller(size=(asked.size.width, asked.size.height), profile=asked.profile or "")


def _gate(request: Request) -> GateSettings:
    asked = request.loaded.storyboard.gate
    return GateSettings(
        sync=asked.sync,
        rules=asked.changed,
        on_fail=asked.on_fail,
        mend_common=asked.common_offset == "mend",
        weights=weights.find(request.cache) if asked.sync != "off" else None,
    )


def setups(project: Project, ready: Ready, watcher: Watcher) -> list[Setup]:
    """All that the backend is given for each shot; only slices of the voice are made."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    return [ready.production.setup(shot, voice) for shot, voice in _voices(crew, watcher)]


def foresee(project: Project, ready: Ready, watcher: Watcher) -> list[Change]:
    """What a shoot would do to each shot; only slices of the voice are made."""
    crew = Crew(production=ready.production, project=project, backend=ready.backend)
    times = Stopwatch(journal=project.journal, folder=ready.kept).learnt()
    found: list[Change] = []
    for work, (_, voice) in zip(works(crew), _voices(crew, watcher), strict=True):
        found.append(change(work, voice, found[-1] if found else None, times))
    return found


def _voices(crew: Crew, watcher: Watcher) -> list[tuple[Shot, Entry]]:
    """Every shot with the slice of the voice that belongs to it."""
    shots = crew.production.plan.shots
    nodes = [ShotWork(crew, shot).voice_alone() for shot in shots]
    made = _walk(crew.project, nodes, {"cpu": CPU_LANE}, watcher)
    return [(shot, made.entries[node.name]) for shot, node in zip(shots, nodes, strict=True)]


def to_render(
    project: Project, ready: Ready, watcher: Watcher, *, only: Collection[int] | None = None
) -> set[int] | None:
    """Numbers of the shots that a shoot would make takes of; None where no servers make them."""
    if not isinstance(ready.backend, Hosted):
        return None
    found = {one.shot.number for one in foresee(project, ready, watcher) if one.render}
    return found if only is None else found.intersection(only)


def foretell(
    project: Project, ready: Ready, *, preview: int = PREVIEW, only: Collection[int] | None = None
) -> Forecast | None:
    """How the night would go; None where no servers make the takes.

    Parameters
    ----------
    only : numbers of the shots that are rendered, as `to_render` finds them; None for all
    """
    times = Stopwatch(journal=project.journal, folder=ready.kept).learnt()
    return forecast(ready.production, ready.backend, times, preview=preview, only=only)


def shoot(
    project: Project,
    ready: Ready,
    *,
    only: Collection[int] | None = None,
    budget: Budget | None = None,
    preview: int = PREVIEW,
    watcher: Watcher,
) -> Made:
    """Make the takes, the reel and the films, and show them under their human names.

    Parameters
    ----------
    only : numbers of the shots that may be rendered; None for all
    budget : what may be used; None for all it needs
    preview : shots that are rendered before others, so that something is seen early

    Raises
    ------
    MvpipeError : the first failure that keeps the film from being made; whatever was finished is kept
    """
    begun = time.time()
    _make_ready(project, ready, only)
    last = feel(project.folder)
    pulse = Pulse(folder=project.folder, shots=len(ready.production.plan.shots), room=_room)
    allowed = replace(budget or Budget(), stop=pulse.beat)
    watcher = replace(watcher, step=_both(watcher.step, pulse.step))
    pulse.floor = floor = _floor(
        project, ready, only, allowed, preview, watcher, last_sign=last["at"] if last else 0.0
    )
    shots, screen, nodes = _stage(project, ready, only, watcher, floor)
    nodes += film_nodes(ready.production, shots)
    for name in ("reel", *FILMS):
        watcher.expect(name, 1)
    try:
        made = _walk(project, nodes, {"cpu": CPU_LANE, "render": floor.lane}, watcher)
    finally:
        floor.close()
        pulse.close()
    _show_takes(project, shots)
    films = {}
    for kind, (name, ending) in FILMS.items():
        films[kind] = project.film / f"{ready.file_stem}{ending}"
        publish(made.entries[kind].path(name), films[kind])
    takes.record_shown(project.journal)
    proofs = {kind: made.entries[kind].facts["proof"] for kind in FILMS}
    came = _came_to(shots, screen, films, proofs)
    took = floor.watch.since(begun)
    pages = _draw_verdicts(project, ready, shots, (), watcher)
    return replace(
        came,
        pages=pages,
        foresight=foresight(took),
        account=account(project.journal).since(begun),
    )


def _both(one: Callable[[Step], None], other: Callable[[Step], None]) -> Callable[[Step], None]:
    def both(step: Step) -> None:
        one(step)
        other(step)

    return both


def _make_ready(project: Project, ready: Ready, only: Collection[int] | None) -> None:
    """See before anything is rendered that servers may make it, the disk holds it, its references are whole.

    Raises
    ------
    StoryboardError : a reference that cannot be used
    SettingsError : a shot that no server may be given
    """
    production, journal, backend = ready.production, project.journal, ready.backend
    used = {shot.number: takes.last_used(journal, shot.number) for shot in production.plan.shots}
    open_still = [
        shot
        for shot in production.plan.shots
        if (only is None or shot.number in only) and not (used[shot.number] or {}).get("key")
    ]
    refuse_barred(production, ready.backend, open_still)
    need = needed(open_still, production.size, project.vault.entries(), production.takes)
    check_room(_room(project.folder), need, project.folder)
    if isinstance(backend, Pins):
        for shot in open_still:
            backend.make_ready(production.silent(shot))


def _room(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def rejudge(
    project: Project, ready: Ready, *, pictures: Collection[int] | None = None, watcher: Watcher
) -> Made:
    """Judge the takes that are there, by the rules and weights there are now; nothing is rendered.

    Which take stands in each shot follows, and its frames are made ready; the film is the next shoot's.

    Parameters
    ----------
    pictures : draw the verdicts on the takes that do not pass, and on all of these shots; None: on none
    """
    shots, screen, nodes = _stage(project, ready, (), watcher)
    _walk(project, nodes, {"cpu": CPU_LANE, "render": 1}, watcher)
    came = _came_to(shots, screen, {}, {})
    if pictures is None:
        return came
    return replace(came, pages=_draw_verdicts(project, ready, shots, pictures, watcher))


def _floor(
    project: Project,
    ready: Ready,
    only: Collection[int] | None,
    budget: Budget,
    preview: int,
    watcher: Watcher,
    *,
    last_sign: float,
) -> Floor:
    """Where the takes are made. Of a fleet, everything that can be wanted is known before it deals."""
    night = foretell(project, ready, preview=preview, only=to_render(project, ready, watcher, only=only))
    first = night.first if night else ()
    watch = Stopwatch(journal=project.journal, folder=ready.kept, say=watcher.say)
    if project.force:
        return cluster_floor(
            project.force,
            ready.backend,
            watch,
            vault=project.vault,
            budget=budget,
            first=first,
            last_sign=last_sign,
            say=watcher.say,
        )
    return open_floor(
        ready.backend,
        watch,
        workers=ready.workers,
        budget=budget,
        first=first,
        last_sign=last_sign,
        say=watcher.say,
    )


def _stage(
    project: Project,
    ready: Ready,
    only: Collection[int] | None,
    watcher: Watcher,
    floor: Floor | None = None,
) -> tuple[list[ShotWork], Screen | None, list[Node]]:
    """Every shot on its way to its mezzanine, and where their lips are weighed, if anybody's are judged."""
    production, backend = ready.production, ready.backend
    crew = Crew(
        production=production,
        project=project,
        backend=backend,
        floor=floor,
        only=_wanted(ready, only, watcher),
        expect=watcher.expect,
        say=watcher.say,
    )
    lips = Lips(production=production, backend=backend)
    sung = [shot.number for shot in production.plan.shots if not lips.unjudged(shot)]
    screen = Screen(lips, production.gate.mend_common, watcher.expect) if sung else None
    shots = works(crew, screen)
    nodes = [node for work in shots for node in work.nodes()]
    if screen:
        nodes += screen.nodes(needs=[f"voice {number}" for number in sung])
    return shots, screen, nodes


def _came_to(
    shots: list[ShotWork], screen: Screen | None, films: Mapping[str, Path], proofs: Mapping[str, Any]
) -> Made:
    if screen:
        screen.close()
    unjudged = {work.shot.number: work.lips.unjudged(work.shot) for work in shots}
    return Made(
        films=films,
        proofs=proofs,
        slugs={work.shot.number: work.slug for work in shots if work.take is None},
        smaller={work.shot.number: work.smaller for work in shots if work.smaller},
        marked={work.shot.number: work.marked for work in shots if work.marked},
        unjudged={number: why for number, why in unjudged.items() if why},
        common=screen.common if screen else (),
        control=screen.proof if screen else {},
    )


def _draw_verdicts(
    project: Project, ready: Ready, shots: list[ShotWork], asked: Collection[int], watcher: Watcher
) -> Mapping[tuple[int, int], Path]:
    """Show the verdicts on the takes that do not pass, and on all of some shots, as pictures."""
    lips = Lips(production=ready.production, backend=ready.backend)
    pager, drawn = Pager(project=project, lips=lips, say=watcher.say), Pages()
    pager.clear()
    nodes = [
        pager.node(work.shot, known, rests_on, drawn)
        for work in shots
        for known, rests_on in pager.wanted(work.shot, work.evidence, asked)
    ]
    for node in nodes:
        watcher.expect(node.name, 1)
    _walk(project, nodes, {"cpu": CPU_LANE}, watcher)
    return dict(sorted(drawn.items()))


def _wanted(ready: Ready, only: Collection[int] | None, watcher: Watcher) -> Collection[int] | None:
    """The shots that may be rendered; whoever is chained to one of them may have to be."""
    if only is None or not isinstance(ready.backend, Chains):
        return only
    wanted = with_followers(ready.production.plan.shots, only)
    if more := sorted(wanted - set(only)):
        watcher.say(f"shot {', '.join(map(str, more))}: chained to what is rendered: goes along")
    return wanted


def _walk(project: Project, nodes: list[Node], lanes: Mapping[str, int | Lane], watcher: Watcher) -> Outcome:
    """Walk the graph; the first failure is raised, whatever else could be done has been done."""
    process.allow()
    if force := project.force:
        lanes = {n: Places(force, say=watcher.say) if isinstance(w, int) else w for n, w in lanes.items()}
    outcome = run(
        Graph(nodes),
        project.vault,
        project.journal,
        lanes=lanes,
        watch=watcher.step,
        stop=process.stop_all,
        hands=force,
    )
    for error in outcome.failures.values():
        raise error
    return outcome


def _show_takes(project: Project, works: list[ShotWork]) -> None:
    """Show the takes under human names: `takes/shot-003/take-1.mp4`; `seen.mp4` is in the film."""
    shutil.rmtree(project.takes, ignore_errors=True)
    for work in works:
        for known in takes.known_takes(project.journal, work.shot.cut):
            if entry := project.vault.find(known.key):
                publish(entry.path(CLIP), take_place(project, work.shot, known.number))
        if work.take:
            publish(work.take.path(CLIP), take_place(project, work.shot, 0).with_name("seen.mp4"))
