"""What a rehearsal says: retakes and restarts by name, and a total that is the sum of its lines."""

from __future__ import annotations

from mvpipe.rehearsal import Rehearsal, Rehearsed


def test_a_night_in_words_and_figures() -> None:
    takes = (
        Rehearsed(shot=1, take=1, seconds=100.0, attempt=1),
        Rehearsed(shot=1, take=2, seconds=60.4, attempt=1),
        Rehearsed(shot=2, take=1, seconds=3600.0, attempt=3),
    )
    night = Rehearsal(card="24gb", takes=takes, disk=12_400_000)
    assert night.seconds == 3760.4
    assert night.text().splitlines() == [
        "rehearsed on a 24gb card:",
        "  shot 1: begins 0:00.000, needs 1:40.000",
        "  shot 1, retake 1: begins 1:40.000, needs 1:00.000",
        "  shot 2: begins 2:40.000, needs 1:00:00.000, begun 3 times",
        "  in all 1:02:40.000 of the card for 3 takes, if the gate lets every one of them pass",
        "  12 MB of disk here, with drawn pictures: real ones need more",
    ]
    assert [take["attempt"] for take in night.as_json()["takes"]] == [1, 1, 3]
