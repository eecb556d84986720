"""Killed in the middle of judging, a run goes on: nothing is judged twice, and the verdicts stay."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.whole.studio import Studio, build


def judging(studio: Studio) -> bool:
    """Whether lips are being judged just now."""
    if not (studio.project / "plan.json").exists():
        return False
    return any(job.ended is None for job in studio.jobs("lips"))


@pytest.mark.slow
def test_killed_while_lips_are_judged_it_resumes(tmp_path: Path) -> None:
    studio = build(tmp_path, seconds=20.0)
    studio.edit("192x128", "320x256")
    studio.edit("look:", "gate: {sync: on}\nlook:")
    for _ in range(2):
        with studio.start(*studio.render) as child:
            while not judging(studio) and child.poll() is None:
                time.sleep(0.02)
            child.send_signal(signal.SIGKILL)
            child.communicate()
    studio.run(*studio.render)
    found = studio.json("gate")
    assert found["result"] == "complete"
    assert found["control"]["ok"] is True
    judged = [one for one in found["shots"] if one["method"] == "mouth"]
    assert judged
    assert {one["verdict"] for one in judged} == {"pass"}
    for stage in ("take", "look", "lips", "control", "screening"):
        done = [job.key for job in studio.jobs(stage) if job.outcome == "done"]
        assert len(done) == len(set(done)), f"{stage}: done twice"
    assert len(studio.entries("lips")) == len(judged)
