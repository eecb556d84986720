"""A take's mouths as a strip of small pictures, each at its time; for people to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.faces import Pixels
from mvpipe.gate.look import Seen
from mvpipe.gate.mouth import LIPS
from mvpipe.gate.tracks import Track
from mvpipe.tools.frames import read

PICTURES = 24
"""In a strip."""

ROOM = 1.15
"""Side of what is shown of a mouth, over the distance of the eyes."""

NEAR = 2
"""Frames from one in which the face is seen to one in which it is taken to be where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """What is shown of one face, or of the whole take.

    Parameters
    ----------
    pictures : uint8, RGB, shape (h, w, 3); None where the face is not seen
    whole : shown are whole frames, for want of a face
    """

    pictures: tuple[Pixels | None, ...]
    whole: bool = False


def strips(clip: Path, seen: Seen, faces: Sequence[int]) -> tuple[Strip, ...]:
    """A strip of each of some faces; without any, one of whole frames.

    Parameters
    ----------
    faces : of `seen.tracks`

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it
    """
    wanted = [int((k + 0.5) * len(seen.times) / PICTURES) for k in range(PICTURES)]
    cutter = _Cutter([seen.tracks[face] for face in faces], wanted)
    read(clip, show=cutter.see)
    found = zip(*(cutter.cut.get(frame, [None] * max(1, len(faces))) for frame in wanted), strict=True)
    return tuple(Strip(pictures=tuple(one), whole=not faces) for one in found)


class _Cutter:
    """Sees each frame and keeps the mouths of those that are wanted."""

    def __init__(self, tracks: Sequence[Track], wanted: Sequence[int]) -> None:
        self._boxes = [_boxes(track) for track in tracks]
        self._tracks = tracks
        self._wanted = {*wanted}
        self._frame = 0
        self.cut: dict[int, list[Pixels | None]] = {}

    def see(self, image: Pixels) -> None:
        """The next frame: uint8, BGR, shape (height, width, 3)."""
        if self._frame in self._wanted:
            shown = [self._mouth(image, k) for k in range(len(self._tracks))]
            self.cut[self._frame] = shown or [image[..., ::-1].copy()]
        self._frame += 1

    def _mouth(self, image: Pixels, face: int) -> Pixels | None:
        frames = self._tracks[face].frames
        k = int(np.argmin(np.abs(frames - self._frame)))
        if abs(int(frames[k]) - self._frame) > NEAR:
            return None
        x, y, half = self._boxes[face][k]
        reach = max(1, round(half))
        framed = np.pad(image, ((reach, reach), (reach, reach), (0, 0)))  # a face may look out of the picture
        left, top = (round(min(max(at, 0), side)) for at, side in ((x, image.shape[1]), (y, image.shape[0])))
        return framed[top : top + 2 * reach, left : left + 2 * reach, ::-1].copy()


def _boxes(track: Track) -> NDArray[np.float64]:
    """(x, y) of the mouth and half the side of what is shown, of each frame; the side is the take's."""
    middle = track.points[:, np.array(LIPS).ravel()].mean(1)
    half = np.full(len(middle), ROOM / 2 * float(np.median(track.eyes)))
    return np.column_stack([middle, half])
