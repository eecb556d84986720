"""Demucs: the separator of choice, run so that its memory does not grow with the song.

Segment for segment this computes what `demucs.api.Separator` computes at once (overlap 25 %, no random
shifts), the scaling by the whole mix's mean and spread included; a test holds one against the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound import checksum
from mvpipe.sound.bag import Bag
from mvpipe.sound.resample import Block
from mvpipe.sound.separate import NET_RATE, Mix, Progress
from mvpipe.sound.slide import Adder, slide

if TYPE_CHECKING:
    from mvpipe.sound.demucs_net import Net

VERSION = 1
"""Bumped by hand when the same song would give other samples."""

SILENCE = 1e-8
"""Added to the spread, as Demucs does, so that silence can be divided by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demucs:
    """Finds the voice with a bag of Demucs models.

    Parameters
    ----------
    bag : the models' files
    device : `cpu`, `cuda`, ..., or `auto`: a GPU if there is one
    """

    bag: Bag
    device: str = "auto"

    @property
    def name(self) -> str:
        """The bag's name, such as `htdemucs`."""
        return self.bag.name

    def identity(self) -> Mapping[str, str | int]:
        """The bag's name, the version of the method, and each model's sha256 and share.

        Raises
        ------
        ToolError : a file is not what its checksum says
        """
        parts = {
            f"model {i}": f"{checksum.verify(m.path)} x {m.share:g}" for i, m in enumerate(self.bag.members)
        }
        return {"separator": self.name, "version": VERSION, "segment": f"{self.bag.segment}", **parts}

    def vocals(self, mix: Mix, progress: Progress) -> Iterator[Block]:
        """The voice; see `Separator.vocals`.

        Raises
        ------
        ToolError : a file of the bag is damaged, holds more than weights, or is no model of this kind
        """
        from mvpipe.sound import demucs_net
        from mvpipe.sound.devices import device

        net = demucs_net.load(self.bag, device(self.device), sample_rate=NET_RATE)
        mean, spread = _level(mix)
        for block in _voice(net, mix, mean, spread, progress):
            yield block * spread + mean


def _voice(net: Net, mix: Mix, mean: np.float32, spread: np.float32, progress: Progress) -> Iterator[Block]:
    """The voice of the levelled mix, segments faded into each other."""
    starts = range(0, mix.samples, net.stride)
    seen = [(max(0, a - net.segment), min(mix.samples, a + net.segment)) for a in starts]
    fade = _fade(net.segment)
    adder = Adder(channels=2)
    for done, (start, (first, _), sound) in enumerate(
        zip(starts, seen, slide(mix.blocks(), seen), strict=True), 1
    ):
        voice = net.voice_only((sound - mean) / spread, start - first)
        weight = fade[: voice.shape[1]]
        last = done == len(starts)
        yield adder.add(voice * weight, weight, net.segment if last else net.stride)
        progress(done, len(starts))


def _fade(segment: int) -> NDArray[np.float32]:
    """Demucs' transition: a triangle, highest in the middle of the segment; float32, shape (segment,)."""
    half = segment // 2
    rise, fall = np.arange(1, half + 1), np.arange(segment - half, 0, -1)
    both = np.concatenate([rise, fall]).astype(np.float32)
    fade: NDArray[np.float32] = both / both.max()
    return fade


def _level(mix: Mix) -> tuple[np.float32, np.float32]:
    """Mean and spread of the mix's middle, from all of it."""
    total, squares = 0.0, 0.0
    for block in mix.blocks():
        middle = block.mean(axis=1, dtype=np.float64)
        total += float(middle.sum())
        squares += float(np.square(middle).sum())
    mean = total / mix.samples
    variance = max(squares - mix.samples * mean**2, 0.0) / max(mix.samples - 1, 1)
    return np.float32(mean), np.float32(variance**0.5 + SILENCE)
