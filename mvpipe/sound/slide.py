"""A stream of sound seen through overlapping stretches, and stretches added up to a stream again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.resample import Block


def slide(blocks: Iterable[Block], stretches: Iterable[tuple[int, int]]) -> Iterator[NDArray[np.float32]]:
    """Stretches of a stream, zeros where it has no samples; no more is held than the widest needs.

    Parameters
    ----------
    blocks : float32, shape (n, channels)
    stretches : (start, stop) in samples, starts never falling; they may lie outside the stream

    Yields
    ------
    float32, shape (channels, stop - start), contiguous
    """
    source = iter(blocks)
    held = next(source)
    at = 0
    for start, stop in stretches:
        parts, end = [held], at + len(held)
        while end < stop and (block := next(source, None)) is not None:
            parts.append(block)
            end += len(block)
        gone = min(max(start - at, 0), end - at)
        held = np.concatenate(parts)[gone:]
        at += gone
        inside = held[: stop - at]
        out = np.zeros((held.shape[1], stop - start), np.float32)
        if len(inside):
            out[:, at - start : at - start + len(inside)] = inside.T
        yield out
    for _ in source:  # a song proves itself only to whoever hears it to the end
        pass


class Adder:
    """Weighted stretches added up, `step` samples apart; what no later stretch reaches is given out.

    Parameters
    ----------
    channels : of the sound
    """

    def __init__(self, channels: int) -> None:
        self._sound = np.zeros((channels, 0), np.float32)
        self._weight = np.zeros(0, np.float32)

    def add(self, sound: NDArray[np.float32], weight: NDArray[np.float32], step: int) -> Block:
        """The samples that are done: the first `step` since the last call.

        Parameters
        ----------
        sound : float32, shape (channels, n), weighted already
        weight : float32, shape (n,), >= 0
        step : samples to the start of the next stretch, > 0

        Returns
        -------
        float32, shape (step, channels), or shorter where the stretches end before
        """
        size = max(len(weight), len(self._weight))
        total = np.zeros((len(sound), size), np.float32)
        power = np.zeros(size, np.float32)
        for part, share in ((self._sound, self._weight), (sound, weight)):
            total[:, : len(share)] += part
            power[: len(share)] += share
        self._sound, self._weight = total[:, step:], power[step:]
        # the weight is zero only where a window begins, outside the song
        done = total[:, :step] / np.maximum(power[:step], np.finfo(np.float32).tiny)
        return np.ascontiguousarray(done.T)


def clip(blocks: Iterable[Block], start: int, stop: int) -> Iterator[Block]:
    """Samples [start, stop) of a stream; it is read no further."""
    at = 0
    for block in blocks:
        kept = block[max(start - at, 0) : max(stop - at, 0)]
        at += len(block)
        if len(kept):
            yield kept
