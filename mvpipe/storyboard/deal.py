"""Cards for the planned cuts: the described shots of each section, dealt over its spans in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from mvpipe.clock import Span, format_time, snap
from mvpipe.film import Card, Line, ShotKind, SungLine
from mvpipe.storyboard.described import Shot
from mvpipe.storyboard.load import Loaded
from mvpipe.storyboard.lyrics import line_alone, sung
from mvpipe.storyboard.problems import Note
from mvpipe.storyboard.tying import Known, tie
from mvpipe.storyboard.variety import SINGING, Hand, Source, jumps, table, varied

SINGS_FROM = 0.15
"""Share of a shot in which somebody must be heard for it to be a performance. A shot of 5 s then holds most
of a second of singing; below it the mouth would be shut nearly all the time."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """What the storyboard says about each span.

    Parameters
    ----------
    cards : one a span, in order
    notes : what was decided for the maker, and what found no place
    sources : where each card comes from
    """

    cards: tuple[Card, ...]
    notes: tuple[Note, ...]
    sources: tuple[Source, ...]


class Singing(NamedTuple):
    """What is heard in a span: whether somebody sings (None where nobody has listened), and who, if known."""

    heard: bool | None
    name: str


Home = int | None
"""The section a span lies in: its index, or None before the first begins."""


def deal(
    loaded: Loaded,
    spans: Sequence[Span],
    *,
    lyrics: Sequence[Line] = (),
    placed: Sequence[SungLine] = (),
    voice: Sequence[float] = (),
    bars: Sequence[Fraction] = (),
    singers: Sequence[str] = (),
) -> Dealt:
    """One card a span.

    A span belongs to the section in which most of it lies. Shots tied to a moment (`at`, a `bar`, or a
    `lyric`; see `tying`) take the span that holds it; the others are dealt over the rest of their section in
    order. Where there are more spans than shots they come round again, the next that fits what is
    heard: performances where somebody sings, b-roll where nobody does. What a section's spans get does not
    depend on the spans of others, but for the framing of its first shot, which never repeats the last one's.

    Parameters
    ----------
    loaded : the storyboard
    spans : the shots' cuts, which tile the film
    lyrics, placed, bars : what is known of the song; see `tying.Known`
    voice : share of each span in which somebody sings, in [0, 1]; empty where nobody has listened
    singers : who is heard in each span, empty where nobody is or nobody can tell; empty where it is not asked

    Raises
    ------
    ValueError : no spans
    StoryboardError : a `lyric` that may mean several moments, or none that is known well enough
    """
    if not spans:
        raise ValueError("a film has at least one shot")
    starts, notes = _placed(loaded, spans)
    tied, more = tie(loaded, spans, Known(lyrics=lyrics, placed=placed, bars=bars))
    notes += more
    homes = [_home(span, starts) for span in spans]
    hands = {at: _hand(loaded, section, shot, shot) for at, (section, shot) in tied.spans.items()}
    for home in (None, *range(len(starts))):
        free = [at for at, own in enumerate(homes) if own == home and at not in hands]
        taken = {shot for section, shot in tied.shots if section == home}
        heard = [Singing(_sung(voice, at), singers[at] if singers else "") for at in free]
        dealt, more = _section(loaded, home, heard, taken)
        hands |= zip(free, dealt, strict=True)
        notes += more
    ordered = [hands[at] for at in range(len(spans))]
    if singers:
        ordered = [_sung_by(hand, name) for hand, name in zip(ordered, singers, strict=True)]
    cards = varied(ordered)
    notes += _jumps(loaded, cards, ordered)
    worded = (_worded(card, span, lyrics) for card, span in zip(cards, spans, strict=True))
    return Dealt(tuple(worded), tuple(notes), tuple(hand.source for hand in ordered))


def _sung(voice: Sequence[float], at: int) -> bool | None:
    """Whether somebody sings in a span; None where nobody has listened."""
    return voice[at] >= SINGS_FROM if voice else None


def _jumps(loaded: Loaded, cards: Sequence[Card], hands: Sequence[Hand]) -> Iterator[Note]:
    """Cuts between like pictures of the same person, where the storyboard insists on both."""
    for at in range(1, len(cards)):
        section, shot = hands[at].source
        if section is not None and shot is not None and jumps(cards[at - 1], cards[at]):
            said = f"a jump cut: shots {at} and {at + 1} show the same people alike, {cards[at].framing}"
            yield loaded.note(("sections", section, "shots", shot), said)


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


def _section(
    loaded: Loaded, home: Home, sung: Sequence[Singing], taken: set[int]
) -> tuple[list[Hand], list[Note]]:
    """Hands for the spans of a section that no shot is tied to; `sung` has what is heard in each."""
    room = len(sung)
    if home is None or not loaded.storyboard.sections[home].shots:
        made_up = [_made_up(loaded, home, turn, one.heard) for turn, one in enumerate(sung)]
        return made_up, _made_up_notes(loaded, home, room)
    section = loaded.storyboard.sections[home]
    waiting = [shot for shot in range(len(section.shots)) if shot not in taken]
    turns = waiting or sorted(taken)
    again = 0 if waiting else len(turns)
    order = _order([section.shots[shot] for shot in turns], sung, first=len(waiting))
    hands = [_hand(loaded, home, turns[at], _varied(k + again, len(turns))) for k, at in enumerate(order)]
    # a line written for a shot is sung once, not each time the shot comes round
    for at in range(len(waiting), room):
        hands[at] = replace(hands[at], card=replace(hands[at].card, lyric=""))
    said = f"left over: {section.name} has fewer free cuts than shots, {room} for {len(waiting)}"
    return hands, [loaded.note(("sections", home, "shots", shot), said) for shot in waiting[room:]]


def _order(shots: Sequence[Shot], sung: Sequence[Singing], *, first: int) -> Iterator[int]:
    """Which shot each span gets: in order the first time round, then the next that fits what is heard."""
    following = 0
    for at, one in enumerate(sung):
        ring = [(following + step) % len(shots) for step in range(len(shots))]
        fitting = [shot for shot in ring if _fits(shots[shot], one)]
        fitting.sort(key=lambda shot: not _shows(shots[shot], one))  # equals keep their order
        chosen = ring[0] if at < first or not fitting else fitting[0]
        following = (chosen + 1) % len(shots)
        yield chosen


def _fits(shot: Shot, one: Singing) -> bool:
    wanted = ShotKind.PERFORMANCE if one.heard else ShotKind.B_ROLL
    return one.heard is None or shot.kind is wanted


def _shows(shot: Shot, one: Singing) -> bool:
    """Whether whoever is heard may be seen in it; where nobody can tell, anybody may."""
    return not one.name or not shot.cast or one.name in shot.cast


def _sung_by(hand: Hand, name: str) -> Hand:
    """The hand with whoever is heard in its picture, where the storyboard names nobody."""
    card, described = hand.card, hand.source.shot is not None
    if not name or card.kind is not ShotKind.PERFORMANCE or (described and card.cast):
        return hand
    prompt = card.prompt if described else f"{name} sings to us"
    return replace(hand, card=replace(card, cast=(name,), prompt=prompt))


def _varied(turn: int, shots: int) -> int:
    """A place in a table of framings: differs from the last turn's, and from the shot's own last one."""
    period = len(SINGING)
    return turn + turn // shots if shots % period == 0 else turn


def _hand(loaded: Loaded, section: int, shot: int, framing: int) -> Hand:
    part = loaded.storyboard.sections[section]
    described = part.shots[shot]
    card = Card(
        prompt=described.prompt,
        kind=described.kind,
        cast=described.cast,
        place=described.place or "",
        framing=described.framing or table(described.kind, described.cast)[framing % len(SINGING)],
        section=part.name,
        lyric=line_alone(described.lyric),
        without_voice=described.without_voice or "",
        continuity=described.continuity,
        origin=loaded.origin("sections", section, "shots", shot),
    )
    return Hand(card=card, source=Source(section, shot), free=not described.framing)


def _made_up(loaded: Loaded, home: Home, turn: int, sung: bool | None) -> Hand:
    """A card of look and cast alone: who sings, sings, one at a time; where nobody does, it is b-roll."""
    storyboard = loaded.storyboard
    silent = sung is False or (home is None and bool(storyboard.sections))
    kind = ShotKind.B_ROLL if silent else ShotKind.PERFORMANCE
    singers = [name for name, member in storyboard.cast.items() if member.sings]
    cast = () if silent or not singers else (singers[turn % len(singers)],)
    places = tuple(storyboard.places)
    card = Card(
        prompt=f"{cast[0]} sings to us" if cast else storyboard.look or storyboard.title,
        kind=kind,
        cast=cast,
        place=places[0] if len(places) == 1 else "",
        framing=table(kind, cast)[turn % len(SINGING)],
        section="" if home is None else storyboard.sections[home].name,
        origin=loaded.origin() if home is None else loaded.origin("sections", home),
    )
    return Hand(card=card, source=Source(home, None), free=True)


def _made_up_notes(loaded: Loaded, home: Home, room: int) -> list[Note]:
    if not room:
        return []
    if home is not None:
        return [loaded.note(("sections", home), f"describes no shots: made from look and cast: {room}")]
    if loaded.storyboard.sections:
        said = f"begins late: shots before it made from the look: {room}"
        return [loaded.note(("sections", 0), said)]
    return [loaded.note((), f"no sections: shots made from look and cast: {room}")]


def _worded(card: Card, span: Span, lyrics: Sequence[Line]) -> Card:
    return replace(card, lyric=sung(lyrics, span) or card.lyric)
