"""What is in a clip: decoded whole, with libav and nothing of mvpipe's."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """Frames: uint8 grey, shape (n, height, width). Sound: float32, shape (channels, n), or None."""

    frames: NDArray[np.uint8]
    rate: Fraction
    codec: str
    sound: NDArray[np.float32] | None
    sample_rate: int
    metadata: dict[str, str]


def read(path: Path) -> Clip:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = np.stack([frame.to_ndarray(format="gray") for frame in container.decode(stream)])
        rate, codec, metadata = stream.average_rate, stream.codec_context.name, dict(container.metadata)
    sound, sample_rate = None, 0
    with av.open(str(path)) as container:
        if container.streams.audio:
            heard = container.streams.audio[0]
            sample_rate = heard.rate
            pieces = [frame.to_ndarray() for frame in container.decode(heard)]
            sound = np.concatenate(pieces, axis=1).astype(np.float32)
            if len(sound) == 1:
                sound = sound.reshape(-1, 2).T
    assert rate is not None
    return Clip(
        frames=frames.astype(np.uint8), rate=rate, codec=codec, sound=sound, sample_rate=sample_rate,
        metadata=metadata,
    )  # fmt: skip


def likeness(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Correlation of two sounds at lag 0, first channels, over what both have."""
    count = min(one.shape[-1], other.shape[-1])
    a, b = np.atleast_2d(one)[0, :count], np.atleast_2d(other)[0, :count]
    spread = float(a.std() * b.std())
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread else 0.0
