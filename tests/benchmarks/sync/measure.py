"""Judge what lies on the shelf, at many offsets, and remember every answer until the gate changes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from mvpipe.film import Outcome
from mvpipe.gate.look import Seen
from mvpipe.gate.sync import Samples, judge_sync
from mvpipe.gate.tracks import Track
from tests.benchmarks.sync import leads, plain
from tests.benchmarks.sync.recipes import SETS, Recipe
from tests.benchmarks.sync.shelf import Look, Shelf, judges
from tests.gate.faces_synth import SAMPLE_RATE

LATES_MS = (0, 20, -20, 40, -40, 60, -60, 80, -80, 120, -120, 200, -200, 400, -400)
"""By which the picture is late in all, of which a fraction is drawn and the rest put into the voice."""

STRANGERS = 4
"""Voices of other clips, with which every face of the set `sync` is judged as well."""

WINDOWS_S, WINDOW_LATES_MS = (5, 6, 8), (0, 400)
"""Of a real clip."""

MADE = (*SETS, "chance", "crowd")
"""All sets that need no clip of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the gate and the baseline say of a clip at an offset.

    Parameters
    ----------
    name : of the set
    number : in it; even ones are for tuning
    late_ms : by which the picture is late
    kind : more words for the tables: voice and face, or seconds of a window
    face : that was judged, from the left; -1 without one
    """

    name: str
    number: int
    late_ms: int
    kind: str
    outcome: str
    offset_ms: float | None
    p: float
    control: bool
    face: int
    plain_outcome: str
    plain_ms: float


class Book:
    """Answers, a line each; those of another gate are in another book."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"said-{judges()}.jsonl"
        self._path.touch()
        lines = self._path.read_text().splitlines()
        self.said = {
            (one.name, one.number, one.late_ms): one for line in lines if (one := Said(**json.loads(line)))
        }

    def note(self, answers: Sequence[Said]) -> None:
        """Add answers."""
        with self._path.open("a") as file:
            for one in answers:
                file.write(json.dumps(asdict(one)) + "\n")
                self.said[one.name, one.number, one.late_ms] = one


class Spent(Exception):
    """The minutes asked for are over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One piece of the measurement.

    Parameters
    ----------
    limit : clips of each set, at most
    until : `time.monotonic` at which it stops
    clip : a real one
    """

    shelf: Shelf
    book: Book
    limit: int
    until: float
    clip: Path | None

    def measure(self, name: str) -> None:
        """Judge a set.

        Raises
        ------
        Spent : there is more to do
        """
        if name == "real":
            self._windows()
        elif name in ("chance", "crowd"):
            self._strangers(name)
        else:
            for number in range(min(self.limit, SETS[name])):
                self._clip(self.shelf.recipe(name, number))

    def _clip(self, one: Recipe) -> None:
        asked = LATES_MS if one.set in ("sync", "pair") else (0,)
        lates = [late for late in asked if (one.set, one.number, late) not in self.book.said]
        if not lates:
            return
        self._breathe()
        held = self.shelf.clip(one)
        kind = f"{one.voice} / {one.faces[0]}"
        drawn = one.part.late + leads.late(one.voice) if one.set in ("sync", "pair") else 0
        self.book.note(
            [
                said(held.seen, moved(held.voice, late / 1000 - drawn), one.set, one.number, late, kind)
                for late in lates
            ]
        )

    def _strangers(self, name: str) -> None:
        """Faces with the voices of other clips: each alone, or two and three as if they stood together."""
        for number in range(min(self.limit, SETS["sync"]) * STRANGERS):
            mine = number // STRANGERS
            key = 2 * number + mine % 2  # parity says the half, as everywhere
            if (name, key, 0) in self.book.said:
                continue
            self._breathe()
            rng = np.random.default_rng(number)
            others = [k for k in range(mine % 2, SETS["sync"], 2) if k != mine]
            picked = [int(k) for k in rng.permutation(others)[:3]]
            looks = [self._held(k) for k in (mine, *picked)]
            seen, kind = looks[0].seen, "1 face"
            if name == "crowd":
                seen = together([one.seen for one in looks[: 2 + number % 2]])
                kind = f"{len(seen.tracks)} faces"
            self.book.note([said(seen, looks[3].voice, name, key, 0, kind)])

    def _held(self, number: int) -> Look:
        return self.shelf.clip(self.shelf.recipe("sync", number))

    def _windows(self) -> None:
        if self.clip is None:
            return
        held = self.shelf.real(self.clip)
        for seconds in WINDOWS_S:
            for late in WINDOW_LATES_MS:
                for k, (seen, voice) in enumerate(windows(held, seconds, late / 1000)):
                    number = 1000 * seconds + k
                    if ("real", number, late) not in self.book.said:
                        self._breathe()
                        self.book.note([said(seen, voice, "real", number, late, f"{seconds} s")])

    def _breathe(self) -> None:
        if time.monotonic() > self.until:
            raise Spent


def said(seen: Seen, voice: Samples, name: str, number: int, late_ms: int, kind: str) -> Said:
    """Ask the gate and the baseline."""
    verdict = judge_sync(seen, voice, SAMPLE_RATE)
    best = verdict.deciding
    plain_outcome, plain_ms, _ = plain.judge(seen, voice, SAMPLE_RATE)
    return Said(
        name=name, number=number, late_ms=late_ms, kind=kind, outcome=str(verdict.outcome),
        offset_ms=best.offset_ms if best else None, p=(best.p or 1.0) if best else 1.0,
        control=bool(best and best.control.ok), face=_place(seen, verdict.track),
        plain_outcome=str(plain_outcome), plain_ms=plain_ms,
    )  # fmt: skip


def _place(seen: Seen, track: int | None) -> int:
    if track is None:
        return -1
    across = [float(one.points[..., 0].mean()) for one in seen.tracks]
    return sorted(across).index(across[track])


def moved(voice: Samples, late: float) -> Samples:
    """The voice for a picture that is to be so many seconds later."""
    shift = round(late * SAMPLE_RATE)
    silence = np.zeros(abs(shift), np.float32)
    return np.concatenate([voice[shift:], silence] if shift > 0 else [silence, voice[: len(voice) + shift]])


def together(seen: Sequence[Seen]) -> Seen:
    """Faces of several clips side by side, for as long as the shortest is shown, at the rate of the first."""
    count = min(len(one.times) for one in seen)
    tracks = []
    for k, one in enumerate(seen):
        for track in one.tracks:
            inside = track.frames < count
            points = track.points[inside] + np.float32(2000 * k)
            tracks.append(Track(total=count, frames=track.frames[inside], points=points))
    return replace(seen[0], tracks=tuple(tracks), times=seen[0].times[:count])


def windows(held: Look, seconds: int, late: float) -> Iterator[tuple[Seen, Samples]]:
    """Stretches of a clip, half a second apart; the voice of a late picture is that of a later moment."""
    seen, voice = held.seen, held.voice
    rate = Fraction(len(seen.times) - 1) / seen.times[-1]
    length = int(seconds * rate)
    for first in range(0, len(seen.times) - length, int(rate / 2)):
        begin = int((first / rate + Fraction(late)) * SAMPLE_RATE)
        sound = voice[begin : begin + int(length / rate * SAMPLE_RATE)]
        if len(sound) < seconds * SAMPLE_RATE - SAMPLE_RATE // 24:
            return
        tracks = []
        for track in seen.tracks:
            inside = (track.frames >= first) & (track.frames < first + length)
            if inside.any():
                frames, points = track.frames[inside] - first, track.points[inside]
                tracks.append(Track(total=length, frames=frames, points=points))
        times = tuple(seen.times[k] - seen.times[first] for k in range(first, first + length))
        yield Seen(tracks=tuple(tracks), times=times), sound


def share(
    rows: Sequence[Said], wanted: Outcome, of: Callable[[Said], str] = lambda one: one.outcome
) -> float:
    """Of the answers, how many are the wanted one; nan of none."""
    return float(np.mean([of(one) == wanted for one in rows])) if rows else float("nan")
