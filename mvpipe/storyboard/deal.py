"""Cards for the planned cuts: the described shots of each section, dealt over its spans in order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from mvpipe.clock import Span, format_time, snap
from mvpipe.film import Card, ShotKind
from mvpipe.storyboard.load import Loaded
from mvpipe.storyboard.lyrics import Line, find, line_alone, sung
from mvpipe.storyboard.models import Shot, Storyboard
from mvpipe.storyboard.problems import Note

SINGING = (
    "medium close-up, front",
    "close-up, three-quarter from the left",
    "medium close-up, three-quarter from the right",
    "close-up, front",
    "medium close-up, three-quarter from the left",
)
SINGING_TOGETHER = (
    "medium two-shot, front",
    "close two-shot, three-quarter from the left",
    "medium two-shot, three-quarter from the right",
    "close two-shot, front",
    "medium two-shot, three-quarter from the left",
)
B_ROLL = (
    "wide",
    "detail, shallow focus",
    "medium, eye level",
    "extreme wide, low angle",
    "close, from the side",
)
"""Framings where the storyboard leaves them open. Whoever sings is close enough, and turned to us
enough, for the mouth to be seen and measured. Five of each: a section whose shots come round in any
other number shows each of them in a new framing every time."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """What the storyboard says about each span.

    Parameters
    ----------
    cards : one a span, in order
    notes : what was decided for the maker, and what found no place
    """

    cards: tuple[Card, ...]
    notes: tuple[Note, ...]


Home = int | None
"""The section a span lies in: its index, or None before the first begins."""


def deal(loaded: Loaded, spans: Sequence[Span], *, lyrics: Sequence[Line] = ()) -> Dealt:
    """One card a span.

    A span belongs to the section in which most of it lies. Shots tied to a moment (`at`, or a `lyric`
    found in timed lyrics) take the span that holds it; the others are dealt over the rest of their
    section, again from the first where there are more spans than shots. What a section's spans get does
    not depend on the spans of others.

    Parameters
    ----------
    loaded : the storyboard
    spans : the shots' cuts, which tile the film
    lyrics : as read from the lyrics file

    Raises
    ------
    ValueError : no spans
    """
    if not spans:
        raise ValueError("a film has at least one shot")
    starts, notes = _placed(loaded, spans)
    tied, more = _tied(loaded, spans, lyrics)
    notes += more
    homes = [_home(span, starts) for span in spans]
    cards = {at: _card(loaded, section, shot, shot) for at, (section, shot) in tied.spans.items()}
    for home in (None, *range(len(starts))):
        free = [at for at, own in enumerate(homes) if own == home and at not in cards]
        taken = {shot for section, shot in tied.shots if section == home}
        dealt, more = _section(loaded, home, len(free), taken)
        cards |= zip(free, dealt, strict=True)
        notes += more
    worded = (_worded(cards[at], span, lyrics) for at, span in enumerate(spans))
    return Dealt(tuple(worded), tuple(notes))


def _placed(loaded: Loaded, spans: Sequence[Span]) -> tuple[list[int], list[Note]]:
    """The frame each section begins at: given, 0 for the first, else even and on the nearest cut."""
    starts = [None if s.start is None else snap(s.start, spans[0].rate) for s in loaded.storyboard.sections]
    notes: list[Note] = []
    if starts and starts[0] is None:
        starts[0] = 0
    known = [(at, frame) for at, frame in enumerate(starts) if frame is not None]
    for (before, left), (after, right) in pairwise([*known, (len(starts), spans[-1].stop)]):
        for at in range(before + 1, after):
            even = left + (right - left) * Fraction(at - before, after - before)
            starts[at] = frame = min((span.start for span in spans), key=lambda cut: abs(cut - even))
            said = f"placed at {format_time(frame / spans[0].rate)} by mvpipe: give start: to fix it"
            notes.append(loaded.note(("sections", at), said))
    return [frame for frame in starts if frame is not None], notes


def _home(span: Span, starts: Sequence[int]) -> Home:
    """The section most of the span lies in; of equals, the first."""
    edges = [0, *starts]
    ends = [*starts, max(span.stop, *edges)]
    shares = [min(span.stop, stop) - max(span.start, start) for start, stop in zip(edges, ends, strict=True)]
    at = shares.index(max(shares))
    return at - 1 if at else None


@dataclass(frozen=True, slots=True)
class _Tied:
    """Shots tied to a moment: which has which span, and all of them, also those that lost theirs."""

    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    shots: set[tuple[int, int]] = field(default_factory=set)


def _tied(loaded: Loaded, spans: Sequence[Span], lyrics: Sequence[Line]) -> tuple[_Tied, list[Note]]:
    tied = _Tied()
    notes: list[Note] = []
    for section, number, shot in _described(loaded.storyboard):
        here = ("sections", section, "shots", number)
        moment = shot.at
        if moment is None and shot.lyric:
            moment = find(lyrics, shot.lyric)
            if moment is None and any(line.start is not None for line in lyrics):
                said = "not in the timed lyrics: the shot is dealt in order"
                notes.append(loaded.note((*here, "lyric"), said))
        if moment is None:
            continue
        at = _holding(spans, moment)
        tied.shots.add((section, number))
        if tied.spans.setdefault(at, (section, number)) != (section, number):
            notes.append(loaded.note(here, f"left over: shot {at + 1} of the film is tied to another one"))
    return tied, notes


def _described(storyboard: Storyboard) -> Iterator[tuple[int, int, Shot]]:
    for section, part in enumerate(storyboard.sections):
        for shot, described in enumerate(part.shots):
            yield section, shot, described


def _holding(spans: Sequence[Span], moment: Fraction) -> int:
    """The span that shows a moment; the film's last half frame rounds to its end and belongs to the last."""
    frame = snap(moment, spans[0].rate)
    return bisect_right([span.start for span in spans], frame) - 1


def _section(loaded: Loaded, home: Home, room: int, taken: set[int]) -> tuple[list[Card], list[Note]]:
    """Cards for the spans of a section that no shot is tied to."""
    if home is None or not loaded.storyboard.sections[home].shots:
        return [_made_up(loaded, home, turn) for turn in range(room)], _made_up_notes(loaded, home, room)
    section = loaded.storyboard.sections[home]
    waiting = [shot for shot in range(len(section.shots)) if shot not in taken]
    turns = waiting or sorted(taken)
    again = 0 if waiting else len(turns)
    cards = [_card(loaded, home, turns[k % len(turns)], _varied(k + again, len(turns))) for k in range(room)]
    # a line written for a shot is sung once, not each time the shot comes round
    cards[len(waiting) :] = [replace(card, lyric="") for card in cards[len(waiting) :]]
    said = f"left over: {section.name} has fewer free cuts than shots, {room} for {len(waiting)}"
    return cards, [loaded.note(("sections", home, "shots", shot), said) for shot in waiting[room:]]


def _varied(turn: int, shots: int) -> int:
    """A place in a table of framings: differs from the last turn's, and from the shot's own last one."""
    period = len(SINGING)
    return turn + turn // shots if shots % period == 0 else turn


def _card(loaded: Loaded, section: int, shot: int, framing: int) -> Card:
    part = loaded.storyboard.sections[section]
    described = part.shots[shot]
    return Card(
        prompt=described.prompt,
        kind=described.kind,
        cast=described.cast,
        place=described.place or "",
        framing=described.framing or _framing(described.kind, described.cast, framing),
        section=part.name,
        lyric=line_alone(described.lyric),
        origin=loaded.origin("sections", section, "shots", shot),
    )


def _made_up(loaded: Loaded, home: Home, turn: int) -> Card:
    """A card of look and cast alone: who sings, sings; before the first section nobody does."""
    storyboard = loaded.storyboard
    opening = home is None and bool(storyboard.sections)
    kind = ShotKind.B_ROLL if opening else ShotKind.PERFORMANCE
    cast = () if opening else tuple(name for name, member in storyboard.cast.items() if member.sings)
    sung = f"{' and '.join(cast)} {'sings' if len(cast) == 1 else 'sing'} to us" if cast else ""
    places = tuple(storyboard.places)
    return Card(
        prompt=sung or storyboard.look or storyboard.title,
        kind=kind,
        cast=cast,
        place=places[0] if len(places) == 1 else "",
        framing=_framing(kind, cast, turn),
        section="" if home is None else storyboard.sections[home].name,
        origin=loaded.origin() if home is None else loaded.origin("sections", home),
    )


def _made_up_notes(loaded: Loaded, home: Home, room: int) -> list[Note]:
    if not room:
        return []
    if home is not None:
        return [loaded.note(("sections", home), f"describes no shots: made from look and cast: {room}")]
    if loaded.storyboard.sections:
        said = f"begins late: shots before it made from the look: {room}"
        return [loaded.note(("sections", 0), said)]
    return [loaded.note((), f"no sections: shots made from look and cast: {room}")]


def _framing(kind: ShotKind, cast: Sequence[str], turn: int) -> str:
    singing = SINGING_TOGETHER if len(cast) > 1 else SINGING
    table = singing if kind is ShotKind.PERFORMANCE else B_ROLL
    return table[turn % len(table)]


def _worded(card: Card, span: Span, lyrics: Sequence[Line]) -> Card:
    return replace(card, lyric=sung(lyrics, span) or card.lyric)
