"""How long a take will need: for the plan and the first estimate, before any was made."""

from __future__ import annotations

from collections.abc import Iterable

from mvpipe.render.comfyui.profiles import default_profile, find_profile

STEP_S = 12.0
"""Seconds of a step at 960x544, 124 frames, on a 24 GB card: 11.5 to 12.6 published (tonyd2wild)."""

GROWTH = 1.6
"""Exponent of the rows in a step's time: 2.9 times the frames took 5.6 times as long (h3.md)."""

OTHER_S, FRAME_S = 10.0, 0.09
"""Seconds for the prompt, and to decode and encode a frame of 960x544. Guesses, small beside the steps."""

TEXT_S, LOAD_S = 6.0, 40.0
"""Of these seconds those for the prompt, which equal prompts need once; and to load models. Guesses too."""

REFERENCE = (960, 544), 124


def rows(size: tuple[int, int], frames: int) -> int:
    """Rows of the model's sequence, references left out: of the picture and of the sound."""
    return _picture_rows(size, frames) + 2 * round(frames / 24 * 40)


def _picture_rows(size: tuple[int, int], frames: int) -> int:
    groups = 2 if frames <= 5 else -(-(frames - 5) // 17) * 5 + 2
    return groups * (size[0] // 32) * (size[1] // 32)


def slowed(size: tuple[int, int], frames: int, videos: Iterable[tuple[tuple[int, int], int]]) -> float:
    """How many times as long a step takes with reference films as without.

    Their rows ride through every step like the shot's own (h3.md 4). A film is cut to the shot's frames, and
    then down to 17k+5.

    Parameters
    ----------
    videos : (size as sent, frames) of each
    """
    own = rows(size, frames)
    kept = ((shown, min(count, frames)) for shown, count in videos)
    added = sum(_picture_rows(shown, count - (count - 5) % 17) for shown, count in kept)
    return float(((own + added) / own) ** GROWTH)


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
