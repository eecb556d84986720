"""The physical control: a file whose picture really is 400 ms late, measured from the disk.

The control of each verdict moves numbers. This one moves pictures: it is written, decoded and looked at like
any take, so a fault in how times or pairs of files are read cannot hide from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.gate.offset import CONTROL_FRAMES
from mvpipe.gate.pairs import RATE
from mvpipe.tools import ffmpeg, process
from mvpipe.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the control came to.

    Parameters
    ----------
    ok : whether the reading moved as the pictures did; None where there was nothing to measure
    reason : in words
    delay : pictures (of 40 ms) by which they were moved; negative: earlier
    read : by which the reading moved
    """

    ok: bool | None
    reason: str
    delay: int = 0
    read: int | None = None


def delay_for(offset_frames: int) -> int:
    """By how much the picture is moved: later, unless it is late already and would leave the search."""
    return -CONTROL_FRAMES if offset_frames > 0 else CONTROL_FRAMES


def delayed_argv(take: Path, into: Path, delay: int) -> list[str]:
    """Arguments that write a take with its pictures `delay` pictures (of 40 ms) later, as long as it was.

    At 25 pictures a second: 400 ms are ten of them, and no whole number of a film's.
    """
    moved = (
        f"tpad=start_mode=clone:start={delay}"
        if delay > 0
        else f"trim=start_frame={-delay},setpts=PTS-STARTPTS,tpad=stop_mode=clone:stop={-delay}"
    )
    return [
        *ffmpeg.quiet("-y", "-i", ffmpeg.file(take), "-map", "0:V:0", "-an"),
        *("-vf", f"fps={RATE},{moved}", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "16"),
        *("-threads", "2", "-f", "mp4", ffmpeg.file(into)),
    ]


def write_delayed(take: Path, into: Path, delay: int) -> None:
    """Write the file of the control.

    Raises
    ------
    ToolError : ffmpeg failed
    """
    process.run(delayed_argv(take, into, delay))


def compare(
    before: Mapping[str, Any], after: Mapping[str, Any], delay: int, values: Mapping[str, float]
) -> Proof:
    """Hold the reading of the moved file against that of the take.

    Parameters
    ----------
    before, after : verdicts on the take and on the file, as JSON values
    """
    was, now = before["offset_frames_25"], after["offset_frames_25"]
    if now is None:
        reason = (
            f"of the file that is {counted(delay, 'frame')} late nothing could be read: {after['reason']}"
        )
        return Proof(ok=False, reason=reason, delay=delay)
    read = now - was
    ok = before["method"] == after["method"] and abs(read - delay) <= values["control_slack"]
    reason = f"pictures moved by {delay:+d} frames (25 a second) in a file were read at {read:+d}"
    return Proof(ok=ok, reason=reason, delay=delay, read=read)
