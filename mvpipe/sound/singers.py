"""Who sings each phrase, by how alike it is to a recording of every singer; and where that cannot be told.

Each singer is the mean colour of their recording, and a phrase is as far from each of them as its own mean
is, measured by how much the colour moves while one and the same person sings (Mahalanobis' distance). How far
that may be follows from how long both last, and from how two recordings of one person differ. Two recordings
that differ no more than that are of voices that cannot be told apart, and nothing is said of who sings.

Measured on duets of two synthesized singers, 28 songs' worth of phrases with known truth, at other seeds than
the figures were found on: see `benchmarks singers`. With real singers it was not measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.film import SungBy
from mvpipe.sound.spectrum import HOP, HOPS
from mvpipe.sound.timbre import COEFFICIENTS, Timbre
from mvpipe.sound.voice import Runs

VERSION = 1
"""Bumped by hand when the same voices would be told apart otherwise."""

LEAST_S = 5.0
"""A recording holds so many seconds of voice at least."""

PER_SECOND, RECORDINGS = 2.2, 0.1
"""How the mean colour of one singer scatters, as shares of the variance inside a phrase: what a phrase of a
second says in other words, halved for one of two, and what stays between two recordings of any length.
Measured: phrases of 3.5 s scatter by 0.3, pieces of 3 s of one recording by 0.15 (synthesized singers)."""

LIKE = 0.2
"""Two recordings this far apart, or nearer, may be of one person: they were up to 0.22 apart (12 pairs), and
those of singers whose formants lie 10 % apart 0.16 to 0.39, 18 % apart 0.42 to 0.69."""

STRANGE = 1.2
"""A phrase this far from every singer is sung by none of them, or by several at once."""

SURE = 0.9
"""From here on a phrase counts as somebody's."""

Colours = NDArray[np.float64]


class Singers:
    """The singers as their recordings tell them apart.

    Parameters
    ----------
    recordings : name -> what a recording of them alone sounds like

    Raises
    ------
    MediaError : a recording with too little voice in it
    """

    def __init__(self, recordings: Mapping[str, Timbre]) -> None:
        loud = {name: one.colour[one.loud].astype(np.float64) for name, one in recordings.items()}
        for name, colours in loud.items():
            if len(colours) < LEAST_S * HOPS:
                raise MediaError(
                    f"voice of {name}: too short: {len(colours) / HOPS:.1f} s of voice in it",
                    hint=f"record them alone for {LEAST_S:.0f} s and more; twenty are better",
                )
        self.names = tuple(loud)
        self._means = {name: colours.mean(axis=0) for name, colours in loud.items()}
        self._seconds = {name: len(colours) / HOPS for name, colours in loud.items()}
        self._inverse = _inverse(list(loud.values()))
        self._apart = {
            pair: self._far(self._means[pair[0]] - self._means[pair[1]])
            for pair in combinations(self.names, 2)
        }

    @property
    def alike(self) -> tuple[tuple[str, str], ...]:
        """Pairs whose voices cannot be told apart."""
        return tuple(pair for pair, far in self._apart.items() if far <= LIKE)

    def shares(self, colours: Colours) -> dict[str, float]:
        """How likely each of them sings what sounds like this, in [0, 1]; all 0 for a stranger.

        Parameters
        ----------
        colours : of the loud hops of a phrase, (n, COEFFICIENTS), n > 0
        """
        mean, seconds = colours.mean(axis=0), len(colours) / HOPS
        far = {name: self._far(mean - own) for name, own in self._means.items()}
        if min(far.values()) > STRANGE:
            return dict.fromkeys(self.names, 0.0)
        for_each = {
            name: COEFFICIENTS
            * far[name]
            / (1 / (PER_SECOND * seconds) + 1 / (PER_SECOND * self._seconds[name]) + RECORDINGS)
            for name in self.names
        }
        odds = {
            one: 1 + sum(np.exp(self._trust(one, other) * (for_each[one] - for_each[other]) / 2)
                         for other in self.names if other != one)
            for one in self.names
        }  # fmt: skip
        return {name: float(1 / against) for name, against in odds.items()}

    def _far(self, difference: Colours) -> float:
        """How far two mean colours are apart: 1 is as far as the colour of one singer moves."""
        return float(difference @ self._inverse @ difference) / COEFFICIENTS

    def _trust(self, one: str, other: str) -> float:
        """Which share of the difference between two recordings is that of the singers, in [0, 1)."""
        far = self._apart.get((one, other)) or self._apart[other, one]
        return max(0.0, 1 - LIKE / far)


def _inverse(loud: Sequence[Colours]) -> Colours:
    """Of how the colour moves while one person sings: the mean covariance, a little rounder."""
    covariance = np.mean([np.cov(colours.T) for colours in loud], axis=0)
    rounder = 0.02 * np.trace(covariance) / COEFFICIENTS * np.eye(COEFFICIENTS)
    inverse: Colours = np.linalg.inv(covariance + rounder)
    return inverse


def tell(singers: Singers, song: Timbre, phrases: Runs) -> tuple[SungBy, ...]:
    """Who sings each phrase.

    Parameters
    ----------
    song : what its isolated voice sounds like
    phrases : hops [start, stop), as in `hearing.Hearing`
    """
    found = []
    for start, stop in phrases.tolist():
        colours = song.colour[start:stop][song.loud[start:stop]].astype(np.float64)
        shares = singers.shares(colours) if len(colours) else dict.fromkeys(singers.names, 0.0)
        likeliest = max(shares, key=lambda name: shares[name])
        found.append(
            SungBy(
                start=start * HOP,
                stop=stop * HOP,
                name=likeliest if shares[likeliest] >= SURE else "",
                likeliest=likeliest,
                sure=round(shares[likeliest], 3),
            )
        )
    return tuple(found)


def save(sung: Sequence[SungBy], alike: Sequence[tuple[str, str]], path: Path) -> None:
    """Write it as JSON."""
    rows = [[str(one.start), str(one.stop), one.name, one.likeliest, one.sure] for one in sung]
    path.write_text(json.dumps({"phrases": rows, "alike": list(alike)}, ensure_ascii=False), "utf-8")


def load(path: Path) -> tuple[tuple[SungBy, ...], tuple[tuple[str, str], ...]]:
    """What `save` wrote: who sings each phrase, and whose voices cannot be told apart."""
    held = json.loads(path.read_text("utf-8"))
    sung = tuple(
        SungBy(start=Fraction(a), stop=Fraction(b), name=name, likeliest=likeliest, sure=sure)
        for a, b, name, likeliest, sure in held["phrases"]
    )
    return sung, tuple((one, other) for one, other in held["alike"])
