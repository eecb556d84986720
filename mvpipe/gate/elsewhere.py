"""Stretches of the voice from elsewhere in the song: what SyncNet says of them is chance, for one face."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.pairs import RATE

STEP = 6
"""Pictures between places that are looked at: all lie on one grid, so what is heard in one serves others."""

VOICE = 0.1
"""Share of the loudest moments' level (RMS) from which somebody sings: -20 dB."""

SHARE = 0.4
"""Of a stretch in which somebody has to sing: half a shot of silence says nothing about chance."""

ROOM_S = 1.0
"""Seconds between the shot and another place: SyncNet searches 0.6 s to either side."""


def levels(voice: NDArray[np.float32], sample_rate: int) -> NDArray[np.float64]:
    """Level (RMS) of every `STEP` pictures of a stem.

    Parameters
    ----------
    voice : float32, shape (n,)
    """
    step = STEP * sample_rate // RATE
    whole = voice[: len(voice) // step * step].reshape(-1, step)
    return np.asarray(np.sqrt((whole.astype(np.float64) ** 2).mean(axis=1)))


def choose(heard: NDArray[np.float64], own: tuple[float, float], *, many: int) -> tuple[int, ...]:
    """First pictures of such stretches: as long as the shot's own, sung in, spread over the song.

    Parameters
    ----------
    heard : as from `levels`
    own : seconds of the song at which the shot's window begins and ends
    many : how many are wanted; fewer where the song has not so many
    """
    steps = int(np.ceil((own[1] - own[0]) * RATE / STEP))
    loud = heard > VOICE * np.percentile(heard, 95) if len(heard) else np.zeros(0, bool)
    if len(loud) < steps:
        return ()
    sung = np.convolve(loud, np.ones(steps), "valid") / steps
    begin = np.arange(len(sung)) * STEP
    before, behind = (own[0] - ROOM_S) * RATE, (own[1] + ROOM_S) * RATE
    places = begin[(sung >= SHARE) & ((begin + steps * STEP <= before) | (begin >= behind))]
    if len(places) > many:
        places = places[np.linspace(0, len(places) - 1, many).round().astype(int)]
    return tuple(int(at) for at in places)
