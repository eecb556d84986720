"""How late the picture is against the voice, and whether chance would find as much.

At each lag every curve of the mouth is correlated with every band of the voice over what they share there,
Fisher's z averaged, and the peak refined by a parabola. Chance is asked with voices of the same spectrum and
random phases (Theiler et al., "Testing for nonlinearity in time series: the method of surrogate data", 1992):
the same phases in every band, and the best lag of each against the best lag found, so that searching many
lags is paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.mouth import HOPS, paced

Floats = NDArray[np.float64]

REACH = 60
"""Hops to either side that are searched: 600 ms, SyncNet's reach."""

LEAD_MS = 60.0
"""How far a natural mouth runs ahead of its voice, by this measure: the median peak of windows of 5, 6 and
8 s of native H3 speech lies at -60, -61 and -60 ms. It rests on that one clip."""

STEP_MS = 40.0
"""A picture at 25 a second, in which offsets are counted as SyncNet counts them."""

SURROGATES = 499
"""Voices of chance; the smallest p is one in 500."""

SEED = 20261130

BATCHES = 10
"""So many times as many voices are asked where p is divided among faces: the smallest p is one in 5000."""

CONTROL_FRAMES = 10
"""By which the control's picture is late: 400 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How two sets of curves fit.

    Parameters
    ----------
    offset_ms : positive: the picture is late; the natural lead is taken off
    r : correlation at the peak, in [-1, 1]
    p : share of voices of chance that fit as well at any lag, in (0, 1]
    edge : the peak lies at an end of the search, so is none
    curve : correlation for lags of -600 to 600 ms, 10 ms apart, natural lead still in; 121 values
    chance : the best correlations of the luckiest tenth of voices of chance, the best first
    """

    offset_ms: float
    r: float
    p: float
    edge: bool
    curve: tuple[float, ...]
    chance: tuple[float, ...] = ()

    @property
    def frames(self) -> int:
        """Pictures at 25 a second, halves away from zero."""
        whole = int(abs(self.offset_ms) / STEP_MS + 0.5)
        return whole if self.offset_ms > 0 else -whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """A mouth and the voice it should belong to, at 100 Hz, starting together.

    Parameters
    ----------
    mouth : float64, shape (curves, n)
    voice : float64, shape (bands, m); what one has more than the other is left out
    """

    mouth: Floats
    voice: Floats

    @property
    def hops(self) -> int:
        """How many they share."""
        return min(int(self.mouth.shape[1]), int(self.voice.shape[1]))

    def delayed(self, frames: int = CONTROL_FRAMES) -> Performance:
        """The same with the picture `frames` pictures (of 40 ms) later, its end held where it runs out."""
        shift = round(frames * STEP_MS * HOPS / 1000)
        place = np.clip(np.arange(self.mouth.shape[1]) - shift, 0, self.mouth.shape[1] - 1)
        return Performance(mouth=self.mouth[:, place], voice=self.voice)


SHORTEST = 5 * REACH
"""Hops (three seconds) of a take that can be laid over a voice: of less, no lag would share enough."""


def estimate(*takes: Performance, surrogates: int = SURROGATES, seed: int = SEED) -> Estimate:
    """Lay mouths over their voices; several takes of one performance, with one offset, are heard together.

    Parameters
    ----------
    takes : one or more, of three seconds and more: no lag would share enough of less
    surrogates : voices of chance; 0 leaves p at 1
    """
    hops = np.array([take.hops for take in takes])
    if not len(hops) or hops.min() < SHORTEST:
        raise ValueError(f"too short to be laid over anything: {hops.tolist()} hops")
    parts = [_scores(take, surrogates, seed + k) for k, take in enumerate(takes)]
    scores = np.average(np.stack(parts), axis=0, weights=hops)
    found, chance = scores[0], scores[1:]
    best = int(np.argmax(found))
    top, lucky = float(found[best]), chance.max(1, initial=-np.inf)
    return Estimate(
        offset_ms=round((best - REACH + _refine(found, best)) * 1000 / HOPS + LEAD_MS, 1),
        r=round(float(np.tanh(top)), 4),
        p=(1 + int((lucky >= top).sum())) / (surrogates + 1),
        edge=best in (0, 2 * REACH),
        curve=tuple(float(r) for r in np.round(np.tanh(found), 3)),
        chance=tuple(float(r) for r in np.round(np.tanh(np.sort(lucky)[::-1][: (surrogates + 1) // 10]), 3)),
    )


def finer(take: Performance, found: Estimate, *, seed: int = SEED) -> Estimate:
    """The same with ten times the voices of chance, for a p that has to bear a correction.

    Of 500 voices the one itself is one, so p cannot be told below 0.002, and 0.001 is read as 0.006 at times.

    Parameters
    ----------
    found : what `estimate` says of the take
    """
    lucky = round(found.p * (SURROGATES + 1)) - 1
    for batch in range(1, BATCHES):
        own, *chance = _scores(take, SURROGATES + 1, seed + 1000 * batch).max(1)
        lucky += int((np.array(chance) >= own).sum())
    return replace(found, p=(1 + lucky) / (BATCHES * (SURROGATES + 1)))


def chance_near(
    take: Performance, offset_ms: float, *, surrogates: int = SURROGATES, seed: int = SEED
) -> float:
    """Chance of fitting as well within a frame of an offset that other takes gave.

    Parameters
    ----------
    offset_ms : as of an `Estimate`, the natural lead taken off
    """
    scores = _scores(take, surrogates, seed)
    middle = round((offset_ms - LEAD_MS) * HOPS / 1000) + REACH
    reach = round(STEP_MS * HOPS / 1000)
    found, *chance = scores[:, max(0, middle - reach) : max(0, middle + reach + 1)].max(1, initial=-np.inf)
    return float((1 + (np.array(chance) >= found).sum()) / (surrogates + 1))


def _scores(take: Performance, surrogates: int, seed: int) -> Floats:
    """Fisher z at each lag, of the voice itself first and then of voices of chance; (1 + surrogates, 121)."""
    curves, bands = paced(take.mouth[:, : take.hops]), paced(take.voice[:, : take.hops])
    total = np.zeros((1 + surrogates, 2 * REACH + 1))
    for band, chance in zip(bands, _scrambled(bands, surrogates, seed), strict=True):
        total += correlate(curves, np.vstack([band[None], chance]))
    return total / len(bands)


def correlate(mouth: Floats, voices: Floats) -> Floats:
    """Fisher z of the correlation at each lag, over what is shared there; the mean over the mouth's curves.

    Parameters
    ----------
    mouth : shape (curves, n)
    voices : shape (voices, n)

    Returns
    -------
    shape (voices, 121); column k: the mouth `k - 60` hops later than the voice
    """
    curves, hops = mouth.shape
    lags = np.arange(-REACH, REACH + 1)
    begin, end = np.maximum(0, -lags), hops - np.maximum(0, lags)
    laid = np.zeros((len(lags), curves, hops))  # the mouth at each lag, so that one product lays all voices
    for row, lag, a, b in zip(laid, lags, begin, end, strict=True):
        shared = mouth[:, a + lag : b + lag]
        row[:, a:b] = shared - shared.mean(1, keepdims=True)
    sums, squares = (np.pad(np.cumsum(v, 1), ((0, 0), (1, 0))) for v in (voices, voices**2))
    inside = (sums[:, end] - sums[:, begin]) ** 2 / (end - begin)
    spread = np.maximum(squares[:, end] - squares[:, begin] - inside, 0)
    scale = np.sqrt(spread[:, :, None] * (laid**2).sum(-1) + 1e-12)
    r = (voices @ laid.reshape(-1, hops).T).reshape(scale.shape) / scale
    return np.asarray(np.arctanh(np.clip(r, -0.98, 0.98)).mean(-1))


def _scrambled(bands: Floats, count: int, seed: int) -> list[Floats]:
    """For each band, voices of its spectrum with random phases; the same phases in every band."""
    spectra = np.fft.rfft(bands)
    phases = np.random.default_rng(seed).uniform(0, 2 * np.pi, (count, spectra.shape[1]))
    turns = np.exp(1j * phases)
    return [np.fft.irfft(np.abs(spectrum) * turns, bands.shape[1]) for spectrum in spectra]


def _refine(curve: Floats, best: int) -> float:
    """Where between hops the parabola through the peak has its top, in hops from `best`."""
    if not 0 < best < len(curve) - 1:
        return 0.0
    before, top, after = curve[best - 1 : best + 2]
    bend = before - 2 * top + after
    return float(0.5 * (before - after) / bend) if bend < 0 else 0.0
