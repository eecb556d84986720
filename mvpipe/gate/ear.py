"""What SyncNet hears in a song's voice, each moment of it once, however many shots and faces ask.

A floor for song takes twenty stretches of the voice, 0.7 s of CPU each: for every face of every shot that was
more than looking at it. torch is behind this, so import this module late.
"""

from __future__ import annotations

import numpy as np

from mvpipe.gate import elsewhere, mfcc, syncnet
from mvpipe.gate.pairs import RATE, Features
from mvpipe.gate.sync import Samples

BLOCK = 32
"""Windows that are heard at once."""


class Ear:
    """Listens to one stem.

    Parameters
    ----------
    voice : the whole stem, float32, shape (n,)
    """

    def __init__(self, network: syncnet.SyncNet, voice: Samples, sample_rate: int) -> None:
        self._network, self._voice, self._sample_rate = network, voice, sample_rate
        self._levels = elsewhere.levels(voice, sample_rate)
        self._blocks: dict[int, Features] = {}

    def elsewhere(self, own: tuple[float, float], *, many: int) -> dict[int, Features]:
        """What is heard in stretches as long as a shot from other places of the song, by their first picture.

        Parameters
        ----------
        own : seconds of the song at which the shot's window begins and ends
        many : stretches that a floor needs; nothing is heard where the song has fewer
        """
        places = elsewhere.choose(self._levels, own, many=many)
        windows = int((own[1] - own[0]) * RATE) - syncnet.WINDOW + 1
        return {at: self.hear(at, windows) for at in places} if len(places) >= many else {}

    def hear(self, first: int, windows: int) -> Features:
        """What is heard beside so many pictures of the song from one on; fewer where it ends.

        Returns
        -------
        float32, shape (windows, 1024)
        """
        wanted = range(first // BLOCK, -(-(first + windows) // BLOCK))
        skip = first - wanted.start * BLOCK
        return np.concatenate([self._block(k) for k in wanted])[skip : skip + windows]

    def _block(self, number: int) -> Features:
        if number not in self._blocks:
            pictures = (number * BLOCK, (number + 1) * BLOCK + syncnet.WINDOW)
            begin, end = (picture * self._sample_rate // RATE for picture in pictures)
            voice = mfcc.resample(self._voice[begin:end], self._sample_rate)
            enough = len(voice) >= syncnet.WINDOW * syncnet.SAMPLES
            heard = syncnet.hear(self._network, voice) if enough else np.empty((0, 1024), np.float32)
            self._blocks[number] = heard[:BLOCK]
        return self._blocks[number]
