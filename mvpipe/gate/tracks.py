"""Follow every face through a take, seeing each frame once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate import portraits
from mvpipe.gate.faces import (
    LEFT_EYE,
    RIGHT_EYE,
    Finder,
    Mesh,
    Patch,
    Pixels,
    Points,
    Region,
    box_of,
    crop,
    keep,
    region_of,
)
from mvpipe.gate.portraits import EVERY, Chip

MOST = 3
"""Faces that are followed at once; a fourth is part of a crowd."""

LOOK, LOOK_CLOSELY = 12, 48
"""Frames between looks for new faces, and for small ones: a face search costs as much as a face traced."""

MISSED = 25
"""Frames a face may be gone and still be the same (the official SyncNet's tracks)."""

SMOOTH = 13
"""Frames over which the official SyncNet takes the median of a face's box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One face through a take.

    Parameters
    ----------
    total : frames of the take
    frames : those in which it was seen, rising; int, shape (n,)
    points : of its mesh, in pixels; float32, shape (n, 468, 2)
    patches : its pictures, n of them, or none where they were not wanted; not kept either
    chips : some of them, set upright, by which it is known whose it is; not kept
    """

    total: int
    frames: NDArray[np.int64]
    points: Points
    patches: tuple[Patch, ...] = ()
    chips: tuple[Chip, ...] = ()

    @property
    def coverage(self) -> float:
        """Share of the take's frames in which it was seen."""
        return len(self.frames) / self.total

    @property
    def eyes(self) -> NDArray[np.float64]:
        """Pixels between the outer corners of the eyes; shape (n,)."""
        apart = self.points[:, RIGHT_EYE] - self.points[:, LEFT_EYE]
        return np.asarray(np.hypot(apart[:, 0], apart[:, 1]), np.float64)

    def crops(self, frames: Sequence[int]) -> Iterator[Pixels]:
        """SyncNet's pictures of frames of the take, one by one; of a missing face, the nearest in time.

        Yields
        ------
        uint8, BGR, shape (224, 224, 3)
        """
        boxes = np.array([box_of(points) for points in self.points])
        smooth = np.stack([median(boxes[:, k], SMOOTH) for k in range(3)], axis=1)
        for frame in frames:
            k = int(np.argmin(np.abs(self.frames - frame)))
            yield crop(self.patches[k], tuple(smooth[k]))


def median(values: NDArray[np.float64], wide: int) -> NDArray[np.float64]:
    """A running median, the ends repeated; `wide` is odd."""
    padded = np.pad(values, wide // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, wide), axis=-1))


@dataclass(slots=True)
class _Open:
    """A track that may go on."""

    region: Region
    frames: list[int] = field(default_factory=list)
    points: list[Points] = field(default_factory=list)
    patches: list[Patch] = field(default_factory=list)
    chips: list[Chip] = field(default_factory=list)


class Watcher:
    """Sees one frame after the other and remembers faces.

    Parameters
    ----------
    pictures : keep a small picture of each face in each frame (20 kB), for SyncNet
    """

    def __init__(self, *, pictures: bool = False) -> None:
        self._pictures = pictures
        self._finder, self._mesh = Finder(), Mesh()
        self._open: list[_Open] = []
        self._frame = 0

    def see(self, image: Pixels) -> None:
        """The next frame: uint8, BGR, shape (height, width, 3)."""
        seen = [track for track in self._open if track.frames and track.frames[-1] == self._frame - 1]
        seen = [track for track in seen if self._trace(image, track, track.region)]
        if not seen or self._frame % LOOK == 0:
            self._look(image, seen, closely=self._frame % (LOOK if not seen else LOOK_CLOSELY) == 0)
        self._frame += 1

    def tracks(self) -> list[Track]:
        """What was followed, the longest first."""
        done = [
            Track(
                total=self._frame,
                frames=np.array(track.frames),
                points=np.stack(track.points),
                patches=tuple(track.patches),
                chips=tuple(track.chips),
            )
            for track in self._open
            if track.frames
        ]
        return sorted(done, key=lambda track: -len(track.frames))

    def _trace(self, image: Pixels, track: _Open, region: Region) -> bool:
        points = self._mesh.trace(image, region)
        if points is None:
            return False
        track.region = region_of(points)
        twins = (other for other in self._open if other is not track and other.frames)
        if any(other.frames[-1] == self._frame and other.region.near(track.region) for other in twins):
            return False
        track.frames.append(self._frame)
        track.points.append(points)
        if not track.chips or self._frame - track.chips[-1].frame >= EVERY:
            track.chips.append(portraits.cut(self._frame, image, points))
        if self._pictures:
            track.patches.append(keep(image, points))
        return True

    def _look(self, image: Pixels, seen: list[_Open], *, closely: bool) -> None:
        for region in self._finder.find(image, closely=closely):
            if len(seen) >= MOST:
                return
            if any(track.region.near(region) for track in seen):
                continue
            track = self._lost(region) or _Open(region)
            if self._trace(image, track, region):
                seen.append(track)
                if track not in self._open:
                    self._open.append(track)

    def _lost(self, region: Region) -> _Open | None:
        """The face that was here a moment ago."""
        for track in self._open:
            gone = self._frame - track.frames[-1]
            apart = float(np.hypot(*np.subtract(track.region.centre, region.centre)))
            if 0 < gone <= MISSED and apart < 0.5 * max(track.region.side, region.side):
                return track
        return None
