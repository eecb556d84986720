"""Who sings in each shot, where the storyboard asks the voice, and what the maker should know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from mvpipe.build.vault import Entry
from mvpipe.clock import Span, format_time
from mvpipe.film import Card, ShotKind, SungBy
from mvpipe.prep import SINGERS

if TYPE_CHECKING:
    from mvpipe.storyboard.load import Loaded

MOST_OF_IT = Fraction(6, 10)
"""Share of what is sung in a shot that must be told to be somebody's, for the shot to be theirs."""

ANOTHER_S = 1
"""Seconds that a second singer is heard in a shot before it is worth a word."""

MOST_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class InShot:
    """Who is heard in a shot.

    Parameters
    ----------
    span : what is seen of it
    name : who sings most of it; empty where nobody does, or where it cannot be told
    seconds : name -> seconds that are told to be theirs
    doubt : where it cannot be told, whom it is most like and how sure that is, in words; else empty
    """

    span: Span
    name: str
    seconds: Mapping[str, Fraction]
    doubt: str

    @property
    def place(self) -> str:
        """When it begins."""
        return format_time(self.span.start / self.span.rate)


def told(loaded: Loaded, entries: Mapping[str, Entry]) -> tuple[SungBy, ...]:
    """Who sings each phrase; nothing where that was not asked.

    Raises
    ------
    StoryboardError : two recordings are so alike that nobody can be told by them
    """
    from mvpipe.sound.singers import load

    if "singers" not in entries:
        return ()
    sung, alike = load(entries["singers"].path(SINGERS))
    hint = (
        "give other or longer recordings, each of one singer alone; or name who sings in cast: of each shot"
    )
    problems = [
        loaded.problem(("cast", other, "voice"), f"cannot be told from that of {one} by its sound", hint)
        for one, other in alike
    ]
    if problems:
        raise loaded.fail(*problems)
    return sung


def in_shots(sung: Sequence[SungBy], spans: Sequence[Span]) -> tuple[InShot, ...]:
    """Who is heard in each shot; nothing where nobody was told."""
    return tuple(_in_shot(sung, span) for span in spans) if sung else ()


def _in_shot(sung: Sequence[SungBy], span: Span) -> InShot:
    start, stop = span.start / span.rate, span.stop / span.rate
    parts = [(one, min(one.stop, stop) - max(one.start, start)) for one in sung]
    seconds: dict[str, Fraction] = {}
    for one, long in parts:
        if long > 0:
            seconds[one.name] = seconds.get(one.name, Fraction(0)) + long
    whole = sum(seconds.values())
    known = {name: long for name, long in seconds.items() if name}
    name = max(known, key=lambda each: known[each], default="")
    if not whole or (name and known[name] >= MOST_OF_IT * whole):
        return InShot(span=span, name=name, seconds=known, doubt="")
    doubtful = [(one, long) for one, long in parts if long > 0 and not one.name]
    return InShot(span=span, name="", seconds=known, doubt=_doubt(doubtful) or _timed(known))


def _doubt(parts: Sequence[tuple[SungBy, Fraction]]) -> str:
    """Whom the longest of the phrases that nobody is told to sing is like."""
    if not parts:
        return ""
    one = max(parts, key=lambda part: part[1])[0]
    return f"like {one.likeliest}, {one.sure:.0%}" if one.sure else "like none of them"


def _timed(seconds: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} {float(long):.1f} s" for name, long in seconds.items())


def notes(heard: Sequence[InShot], cards: Sequence[Card]) -> Iterator[str]:
    """What the voice says against the storyboard, or does not say where the storyboard asks."""
    said: dict[str, list[str]] = {}
    for number, (one, card) in enumerate(zip(heard, cards, strict=True), 1):
        if card.kind is ShotKind.PERFORMANCE:
            for what, how in _odd(one, card):
                said.setdefault(what, []).append(f"shot {number} at {one.place} ({how})")
    for what, places in said.items():
        more = f" and {len(places) - MOST_LISTED} more" if len(places) > MOST_LISTED else ""
        yield f"{what}: {', '.join(places[:MOST_LISTED])}{more}"


def _odd(one: InShot, card: Card) -> Iterator[tuple[str, str]]:
    if one.name and card.cast and one.name not in card.cast:
        yield "another one sings than is seen", f"{one.name} is heard, {' and '.join(card.cast)} seen"
    if one.doubt:
        yield "who sings cannot be told by voice, and is as the storyboard has it", one.doubt
    more = {name: long for name, long in one.seconds.items() if name not in {one.name, *card.cast}}
    more = {name: long for name, long in more.items() if long >= ANOTHER_S}
    if one.name and more:
        yield "somebody is heard in it who is not seen", _timed(more)
