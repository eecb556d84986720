"""Renders that went wrong without a word: success by the record, and not what was asked for. Pure.

Each check is a function from what was decoded to a reason in words; empty where there is nothing to say.
Size, rate and what is seen are the gate's to judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mvpipe.render.comfyui.likeness import Heard, likeness
from mvpipe.render.comfyui.times import rows

WEIGHTS, FASTEST = 19.3e9, 5e15
"""Weights of the model's fifty blocks (from their shapes in h3.md; each is multiplied and added once a row
and step), and operations a second that no single card does: some have as many on paper, in eight bits."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a take should be.

    Parameters
    ----------
    frames, size, rate : of the picture
    steps : of sampling; 0 where nobody knows
    voice : the vocal that was sent
    locked : whether the graph keeps it as the sound of the take
    """

    frames: int
    size: tuple[int, int]
    rate: Fraction
    steps: int
    voice: Heard | None
    locked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What came back.

    Parameters
    ----------
    frames : counted
    sound : decoded; None without a sound stream
    sampled : whether it was sampled now, and not taken from the server's cache
    seconds : the server's own time for it; None where nobody knows
    """

    frames: int
    sound: Heard | None
    sampled: bool
    seconds: float | None


def faults(asked: Asked, got: Got) -> list[str]:
    """All that is wrong with a take, in words; what follows from a worse fault is not said as well."""
    found = (too_fast(asked, got), fewer_frames(asked, got), _sound(asked, got))
    return [reason for reason in found if reason]


def too_fast(asked: Asked, got: Got) -> str:
    """A render that took no time: nothing was rendered, an earlier file was named."""
    least = 2 * WEIGHTS * rows(asked.size, asked.frames) * asked.steps / FASTEST
    if not got.sampled or got.seconds is None or got.seconds >= least:
        return ""
    return (
        f"rendered in {got.seconds:.2f} s, where {asked.steps} steps take more than {least:.2f} on any card"
    )


def fewer_frames(asked: Asked, got: Got) -> str:
    """Another number of frames than asked for."""
    return "" if got.frames == asked.frames else f"{got.frames} frames instead of {asked.frames}"


def not_finite(sound: Heard) -> str:
    """Samples that are no numbers."""
    bad = int(np.count_nonzero(~np.isfinite(sound.samples)))
    return f"{bad} of {sound.samples.size} samples of its sound are no numbers" if bad else ""


def cut_short(asked: Asked, sound: Heard) -> str:
    """Sound that ends before the picture."""
    wanted = float(asked.frames / asked.rate)
    length = len(sound.samples) / sound.sample_rate
    return f"{length:.2f} s of sound under {wanted:.2f} s of picture" if length < SHORT * wanted else ""


def constant(sound: Heard) -> str:
    """A constant instead of sound; a codec makes its ends ring, so the middle is looked at."""
    n = len(sound.samples)
    middle = sound.samples[n // 10 : n - n // 10]
    if not middle.size:
        return ""
    level, moves = np.abs(middle.mean(axis=0)), middle.std(axis=0)
    still = bool(np.all((level > QUIET) & (moves < 0.02 * level)))
    return f"a constant of {float(level.max()):.3f} instead of sound" if still else ""


def silence(asked: Asked, sound: Heard) -> str:
    """Silence where a voice was sent to be kept."""
    expected = asked.locked and asked.voice is not None and asked.voice.peak >= VOICED
    return "silent, where a voice was sent" if expected and sound.peak < QUIET else ""


def lock_lost(asked: Asked, sound: Heard) -> str:
    """Sound that is not the vocal which should have been kept: the mouth then follows something else."""
    if not asked.locked or asked.voice is None:
        return ""
    if asked.voice.peak < VOICED:
        loud = sound.peak > LOUD
        return "the lock had no effect: there is sound where silence was sent" if loud else ""
    alike = likeness(asked.voice, sound)
    if alike >= ALIKE:
        return ""
    return (
        f"the lock had no effect: its sound is not the vocal that was sent (likeness {alike:.2f} < {ALIKE})"
    )


def _sound(asked: Asked, got: Got) -> str:
    """The worst that is wrong with the sound."""
    if got.sound is None:
        return "no sound"
    sound = got.sound
    checks = (not_finite(sound), cut_short(asked, sound), constant(sound), silence(asked, sound))
    return next((reason for reason in checks if reason), "") or lock_lost(asked, sound)
