"""What is seen in a take: numbers of every frame at low resolution, from the one pass of `look.py`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate import structure

if TYPE_CHECKING:
    from mvpipe.tools.frames import Reading

WIDTH = 320
"""Pixels to which frames are averaged down before they are looked at."""

RECENT = 4
"""Frames back that a frame is held against: x264's ultrafast alternates between two codings of a still."""

SAMPLED = 4
"""Frames for which noise is measured once: it does not come and go."""

BROKEN = 0.2
"""Strangeness from which it is asked, for `BACK` frames, whether a picture returns."""

BACK = 5
"""Frames back to which a picture may return after a flash: four strange ones are still a flash."""

MEASURES = (
    "level", "spread", "change", "stir", "lift", "changed", "strange", "returned", "coherence", "evenness",
    "tint", "tint_coherence", "tint_evenness",
)  # fmt: skip
"""What is measured on every frame."""


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
    lift : how many more squares became brighter than darker, -1 to 1 (`structure`); 0 for the first
    changed : share of the squares that did either, 0 to 1; 0 for the first
    strange : how strange each frame is to the one before (`structure`), 0 to 2; 0 for the first
    returned : the same to the most like of those two to `BACK` frames before, where there was a break
    coherence, evenness : of each frame's luma (`structure`), every fourth measured
    tint : standard deviation of each frame's colour (Cb and Cr), 0 to 128, every fourth measured
    tint_coherence, tint_evenness : of its colour, the more orderly of Cb and Cr
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
    lift: tuple[float, ...]
    changed: tuple[float, ...]
    strange: tuple[float, ...]
    returned: tuple[float, ...]
    coherence: tuple[float, ...]
    evenness: tuple[float, ...]
    tint: tuple[float, ...]
    tint_coherence: tuple[float, ...]
    tint_evenness: tuple[float, ...]

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


class Eye:
    """Sees one frame after the other, averaged down to `WIDTH`, and remembers numbers, not pictures."""

    def __init__(self) -> None:
        self._rows: dict[str, list[float]] = {name: [] for name in MEASURES}
        self._recent: deque[NDArray[np.float32]] = deque(maxlen=RECENT)
        self._outlines: deque[NDArray[np.float32]] = deque(maxlen=BACK)
        self._squares: NDArray[np.float32] | None = None
        self._grain = (0.0, 0.0)
        self._colour = (0.0, 0.0, 0.0)

    def see(self, luma: NDArray[np.uint8]) -> None:
        """The next frame's luma: uint8, shape (height, width)."""
        now = luma.astype(np.float32)
        change, stir = min((changes(before, now) for before in self._recent), default=(0.0, 0.0))
        small = structure.squares(now, structure.SQUARE)
        last, drawn = small if self._squares is None else self._squares, structure.outline(small)
        strange, returned = self._strangeness(drawn)
        if self._sampled():
            half = structure.squares(now, 2)
            self._grain = structure.coherence(half), structure.evenness(half)
        self._note(
            level=float(now.mean()), spread=float(now.std()), change=change, stir=stir,
            lift=structure.lift(last, small), changed=structure.changed(last, small),
            strange=strange, returned=returned, coherence=self._grain[0], evenness=self._grain[1],
        )  # fmt: skip
        self._recent.append(now)
        self._outlines.append(drawn)
        self._squares = small

    def tint(self, colour: Callable[[], NDArray[np.uint8]]) -> None:
        """The colour of the same frame, if it is asked for: uint8, Cb and Cr, shape (2, height, width)."""
        if self._sampled("tint"):
            planes = colour().astype(np.float32)
            self._colour = (
                float(np.hypot(planes[0].std(), planes[1].std())),
                max(map(structure.coherence, planes)),
                min(map(structure.evenness, planes)),
            )
        tint, coherence, evenness = self._colour
        self._note(tint=tint, tint_coherence=coherence, tint_evenness=evenness)

    def sight(self, reading: Reading) -> Sight:
        """What was seen of a take, now that it is read to its end."""
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
            **{name: tuple(row) for name, row in self._rows.items()},
        )

    def _strangeness(self, drawn: NDArray[np.float32]) -> tuple[float, float]:
        """To the frame before, and to the most like of those before it where one of them broke in."""
        before = list(reversed(self._outlines))
        if not before:
            return 0.0, 0.0
        strange = structure.strangeness(drawn, before[0])
        if max((strange, *self._rows["strange"][-BACK:])) < BROKEN:
            return strange, strange
        return strange, min((structure.strangeness(drawn, one) for one in before[1:]), default=0.0)

    def _sampled(self, name: str = "level") -> bool:
        return len(self._rows[name]) % SAMPLED == 0

    def _note(self, **measured: float) -> None:
        for name, value in measured.items():
            self._rows[name].append(round(value, 4))


def changes(before: NDArray[np.float32], now: NDArray[np.float32]) -> tuple[float, float]:
    """The mean absolute change of a picture, and that of the square (of an outline) that changed most.

    Parameters
    ----------
    before, now : luma, float32, shape (height, width), both at least a square
    """
    moved = abs(now - before)
    return float(moved.mean()), float(structure.squares(moved, structure.SQUARE).max())
