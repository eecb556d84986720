"""Renders that went wrong without a word: success by the record, and not what was asked for. Pure.

Each check is a function from what was decoded to a reason in words; empty where there is nothing to say.
Size, rate and what is seen are the gate's to judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mvpipe.render.comfyui.times import rows
from mvpipe.tools import audible
from mvpipe.tools.heard import Heard

WEIGHTS, FASTEST = 19.3e9, 5e15
"""Weights of the model's fifty blocks (from their shapes in h3.md; each is multiplied and added once a row
and step), and operations a second that no single card does: some have as many on paper, in eight bits."""


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


def _sound(asked: Asked, got: Got) -> str:
    """The worst that is wrong with the sound."""
    if got.sound is None:
        return "no sound"
    sound = audible.measure(got.sound)
    found = [audible.not_finite(sound), audible.cut_short(sound, float(asked.frames / asked.rate))]
    found.append(audible.constant(sound))
    if asked.locked and asked.voice is not None:
        voice = audible.measure(asked.voice)
        kept = (audible.silence, audible.lock_lost, audible.noise, audible.clipped)
        found += [check(sound, voice) for check in kept]
    return next((reason for reason in found if reason), "")
