"""The form of a song: where a section begins, and which sections are the same music again.

A section begins where what is played, on which notes, and whether anybody sings, changes for long. Two
sections have one label if they sound alike throughout: A B A B C B is verse, chorus, verse, chorus, bridge,
chorus. Nothing here needs a beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.beats import Hops
from mvpipe.sound.spectrum import COLOUR_HOPS, HOPS, TONE_HOPS, Floats

SECTION_S, SECTION_CONTRAST, SECTION_APART_S = 6, 0.4, 8
"""Seconds compared before and after a moment; how far apart (in standard deviations, over the bands, plus
`TONES` and `SUNG`) two sections sound; and the least distance between two changes of section."""

TONES, SUNG = 4.0, 0.6
"""What another choice of notes (1 less their likeness), and all instead of no singing, add to a contrast."""

SHORTEST_S = 3
"""Towards the ends of a song less is compared, down to 3 s: an intro may be short. With a full 6 s everywhere
the last of them looked like a change in every second song: 72 instead of 86 of 100 found are changes, and 71
instead of 68 of 100 changes are found (tuning half of `benchmarks cut`)."""

ALIKE = 0.3
"""Sections further apart than this are other music."""

EDGE_STEPS = 2
"""The first and last second of a section are not part of how it sounds: its edge is only roughly known."""

SILENT = 1e-9
"""Notes below this are none, and no change of notes."""

Steps = NDArray[np.float64]
"""One row each half second."""


@dataclass(frozen=True, slots=True)
class Form:
    """The sections of a song.

    Parameters
    ----------
    changes : hops at which a section begins, without the first
    labels : int64 (changes + 1,), the same number for the same music, from 0 in order of appearance
    """

    changes: Hops
    labels: NDArray[np.int64]


def form(colour: Floats, tone: Floats, effort: Floats) -> Form:
    """Where a song's sections begin, and which of them are alike.

    Parameters
    ----------
    colour, tone : as in `spectrum.Texture`
    effort : float32 (hops,), how much voice, in [0, 1]
    """
    parts = _Parts.of(colour, tone, effort)
    steps, reach, least = len(colour), SECTION_S * HOPS // COLOUR_HOPS, SHORTEST_S * HOPS // COLOUR_HOPS
    if steps < 2 * reach + 1:
        return Form(np.zeros(0, np.int64), np.zeros(1, np.int64))
    ends = np.arange(least, steps - least + 1)
    change = parts.apart(np.maximum(ends - reach, 0), ends, ends, np.minimum(ends + reach, steps))
    found = _peaks(change, SECTION_CONTRAST, SECTION_APART_S * HOPS // COLOUR_HOPS) + least
    found = found[
        (found > least) & (found < steps - least)
    ]  # a curve that rises to its end has no peak there
    return Form(np.asarray(found * COLOUR_HOPS, np.int64), _labels(parts, np.array([0, *found, len(colour)])))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sums from the first step on, so that the mean of any stretch is a difference."""

    colour: Steps
    tone: Steps
    sung: Steps

    @staticmethod
    def of(colour: Floats, tone: Floats, effort: Floats) -> _Parts:
        steps = len(colour)
        notes = np.sqrt(_halves(tone, COLOUR_HOPS // TONE_HOPS, steps))
        sung = _halves(effort[:, None] > 0, COLOUR_HOPS, steps)
        spread = colour.std(axis=0) + 1.0
        return _Parts(_sums(colour / spread), _sums(notes), _sums(sung))

    def apart(self, a: Hops, b: Hops, c: Hops, d: Hops) -> NDArray[np.float64]:
        """How unlike the stretches [a, b) are to [c, d), in steps."""
        one, two = ((self._means(self.tone, *ends)) for ends in ((a, b), (c, d)))
        norm = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        alike = np.divide((one * two).sum(axis=1), norm, out=np.ones(len(norm)), where=norm > SILENT)
        colour = np.abs(self._means(self.colour, a, b) - self._means(self.colour, c, d)).mean(axis=1)
        sung = np.abs(self._means(self.sung, a, b) - self._means(self.sung, c, d))[:, 0]
        far: NDArray[np.float64] = colour + TONES * (1 - alike) + SUNG * sung
        return far

    @staticmethod
    def _means(sums: Steps, start: Hops, stop: Hops) -> Steps:
        means: Steps = (sums[stop] - sums[start]) / np.maximum(stop - start, 1)[:, None]
        return means


def _labels(parts: _Parts, ends: Hops) -> NDArray[np.int64]:
    """The same number for sections that are alike: joined from the likest pair on, by their mean distance."""
    k = len(ends) - 1
    inner = np.minimum(EDGE_STEPS, (ends[1:] - ends[:-1] - 1) // 2)
    start, stop = ends[:-1] + inner, ends[1:] - inner
    i, j = (at.ravel() for at in np.indices((k, k)))
    far = parts.apart(start[i], stop[i], start[j], stop[j]).reshape(k, k)
    groups = [[at] for at in range(k)]
    np.fill_diagonal(far, np.inf)
    while len(groups) > 1:
        a, b = divmod(int(far.argmin()), len(groups))
        if far[a, b] > ALIKE:
            break
        a, b = min(a, b), max(a, b)
        one, two = len(groups[a]), len(groups[b])
        far[a] = far[:, a] = (one * far[a] + two * far[b]) / (one + two)
        far[a, a] = np.inf
        far = np.delete(np.delete(far, b, axis=0), b, axis=1)
        groups[a] += groups.pop(b)
    labels = np.zeros(k, np.int64)
    for name, group in enumerate(sorted(groups, key=min)):
        labels[group] = name
    return labels


def _halves(rows: NDArray[np.generic], size: int, steps: int) -> Steps:
    """Means of every `size` rows: (steps, columns); rows that lack at the end are 0."""
    full = np.zeros((steps * size, rows.shape[1]))
    full[: len(rows)] = rows[: len(full)]
    means: Steps = full.reshape(steps, size, -1).mean(axis=1)
    return means


def _sums(rows: NDArray[np.generic]) -> Steps:
    return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0, dtype=np.float64)])


def _peaks(curve: NDArray[np.float64], least: float, apart: int) -> Hops:
    """Indices of the highest values, each at least `least` high and the highest within `apart`."""
    wide = np.pad(curve, apart, constant_values=-np.inf)
    highest = np.lib.stride_tricks.sliding_window_view(wide, 2 * apart + 1).max(axis=1)
    return np.flatnonzero((curve >= least) & (curve == highest)).astype(np.int64)
