"""Channels folded to stereo or mono by ITU-R BS.775, scaled down so that nothing can clip."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

_HALF = sqrt(0.5)  # -3 dB
_BOTH = (_HALF, _HALF)

# What each loudspeaker gives to (left, right). The low-frequency effects are left out, as BS.775 says.
_GIVES = {
    "FL": (1.0, 0.0), "FR": (0.0, 1.0), "FC": _BOTH, "LFE": (0.0, 0.0), "LFE2": (0.0, 0.0),
    "BL": (_HALF, 0.0), "BR": (0.0, _HALF), "SL": (_HALF, 0.0), "SR": (0.0, _HALF), "BC": (0.5, 0.5),
    "FLC": (1.0, 0.0), "FRC": (0.0, 1.0), "WL": (_HALF, 0.0), "WR": (0.0, _HALF),
    "DL": (1.0, 0.0), "DR": (0.0, 1.0), "TFL": (_HALF, 0.0), "TFR": (0.0, _HALF),
    "TBL": (_HALF, 0.0), "TBR": (0.0, _HALF),
}  # fmt: skip

# Files without loudspeaker names: the usual order of so many channels (as ffmpeg guesses it)
_USUAL = {
    1: ("FC",),
    2: ("FL", "FR"),
    3: ("FL", "FR", "FC"),  # not 2.1: taking a centre for a subwoofer would drop the voice
    4: ("FL", "FR", "FC", "BC"),
    5: ("FL", "FR", "FC", "BL", "BR"),
    6: ("FL", "FR", "FC", "LFE", "BL", "BR"),
    7: ("FL", "FR", "FC", "LFE", "BC", "SL", "SR"),
    8: ("FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"),
}


def matrix(channels: int, speakers: Sequence[str], to: int) -> NDArray[np.float32]:
    """What each channel gives to each of the folded ones.

    Both sides are divided by the larger sum of their weights, so the balance stays and full scale in every
    channel is full scale in the result: 5.1 comes out 7.7 dB lower. Mono is the mean of the stereo fold,
    and a mono source is the same in both.

    Parameters
    ----------
    channels : of the source
    speakers : their names, in order; empty where the file does not say
    to : 1 or 2

    Returns
    -------
    float32, shape (channels, to); apply as `block @ matrix`

    Raises
    ------
    ValueError : `to` is neither 1 nor 2
    """
    if to not in (1, 2):
        raise ValueError(f"sound folds to 1 or 2 channels: {to}")
    if channels == 1:
        return np.ones((1, to), np.float32)
    names = speakers or _USUAL.get(channels, ("unknown",) * channels)
    stereo = np.array([_GIVES.get(name, (0.5, 0.5)) for name in names])
    largest = stereo.sum(axis=0).max()
    stereo = stereo / largest if largest else np.full((channels, 2), 1 / channels)
    folded = stereo if to == 2 else stereo.mean(axis=1, keepdims=True)
    return folded.astype(np.float32)
