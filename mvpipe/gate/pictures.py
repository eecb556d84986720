"""What is seen in a take: one pass over its frames, each decoded once, at low resolution."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.tools.frames import read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 320
"""Pixels to which frames are averaged down before they are looked at."""

RECENT = 4
"""Frames back that a frame is held against: x264's ultrafast alternates between two codings of a still."""

BLOCK = 8
"""Pixels (at `WIDTH`) of the squares in which change is looked for: 1/40 of the picture, a mouth's size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What was measured on a take's pictures.

    Parameters
    ----------
    frames : decoded
    packets : in the file, each of which should be a frame
    times : seconds at which each is shown, from the first on
    tick : seconds between two times the container can tell apart
    size : (width, height)
    digest : sha256 of the decoded frames
    sound : whether the file has a sound stream
    damage : what the decoder complained about
    level : mean luma of each frame, 0 (black) to 255
    spread : standard deviation of each frame's luma
    change : mean absolute change of each frame's luma since the frame before, or since the most like of
        the last `RECENT`: a coder may code a still picture two ways in turn; 0 for the first
    stir : the same of the square that changed most
    """

    frames: int
    packets: int
    times: tuple[Fraction, ...]
    tick: Fraction
    size: tuple[int, int]
    digest: str
    sound: bool
    damage: tuple[str, ...]
    level: tuple[float, ...]
    spread: tuple[float, ...]
    change: tuple[float, ...]
    stir: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` makes the same Sight."""
        return {**asdict(self), "times": [str(t) for t in self.times], "tick": str(self.tick)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Sight:
        """The Sight that `as_json` wrote down."""
        rest = {k: tuple(v) for k, v in record.items() if isinstance(v, list | tuple) and k != "times"}
        return cls(
            **{
                **record,
                **rest,
                "times": tuple(map(Fraction, record["times"])),
                "tick": Fraction(record["tick"]),
            }
        )


def look(path: Path) -> Sight:
    """Decode a take once and measure its frames.

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it; damage within is reported instead
    """
    eye = _Eye()
    reading = read(path, see=eye.see, width=WIDTH)
    shown = reading.times
    return Sight(
        frames=reading.frames,
        packets=len(shown),
        times=tuple(shown[k] - shown[0] for k in range(len(shown))),
        tick=shown.base,
        size=reading.facts.size,
        digest=reading.digest,
        sound=reading.facts.sounds > 0,
        damage=reading.damage,
        level=tuple(eye.level),
        spread=tuple(eye.spread),
        change=tuple(eye.change),
        stir=tuple(eye.stir),
    )


class _Eye:
    """Sees one frame after the other and remembers numbers, not pictures."""

    def __init__(self) -> None:
        self.level: list[float] = []
        self.spread: list[float] = []
        self.change: list[float] = []
        self.stir: list[float] = []
        self._recent: deque[NDArray[np.float32]] = deque(maxlen=RECENT)

    def see(self, luma: NDArray[np.uint8]) -> None:
        import numpy as np

        now = luma.astype(np.float32)
        self.level.append(round(float(now.mean()), 3))
        self.spread.append(round(float(now.std()), 3))
        change, stir = min((changes(before, now) for before in self._recent), default=(0.0, 0.0))
        self.change.append(round(change, 4))
        self.stir.append(round(stir, 3))
        self._recent.append(now)


def changes(before: NDArray[np.float32], now: NDArray[np.float32]) -> tuple[float, float]:
    """The mean absolute change of a picture, and that of the square of `BLOCK` pixels that changed most.

    Parameters
    ----------
    before, now : luma, float32, shape (height, width), both at least `BLOCK` pixels
    """
    import numpy as np

    high, wide = (side // BLOCK for side in now.shape)
    moved = np.abs(now - before)
    squares = moved[: high * BLOCK, : wide * BLOCK].reshape(high, BLOCK, wide, BLOCK)
    return float(moved.mean()), float(squares.mean(axis=(1, 3)).max())
