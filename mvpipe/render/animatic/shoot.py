"""Make a take: draw its frames, spoil them if a fault was ordered, and pipe them into the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from mvpipe.errors import RenderFailed
from mvpipe.film import Slate
from mvpipe.render.animatic import compose, pixels, voice
from mvpipe.render.animatic.board import Board
from mvpipe.render.animatic.pixels import Pixels
from mvpipe.render.animatic.voice import Samples
from mvpipe.render.backend import Progress
from mvpipe.tools import encode

COMMENT = "mvpipe animatic: a drawn storyboard, not a finished picture"
"""Stands in the metadata of every take, as ANIMATIC stands in its picture."""

PROGRESS_EVERY = 12
MISSING = 12
"""Frames that a `short` take lacks."""


def shoot(slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
    """Write the take of a slate.

    Raises
    ------
    RenderFailed : the vocal is not as long as the picture
    ToolError : ffmpeg failed
    Cancelled : the run was stopped
    """
    board = Board.read(slate.graph)
    vocal = encode.read_mono(assets["vocals"], voice.SAMPLE_RATE)
    _fits(slate, board, vocal)
    fault = board.fault if not board.fault_takes or slate.take <= board.fault_takes else "none"
    size, rate = slate.size, board.pictures_per_second
    if fault == "size":
        size = (size[0] // 4 * 2, size[1] // 4 * 2)
        slate = replace(slate, size=size)
    if fault == "rate":
        rate = Fraction(25)
    if fault == "duplicate":
        slate = replace(slate, seed=0, graph=_alike(board).graph())
    shooting = compose.prepare(
        slate, vocal, {role: path for role, path in assets.items() if role != "vocals"}
    )
    argv = encode.take_argv(into, size=size, rate=rate, sound=assets["vocals"], comment=COMMENT)
    with encode.take_writer(argv) as pipe:
        for i, frame in enumerate(_spoilt(compose.frames(shooting), fault, slate.frames, size)):
            pipe.write(frame.data)
            if i % PROGRESS_EVERY == PROGRESS_EVERY - 1:
                progress(i + 1, slate.frames)
    if fault == "damaged":
        whole = into.read_bytes()
        into.write_bytes(whole[: len(whole) // 2])
    progress(slate.frames, slate.frames)


def _fits(slate: Slate, board: Board, vocal: Samples) -> None:
    long = len(vocal) / voice.SAMPLE_RATE
    wanted = float(slate.frames / board.pictures_per_second)
    if abs(long - wanted) > 0.005:
        raise RenderFailed(
            f"shot {slate.shot}: vocals: {long:.3f} s of sound for {wanted:.3f} s of picture",
            hint="the isolated vocal must be cut to the shot's window",
        )


def _alike(board: Board) -> Board:
    """A board on which nothing tells one shot from another."""
    nowhere = replace(board, place="", place_description="", place_picture="", cast=(), framing="")
    silent = replace(nowhere, section="", lyric="", mouth="closed", offset_ms=0)
    return replace(silent, prompt="the same take again", number=1, start=0, seen=(0, 1), camera="hold")


def _spoilt(frames: Iterator[Pixels], fault: str, count: int, size: tuple[int, int]) -> Iterator[Pixels]:
    if fault == "black":
        yield from (pixels.black(size) for _ in range(count))
    elif fault == "frozen":
        first = np.array(next(frames))
        yield from (first for _ in range(count))
    else:
        for i, frame in enumerate(frames):
            if fault != "short" or i < count - MISSING:
                yield frame
