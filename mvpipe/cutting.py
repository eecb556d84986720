"""From what was heard and what the storyboard says to the plan, and the plan kept in the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from mvpipe.build.vault import Entry
from mvpipe.clock import FILM_RATE, Span, format_time, snap
from mvpipe.film import Card, Shot
from mvpipe.plan import Plan, Planned
from mvpipe.prep import HEARING, song_of
from mvpipe.project import Project, write_json
from mvpipe.request import Request

if TYPE_CHECKING:
    from mvpipe.sound.cutting import Cutting, Pins, PlannedShot
    from mvpipe.storyboard.load import Loaded

Predict = Callable[[int, tuple[int, int]], float]
"""Seconds one take of so many frames of such a size will need."""


def cut_song(
    request: Request, entries: Mapping[str, Entry], *, notes: Sequence[str], predict: Predict
) -> tuple[Plan, Cutting]:
    """The plan: the song cut, and the storyboard's shots dealt over the cuts; and the bare cuts.

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
    from mvpipe.sound.cut import cut
    from mvpipe.sound.hearing import load
    from mvpipe.storyboard.check import check
    from mvpipe.storyboard.deal import deal
    from mvpipe.storyboard.lyrics import read_lyrics

    song, loaded = song_of(entries["song"], request.song), request.loaded
    check(loaded, song.seconds)
    size = (loaded.storyboard.picture.size.width, loaded.storyboard.picture.size.height)
    cutting = cut(
        load(entries["hearing"].path(HEARING)),
        frames=song.frames(),
        pins=_pins(loaded),
        price=lambda frames: predict(frames, size),
    )
    lyrics = read_lyrics(loaded.lyrics) if loaded.lyrics else ()
    dealt = deal(loaded, cutting.spans, lyrics=lyrics)
    plan = Plan(
        title=loaded.storyboard.title,
        song=song,
        separator=entries["vocals"].facts["separator"],
        rate=FILM_RATE,
        planned=tuple(
            _planned(shot, card, predict(len(shot.window), size))
            for shot, card in zip(cutting.shots, dealt.cards, strict=True)
        ),
        notes=(
            *entries["song"].facts["notes"],
            *entries["vocals"].facts.get("notes", ()),
            *notes,
            *map(str, dealt.notes),
        ),
    )
    return plan, cutting


def keep_plan(project: Project, plan: Plan, cutting: Cutting, hearing: Entry) -> None:
    """Write `plan.json`, and `timeline.png` where the plan has changed."""
    wanted, picture = plan.as_json(), project.folder / "timeline.png"
    try:
        same = json.loads(project.plan.read_text("utf-8")) == wanted
    except (OSError, ValueError):
        same = False
    write_json(project.plan, wanted)
    if same and picture.exists():
        return
    from mvpipe.sound.hearing import load
    from mvpipe.sound.picture import Labels, draw

    runs = groupby(plan.shots, key=lambda shot: shot.card.section)
    sections = tuple((next(shots).cut.start, name) for name, shots in runs)
    labels = Labels(title=plan.title, sections=sections)
    draw(load(hearing.path(HEARING)), cutting, labels, into=picture)


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


def _planned(shot: PlannedShot, card: Card, seconds: float) -> Planned:
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
        runner_up=f"{format_time(other.frame / FILM_RATE)} {other.boundary.kind}" if other else "",
        in_voice=shot.inside,
        seconds=seconds,
    )
