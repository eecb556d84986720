"""The file of the control: its pictures are as late as it says, and the reading is held against that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvpipe.gate.physical import compare, delay_for, write_delayed
from mvpipe.gate.rules import figures
from mvpipe.tools.frames import read
from tests.gate import takes


def levels(path: Path) -> list[float]:
    """The mean of every frame."""
    found: list[float] = []
    read(path, see=lambda luma: found.append(float(luma.mean())))
    return found


@pytest.mark.parametrize("delay", [10, -10])
def test_the_pictures_of_the_file_really_are_later(tmp_path: Path, delay: int) -> None:
    """Frames that grow lighter tell when each is shown: 400 ms at 25 a second are ten frames."""
    ramp = (np.full((64, 96), 20 + k, np.uint8) for k in range(200))
    take = takes.write(tmp_path / "take.mp4", ramp, rate="25", crf=4)
    write_delayed(take, tmp_path / "late.mp4", delay)
    before, after = levels(take), levels(tmp_path / "late.mp4")
    assert abs(len(after) - len(before)) <= abs(delay)
    middle = range(30, 160)
    assert np.mean([before[k] - after[k + delay] for k in middle]) == pytest.approx(0, abs=0.6)


def said(offset: int | None, method: str = "mouth") -> dict[str, Any]:
    return {"offset_frames_25": offset, "method": method, "reason": "no face is seen"}


@pytest.mark.parametrize(
    ("before", "after", "ok"),
    [
        (0, 10, True),
        (0, 9, True),
        (-4, 7, True),
        (0, 8, False),
        (0, 0, False),
        (0, None, False),
        (2, -8, False),
    ],
)
def test_the_reading_has_to_move_as_the_pictures_did(before: int, after: int | None, ok: bool) -> None:
    proof = compare(said(before), said(after), 10, figures())
    assert proof.ok is ok
    assert proof.reason


def test_another_method_proves_nothing() -> None:
    assert compare(said(0), said(10, "syncnet"), 10, figures()).ok is False


def test_a_picture_that_is_late_already_is_moved_the_other_way() -> None:
    assert (delay_for(5), delay_for(0), delay_for(-5)) == (-10, 10, 10)
    assert compare(said(5), said(-5), -10, figures()).ok is True
