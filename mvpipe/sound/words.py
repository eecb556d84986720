"""Lyrics held against the voice: where each line and word is sung, and how far that can be trusted.

Times that the lyrics file gives are checked, never believed: a word where nobody sings is evidence against
the file. Lines without times are laid along the phrases by length alone (`placing`), which says where a line
may be but not that it is the right one; its words are guesses, and no cut is forbidden on their account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import format_time
from mvpipe.errors import MediaError
from mvpipe.film import Line, SungLine, Timing, Word
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.placing import place
from mvpipe.sound.spectrum import HOPS
from mvpipe.sound.spelled import Spelled
from mvpipe.sound.verse import syllables, tokens, weight
from mvpipe.sound.voice import covered

FITS = 0.8
"""Share of the given times that must lie where somebody sings, for cuts to be decided by them."""

NEAR_HOPS = 25
"""A line may be stamped a quarter of a second early: people stamp what they are about to hear."""

UNSTAMPED_S = 8
"""A line whose end nobody says ends with its phrases, or after so many seconds."""

GUESS = 0.5
"""The most that a guess is trusted."""

MOST_LINES = 0.5
"""Share of the lines without times that must find a place. Of a song's own lyrics nine in ten do; where most
do not, those that did fell there by chance."""

FASTEST = 12.0
"""Syllables a second, over all that is sung: half as fast again as rap that is known for its speed."""

SHIFTS_S = 20
"""An offset of the whole file is looked for within so many seconds to both sides."""


ANOTHER_SONG = "lyrics of another song? none of them is used"


@dataclass(frozen=True, slots=True)
class Aligned:
    """The lyrics on the song.

    Parameters
    ----------
    lines : those that found a place, in the order they are sung
    notes : what the person should know
    trusted : whether cuts may be decided by the words that have times of their own
    """

    lines: tuple[SungLine, ...] = ()
    notes: tuple[str, ...] = ()
    trusted: bool = False

    @property
    def words(self) -> tuple[Word, ...]:
        """The words in which no cut may fall."""
        if not self.trusted:
            return ()
        known = (line for line in self.lines if line.word_timing is not Timing.GUESSED)
        return tuple(word for line in known for word in line.words)


def align(
    lines: Sequence[Line], hearing: Hearing, *, name: str = "lyrics", spelled: Spelled | None = None
) -> Aligned:
    """Where the lines are sung.

    Parameters
    ----------
    lines : all with times, or none
    name : of the file, for messages
    spelled : the times a network gave the words, where one was asked

    Raises
    ------
    MediaError : a line begins after the song has ended
    """
    lines = [line for line in lines if weight(line.text)]
    if not lines:
        return Aligned()
    if not len(hearing.phrases):
        return Aligned(notes=(f"{name}: {len(lines)} lines, but nobody is heard singing: not used",))
    if (rate := _syllables_a_second(lines, hearing)) > FASTEST and not spelled:
        said = f"{name}: {rate:.0f} syllables for every second that is sung: {ANOTHER_SONG}"
        return Aligned(notes=(said,))
    if spelled:
        known = _checked(spelled.lines, hearing, name, Timing.ALIGNED) if spelled.lines else None
        found = known or align(lines, hearing, name=name)
        return replace(found, notes=(f"{name}: {spelled.note}", *found.notes))
    if any(line.start is None for line in lines):
        return _laid(lines, hearing, name)
    _demand_inside(lines, hearing, name)
    return _checked(lines, hearing, name)


def _demand_inside(lines: Sequence[Line], hearing: Hearing, name: str) -> None:
    late = [line for line in lines if line.start is not None and line.start >= hearing.seconds]
    if late:
        first, end = format_time(late[0].start or 0), format_time(hearing.seconds)
        raise MediaError(
            f"{name}: {len(late)} of {len(lines)} lines begin after the song has ended at {end}: "
            f'found "{late[0].text[:40]}" at {first}',
            hint="these are the lyrics of another song, or of a longer version of it",
        )


def _checked(lines: Sequence[Line], hearing: Hearing, name: str, timing: Timing = Timing.GIVEN) -> Aligned:
    """Lines with times of their own, each held against the voice."""
    sung = covered(hearing.phrases, hearing.hops)
    placed = tuple(_timed(line, hearing, sung, timing) for line in lines)
    fit = float(np.mean([line.sure for line in placed]))
    if fit >= FITS:
        return Aligned(placed, _doubtful(placed, name), trusted=True)
    return Aligned(placed, (_misfit(lines, sung, fit, name),))


def _doubtful(lines: Sequence[SungLine], name: str) -> tuple[str, ...]:
    silent = [line for line in lines if line.sure < FITS / 2]
    if not silent:
        return ()
    where = ", ".join(format_time(line.start) for line in silent[:3])
    return (f"{name}: {len(silent)} of {len(lines)} lines are stamped where hardly anybody sings: {where}",)


def _misfit(lines: Sequence[Line], sung: NDArray[np.bool_], fit: float, name: str) -> str:
    said = f"{name}: the times do not fit the voice ({fit:.0%} lie where somebody sings): not used to cut"
    best, shift = max((_fit(lines, sung, s), -abs(s)) for s in range(-SHIFTS_S * 4, SHIFTS_S * 4 + 1))
    moved = next((s for s in (shift, -shift) if _fit(lines, sung, s) == best), 0)
    if best >= FITS and best > fit + 0.15 and moved:
        return f"{said}; moved by {moved / 4:+g} s they would ({best:.0%})"
    return said


def _fit(lines: Sequence[Line], sung: NDArray[np.bool_], quarters: int) -> float:
    """Share of what the lines cover that is sung, if all were so many quarters of a second later."""
    shift, shares = quarters * HOPS // 4, []
    for line in lines:
        start = max(round((line.start or 0) * HOPS) + shift, 0)
        stop = start + 2 * HOPS if line.stop is None else max(round(line.stop * HOPS) + shift, 0)
        inner = sung[start : min(stop, start + 2 * HOPS)]
        shares.append(float(inner.mean()) if len(inner) else 0.0)
    return float(np.mean(shares))


def _timed(line: Line, hearing: Hearing, sung: NDArray[np.bool_], given: Timing) -> SungLine:
    assert line.start is not None
    start = round(line.start * HOPS)
    limit = hearing.hops if line.stop is None else min(round(line.stop * HOPS), hearing.hops)
    stop = _end(start, min(limit, start + UNSTAMPED_S * HOPS if line.stop is None else limit), sung)
    if not line.words:
        words = _guessed(line.text, start, max(stop, start + 1), sung)
        heard = sung[max(start - NEAR_HOPS, 0) : start + HOPS]
        sure = min(float(heard.mean()) / 0.6, 1.0) if len(heard) else 0.0
        timing = Timing.GUESSED
    else:
        words = tuple(_ended(word, max(stop, start + 1)) for word in line.words)
        sure = float(np.mean([_heard(word, sung) for word in words]))
        timing = given
    end = max([Fraction(stop, HOPS), line.start, *(word.stop or word.start for word in words)])
    return SungLine(
        text=line.text,
        start=line.start,
        stop=end,
        words=words,
        timing=given,
        word_timing=timing,
        sure=round(sure, 3),
    )


def _end(start: int, limit: int, sung: NDArray[np.bool_]) -> int:
    """The last hop before the limit at which somebody sings."""
    heard = np.flatnonzero(sung[start:limit])
    return start + int(heard[-1]) + 1 if len(heard) else max(limit, start)


def _ended(word: Word, limit: int) -> Word:
    stop = Fraction(limit, HOPS) if word.stop is None else word.stop
    return Word(word.text, word.start, max(stop, word.start))


def _heard(word: Word, sung: NDArray[np.bool_]) -> bool:
    """Whether somebody sings in the first third of a second of a word."""
    start = round(word.start * HOPS)
    stop = min(round((word.stop or word.start) * HOPS), start + HOPS // 3)
    inner = sung[start : max(stop, start + 5)]
    return bool(len(inner)) and float(inner.mean()) >= 0.5


def _guessed(text: str, start: int, stop: int, sung: NDArray[np.bool_]) -> tuple[Word, ...]:
    """The words of a line, laid over what is sung in it in proportion to their syllables."""
    parts = tokens(text)
    if not parts:
        return ()
    voiced = np.flatnonzero(sung[start:stop])
    moments = np.append(voiced, voiced[-1] + 1) if len(voiced) else np.arange(stop - start + 1)
    ends = np.cumsum([0, *(max(syllables(part), 1) for part in parts)])
    at = moments[np.rint(ends / ends[-1] * (len(moments) - 1)).astype(int)] + start
    edges = [Fraction(int(hop), HOPS) for hop in at]
    return tuple(Word(part, a, b) for part, a, b in zip(parts, edges, edges[1:], strict=False))


def _laid(lines: Sequence[Line], hearing: Hearing, name: str) -> Aligned:
    """Lines without times of their own, laid along the phrases."""
    sung = covered(hearing.phrases, hearing.hops)
    places = place([weight(line.text) for line in lines], hearing.phrases, hearing.voice_db)
    found = [
        SungLine(
            text=line.text,
            start=Fraction(at.start, HOPS),
            stop=Fraction(at.stop, HOPS),
            words=_guessed(line.text, at.start, at.stop, sung),
            timing=Timing.GUESSED,
            word_timing=Timing.GUESSED,
            sure=round(GUESS * at.fit, 3),
        )
        for line, at in zip(lines, places, strict=True)
        if at is not None
    ]
    if len(found) < MOST_LINES * len(lines):
        said = f"no times, and {len(found)} of {len(lines)} lines find a place in what is sung"
        return Aligned(notes=(f"{name}: {said}: {ANOTHER_SONG}",))
    sure = sum(line.sure for line in found) / len(lines)
    notes = [f"{name}: no times: {len(found)} lines laid along the phrases by length alone, {sure:.0%} sure"]
    if len(found) < len(lines):
        notes.append(
            f"{name}: {len(lines) - len(found)} of {len(lines)} lines found no place in what is sung"
        )
    return Aligned(tuple(found), tuple(notes))


def _syllables_a_second(lines: Sequence[Line], hearing: Hearing) -> float:
    seconds = hearing.voice_share * float(hearing.seconds)
    return sum(weight(line.text) for line in lines) / max(seconds, 1 / HOPS)
