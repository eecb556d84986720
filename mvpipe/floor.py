"""Where takes are made: workers here, or a fleet of servers; within a budget, and with times learnt."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mvpipe import account
from mvpipe.berth import Berth
from mvpipe.budget import Budget, Budgeted
from mvpipe.build.lane import Lane, Pool
from mvpipe.build.lane import Ready as Turn
from mvpipe.build.places import NOBODY, Workforce
from mvpipe.build.vault import Entry, Vault
from mvpipe.crowd import takes_lane
from mvpipe.errors import SettingsError
from mvpipe.film import Slate
from mvpipe.fleet import Fleet, Timed
from mvpipe.ledger import Ledger
from mvpipe.render.backend import NO_LIMITS, UNHEARD, Backend, Hosted, Needs, Progress, Ran, Setup
from mvpipe.render.comfyui.times import rows
from mvpipe.schedule import Ask, Post
from mvpipe.stopwatch import Stopwatch
from mvpipe.takes import take_task
from mvpipe.timesheet import Timesheet
from mvpipe.timing import Rendered, Times

FACTS = "take.facts.json"
"""What a server's take has beside it."""

RAISE = "raise the limits of a server in the settings, or make picture.size or cuts.longest smaller"

BRIEFEST_S = 1.0
"""No take is made in less; one of nobody knows how many steps counts as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Where takes are made.

    Parameters
    ----------
    backend : makes them
    times : what is known of how long they need
    watch : where that is kept
    lane : in which they wait for their turn
    fleet : the servers, where there are any
    force : the cluster whose workers make them
    sheet : what these workers do
    asked : what the cluster was asked for, by name
    """

    backend: Backend
    times: Times
    watch: Stopwatch
    lane: Lane
    fleet: Fleet | None = None
    force: Workforce | None = None
    sheet: Timesheet | None = None
    asked: dict[str, Ask] = field(default_factory=dict[str, Ask])

    def ask(self, name: str, setup: Setup, slate: Slate) -> Ask:
        """A take as the lane sees it."""
        wanted = ask(self.backend, self.times, name, setup)
        home = self.backend.home(slate) if isinstance(self.backend, Hosted) else ""
        self.asked[name] = replace(wanted, retake=slate.take > 1, home=home)
        return self.asked[name]

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        """Make a take where its turn has come, in a worker thread; as `Backend.render`."""
        if self.fleet is None:
            self.backend.render(slate, assets, into, progress)
        else:
            self.fleet.render(slate, take_task(slate).key, assets, into, progress)

    def note(self, name: str, entry: Entry) -> None:
        """Remember how long a take has needed that was made just now; of others nothing is known here."""
        one = self.fleet.timed.get(name) if self.fleet else self._timed(name, entry)
        if one is None or not isinstance(self.backend, Hosted):
            return
        slate, ran = entry.facts["slate"], json.loads(entry.path(FACTS).read_text("utf-8"))
        parts = ran.get("parts", {})
        made = Rendered(
            shot=slate["shot"],
            host=one.host,
            frames=slate["frames"],
            size=(slate["size"][0], slate["size"][1]),
            steps=one.ask.steps,
            step_s=ran.get("step_s"),
            seconds=round(one.seconds, 3),
            foreseen_s=round(one.foreseen_s, 3),
            profile=one.ask.profile,
            text_s=parts.get("text"),
            load_s=parts.get("load"),
            conditioning=one.ask.conditioning,
        )
        self.watch.note(made, entry.key)

    def _timed(self, name: str, entry: Entry) -> Timed | None:
        """The same of a take that a worker of the cluster has made."""
        stint = self.force.took(entry.key) if self.force else NOBODY
        if not stint.seconds:
            return None
        wanted = self.asked[name]
        return Timed(host=stint.by, ask=wanted, seconds=stint.seconds, foreseen_s=wanted.seconds, ran=UNHEARD)

    def where(self, name: str) -> str:
        """Name of the server or worker that has a take now; empty for none."""
        if self.fleet:
            return self.fleet.server_of(name)
        return self.force.where(name) if self.force else ""

    def close(self) -> None:
        """No more takes are made: what is left on servers and was made on others is taken back."""
        if self.fleet:
            self.fleet.close()
        if self.sheet:
            self.sheet.close()
        if self.force:
            self.force.tidy()
        if isinstance(self.backend, Hosted):
            for host, _ in self.backend.hosts():
                host.tidy()


def open_floor(
    backend: Backend,
    watch: Stopwatch,
    *,
    workers: int,
    budget: Budget,
    first: Collection[str] = (),
    last_sign: float = 0.0,
    say: Callable[[str], None] = lambda _: None,
) -> Floor:
    """The place where a backend's takes are made.

    Parameters
    ----------
    workers : takes at once, where there are no servers
    first : names of the takes that are made first
    last_sign : Unix seconds of the last sign of life of a run that died; 0 where none is known
    """
    times = watch.learnt()

    def foresee_s(turn: Turn) -> float:
        return float(turn.hint.seconds)

    if not isinstance(backend, Hosted):
        return Floor(
            backend=backend, times=times, watch=watch, lane=Budgeted(Pool(workers), budget, foresee_s)
        )
    known, now = {post.name: post for post in posts(backend, times)}, time.monotonic()
    berths = []
    for host, _ in backend.hosts():
        post = known[host.name]
        berth = Berth(host=host, speed=post.speed, text_s=post.text_s, load_s=post.load_s)
        berths.append(berth)
        if len(known) > 1 and not host.alive():
            berth.lose(now, "it was away from the beginning")
    account.end_cut(watch.journal, last_sign)
    fleet = Fleet(berths, ledger=Ledger(watch.journal.note), first=first, say=say)
    lane = Budgeted(fleet, budget, foresee_s)
    fleet.held = lambda: lane.why
    return Floor(backend=backend, times=times, watch=watch, lane=lane, fleet=fleet)


def cluster_floor(  # noqa: PLR0913
    force: Workforce,
    backend: Backend,
    watch: Stopwatch,
    *,
    vault: Vault,
    budget: Budget,
    first: Collection[str],
    last_sign: float,
    say: Callable[[str], None],
) -> Floor:
    """The same, where the workers of a cluster make the takes.

    Parameters
    ----------
    vault : to which they come
    """
    lane = takes_lane(force, hosted=isinstance(backend, Hosted), first=first, say=say)
    times, asked_s = watch.learnt(), lambda turn: float(turn.hint.seconds)
    if not isinstance(backend, Hosted):
        budgeted = Budgeted(lane, budget, asked_s)
        return Floor(backend=backend, times=times, watch=watch, lane=budgeted, force=force)
    account.end_cut(watch.journal, last_sign)

    def went(key: str) -> Ran:
        take = vault.find(key)
        return _ran(take) if take else UNHEARD

    sheet = Timesheet(lane, force, Ledger(watch.journal.note), went)
    budgeted = Budgeted(sheet, budget, asked_s)
    sheet.held = lambda: budgeted.why
    return Floor(backend=backend, times=times, watch=watch, lane=budgeted, force=force, sheet=sheet)


def _ran(take: Entry) -> Ran:
    """How a take went, by what is kept with it."""
    from mvpipe.render.comfyui.circumstances import ran

    return ran(json.loads(take.path(FACTS).read_text("utf-8"))) if FACTS in take.files else UNHEARD


def server_of(take: Entry) -> str:
    """Name of the worker or the server that has made a take; empty for one made here."""
    if take.by:
        return take.by
    if FACTS not in take.files:
        return ""
    return str(json.loads(take.path(FACTS).read_text("utf-8")).get("url", ""))


def posts(backend: Hosted, times: Times) -> list[Post]:
    """The servers as the schedule sees them: as fast as their takes say, else as the user does."""
    hosts = backend.hosts()
    first = hosts[0][0].name
    known = times.steps.keys()
    return [
        Post(
            name=host.name,
            speed=times.speed(host.name, first) if {first, host.name} <= known else given,
            text_s=times.text_s(first),
            load_s=times.load_s(first),
        )
        for host, given in hosts
    ]


def barred(backend: Backend, setup: Setup) -> str:
    """Why no server may be given a setup, in words; empty where one may."""
    why = _bars(backend, setup)
    if not isinstance(backend, Hosted) or any(not one for one in why.values()):
        return ""
    return "; ".join(f"{name}: {one}" for name, one in why.items())


def _bars(backend: Backend, setup: Setup, needs: Needs | None = None) -> dict[str, str]:
    """Server -> why it may not be given a setup; empty where it may."""
    hosts = [host for host, _ in backend.hosts()] if isinstance(backend, Hosted) else []
    if not isinstance(backend, Hosted) or all(host.limits == NO_LIMITS for host in hosts):
        return {host.name: "" for host in hosts}
    profile = (needs or backend.needs(setup)).profile
    return {host.name: host.limits.bars(setup.shot.window, setup.size, profile) for host in hosts}


def whole_s(backend: Backend, times: Times, setup: Setup, needs: Needs | None = None) -> float:
    """Seconds of one take of a setup, alone: its prompt is encoded for it.

    Parameters
    ----------
    needs : of the setup, where they are known already
    """
    frames = len(setup.shot.window)
    if not isinstance(backend, Hosted):
        return backend.predict_s(frames, setup.size)
    first, needs = backend.hosts()[0][0].name, needs or backend.needs(setup)
    return times.predict_s(frames, setup.size, needs.steps, first, needs.profile, needs.conditioning)


def ask(backend: Backend, times: Times, name: str, setup: Setup) -> Ask:
    """A take of a setup, as the schedule sees it.

    Raises
    ------
    SettingsError : the limits of all servers are below it
    """
    frames, at = len(setup.shot.window), setup.shot.window.start
    if not isinstance(backend, Hosted):
        return Ask(name=name, seconds=backend.predict_s(frames, setup.size), at=at)
    first, needs = backend.hosts()[0][0].name, backend.needs(setup)
    riding = needs.conditioning
    bars = _bars(backend, setup, needs)
    may = frozenset(server for server, why in bars.items() if not why)
    if not may:
        raise SettingsError(f"{name}: no server may render it: {barred(backend, setup)}", hint=RAISE)
    return Ask(
        name=name,
        seconds=max(whole_s(backend, times, setup, needs) - times.text_s(first), BRIEFEST_S),
        text=needs.text,
        model=needs.model,
        at=at,
        steps=needs.steps,
        step_s=times.step_s(frames, setup.size, first, needs.profile, riding),
        profile=needs.profile,
        conditioning=riding,
        bulk=rows(setup.size, frames) + riding.rows,
        only=frozenset() if len(may) == len(bars) else may,
    )
