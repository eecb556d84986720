"""When somebody sings, told from the separated stem: phrases, the gaps between them, and how sure that is.

The measure is the level of the stem against its own loud moments nearby, and against the mix, for what is
left of the band in a stem follows the band. On singing that is better than a speech detector and forty times
cheaper; on the mix either finds nothing (measured on four songs, 114 gaps).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.spectrum import HOPS, Floats

Runs = NDArray[np.int64]
"""int64, shape (k, 2): hops [start, stop), in order, apart from each other"""

RANGE_DB = 20.0
"""Below the loud moments nearby by more than this, nobody sings. At 24 a breath or an echo closes a quarter
of all gaps (tests.synth, sung text); at 18 a weak stem shows twice as many false ones."""

NEARBY_S, LOUD_PERCENT = 8, 90
"""The loud moments nearby: the 90th percentile over 8 s."""

SOFTEST_DB = 20.0
"""How far the loud moments of one passage may lie under those of the song; a pause is not a soft verse."""

FLOOR_DB, UNDER_MIX_DB, FAINTEST_DB = -60.0, 45.0, -100.0
"""Nothing below -60 dB re full scale is singing; in a quieter mix, nothing 45 dB below its loud moments, and
nothing at all below -100, where 16 bit end: a song mastered at -50 dB is sung like any other."""

FAINT_DB, FAINT_RANGE_DB = -22.0, 16.0
"""Over a second, a voice is less than 22 dB below the mix, and less than 16 dB below its own usual share of
it. Measured with Spleeter: instrumental songs leave a stem at -34 to -39 dB, growls one at -12 to -16."""

LEAK_PERCENT, LEAK_DB, LEAK_MARGIN_DB = 5, -8.0, 4.0
"""The stem's lowest share of the mix (5th percentile over half seconds) is what leaks; a voice stands 4 dB
above that. A stem that never falls 8 dB below the mix has no gap to tell it from. With the band at -15 dB in
the stem this finds 93 instead of 14 of 100 gaps, at -10 dB 95 instead of 4 (sung text, 51 gaps)."""

LEAK_PEAK_DB, LEAK_PEAK_SHARE = 10.0, 0.8
"""Somewhere in a phrase the voice stands 10 dB above what leaks, or, where so much leaks that it hardly can,
eight tenths of the way to the mix. What leaks is not even: with the band 12 dB down in the stem, 3 dB more or
less by moment and pitch, 96 of 100 gaps are gaps, without this 49 (tuning half, 32 s of 15 songs)."""

GAP_HOPS = 15
"""A quiet run shorter than 150 ms is a closure inside a word, not a gap. The design asks for 180 ms of
silence: those show as 150 here, for a room rings into a gap and a phrase begins 40 ms before it is heard. At
180 a twentieth of all gaps is lost (rap, ballads), at 130 a weak stem shows twice as many false ones (tuning
half, 109 gaps)."""

SHORTEST_HOPS, PEAK_DB = 12, 12.0
"""A phrase lasts at least 120 ms and comes within 12 dB of the loud moments nearby; a breath does not."""

TAIL_DB, TAIL_HOPS = 15.0, 50
"""The end of a phrase is where its level last was within 15 dB of the loud moments; what rings on after
that, up to half a second, is the room."""

RING_HOPS, RING_LAG, RING_DB = 25, 4, 1.5
"""From there, up to 0.25 s back, whatever falls by 1.5 dB in 40 ms is the room too, or the release."""

LOST_DB, LOST_HOPS, LOST_REACH = 20.0, 8, 100
"""Where a drum hits, a separator takes the voice out with it, and of a word that begins there the first half
second is lost. What stays loud from the hit to where the voice is heard, for 80 ms up to a second, with 20 dB
less in the stem, is the word: a drum is gone by then."""

LOST_RISE_DB, LOST_UNDER_DB, LOST_DIP = 10.0, 8.0, 3
"""Loud is 10 dB above what the mix is in the gap before (a fifth of it is quieter), and within 8 dB of the
loud moments of the voice nearby; closures of up to 20 ms are stepped over. A band that plays as loud in the
gap tells nothing, and then nothing changes. Of the starts of phrases in Spleeter's stems 90 instead of 80 of
100 are found within 100 ms then; on other stems nothing changes (tuning half)."""

LEAD_HOPS = 4
"""A phrase begins 40 ms before its vowel is heard: half of what a consonant takes, so neither is far off.
Without this half of all starts come more than 40 ms late, a tenth more than 80 (tuning half, 109 gaps)."""

MASKED_DB, MASKED_HOPS = -20.0, 0.25
"""Where more of the band than -20 dB is left in the stem, it hides how softly a phrase begins: by 2.5 ms for
every dB. At 5 the last and quietest of a gap is taken for the phrase: of the cuts with the band 10 dB down 91
instead of 93 of 100 are at a best place then (tuning half and five more, 656 cuts)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Singing:
    """When somebody sings.

    Parameters
    ----------
    phrases : hops [start, stop) of every phrase
    effort : float32 (n,), how much voice there is in each hop, in [0, 1]: 0 at the edge of hearing, 1 as
        loud as the loud moments nearby
    """

    phrases: Runs
    effort: Floats


def singing(stem_db: Floats, mix_db: Floats) -> Singing:
    """When somebody sings.

    Parameters
    ----------
    stem_db, mix_db : float32 (n,), levels per hop of the separated voice and of the mix, dB re full scale
    """
    loud = _loud(stem_db)
    effort = np.clip((stem_db - loud + RANGE_DB) / RANGE_DB, 0, 1)
    leak = _leak(stem_db, mix_db)
    effort[
        (stem_db < _floor(mix_db)) | _faint(stem_db, mix_db) | _leaked(stem_db, mix_db, leak, LEAK_MARGIN_DB)
    ] = 0
    phrases = _close(runs(effort > 0))
    peak = min(LEAK_PEAK_DB, -LEAK_PEAK_SHARE * leak)
    strong = (stem_db > loud - PEAK_DB) & ~_leaked(stem_db, mix_db, leak, peak)
    phrases = phrases[[b - a >= SHORTEST_HOPS and bool(strong[a:b].any()) for a, b in phrases]]
    lead = LEAD_HOPS + round(MASKED_HOPS * max(leak - MASKED_DB, 0)) if leak <= LEAK_DB else LEAD_HOPS
    phrases = _trim(phrases, stem_db, stem_db > loud - TAIL_DB)
    phrases = _led(_with_lost_starts(phrases, stem_db, mix_db, loud), lead)
    return Singing(phrases=phrases, effort=np.asarray(effort, np.float32))


def only_leaked(stem_db: Floats, mix_db: Floats, margin_db: float) -> NDArray[np.bool_]:
    """Where the stem holds no more of the mix, to a margin, than it does where nobody sings: bool (n,)."""
    return _leaked(stem_db, mix_db, _leak(stem_db, mix_db), margin_db)


def runs(mask: NDArray[np.bool_]) -> Runs:
    """Where a mask is true: hops [start, stop) of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2).astype(np.int64)


def gaps(phrases: Runs, hops: int) -> Runs:
    """What lies between the phrases, before the first and after the last."""
    edges = np.concatenate([[0], phrases.ravel(), [hops]]).reshape(-1, 2)
    return np.asarray(edges[edges[:, 0] < edges[:, 1]], np.int64)


def covered(phrases: Runs, hops: int) -> NDArray[np.bool_]:
    """The mask whose runs these are."""
    steps = np.zeros(hops + 1, np.int64)
    np.add.at(steps, phrases[:, 0], 1)
    np.add.at(steps, phrases[:, 1], -1)
    return np.asarray(np.cumsum(steps)[:hops] > 0)


def _floor(mix_db: Floats) -> float:
    """The level below which nothing is singing."""
    if not len(mix_db):
        return FLOOR_DB
    return max(min(FLOOR_DB, float(np.percentile(mix_db, 95)) - UNDER_MIX_DB), FAINTEST_DB)


def _loud(level: Floats) -> Floats:
    """The loud moments around each hop, in dB; never far below those of the whole song."""
    step, reach = HOPS // 2, NEARBY_S * HOPS // 2
    wide = np.pad(level, reach, mode="reflect" if len(level) > reach else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1)[::step, ::4]
    nearby = np.percentile(windows, LOUD_PERCENT, axis=1)
    at = np.arange(len(nearby)) * step
    smooth = np.interp(np.arange(len(level)), at, nearby)
    return np.asarray(np.maximum(smooth, np.percentile(level, 98) - SOFTEST_DB), np.float32)


def _faint(stem_db: Floats, mix_db: Floats) -> NDArray[np.bool_]:
    """Where the stem is so far below the mix, for so long, that nobody sings."""
    share = _around(stem_db, HOPS // 2) - _around(mix_db, HOPS // 2)
    heard = stem_db > FLOOR_DB
    usual = float(np.percentile(share[heard], 80)) if heard.any() else 0.0
    return np.asarray(share < max(FAINT_DB, usual - FAINT_RANGE_DB))


def _leak(stem_db: Floats, mix_db: Floats) -> float:
    """How much of the mix is in the stem where nobody sings, in dB."""
    band = _around(mix_db, HOPS // 4)
    playing = band > np.percentile(mix_db, 90) - 30
    share = (_around(stem_db, HOPS // 4) - band)[playing]
    return float(np.percentile(share, LEAK_PERCENT)) if playing.any() else 0.0


def _leaked(stem_db: Floats, mix_db: Floats, leak: float, margin_db: float) -> NDArray[np.bool_]:
    """Where the stem holds no more of the mix than it does where nobody sings."""
    if leak > LEAK_DB:
        return np.zeros(len(stem_db), bool)
    return np.asarray(_around(stem_db, 2) - _around(mix_db, 2) < leak + margin_db)


def _around(level: Floats, reach: int) -> NDArray[np.float64]:
    """The mean power over `reach` hops to both sides, in dB."""
    power = np.concatenate([[0.0], np.cumsum(10 ** (level.astype(np.float64) / 10))])
    at = np.arange(len(level))
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(level))
    mean: NDArray[np.float64] = 10 * np.log10(np.maximum(power[high] - power[low], 1e-12) / (high - low))
    return mean


def _close(quiet_between: Runs) -> Runs:
    """The runs, joined where less than a gap lies between them."""
    if not len(quiet_between):
        return quiet_between
    apart = quiet_between[1:, 0] - quiet_between[:-1, 1] >= GAP_HOPS
    starts = quiet_between[np.concatenate([[True], apart]), 0]
    stops = quiet_between[np.concatenate([apart, [True]]), 1]
    return np.stack([starts, stops], axis=1)


def _trim(phrases: Runs, level: Floats, strong: NDArray[np.bool_]) -> Runs:
    """The phrases without what rings on after them."""
    last = np.maximum.accumulate(np.where(strong, np.arange(len(strong)), -1))
    out = phrases.copy()
    for row in out:
        end = int(last[row[1] - 1]) + 1
        if row[0] < end and row[1] - end <= TAIL_HOPS:
            row[1] = _rung(level, max(int(row[0]) + SHORTEST_HOPS, end - RING_HOPS), end)
    return out


def _rung(level: Floats, first: int, end: int) -> int:
    """The end, moved back to where the level began to fall; not before `first`."""
    while end > first and level[end - 1 - RING_LAG] - level[end - 1] >= RING_DB:
        end -= 1
    return end


def _with_lost_starts(phrases: Runs, stem_db: Floats, mix_db: Floats, loud: Floats) -> Runs:
    """The phrases, each from the hit on that it was lost behind; a gap is left before it."""
    out = phrases.copy()
    for row, before in zip(out, [0, *phrases[:, 1].tolist()], strict=False):
        start = int(row[0])
        if start - before < GAP_HOPS:
            continue
        mix, stem = mix_db[before:start], stem_db[before:start]
        least = np.maximum(np.percentile(mix, 20) + LOST_RISE_DB, loud[before:start] - LOST_UNDER_DB)
        hit = before + _last_run((mix > least) & (stem < mix - LOST_DB))
        if before + GAP_HOPS <= hit and LOST_HOPS <= start - hit <= LOST_REACH:
            row[0] = hit
    return out


def _last_run(mask: NDArray[np.bool_]) -> int:
    """Where the run begins that lasts to the end of a mask, dips and all; its length where there is none."""
    at = np.append(np.flatnonzero(mask), len(mask))
    apart = np.flatnonzero(np.diff(at) > LOST_DIP)
    return int(at[apart[-1] + 1] if len(apart) else at[0])


def _led(phrases: Runs, lead: int) -> Runs:
    """The phrases with the consonants they begin with."""
    out = phrases.copy()
    out[:, 0] = np.maximum(out[:, 0] - lead, np.concatenate([[0], out[:-1, 1] + 1])[: len(out)])
    return out
