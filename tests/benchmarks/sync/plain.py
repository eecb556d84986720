"""The reference estimator of the findings (section 3), re-stated: the baseline in every table.

Height of the lips against 450-1200 Hz in decibel and 300-3500 Hz as loudness, 199 voices of chance, its own
lead of 57 ms; pass at p <= 0.05 within a frame, fail at p <= 0.01 from two on, the control within a frame.
"""

from __future__ import annotations

import numpy as np

from mvpipe.film import Outcome
from mvpipe.gate.look import Seen
from mvpipe.gate.mouth import HOPS, spline
from mvpipe.gate.offset import LEAD_MS, Performance, estimate
from mvpipe.gate.sync import Samples
from mvpipe.gate.tracks import Track, median

LIPS = ((0, 17), (37, 84), (267, 314))
LEAD = 57.0
SURROGATES = 199


def judge(seen: Seen, voice: Samples, sample_rate: int) -> tuple[Outcome, float, float]:
    """(outcome, offset in ms, p) of the longest face."""
    track = seen.tracks[0] if seen.tracks else None
    if track is None or track.coverage < 0.8:
        return Outcome.CANNOT_JUDGE, 0.0, 1.0
    take = Performance(mouth=_height(track, seen)[None], voice=_bands(voice, sample_rate))
    found = estimate(take, surrogates=SURROGATES)
    moved = estimate(take.delayed(10), surrogates=0)
    offset = found.offset_ms - LEAD_MS + LEAD
    frame, control = (round((one.offset_ms - LEAD_MS + LEAD) / 40) for one in (found, moved))
    if found.p <= 0.05 and abs(frame) <= 1 and 9 <= control - frame <= 11:
        return Outcome.PASS, offset, found.p
    if found.p <= 0.01 and abs(frame) >= 2:
        return Outcome.FAIL, offset, found.p
    return Outcome.CANNOT_JUDGE, offset, found.p


def _height(track: Track, seen: Seen) -> np.ndarray:
    pairs = np.array(LIPS)
    apart = track.points[:, pairs[:, 0]] - track.points[:, pairs[:, 1]]
    height = np.hypot(apart[..., 0], apart[..., 1]).mean(1) / median(track.eyes, 13)
    shown = np.array([float(seen.times[k]) for k in track.frames])
    return spline(shown, height, np.arange(int(float(seen.seconds) * HOPS)) / HOPS)


def _bands(voice: Samples, sample_rate: int) -> np.ndarray:
    wide = int(0.04 * sample_rate)
    hops = len(voice) * HOPS // sample_rate + 1
    first = (np.arange(hops) * sample_rate // HOPS)[:, None]
    padded = np.pad(voice.astype(float), (wide // 2, 2 * wide))
    power = np.abs(np.fft.rfft(padded[first + np.arange(wide)] * np.hanning(wide), 1024)) ** 2
    hertz = np.fft.rfftfreq(1024, 1 / sample_rate)
    vowel, broad, heard = (
        power[:, (hertz >= low) & (hertz < high)].sum(1)
        for low, high in ((450, 1200), (300, 3500), (80, 7000))
    )
    loud = np.percentile(heard, 99) + 1e-12
    return np.stack([np.maximum(10 * np.log10(vowel / loud + 1e-12), -45), (broad / loud) ** 0.3])
