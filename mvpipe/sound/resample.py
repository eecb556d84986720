"""Sound from one sample rate to another: streamed, in place to the sample, and as long as it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import ceil

import numpy as np
import soxr
from numpy.typing import NDArray

from mvpipe.errors import MediaError

Block = NDArray[np.float32]
"""float32, shape (n, channels)"""

SLACK = 8
"""Samples the resampler may end away from the nominal length (it rounds at both ends: 1 measured)."""


def length_at(samples: int, sample_rate: int, to_rate: int) -> int:
    """Samples at another rate that cover as many at this one."""
    return ceil(samples * to_rate / sample_rate)


def resample(
    blocks: Iterable[Block], sample_rate: int, to_rate: int, *, samples: int, channels: int
) -> Iterator[Block]:
    """The sound at another rate; a click stays where it is.

    Parameters
    ----------
    blocks : float32, shape (n, channels), any n
    sample_rate, to_rate : Hz
    samples : how many to give in all; at most `SLACK` from what the rates say

    Yields
    ------
    float32, shape (n, channels), n > 0

    Raises
    ------
    MediaError : the sound is much shorter or longer than `samples`
    """
    if sample_rate == to_rate:
        yield from _exactly(blocks, samples, slack=0)
        return
    converter = soxr.ResampleStream(sample_rate, to_rate, channels, dtype="float32", quality="HQ")
    # a little silence behind the end lets the last samples come out of the filter by themselves
    silence = np.zeros((ceil(SLACK * sample_rate / to_rate), channels), np.float32)
    converted = (converter.resample_chunk(np.ascontiguousarray(b)) for b in chain(blocks, [silence]))
    rest = (converter.resample_chunk(silence[:0], last=True) for _ in range(1))
    yield from _exactly(chain(converted, rest), samples, slack=2 * SLACK)


def _exactly(blocks: Iterable[Block], samples: int, *, slack: int) -> Iterator[Block]:
    """The first `samples` samples; an error if there are fewer, or over `slack` more."""
    given = 0
    for block in blocks:
        kept = block[: max(samples - given, 0)]
        given += len(block)
        if len(kept):
            yield kept
    if not samples <= given <= samples + slack:
        raise MediaError(f"sound: length: {given} samples where {samples} were counted")


def converted(sound: Block, sample_rate: int, to_rate: int) -> Block:
    """A short sound at another rate, at once; sample 0 stays where it is."""
    return np.asarray(soxr.resample(sound, sample_rate, to_rate, quality="HQ"), np.float32)
