"""Decode every frame of a film once: count them, digest them, show their luma to whoever looks."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import MediaError
from mvpipe.tools.picture import Facts, Times, facts_of, opened, tick, video

if TYPE_CHECKING:
    import numpy as np
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.plane import VideoPlane
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    Luma = NDArray[np.uint8]
    Tint = NDArray[np.uint8]
    Colour = NDArray[np.uint8]

Hasher = Any
"""What `hashlib.sha256` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A video stream, decoded from end to end.

    Parameters
    ----------
    facts : what the container says
    times : of its packets
    frames : decoded
    digest : sha256 (hex) of the decoded frames, planes without padding, one after the other
    damage : what the decoder complained about, in words; empty for a whole file
    """

    facts: Facts
    times: Times
    frames: int
    digest: str
    damage: tuple[str, ...]


def read(
    path: Path,
    *,
    see: Callable[[Luma], None] | None = None,
    tint: Callable[[Callable[[], Tint]], None] | None = None,
    show: Callable[[Colour], None] | None = None,
    width: int = 0,
    hasher: Hasher | None = None,
) -> Reading:
    """Decode every frame once.

    Parameters
    ----------
    see : is shown the luma of every frame: uint8, shape (height, width), 0 (black) to 255
    tint : may ask what colour every frame has, after `see`: uint8, Cb and Cr, 128 for none, half the size;
        shape (2, height, width); to find that out is as much work as the luma
    show : is shown every frame as it is: uint8, BGR, shape (height, width, 3)
    width : averaged down to for `see` and `tint`; 0, or more than the frame has, leaves the frame's own size
    hasher : goes on with the digest of an earlier file

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it; damage within is reported instead
    """
    import numpy as np

    hasher = hasher or hashlib.sha256()
    ticks, damage, frames = array("q"), list[str](), 0
    with opened(path) as container:
        stream = video(path, container)
        for frame in _decoded(container, stream, ticks, damage):
            _feed(hasher, frame)
            if see:
                see(_luma(frame, width))
            if tint:
                tint(partial(_tint, frame, width))
            if show:
                show(frame.to_ndarray(format="bgr24").astype(np.uint8, copy=False))
            if frame.is_corrupt:
                damage.append(f"frame {frames}: damaged")
            frames += 1
        return Reading(
            facts=facts_of(path, container),
            times=Times(ticks=array("q", sorted(ticks)), base=tick(stream)),
            frames=frames,
            digest=hasher.hexdigest(),
            damage=tuple(damage),
        )


def still(path: Path, number: int) -> Colour:
    """One decoded frame: uint8, RGB, shape (height, width, 3).

    Parameters
    ----------
    number : counted from the first

    Raises
    ------
    MediaError : not a film, or it has no such frame
    """
    import numpy as np

    damage = list[str]()
    with opened(path) as container:
        decoded = _decoded(container, video(path, container), array("q"), damage)
        found = next(islice(decoded, number, None), None)
        if found is None:
            raise MediaError(
                f"{path.name}: frame {number}: {damage[0] if damage else 'it has no such frame'}"
            )
        return found.to_ndarray(format="rgb24").astype(np.uint8, copy=False)


def digest(*paths: Path) -> str:
    """sha256 (hex) of the decoded frames of files played one after the other.

    Equal for a film and for the takes it was joined from, whatever the containers.

    Raises
    ------
    MediaError : as for `facts`
    """
    hasher = hashlib.sha256()
    for path in paths:
        read(path, hasher=hasher)
    return str(hasher.hexdigest())


def _decoded(
    container: InputContainer, stream: VideoStream, ticks: array[int], damage: list[str]
) -> Iterator[VideoFrame]:
    import av

    stream.codec_context.options = {"err_detect": "explode"}
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except av.error.FFmpegError as exc:
            damage.append(f"packet {len(ticks)}: cannot be read: {exc.strerror}")
            return
        if packet is None:
            return
        if packet.size and packet.pts is not None:
            ticks.append(packet.pts)
        try:
            yield from packet.decode()
        except av.error.FFmpegError as exc:
            damage.append(f"packet {len(ticks) - 1}: cannot be decoded: {exc.strerror}")


def _feed(hasher: Hasher, frame: VideoFrame) -> None:
    if frame.format.name not in ("yuv420p", "yuvj420p"):
        frame = frame.reformat(format="yuv444p")
    for plane in frame.planes:
        hasher.update(_pixels(plane))


def _pixels(plane: VideoPlane) -> memoryview[int] | Luma:
    """The bytes of an 8-bit plane without the padding of its rows."""
    import numpy as np

    if plane.line_size == plane.width:
        return memoryview(plane)
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)
    return np.ascontiguousarray(rows[:, : plane.width])


def _luma(frame: VideoFrame, width: int) -> Luma:
    return _averaged(frame, width, "gray")


def _tint(frame: VideoFrame, width: int) -> Tint:
    wide = max(2, (min(width, frame.width) or frame.width) // 2)
    return _averaged(frame, wide, "yuvj444p")[1:]


def _averaged(frame: VideoFrame, width: int, form: str) -> NDArray[np.uint8]:
    import numpy as np
    from av.video.reformatter import Interpolation

    wide = min(width, frame.width) or frame.width
    high = max(1, frame.height * wide // frame.width)
    small = frame.reformat(width=wide, height=high, format=form, interpolation=Interpolation.AREA)
    return small.to_ndarray().astype(np.uint8, copy=False)
