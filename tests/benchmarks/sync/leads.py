"""How far each voice's mouth runs ahead of its sound, by construction: what a true offset is counted from.

The generator lets every mouth run ahead of the phones by `faces_synth.LEAD`, and phones are not where the
sound is: the formants that sing and talk fade up to 30 ms before their phone is over, and only the example's
singer changes mouth and sound together. So one lead of phones is several leads of sound. Here it is measured
without a picture and without the gate's ears: the opening that was asked for against the plain loudness (RMS
of 20 ms) of what is heard.
"""

from __future__ import annotations

import numpy as np

from mvpipe.gate.mouth import HOPS, paced
from mvpipe.gate.offset import REACH, correlate
from tests.gate.faces_synth import LEAD, SAMPLE_RATE, Floats, Speaker, mouth_at

LEADS_MS = {
    "sung formants": 56.0,
    "spoken formants": 51.0,
    "sung, the example's singer": 76.5,
    "spoken, espeak-ng": 58.5,
}
"""Of 24 clips of 8 s each; halves of them differ by 2 ms at most."""

NATURAL_MS = 60.0
"""The lead that counts as none: what the gate takes for natural, and the mean of these voices. The talker of
the native H3 clip runs ahead of loudness by 68 ms; one talker does not decide between the two."""

SECONDS = 8.0


def late(voice: str) -> float:
    """Seconds by which a picture drawn on time is late: its mouth runs ahead by less than is natural."""
    return (NATURAL_MS - LEADS_MS[voice]) / 1000


def measure(speaker: Speaker, clips: int) -> float:
    """Milliseconds by which a voice's mouth runs ahead of its loudness, of so many clips."""
    fits = []
    for seed in range(clips):
        voice, phones = speaker(np.random.default_rng(seed), SECONDS)
        hops = int(SECONDS * HOPS)
        opening, _ = mouth_at(phones, np.arange(hops) / HOPS)
        heard = loudness(voice)[:hops]
        fits.append(correlate(paced(opening[None, : len(heard)]), paced(heard[None]))[0])
    fit = np.mean(fits, 0)
    best = int(np.argmax(fit))
    before, top, after = fit[best - 1 : best + 2]
    peak = best - REACH + 0.5 * (before - after) / (before - 2 * top + after)
    return float(1000 * LEAD - peak * 1000 / HOPS)


def loudness(voice: Floats) -> Floats:
    """Root mean square over 20 ms around each hop."""
    hop = SAMPLE_RATE // HOPS
    sums = np.pad(np.cumsum(np.pad(voice, (hop, 2 * hop)) ** 2), (1, 0))
    at = np.arange(len(voice) // hop) * hop
    return np.asarray(np.sqrt((sums[at + 2 * hop] - sums[at]) / (2 * hop)))
