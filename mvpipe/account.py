"""Where every second of every server went, from the journal: rendering what, waiting why, or away.

A run begins for a server when it is first heard of in it, and ends with the run, or, where mvpipe was killed,
with its last sign of life. What lies between is tiled without gaps and overlaps, in whole milliseconds, so
that the parts always add up to the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

from mvpipe.build.journal import Event, Journal
from mvpipe.clock import format_time
from mvpipe.film import Outcome
from mvpipe.ledger import RAN, STATE, State, ms


class Use(StrEnum):
    """What a stretch of a server's time was used for."""

    TAKE = "takes"  # a take that is kept, and that the gate let pass or could not judge
    REFUSED = "takes that failed the gate"
    FAILED = "attempts without a take"
    BETWEEN = "between takes"  # files on their way, the server's own pauses
    CUT = "cut off"  # mvpipe was killed while it had a take
    IDLE = "idle"
    AWAY = "away"


RENDERING = (Use.TAKE, Use.REFUSED, Use.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a server's time.

    Parameters
    ----------
    start, stop : milliseconds since 1970
    use : what for
    why : a reason, or the error of an attempt; empty where the use says all
    name : of the take
    parts : of a take, what the server did -> milliseconds; what is left of it went into files, sent before
        and fetched after
    """

    start: int
    stop: int
    use: Use
    why: str = ""
    name: str = ""
    parts: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def length(self) -> int:
        """Milliseconds."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One server in one run.

    Parameters
    ----------
    server : its name
    stretches : in order; they tile the time from the first to the last
    """

    server: str
    stretches: tuple[Stretch, ...]

    @property
    def start(self) -> int:
        """Milliseconds since 1970."""
        return self.stretches[0].start

    @property
    def stop(self) -> int:
        """Milliseconds since 1970."""
        return self.stretches[-1].stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """All servers in all runs, or in some.

    Parameters
    ----------
    watches : in order
    """

    watches: tuple[Watch, ...]

    def since(self, at: float) -> Account:
        """The same for runs that began after a time, in Unix seconds."""
        return Account(watches=tuple(one for one in self.watches if one.start >= ms(at)))

    @property
    def unexplained(self) -> int:
        """Milliseconds of servers that are in no stretch, or in two."""
        return sum(
            abs(one.stop - one.start - sum(part.length for part in one.stretches))
            + sum(abs(after.start - part.stop) for part, after in pairwise(one.stretches))
            for one in self.watches
        )

    def as_json(self) -> dict[str, Any]:
        """For scripts: of every server the seconds by use, by part of the rendering, and by reason."""
        return {"servers": [self._server(name) for name in self._servers()]}

    def text(self) -> str:
        """For people."""
        return "\n".join(line for name in self._servers() for line in self._lines(name))

    def _servers(self) -> list[str]:
        return list(dict.fromkeys(one.server for one in self.watches))

    def _stretches(self, server: str) -> list[Stretch]:
        return [part for one in self.watches if one.server == server for part in one.stretches]

    def _server(self, name: str) -> dict[str, Any]:
        stretches = self._stretches(name)
        uses, reasons, parts = Counter[str](), Counter[tuple[str, str]](), Counter[str]()
        for one in stretches:
            uses[one.use.value] += one.length
            if one.why and one.use not in RENDERING:
                reasons[one.use.value, one.why] += one.length
            if one.use in RENDERING:
                parts.update(one.parts)
                parts["files"] += one.length - sum(one.parts.values())
        return {
            "server": name,
            "seconds": sum(uses.values()) / 1000,
            "uses": {use.value: uses[use.value] / 1000 for use in Use},
            "rendering": {part: length / 1000 for part, length in sorted(parts.items())},
            "reasons": [
                {"use": use, "why": why, "seconds": length / 1000}
                for (use, why), length in reasons.most_common()
            ],
            "takes": sum(one.use is Use.TAKE for one in stretches),
        }

    def _lines(self, name: str) -> Iterator[str]:
        told = self._server(name)
        whole = told["seconds"] or 1.0
        yield f"{name}: {_clock(told['seconds'])} in all"
        for use, seconds in told["uses"].items():
            if not seconds:
                continue
            yield f"  {_clock(seconds)} {seconds / whole:6.1%}  {use}{self._detail(name, use, told)}"

    def _detail(self, name: str, use: str, told: Mapping[str, Any]) -> str:
        if use == Use.TAKE:
            parts = ", ".join(f"{part} {_clock(s)}" for part, s in told["rendering"].items() if s)
            return f" ({told['takes']}); of all rendering: {parts}"
        if use in RENDERING:
            names = sorted({one.name for one in self._stretches(name) if one.use == use})
            return f": {', '.join(names)}"
        reasons = [f"{one['why']} {_clock(one['seconds'])}" for one in told["reasons"] if one["use"] == use]
        return f": {'; '.join(reasons)}" if reasons else ""


def account(journal: Journal, until: float | None = None) -> Account:
    """The account of a project.

    Parameters
    ----------
    until : Unix seconds to which a run counts that is still at work; None: there is none, and a run without
        an end was killed and counts to what it noted last
    """
    verdicts = {
        event.data["key"]: event.data["outcome"] == Outcome.FAIL.value for event in journal.events("take")
    }
    states, rans = _by_server(journal.events(STATE)), _by_server(journal.events(RAN))
    watches = [
        watch
        for server, events in states.items()
        for run in _runs(events, rans.get(server, []), until)
        if (watch := _watch(server, run, rans.get(server, []), verdicts))
    ]
    return Account(watches=tuple(sorted(watches, key=lambda one: one.start)))


def end_cut(journal: Journal, last_sign: float) -> None:
    """Note that an earlier run died, where one did: with its last sign of life, its servers' watch ends.

    Parameters
    ----------
    last_sign : Unix seconds; 0 where none is known but what it noted itself
    """
    for server, events in _by_server(journal.events(STATE)).items():
        if _ends(events[-1]):
            continue
        at = max(ms(last_sign), _last(events, journal.events(RAN, server)))
        journal.note(STATE, server, at=at, state=State.CUT.value, why="")


def _by_server(events: Sequence[Event]) -> dict[str, list[Event]]:
    found = defaultdict[str, list[Event]](list)
    for event in events:
        found[event.subject].append(event)
    return dict(found)


def _ends(event: Event) -> bool:
    return event.data["state"] in (State.CLOSED.value, State.CUT.value)


def _last(states: Sequence[Event], rans: Sequence[Event]) -> int:
    """The latest moment that was noted."""
    return max([int(states[-1].data["at"]), *(int(event.data["stop"]) for event in rans[-1:])])


def _runs(events: Sequence[Event], rans: Sequence[Event], until: float | None) -> Iterator[list[Event]]:
    """Changes of state, run by run, each with its end."""
    run: list[Event] = []
    for event in events:
        run.append(event)
        if _ends(event):
            yield run
            run = []
    if run:
        state, at = (State.CUT, _last(run, rans)) if until is None else (State.CLOSED, ms(until))
        data = {"at": max(at, run[-1].data["at"]), "state": state.value, "why": ""}
        yield [*run, Event(at=at / 1000, kind=STATE, subject=run[0].subject, data=data)]


def _watch(
    server: str, run: Sequence[Event], rans: Sequence[Event], verdicts: Mapping[str, bool]
) -> Watch | None:
    first, last = run[0].data["at"], run[-1].data["at"]
    stretches: list[Stretch] = []
    at = first
    for ran in sorted((event.data for event in rans), key=lambda data: (data["stop"], data["start"])):
        start, stop = max(ran["start"], at), min(ran["stop"], last)
        if stop <= start or ran["stop"] <= first:
            continue
        stretches += [*_quiet(run, at, start), _rendered(ran, start, stop, verdicts)]
        at = stop
    stretches += _quiet(run, at, last, cut=run[-1].data["state"] == State.CUT.value)
    return Watch(server=server, stretches=tuple(stretches)) if stretches else None


def _rendered(ran: Mapping[str, Any], start: int, stop: int, verdicts: Mapping[str, bool]) -> Stretch:
    use = Use.FAILED if ran["why"] else Use.REFUSED if verdicts.get(ran["key"]) else Use.TAKE
    parts, room = {}, stop - start
    for part, length in ran["parts"].items():
        parts[part] = min(length, room)
        room -= parts[part]
    return Stretch(start=start, stop=stop, use=use, why=ran["why"], name=ran["name"], parts=parts)


def _quiet(run: Sequence[Event], start: int, stop: int, *, cut: bool = False) -> Iterator[Stretch]:
    """A time in which nothing was rendered, by what the server was to the run meanwhile."""
    for here, after in pairwise(run):
        begin, end = max(here.data["at"], start), min(after.data["at"], stop)
        if end <= begin:
            continue
        busy = here.data["state"] == State.BUSY.value
        use = Use.CUT if busy and cut and end == stop else Use.BETWEEN if busy else Use(here.data["state"])
        yield Stretch(start=begin, stop=end, use=use, why=here.data["why"])


def _clock(seconds: float) -> str:
    return format_time(round(seconds)).removesuffix(".000")
