"""How long a take will need: for the plan and the first estimate, before any was made."""

from __future__ import annotations

from math import sqrt

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

SHORT_EDGE = 2_048
"""Pixels of a reference picture's short edge at full detail (`ref_image_size` `max`, h3.md 1.1)."""


def rows(size: tuple[int, int], frames: int) -> int:
    """Rows of the model's sequence, references left out: of the picture and of the sound."""
    return _picture_rows(size, frames) + 2 * round(frames / 24 * 40)


def _picture_rows(size: tuple[int, int], frames: int) -> int:
    groups = 2 if frames <= 5 else -(-(frames - 5) // 17) * 5 + 2
    return groups * (size[0] // 32) * (size[1] // 32)


def film_rows(shown: tuple[int, int], count: int, frames: int) -> int:
    """Rows of a reference film: it is cut to the shot's frames, then down to 17k+5 (h3.md 1.1).

    Parameters
    ----------
    shown : (width, height) as sent
    count : frames it has
    frames : of the shot
    """
    kept = min(count, frames)
    return _picture_rows(shown, kept - (kept - 5) % 17)


def still_rows(shown: tuple[int, int], size: tuple[int, int], detail: str = "match") -> int:
    """Rows of a reference picture: `match` brings it down to the shot's area, `max` to a short edge of 2048.

    Parameters
    ----------
    shown : (width, height) as sent
    size : of the shot
    """
    wide, high = shown
    if detail == "max":
        scale = min(1.0, SHORT_EDGE / min(shown))
    else:
        scale = min(1.0, sqrt(size[0] * size[1] / (wide * high)))
    return max(1, round(wide * scale / 32)) * max(1, round(high * scale / 32))


def sound_rows(seconds: float) -> int:
    """Rows of a reference sound: two a latent, all of it (h3.md 0.7)."""
    return 2 * round(seconds * 40)


def slowed(size: tuple[int, int], frames: int, added: int) -> float:
    """How many times as long a step takes with so many rows of references as without.

    Nobody has published a time with references. Their rows ride through every step like the shot's own (h3.md
    4), so they are priced like these: a film as large and as long as the shot makes a step 2 ** 1.6 = 3 times
    as long.
    """
    own = rows(size, frames)
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
