"""A run shows that it lives, hears whoever wants it to stop, and leaves room on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.build.run import Step
from mvpipe.errors import Cancelled
from mvpipe.pulse import BEAT_S, SILENT_S, Pulse, ask_to_stop, feel, told
from mvpipe.room import KEPT


def pulse(folder: Path, *, room: int = 2 * KEPT) -> Pulse:
    return Pulse(folder=folder, shots=3, room=lambda _: room, now=lambda: 1000.0)


def test_a_second_terminal_sees_what_is_under_way(tmp_path: Path) -> None:
    ours = pulse(tmp_path)
    for step in (
        Step(name="shot 1", what="end"),
        Step(name="take 2.1", what="begin"),
        Step(name="take 2.1", what="progress", done=3, of=8),
        Step(name="look 1.1", what="begin"),
        Step(name="look 1.1", what="end"),
    ):
        ours.step(step)
    assert ours.beat() == ""
    beat = feel(tmp_path)
    assert beat is not None
    assert told(beat, 1060.0) == [
        f"process {beat['pid']}: 1 of 3 shots are ready",
        "take 2.1: 1:00.000, 3 of 8",
    ]
    late = told(beat, 1000.0 + SILENT_S + 1)
    assert late[1].startswith("no sign of life"), "a run that hangs is not taken for one that lives"
    ours.close()
    assert feel(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_it_beats_no_more_often_than_it_should(tmp_path: Path) -> None:
    at = [0.0]
    ours = Pulse(folder=tmp_path, shots=1, room=lambda _: KEPT, now=lambda: at[0])
    at[0] = BEAT_S
    ours.beat()
    at[0] += BEAT_S / 2
    ours.beat()
    found = feel(tmp_path)
    assert found is not None
    assert found["at"] == BEAT_S


def test_whoever_asks_it_to_stop_is_heard(tmp_path: Path) -> None:
    ask_to_stop(tmp_path, at_once=False)
    ours = pulse(tmp_path)
    assert ours.beat() == "", "what was said to an earlier run does not count"
    ask_to_stop(tmp_path, at_once=False)
    assert ours.beat() == "mvpipe stop was said"
    ask_to_stop(tmp_path, at_once=True)
    with pytest.raises(Cancelled):
        ours.beat()


def test_a_full_disk_ends_the_giving_out_of_work(tmp_path: Path) -> None:
    assert pulse(tmp_path, room=KEPT).beat() == ""
    assert pulse(tmp_path, room=KEPT // 2).beat() == "only 0.5 GB of disk are free, and 1 are kept"
