"""The night foreseen: which shots come first, on which server, and how near the shortest night it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mvpipe.clock import format_time
from mvpipe.errors import SettingsError
from mvpipe.film import Shot
from mvpipe.floor import RAISE, ask, barred, posts
from mvpipe.production import Production
from mvpipe.render.backend import Backend, Hosted, Setup
from mvpipe.schedule import Post, Schedule, deal, early
from mvpipe.timing import Times
from mvpipe.wording import counted, named

PREVIEW = 4
"""Shots that are rendered first, spread over the song, so that something representative is seen early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How a night would go if every first take passed.

    Parameters
    ----------
    first : names of the takes that come before all others
    servers : as the schedule sees them
    schedule : who renders what, in order
    learnt : takes from which times were learnt; 0 where they are the published ones
    barred : number of each shot that no server may render -> why
    kept : shots that are not rendered: they stay as they are
    """

    first: tuple[str, ...]
    servers: tuple[Post, ...]
    schedule: Schedule
    learnt: int
    barred: Mapping[int, str] = field(default_factory=dict[int, str])
    kept: int = 0

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "seconds": round(self.schedule.makespan_s, 1),
            "bound_s": round(self.schedule.bound_s, 1),
            "learnt_from_takes": self.learnt,
            "kept": self.kept,
            "barred": [{"shot": shot, "why": why} for shot, why in self.barred.items()],
            "preview": [_shot(name) for name in self.first],
            "servers": [
                {
                    "name": post.name,
                    "speed": round(post.speed, 3),
                    "seconds": round(self.schedule.ends[post.name], 1),
                    "shots": [_shot(one.name) for one in self.schedule.orders[post.name]],
                }
                for post in self.servers
            ],
        }

    def text(self) -> str:
        """For people."""
        made = self.schedule
        if not (self.barred or any(made.orders.values())):
            return "the night: nothing is left to render"
        over = max(0.0, made.makespan_s / made.bound_s - 1) if made.bound_s else 0.0  # sums are rounded
        known = f"times of {counted(self.learnt, 'take')}" if self.learnt else "published times"
        lines = [
            f"the night, by {known}: {format_time(round(made.makespan_s))} until every shot has a take; "
            f"no order is shorter than {format_time(round(made.bound_s))} ({over:.1%} less)"
        ]
        lines += [f"  not rendered: {counted(self.kept, 'shot')}, as they are"] if self.kept else []
        lines += [f"  no server may render shot {shot}: {why}" for shot, why in self.barred.items()]
        if self.first:
            lines.append(f"  seen first: {named('shot', [_shot(name) for name in self.first])}")
        for post in self.servers:
            shots = ", ".join(str(_shot(one.name)) for one in made.orders[post.name]) or "nothing"
            lines.append(f"  {post.name}, {format_time(round(made.ends[post.name]))}: {shots}")
        return "\n".join(lines)


def forecast(
    production: Production,
    backend: Backend,
    times: Times,
    *,
    preview: int = PREVIEW,
    only: Collection[int] | None = None,
) -> Forecast | None:
    """The night of the first takes; None where no servers make them.

    Parameters
    ----------
    preview : shots to be seen early
    only : numbers of the shots that are rendered; None for all
    """
    if not isinstance(backend, Hosted):
        return None
    shots = [shot for shot in production.plan.shots if only is None or shot.number in only]
    setups = {shot.number: fitting(production, backend, shot) for shot in shots}
    why = {number: barred(backend, setup) for number, setup in setups.items()}
    asks = [
        ask(backend, times, f"take {number}.1", setup) for number, setup in setups.items() if not why[number]
    ]
    servers = posts(backend, times)
    first = early(asks, servers, preview)
    return Forecast(
        first=tuple(first),
        servers=tuple(servers),
        schedule=deal(asks, servers, first=first),
        learnt=times.learnt,
        barred={number: one for number, one in why.items() if one},
        kept=len(production.plan.shots) - len(shots),
    )


def fitting(production: Production, backend: Backend, shot: Shot) -> Setup:
    """A shot as some server may render it: smaller, where none may as it is and the storyboard allows it."""
    setup = production.silent(shot)
    if production.smaller and barred(backend, setup):
        return production.smaller.of(setup)
    return setup


def refuse_barred(production: Production, backend: Backend, shots: Sequence[Shot]) -> None:
    """Whether every shot may be rendered somewhere.

    Raises
    ------
    SettingsError : one may not, before any server has worked for another
    """
    found = {shot.number: barred(backend, fitting(production, backend, shot)) for shot in shots}
    if wrong := [number for number, why in found.items() if why]:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise SettingsError(f"shot {wrong[0]}{more}: no server may render it: {found[wrong[0]]}", hint=RAISE)


def _shot(name: str) -> int:
    return int(name.split()[1].partition(".")[0])
