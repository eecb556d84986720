"""What can be wrong with the sound of a take, from numbers that are measured once.

Each check is pure and gives a reason in words, empty where there is nothing to say. Measured on 5 s:

| | steadiness, dB | at the top |
|---|---|---|
| native H3 speech; voices that are made, sung and spoken | 10.6-16.0 | 0.00-0.04 |
| a note held with vibrato all through | 1.2 | as of the voice that was sent |
| white, pink, brown noise; a beep | 0.2, 0.8, 2.3; 0.0 | |
| a voice 6 and 12 dB too loud, after AAC at 96 kbit/s too | 15.6, 16.2 | 0.15, 0.31 |
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.tools.heard import Heard, Samples
from mvpipe.tools.likeness import Levels, alike, levels

QUIET = 0.001
"""Peak below which a sound is silence: -60 dB."""

VOICED = 0.01
"""Peak from which a vocal is there to be compared: -40 dB."""

LOUD = 0.1
"""Peak from which there is sound where silence was sent: -20 dB."""

ALIKE = 0.5
"""Likeness of the locked sound to the vocal that was sent.

Measured on 5.2 s windows of three recordings: 0.92 and more after AAC at 24 kbit/s, 0.6 and more after what
is worse than any codec (random phases, 2 kHz, noise at -10 dB); 0.21 and less for other windows of the
same voice. On 0.9 s windows 0.78, 0.46 and 0.64: a canary's verdict is a hint.
"""

SHORT = 0.95
"""Share of the picture's length that its sound has at least; a codec pads, and cuts no more than a packet."""

STEADY = 3.0
"""Standard deviation (dB) of the level of hops of 40 ms under which nothing is sung or said."""

CLIPPED = 0.05
"""Share of samples at the top, more than the vocal that was sent has there."""

TOP, FULL_SCALE = 0.8, 0.9
"""A sample is at the top above this part of all but the largest thousandth; a codec makes what was cut off at
full scale reach over it here and there. What is quieter than full scale was not cut off there."""

HOP_S = 0.04
BRIGHT_HZ = (4000.0, 10_000.0)
"""Where a chain that feeds on its own sound loses most (h3.md, section 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audible:
    """What was measured on a sound.

    Parameters
    ----------
    seconds : how long it is
    values : samples of all channels
    bad : of them, how many are no numbers
    peak : the largest finite, full scale being 1
    constant : its level where it stands still, else 0
    clipped : share of the values at the top, 0 where it is not loud enough to be cut off
    steadiness : standard deviation of its level (dB), of hops within 40 dB of the loudest; 0 of silence
    bright : share of its power in `BRIGHT_HZ`
    levels : of its bands (`likeness`), shape (hops, 20)
    """

    seconds: float
    values: int
    bad: int
    peak: float
    constant: float
    clipped: float
    steadiness: float
    bright: float
    levels: Levels

    def as_json(self) -> dict[str, Any]:
        """All but the levels, as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "levels"}


def measure(sound: Heard) -> Audible:
    """The numbers of a sound."""
    finite = np.where(np.isfinite(sound.samples), sound.samples, 0).astype(np.float32)
    whole = Heard(samples=finite, sample_rate=sound.sample_rate)
    power, hertz = _spectra(whole)
    total = float(power.sum())
    bright = float(power[:, (hertz >= BRIGHT_HZ[0]) & (hertz < BRIGHT_HZ[1])].sum())
    return Audible(
        seconds=sound.seconds,
        values=sound.samples.size,
        bad=int(np.count_nonzero(~np.isfinite(sound.samples))),
        peak=sound.peak,
        constant=_constant(finite),
        clipped=_at_the_top(finite) if sound.peak >= FULL_SCALE else 0.0,
        steadiness=_steadiness(power.sum(axis=1)),
        bright=bright / total if total > 0 else 0.0,
        levels=levels(whole),
    )


def not_finite(sound: Audible) -> str:
    """Samples that are no numbers."""
    return f"{sound.bad} of {sound.values} samples of its sound are no numbers" if sound.bad else ""


def cut_short(sound: Audible, seconds: float, share: float = SHORT) -> str:
    """Sound that ends before the picture."""
    short = sound.seconds < share * seconds
    return f"{sound.seconds:.2f} s of sound under {seconds:.2f} s of picture" if short else ""


def constant(sound: Audible) -> str:
    """A constant instead of sound."""
    return f"a constant of {sound.constant:.3f} instead of sound" if sound.constant else ""


def silence(sound: Audible, voice: Audible) -> str:
    """Silence where a voice was sent to be kept."""
    return "silent, where a voice was sent" if voice.peak >= VOICED and sound.peak < QUIET else ""


def noise(sound: Audible, voice: Audible, steady: float = STEADY) -> str:
    """Noise, or a tone that stands, where a voice was sent; a voice so steady is not asked of it."""
    if sound.peak < QUIET or sound.steadiness >= steady or voice.steadiness < steady:
        return ""
    return f"noise or a tone instead of a voice: its level moves by {sound.steadiness:.1f} dB only"


def clipped(sound: Audible, voice: Audible, share: float = CLIPPED) -> str:
    """More of it at the top than of the voice that was sent."""
    if sound.clipped <= share + voice.clipped:
        return ""
    return f"clipped: {sound.clipped:.0%} of its samples are cut off at full scale"


def lock_lost(sound: Audible, voice: Audible, least: float = ALIKE) -> str:
    """Sound that is not the vocal which should have been kept: the mouth then follows something else."""
    if voice.peak < VOICED:
        loud = sound.peak > LOUD
        return "the lock had no effect: there is sound where silence was sent" if loud else ""
    found = alike(voice.levels, sound.levels)
    if found >= least:
        return ""
    return (
        f"the lock had no effect: its sound is not the vocal that was sent (likeness {found:.2f} < {least:g})"
    )


def _constant(samples: Samples) -> float:
    """The level of a sound that stands still; a codec makes its ends ring, so the middle is looked at."""
    n = len(samples)
    middle = samples[n // 10 : n - n // 10]
    if not middle.size:
        return 0.0
    level, moves = np.abs(middle.mean(axis=0)), middle.std(axis=0)
    still = bool(np.all((level > QUIET) & (moves < 0.02 * level)))
    return float(level.max()) if still else 0.0


def _at_the_top(samples: Samples) -> float:
    size = np.abs(samples)
    return float(np.mean(size >= TOP * np.percentile(size, 99.9)))


def _spectra(sound: Heard) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Power of each hop, shape (hops, bins), without what stands still, and the frequencies."""
    span = max(1, round(HOP_S * sound.sample_rate))
    mono = sound.mono[: len(sound.samples) // span * span].reshape(-1, span)
    power = np.abs(np.fft.rfft(mono * np.hanning(span), axis=1)) ** 2
    power[:, :2] = 0
    return power, np.asarray(np.fft.rfftfreq(span, 1 / sound.sample_rate), np.float64)


def _steadiness(power: NDArray[np.float64]) -> float:
    loudest = float(power.max(initial=0.0))
    if loudest <= 0:
        return 0.0
    heard = 10 * np.log10(np.maximum(power / loudest, 1e-4))
    return float(heard.std())
