"""Beats and bars of a mix, and how far they can be trusted.

They only break ties between cuts that are equally good for the voice, so a wrong beat must not be offered:
where the pulse is not plain to hear there are none. librosa's tracker finds them on our own onset curve,
whose hops are centred on their moment: beats then come 0 to 11 ms late. On librosa's own curve it was 37 to
47 ms, one picture frame (measured, the same four songs).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.spectrum import HOPS, TONE_HOPS, Floats

Hops = NDArray[np.int64]
"""int64, shape (k,): hops, ascending"""

STRETCH_S, MARGIN_S = 120, 8
"""Tempo is taken anew every two minutes (an hour of songs has many), with some seconds heard on each side."""

TRUSTED = 0.33
"""Likeness of the onset curve to itself one, two and four beats later, from which on beats are believed.
Measured: songs with drums 0.65-1, metal 0.3-0.7, voices alone 0.23, swelling chords 0.2, noise 0.02-0.16."""

TIGHTNESS = 100
"""librosa's default: how strongly beats keep their distance."""

METRES = ((1, 4), (1, 3), (1, 2), (1, 5), (1, 6), (1, 7), (2, 5), (2, 7))
"""Metres that are tried: counts to a beat, and counts to a bar. In 7/8 the tracked beat is the quarter."""

BAR_CONTRAST, BAR_ODD, BAR_CHANGE = 3.0, 1.5, 0.01
"""Standard errors, and the least amount, by which chords must change more on the first count of a bar; and
how many times more for a metre other than 4 and 3, of which there are so many that one fits by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The beats of a mix.

    Parameters
    ----------
    beats, bars : hops of the beats, and of the first beats of bars
    confidence : share of the song whose beats can be trusted, in [0, 1]
    metre : counts to a bar in most of it (7 in 7/8); 0 where no bars are heard
    """

    beats: Hops
    bars: Hops
    confidence: float
    metre: int = 0


def pulse(onset: Floats, tone: Floats) -> Pulse:
    """Beats and bars, where they can be trusted; none is not an error.

    Parameters
    ----------
    onset, tone : as in `spectrum.Texture`
    """
    hops, margin = len(onset), MARGIN_S * HOPS
    edges = np.linspace(0, hops, max(round(hops / (STRETCH_S * HOPS)), 1) + 1).astype(int).tolist()
    beats, bars, trusted = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    metres: Counter[int] = Counter()
    for start, stop in pairwise(edges):
        bpm = _tempo(onset[start:stop])
        if bpm is None:
            continue
        first = max(start - margin, 0)
        heard = _track(onset[first : stop + margin], bpm)
        trusted += stop - start
        found = heard + first
        inside = (found >= start) & (found < stop)
        beats.append(found[inside])
        began, counts = _bars(heard, tone[first // TONE_HOPS : (stop + margin) // TONE_HOPS])
        bars.append(began[(began + first >= start) & (began + first < stop)] + first)
        metres[counts] += stop - start
    return Pulse(
        beats=_apart(np.concatenate(beats)),
        bars=_apart(np.concatenate(bars)),
        confidence=trusted / max(hops, 1),
        metre=max(metres, key=lambda counts: metres[counts], default=0),
    )


def _tempo(onset: Floats) -> float | None:
    """Beats a minute, or None where there is no pulse to trust."""
    if len(onset) < 4 * HOPS or not onset.any():
        return None
    from librosa.feature import tempo

    coarse = onset[: len(onset) // 2 * 2].reshape(-1, 2).mean(axis=1)
    guess = float(tempo(onset_envelope=coarse, sr=HOPS // 2, hop_length=1)[0])
    period, trust = _period(onset, 60 * HOPS / guess)
    return 60 * HOPS / period if trust >= TRUSTED else None


def _track(onset: Floats, bpm: float) -> Hops:
    """Hops of the beats, about so many a minute."""
    from librosa.beat import beat_track

    _, beats = beat_track(
        onset_envelope=onset, sr=HOPS, hop_length=1, bpm=bpm, tightness=TIGHTNESS, trim=False
    )
    return np.asarray(beats, np.int64)


def _period(onset: Floats, guess: float) -> tuple[float, float]:
    """Hops between beats, told from how the curve resembles itself near the guess; and how much it does."""
    curve = onset - onset.mean()
    spectrum = np.fft.rfft(curve, 2 * len(curve))
    likeness = np.fft.irfft(np.square(np.abs(spectrum)))[: len(curve)]
    likeness *= len(curve) / likeness[0] / (len(curve) - np.arange(len(curve)))
    best, trust = guess, []
    for beats in (1, 2, 4):
        low, high = int(beats * best * 0.96), int(beats * best * 1.04) + 2
        if high >= len(curve) // 2:
            break
        top = low + int(np.argmax(likeness[low:high]))
        best = top / beats
        trust.append(float(likeness[top]))
    return best, float(np.mean(trust)) if trust else 0.0


def _bars(beats: Hops, tone: Floats) -> tuple[Hops, int]:
    """The moments on which a bar begins, since there the chord changes; and how many counts a bar has."""
    best, counts, contrast = beats[:0], 0, BAR_CONTRAST
    for split, metre in METRES:
        grid = _split(beats, split)
        change = _chord_change(grid, tone)
        hurdle = 1.0 if (split, metre) in METRES[:2] else BAR_ODD
        for phase in range(metre):
            on = np.arange(len(grid)) % metre == phase
            if on.sum() < 3:
                continue
            more = float(change[on].mean() - change[~on].mean())
            found = more / float(change[~on].std() / np.sqrt(on.sum()) + 1e-6) / hurdle
            if found > contrast and more > BAR_CHANGE:
                best, counts, contrast = grid[on], metre, found
    return best, counts


def _split(beats: Hops, into: int) -> Hops:
    """The beats with so many counts to each."""
    if into == 1 or len(beats) < 2:
        return beats
    at = np.arange((len(beats) - 1) * into + 1) / into
    return np.rint(np.interp(at, np.arange(len(beats)), beats)).astype(np.int64)


def _chord_change(beats: Hops, tone: Floats) -> NDArray[np.float64]:
    """How unlike the tones after each beat are to those before it, in [0, 1]."""
    sums = np.concatenate([np.zeros((1, tone.shape[1])), np.cumsum(tone, axis=0, dtype=np.float64)])
    ends = np.clip(np.concatenate([[0], beats, [len(tone) * TONE_HOPS]]) // TONE_HOPS, 0, len(tone))
    means = np.diff(sums[ends], axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True) + 1e-9
    change: NDArray[np.float64] = 1 - (means[1:] * means[:-1]).sum(axis=1)
    return change


def _apart(hops: Hops) -> Hops:
    """The same without doubles where two stretches meet."""
    if len(hops) < 3:
        return hops
    steps = np.diff(hops)
    return np.asarray(hops[np.concatenate([[True], steps > 0.6 * np.median(steps)])], np.int64)
