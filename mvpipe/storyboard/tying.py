"""Shots tied to a moment of the song: by `at`, by `bar`, or by the `lyric` that is sung in them.

A line that is sung more than once, without saying which time is meant, is an error that names them all: the
wrong chorus would look right in the file. So is one whose place is only guessed: mvpipe says how sure it is,
and its maker decides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from mvpipe.clock import Span, format_time, snap
from mvpipe.film import Line, SungLine, Timing
from mvpipe.storyboard.described import Shot
from mvpipe.storyboard.load import Loaded
from mvpipe.storyboard.lyrics import heard_at, holding, line_alone, time_asked
from mvpipe.storyboard.models import Storyboard
from mvpipe.storyboard.problems import Note, Problem
from mvpipe.wording import counted

SURE = 0.8
"""An aligned line places a shot from here on: as many of its words must be sung where it stands, as cuts ask
of a whole file."""

MOST_NAMED = 4
"""Places named in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the song besides its cuts.

    Parameters
    ----------
    lyrics : as read from the lyrics file
    placed : where they are sung, as far as they were found
    bars : seconds at which each bar begins; empty where none can be trusted
    """

    lyrics: Sequence[Line] = ()
    placed: Sequence[SungLine] = ()
    bars: Sequence[Fraction] = ()


@dataclass(frozen=True, slots=True)
class Tied:
    """Shots tied to a moment.

    Parameters
    ----------
    spans : which has which span, as (section, shot)
    shots : all of them, also those that lost their span to another
    """

    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    shots: set[tuple[int, int]] = field(default_factory=set)


class _NoPlace(Exception):
    """A `lyric` that cannot be placed: what is wrong, and what to do."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


def tie(loaded: Loaded, spans: Sequence[Span], known: Known) -> tuple[Tied, list[Note]]:
    """The shots that are tied to a moment, each with the span that shows it.

    Raises
    ------
    StoryboardError : a `lyric` that may mean several moments, or none that is known well enough
    """
    tied = Tied()
    notes: list[Note] = []
    problems: list[Problem] = []
    for section, number, shot in _described(loaded.storyboard):
        here = ("sections", section, "shots", number)
        try:
            moment, key, said = _moment(shot, known)
        except _NoPlace as exc:
            problems.append(loaded.problem((*here, "lyric"), str(exc), exc.hint))
            continue
        if said:
            notes.append(loaded.note((*here, key), f"{said}: the shot is dealt in order"))
        if moment is None:
            continue
        at = _showing(spans, moment)
        tied.shots.add((section, number))
        if tied.spans.setdefault(at, (section, number)) != (section, number):
            notes.append(loaded.note(here, f"left over: shot {at + 1} of the film is tied to another one"))
    if problems:
        raise loaded.fail(*problems)
    return tied, notes


def check_lyrics(loaded: Loaded, lyrics: Sequence[Line]) -> None:
    """Refuse a `lyric` that may mean several moments, before anybody has listened.

    Raises
    ------
    StoryboardError : with every one of them
    """
    problems: list[Problem] = []
    for section, number, shot in _described(loaded.storyboard):
        found = holding(lyrics, shot.lyric)
        try:
            if found and shot.at is None and shot.bar is None:
                _which(Known(lyrics=lyrics), shot.lyric, found)
        except _NoPlace as exc:
            problems.append(
                loaded.problem(("sections", section, "shots", number, "lyric"), str(exc), exc.hint)
            )
    if problems:
        raise loaded.fail(*problems)


def _described(storyboard: Storyboard) -> Iterator[tuple[int, int, Shot]]:
    for section, part in enumerate(storyboard.sections):
        for shot, described in enumerate(part.shots):
            yield section, shot, described


def _showing(spans: Sequence[Span], moment: Fraction) -> int:
    """The span that shows a moment; the film's last half frame rounds to its end and belongs to the last."""
    frame = snap(moment, spans[0].rate)
    return bisect_right([span.start for span in spans], frame) - 1


def _moment(shot: Shot, known: Known) -> tuple[Fraction | None, str, str]:
    """The moment a shot is tied to, or the field that ties it to nothing and what is said about it."""
    if shot.at is not None:
        return shot.at, "at", ""
    if shot.bar is not None:
        if shot.bar <= len(known.bars):
            return known.bars[shot.bar - 1], "bar", ""
        there = counted(len(known.bars), "bar")
        said = f"the song has {there}" if known.bars else "no bars can be trusted in the song"
        return None, "bar", said
    if not shot.lyric or not known.lyrics:
        return None, "lyric", ""
    found = holding(known.lyrics, shot.lyric)
    if not found:
        return None, "lyric", "not in the lyrics"
    which = _which(known, shot.lyric, found)
    moment = heard_at(known.lyrics[found[which - 1]])
    return _aligned(known, found, which) if moment is None else moment, "lyric", ""


def _which(known: Known, lyric: str, found: Sequence[int]) -> int:
    """Which of the times it is sung is meant."""
    which, times = time_asked(lyric), len(found)
    if not which and times > 1:
        raise _NoPlace(
            f"sung {times} times, {_named(known, found)}: which is meant",
            f'write lyric: "{line_alone(lyric)}#2" for the second time it is sung',
        )
    if which > times:
        raise _NoPlace(
            f"time {which} of a line that is sung {counted(times, 'time')}, {_named(known, found)}",
            f"#1 to #{times} are there" if times > 1 else "leave the number out",
        )
    return which or 1


def _aligned(known: Known, found: Sequence[int], which: int) -> Fraction:
    """When a line without a time of its own is sung, if that is known well."""
    texts = {known.lyrics[at].text for at in found}
    places = [line for line in known.placed if line.text in texts]
    better = "give at: a time, or lyrics with times (.lrc), or sound: {aligner: FOLDER} to hear the words"
    if len(places) != len(found):
        raise _NoPlace("the lyrics have no times, and no place was found for it in what is sung", better)
    place = places[which - 1]
    if place.timing is Timing.GUESSED or place.sure < SURE:
        at, sure = format_time(place.start), f"{place.sure:.0%}"
        raise _NoPlace(f"the lyrics have no times, and that it is sung at {at} is only {sure} sure", better)
    return heard_at(place) or place.start


def _named(known: Known, found: Sequence[int]) -> str:
    """The places of a line: when it is sung, or which line of the lyrics it is."""
    lines = [known.lyrics[at] for at in found[:MOST_NAMED]]
    places = [
        f'line {at + 1} "{line.text[:40]}"'
        if line.start is None
        else f'at {format_time(line.start)} "{line.text[:40]}"'
        for at, line in zip(found, lines, strict=False)
    ]
    return ", ".join(places) + (" and more" if len(found) > MOST_NAMED else "")
