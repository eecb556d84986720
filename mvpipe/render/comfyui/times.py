"""How long a take will need: for the plan and the first estimate, before any was made."""

from __future__ import annotations

from mvpipe.render.comfyui.profiles import default_profile, find_profile

STEP_S = 12.0
"""Seconds of a step at 960x544, 124 frames, on a 24 GB card: 11.5 to 12.6 published (tonyd2wild)."""

GROWTH = 1.6
"""Exponent of the rows in a step's time: 2.9 times the frames took 5.6 times as long (h3.md)."""

OTHER_S, FRAME_S = 10.0, 0.09
"""Seconds for the prompt, and to decode and encode a frame of 960x544. Guesses, small beside the steps."""

REFERENCE = (960, 544), 124


def rows(size: tuple[int, int], frames: int) -> int:
    """Rows of the model's sequence, references left out: of the picture and of the sound."""
    groups = 2 if frames <= 5 else -(-(frames - 5) // 17) * 5 + 2
    return groups * (size[0] // 32) * (size[1] // 32) + 2 * round(frames / 24 * 40)


def predict_s(frames: int, size: tuple[int, int], profile: str = "") -> float:
    """Seconds of a take.

    Parameters
    ----------
    profile : its name; empty for the one that fits the size
    """
    steps = find_profile(profile or default_profile(size)).steps
    share = rows(size, frames) / rows(*REFERENCE)
    area = size[0] * size[1] / (REFERENCE[0][0] * REFERENCE[0][1])
    return float(steps * STEP_S * share**GROWTH + OTHER_S + FRAME_S * frames * area)
