"""From what was heard and what the storyboard says to the plan, and the plan kept in the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from mvpipe.build.vault import Entry
from mvpipe.chain import check_chains
from mvpipe.clock import FILM_RATE, Span, format_time, snap
from mvpipe.film import Boundary, BoundaryKind, Card, Line, Shot, ShotKind
from mvpipe.plan import Part, Plan, Planned
from mvpipe.prep import HEARING, WORDS, song_of
from mvpipe.project import Project, write_json
from mvpipe.request import Request
from mvpipe.singing import in_shots, told
from mvpipe.singing import notes as singing_notes

if TYPE_CHECKING:
    from mvpipe.sound.cutting import Cutting, Lengths, Pins, PlannedShot
    from mvpipe.sound.hearing import Hearing
    from mvpipe.sound.words import Aligned
    from mvpipe.storyboard.load import Loaded
    from mvpipe.storyboard.variety import Source

Predict = Callable[[int, tuple[int, int]], float]
"""Seconds one take of so many frames of such a size will need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A song that was listened to and cut.

    Parameters
    ----------
    plan : the cuts, with the storyboard's shots dealt over them
    cutting : the bare cuts
    sources : where in the storyboard each shot's card comes from
    entries : those of `prep_nodes`
    """

    plan: Plan
    cutting: Cutting
    sources: tuple[Source, ...]
    entries: Mapping[str, Entry]

    @property
    def hearing(self) -> Hearing:
        """What was heard in the song."""
        from mvpipe.sound.hearing import load

        return load(self.entries["hearing"].path(HEARING))


def cut_song(
    request: Request, entries: Mapping[str, Entry], *, notes: Sequence[str], predict: Predict
) -> Heard:
    """The song cut, and the storyboard's shots dealt over the cuts.

    Parameters
    ----------
    request : what the user wants
    entries : those of `prep_nodes`
    notes : what the person should know already

    Raises
    ------
    StoryboardError : it does not fit the song
    PlanError : pins that cannot be
    """
    from mvpipe.sound.spectrum import HOP, HOPS
    from mvpipe.storyboard.check import check
    from mvpipe.storyboard.deal import deal

    song, loaded = song_of(entries["song"], request.song), request.loaded
    check(loaded, song.seconds)
    room = cutting_room(request, entries, predict=predict)
    aligned, hearing = room.aligned, room.hearing
    cutting, sung_by = room.cut(lengths(loaded)), told(loaded, entries)
    singers = in_shots(sung_by, cutting.spans)
    dealt = deal(
        loaded,
        cutting.spans,
        lyrics=room.lyrics,
        placed=aligned.lines,
        voice=[shot.voice for shot in cutting.shots],
        bars=[Fraction(int(hop), HOPS) for hop in hearing.bars],
        singers=[one.name for one in singers],
    )
    plan = Plan(
        title=loaded.storyboard.title,
        song=song,
        separator=entries["vocals"].facts["separator"],
        vocals=entries["vocals"].key,
        rate=FILM_RATE,
        planned=tuple(
            _planned(shot, card, seconds=room.price(len(shot.window)), sings=_singing(loaded, shot, card))
            for shot, card in zip(cutting.shots, dealt.cards, strict=True)
        ),
        notes=(
            *entries["song"].facts["notes"],
            *entries["vocals"].facts.get("notes", ()),
            *notes,
            *aligned.notes,
            *map(str, dealt.notes),
            *_odd_performances(cutting, dealt.cards),
            *(singing_notes(singers, dealt.cards) if singers else ()),
        ),
        phrases=tuple((float(a * HOP), float(b * HOP)) for a, b in hearing.phrases.tolist()),
        parts=_parts(hearing),
        metre=hearing.metre,
        lines=aligned.lines,
        words_known=bool(aligned.words),
        sung_by=sung_by,
    )
    check_chains(plan.shots)
    return Heard(plan=plan, cutting=cutting, sources=dealt.sources, entries=entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingRoom:
    """All that cuts are decided by, but for how long shots may be.

    Parameters
    ----------
    hearing : what was heard
    lyrics, aligned : the lyrics as written, and on the song
    frames : length of the film
    pins : what the editor decided
    price : predicted seconds of a window of so many frames
    """

    hearing: Hearing
    lyrics: tuple[Line, ...]
    aligned: Aligned
    frames: int
    pins: Pins
    price: Callable[[int], float]

    def cut(self, wanted: Lengths) -> Cutting:
        """The cheapest plan with shots of such lengths."""
        from mvpipe.sound.cut import cut

        return cut(
            self.hearing,
            frames=self.frames,
            pins=self.pins,
            lengths=wanted,
            price=self.price,
            words=self.aligned.words,
        )


def cutting_room(request: Request, entries: Mapping[str, Entry], *, predict: Predict) -> CuttingRoom:
    """What the cuts of a song are decided by; the storyboard fits it already.

    Raises
    ------
    StoryboardError, MediaError : the lyrics cannot be read, or end after the song
    """
    from mvpipe.sound.hearing import load
    from mvpipe.sound.spelled import load as load_words
    from mvpipe.sound.words import align
    from mvpipe.storyboard.lyrics import read_lyrics

    song, loaded = song_of(entries["song"], request.song), request.loaded
    size = (loaded.storyboard.picture.size.width, loaded.storyboard.picture.size.height)
    hearing = load(entries["hearing"].path(HEARING))
    lyrics = read_lyrics(loaded.lyrics) if loaded.lyrics else ()
    spelled = load_words(entries["words"].path(WORDS)) if "words" in entries else None
    name = loaded.lyrics.name if loaded.lyrics else "lyrics"
    return CuttingRoom(
        hearing=hearing,
        lyrics=lyrics,
        aligned=align(lyrics, hearing, name=name, spelled=spelled),
        frames=song.frames(),
        pins=_pins(loaded),
        price=lambda frames: predict(frames, size),
    )


def lengths(loaded: Loaded) -> Lengths:
    """How long the storyboard lets shots be."""
    from mvpipe.sound.cutting import at_most

    cuts = loaded.storyboard.cuts
    return at_most(cuts.longest, thrift=cuts.thrift)


NOBODY, MOSTLY = 0.05, 0.8
"""Shares of a shot's time: under the first nobody sings in it, over the second somebody does throughout."""


def _odd_performances(cutting: Cutting, cards: Sequence[Card]) -> Iterator[str]:
    """What the storyboard lays over the wrong sound: a performance over none, b-roll over singing."""
    silent, sung = [], []
    for shot, card in zip(cutting.shots, cards, strict=True):
        if card.kind is ShotKind.PERFORMANCE and card.cast and shot.voice < NOBODY:
            silent.append(shot)
        if card.kind is ShotKind.B_ROLL and shot.voice > MOSTLY:
            sung.append(shot)
    if silent:
        yield f"a performance where nobody sings: {_listed(silent)}: mouths stay closed there"
    if sung:
        yield f"b-roll over singing throughout: {_listed(sung)}: nobody is seen to sing it"


def _listed(shots: Sequence[PlannedShot]) -> str:
    named = [f"shot {shot.number} at {format_time(shot.cut.start / FILM_RATE)}" for shot in shots[:5]]
    return ", ".join(named) + (f" and {len(shots) - 5} more" if len(shots) > 5 else "")


def keep_plan(project: Project, heard: Heard) -> None:
    """Write `plan.json`, and `timeline.png` where the plan has changed."""
    plan = heard.plan
    wanted, picture = plan.as_json(), project.folder / "timeline.png"
    try:
        same = json.loads(project.plan.read_text("utf-8")) == wanted
    except (OSError, ValueError):
        same = False
    write_json(project.plan, wanted)
    if same and picture.exists():
        return
    from mvpipe.sound.picture import Labels, draw

    runs = groupby(plan.shots, key=lambda shot: shot.card.section)
    sections = tuple((next(shots).cut.start, name) for name, shots in runs)
    labels = Labels(title=plan.title, sections=sections)
    draw(heard.hearing, heard.cutting, labels, into=picture)


def _parts(hearing: Hearing) -> tuple[Part, ...]:
    from mvpipe.sound.spectrum import HOP

    return tuple(
        Part(
            start=float(part.start * HOP),
            stop=min(float(part.stop * HOP), float(hearing.seconds)),
            label=part.label,
            time=part.time,
            voice=round(part.voice, 4),
        )
        for part in hearing.parts
    )


def _pins(loaded: Loaded) -> Pins:
    from mvpipe.sound.cutting import Pins

    return Pins(
        keep=tuple(snap(moment) for moment in loaded.keep),
        avoid=tuple(_span(stretch.start, stretch.stop) for stretch in loaded.avoid),
        at={number: snap(moment) for number, moment in loaded.moved.items()},
    )


def _span(start: Fraction, stop: Fraction) -> Span:
    first = snap(start)
    return Span(first, max(snap(stop), first + 1))


def _in_words(boundary: Boundary) -> str:
    """What speaks for a boundary; of a forced one nothing does."""
    return "in the voice" if boundary.kind is BoundaryKind.FORCED else boundary.kind.replace("_", " ")


def _singing(loaded: Loaded, shot: PlannedShot, card: Card) -> tuple[str, ...]:
    """Names of those who are seen to sing in a shot."""
    if card.kind is not ShotKind.PERFORMANCE or not shot.voice:
        return ()
    return tuple(name for name in card.cast if loaded.storyboard.cast[name].sings)


def _planned(shot: PlannedShot, card: Card, *, seconds: float, sings: tuple[str, ...]) -> Planned:
    other = shot.runner_up
    return Planned(
        shot=Shot(
            number=shot.number,
            cut=shot.cut,
            window=shot.window,
            card=card,
            boundary=shot.boundary,
            voice=shot.voice,
        ),
        why=shot.why,
        runner_up=f"{format_time(other.frame / FILM_RATE)} {_in_words(other.boundary)}" if other else "",
        in_voice=shot.inside,
        harm=shot.harm,
        seconds=seconds,
        sings=sings,
    )
