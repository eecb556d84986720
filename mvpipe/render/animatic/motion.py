"""How a figure holds itself: slow turns of the head, a nod with the phrase, blinking; all from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

PerFrame = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carriage:
    """One value a frame of each movement.

    Parameters
    ----------
    roll : of the head, radians, clockwise
    turn : of the head to its left (positive) or right, 0.3 being a three-quarter view
    nod : of the head, down positive
    shift, rise : of the head against the shoulders, in units of the figure
    sway : of the whole figure, in units
    lid : 0 open .. 1 shut
    """

    roll: PerFrame
    turn: PerFrame
    nod: PerFrame
    shift: PerFrame
    rise: PerFrame
    sway: PerFrame
    lid: PerFrame


def carriage(frames: int, rate: Fraction, seed: int, *, facing: float, effort: PerFrame) -> Carriage:
    """The movements of a figure.

    Parameters
    ----------
    frames, rate : of the take
    seed : decides everything random
    facing : the turn it comes back to
    effort : how hard it sings, one value a frame in [0, 1]; listeners hand in zeros
    """
    dice = np.random.default_rng([seed % 2**63, 11])
    seconds = np.arange(frames) / float(rate)

    def wander(size: float, slowest: float, fastest: float) -> PerFrame:
        hertz, phase = dice.uniform(slowest, fastest, 3), dice.uniform(0, 2 * np.pi, 3)
        waves = np.sin(2 * np.pi * hertz[:, None] * seconds + phase[:, None]) * [[0.6], [0.3], [0.2]]
        return np.asarray(size * waves.sum(0), float)

    slow = _slowly(effort, float(rate))
    beat = wander(1.0, 0.35, 0.5) * slow
    return Carriage(
        roll=wander(0.035, 0.06, 0.22) + 0.03 * beat,
        turn=facing + wander(0.07, 0.05, 0.2) + 0.03 * beat,
        nod=wander(0.05, 0.06, 0.25) - 0.07 * slow,
        shift=wander(0.03, 0.05, 0.2),
        rise=wander(0.015, 0.1, 0.3) - 0.02 * slow,
        sway=wander(0.04, 0.04, 0.16) + 0.03 * beat,
        lid=_blinks(frames, float(rate), dice),
    )


def _slowly(effort: PerFrame, rate: float) -> PerFrame:
    n = round(rate * 0.8) * 2 + 1
    kernel = np.hanning(n + 2)[1:-1]
    padded = np.pad(effort, n // 2, "edge")
    return np.asarray(np.convolve(padded, kernel / kernel.sum(), "valid"), float)


def _blinks(frames: int, rate: float, dice: np.random.Generator) -> PerFrame:
    lid = np.zeros(frames)
    at = dice.uniform(0.6, 2.5)
    while (first := round(at * rate)) < frames:
        for i, shut in enumerate((0.5, 1.0, 1.0, 0.5)):
            if first + i < frames:
                lid[first + i] = shut
        at += dice.uniform(1.8, 4.6)
    return lid


def still(frames: int, facing: float) -> Carriage:
    """No movement at all."""
    zero = np.zeros(frames)
    return Carriage(roll=zero, turn=zero + facing, nod=zero, shift=zero, rise=zero, sway=zero, lid=zero)
