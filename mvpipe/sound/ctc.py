"""Words laid along what a network hears: the likeliest way, letter by letter, by the Viterbi algorithm.

A. Graves et al., "Connectionist temporal classification", 2006: between two letters lies a blank, which may
take no time, unless the two are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Likely = NDArray[np.float32]
"""float32 (steps, letters), logarithms of probabilities; each row's add up to 1"""


@dataclass(frozen=True, slots=True)
class Letter:
    """When a letter is heard.

    Parameters
    ----------
    start, stop : steps
    likely : mean probability of the letter there, in [0, 1]
    """

    start: int
    stop: int
    likely: float


def lay(heard: Likely, letters: Sequence[int], blank: int) -> list[Letter] | None:
    """When each letter is heard, in order; None where there are more of them than steps.

    Parameters
    ----------
    heard : what the network heard
    letters : what is sung, as columns of `heard`; not the blank
    blank : the column that stands for no letter
    """
    states = np.full(2 * len(letters) + 1, blank)
    states[1::2] = letters
    path = _path(heard, states)
    if path is None or not letters:
        return None if letters else []
    out = []
    for number in range(len(letters)):
        at = np.flatnonzero(path == 2 * number + 1)
        likely = float(np.exp(heard[at, letters[number]].mean(dtype=np.float64)))
        out.append(Letter(int(at[0]), int(at[-1]) + 1, likely))
    return out


def _path(heard: Likely, states: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The state of each step on the likeliest way through all of them; a letter may not be left out."""
    count = len(states)
    skips = np.zeros(count, bool)
    skips[3::2] = states[3::2] != states[1:-2:2]
    best = np.full(count, -np.inf)
    best[:2] = heard[0, states[:2]]
    came = np.zeros((len(heard), count), np.uint8)
    for step in range(1, len(heard)):
        ways = np.full((3, count), -np.inf)
        ways[0], ways[1, 1:] = best, best[:-1]
        ways[2, 2:] = np.where(skips[2:], best[:-2], -np.inf)
        came[step] = ways.argmax(axis=0)
        best = ways.max(axis=0) + heard[step, states]
    at = count - 1 if count < 2 or best[-1] >= best[-2] else count - 2
    if not np.isfinite(best[at]):
        return None
    path = np.zeros(len(heard), np.int64)
    for step in range(len(heard) - 1, -1, -1):
        path[step] = at
        at -= int(came[step, at])
    return path
