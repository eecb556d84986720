"""Pictures into H.264 and back: raw frames through a pipe to ffmpeg, films and sound out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from subprocess import PIPE
from typing import IO, TYPE_CHECKING

from mvpipe.errors import MediaError
from mvpipe.tools import ffmpeg, process

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THREADS = 2
"""Of x264; part of what decides the bytes, so the same on every machine."""

IN_STEP = "sync-lookahead=0"
"""x264 does not always say the same where its lookahead has a thread of its own: of 200 runs of veryfast with
two threads 9 differed on a busy machine. Without it none did; the bytes are those of the other 191."""

LOOK_AHEAD = f"rc-lookahead=10:mbtree=1:{IN_STEP}"
"""Added to x264's superfast: 6 % more bytes than veryfast at the same SSIM for 65 % of its time, measured on
animatic takes; superfast alone makes 2.7 times the bytes."""


def take_argv(
    into: Path, *, size: tuple[int, int], rate: Fraction, sound: Path, comment: str, quality: int = 18
) -> list[str]:
    """Arguments that write a take: yuv420p frames from stdin, and `sound` whole beside them.

    Nothing of the machine or the hour gets into the file: no dates, no encoder names, fixed threads.
    """
    width, height = size
    return [
        *ffmpeg.quiet("-y"),
        *("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-framerate", str(rate)),
        *("-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
        *("-i", "pipe:0", "-i", ffmpeg.file(sound), "-map", "0:v:0", "-map", "1:a:0"),
        *("-c:v", "libx264", "-preset", "superfast", "-x264-params", LOOK_AHEAD),
        *("-crf", str(quality), "-threads", str(THREADS)),
        *("-pix_fmt", "yuv420p", "-color_range", "tv", "-colorspace", "bt709"),
        *("-color_primaries", "bt709", "-color_trc", "bt709", "-video_track_timescale", "24000"),
        *("-c:a", "aac", "-b:a", "128k", "-ac", "1"),
        *("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"),
        *("-metadata", f"comment={comment}", "-movflags", "+faststart", "-f", "mp4", ffmpeg.file(into)),
    ]


@contextmanager
def take_writer(argv: list[str]) -> Iterator[IO[bytes]]:
    """A pipe that takes raw frames; the file is whole when the block is left.

    Raises
    ------
    ToolError : ffmpeg failed
    Cancelled : `process.stop_all` was called
    """
    with process.start(argv, stdin=PIPE) as child:
        assert child.stdin is not None
        yield child.stdin


def listening_copy(into: Path, pieces: Iterable[NDArray[np.float32]], *, sample_rate: int, kbps: int) -> None:
    """Write sound as a small MP3 to listen to in a browser; its first sample is the first that is given.

    Parameters
    ----------
    into : the file to write
    pieces : float32, shape (n, 1), in [-1, 1]
    sample_rate : Hz
    kbps : of the copy

    Raises
    ------
    ToolError : ffmpeg failed
    """
    argv = [
        *ffmpeg.quiet("-y", "-f", "f32le", "-ar", str(sample_rate), "-ac", "1", "-i", "pipe:0"),
        *("-c:a", "libmp3lame", "-b:a", f"{kbps}k", "-map_metadata", "-1", "-fflags", "+bitexact"),
        *("-f", "mp3", ffmpeg.file(into)),
    ]
    with process.start(argv, stdin=PIPE) as child:
        assert child.stdin is not None
        for piece in pieces:
            child.stdin.write(piece.astype("<f4").tobytes())


def read_mono(path: Path, sample_rate: int, *, seconds: int = 0) -> NDArray[np.float32]:
    """The sound of a file, mixed to one channel: float32, shape (n,), at `sample_rate` Hz.

    Parameters
    ----------
    seconds : read from its beginning; 0 for all

    Raises
    ------
    ToolError : the file holds no sound that ffmpeg can decode
    """
    import numpy as np

    argv = [
        *ffmpeg.quiet("-i", ffmpeg.file(path), "-map", "0:a:0"),
        *(("-t", str(seconds)) if seconds else ()),
        *("-f", "f32le", "-ac", "1", "-ar", str(sample_rate), "pipe:1"),
    ]
    with process.start(argv, stdout=PIPE) as child:
        assert child.stdout is not None
        return np.frombuffer(child.stdout.read(), "<f4")


def read_frames(path: Path, size: tuple[int, int], wanted: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Frames of a film by number, counted from 0, scaled to `size`: RGB, shape (h, w, 3).

    Raises
    ------
    MediaError : the film has not all of them
    ToolError : the file holds no picture that ffmpeg can decode
    """
    import numpy as np

    width, height = size
    chain = f"scale={width}:{height}:flags=area:in_color_matrix=bt709,format=rgb24"
    argv = [
        *ffmpeg.quiet("-i", ffmpeg.file(path), "-map", "0:V:0", "-an", "-vf", chain),
        *("-frames:v", str(max(wanted) + 1), "-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"),
    ]
    found, number, bytes_each = {}, 0, width * height * 3
    with process.start(argv, stdout=PIPE) as child:
        assert child.stdout is not None
        while len(raw := child.stdout.read(bytes_each)) == bytes_each:
            if number in wanted:
                found[number] = np.frombuffer(raw, np.uint8).reshape(height, width, 3)
            number += 1
    if number <= max(wanted):
        raise MediaError(f"{path}: frame {max(wanted)}: wanted of a film of {number}")
    return [found[number] for number in wanted]
