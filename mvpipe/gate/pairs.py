"""Which sound belongs to which picture: the distances of SyncNet's features at each shift.

Chung and Zisserman, "Out of time: automated lip sync in the wild", 2016; LSE-C and LSE-D as Prajwal et al.,
"A Lip Sync Expert Is All You Need", 2020, read them off the same curve. One thing is changed. The official
script pads the sound with zeros, and what lies beyond an end is then compared with nothing: features that
mean nothing read 0, or an edge of the search, in half of all clips or in all of them. So the decision is
taken on pairs that exist, and the official curve is only recorded.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]
Floats = NDArray[np.float64]

RATE = 25
"""Pictures a second in which lips and voice are compared, and offsets counted."""

REACH = 15
"""Pictures to either side that are searched: 600 ms at 25 a second (the official script's vshift)."""

EPSILON = 1e-6
"""Added to each difference by torch's pairwise_distance, which the official script calls."""

SMOOTH = 9
"""Pictures over which the official script takes the median of the confidence of each window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """What one curve of distances says.

    Parameters
    ----------
    curve : mean distance for sound 15 pictures early to 15 late, 31 values
    offset : pictures at 25 a second; positive: the picture is late
    confidence : LSE-C, median less minimum of the curve
    distance : LSE-D, minimum of the curve
    """

    curve: tuple[float, ...]
    offset: int
    confidence: float
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How pictures and sound fit.

    Parameters
    ----------
    windows : of five pictures that were compared
    valid : over pairs in which both exist; decides
    official : as the official script computes it, sound padded with zeros; recorded
    delay : by so many pictures was the control held back; negative: sent ahead
    control : `valid` of a picture so moved
    each : confidence of each window at the offset, smoothed as officially; shape (windows,)
    """

    windows: int
    valid: Lag
    official: Lag
    delay: int
    control: Lag
    each: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def match(lips: Features, sounds: Features, *, delay: int = 10) -> Match:
    """Compare each window of pictures with the sounds around it.

    Parameters
    ----------
    lips, sounds : float32, shape (windows, 1024); row i of both starts with picture i
    delay : pictures by which the control is moved, less than the windows; later, unless the picture is late
        already and would leave the search

    Raises
    ------
    ValueError : shapes differ, or there are too few windows for each shift to have a pair in the control
    """
    if lips.shape != sounds.shape or len(lips) <= delay + REACH:
        raise ValueError(f"features in pairs, more than {delay + REACH}: {lips.shape} and {sounds.shape}")
    padded, there = _distances(lips, sounds, 0)
    valid = _lag(_mean(padded, there))
    delay = -delay if valid.offset > 0 else delay
    kept = lips[: len(lips) - delay] if delay > 0 else lips[-delay:]
    moved, moved_there = _distances(kept, sounds, max(0, delay))
    return Match(
        windows=len(lips),
        valid=valid,
        official=_lag(padded.mean(0)),
        delay=delay,
        control=_lag(_mean(moved, moved_there)),
        each=_each(padded, valid),
    )


def confidence_elsewhere(lips: Features, sounds: Features) -> float:
    """LSE-C over valid pairs of pictures with a voice that was sung elsewhere: chance, for this face.

    Parameters
    ----------
    lips, sounds : as for `match`
    """
    return _lag(_mean(*_distances(lips, sounds, 0))).confidence


def _distances(lips: Features, sounds: Features, delay: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Distance of picture i + delay to the sound at each shift, and whether there is one."""
    place = np.arange(len(lips))[:, None] + delay + np.arange(-REACH, REACH + 1)
    there = (place >= 0) & (place < len(sounds))
    padded = np.vstack([sounds, np.zeros((1, sounds.shape[1]), sounds.dtype)]).astype(np.float64)
    place = np.where(there, place, len(sounds))
    out = np.empty(place.shape)
    for row, picture in enumerate(lips.astype(np.float64)):
        out[row] = np.sqrt(((picture - padded[place[row]] + EPSILON) ** 2).sum(1))
    return out, there


def _mean(distances: Floats, there: NDArray[np.bool_]) -> Floats:
    return np.asarray((distances * there).sum(0) / there.sum(0))


def _lag(curve: Floats) -> Lag:
    best = int(np.argmin(curve))
    least = float(curve[best])
    return Lag(
        curve=tuple(float(d) for d in np.round(curve, 4)),
        offset=REACH - best,
        confidence=float(np.median(curve)) - least,
        distance=least,
    )


def _each(distances: Floats, lag: Lag) -> tuple[float, ...]:
    raw = np.median(lag.curve) - distances[:, REACH - lag.offset]
    wide = np.lib.stride_tricks.sliding_window_view(np.pad(raw, SMOOTH // 2), SMOOTH)
    return tuple(float(c) for c in np.round(np.median(wide, axis=1), 3))
