"""A run that dies at any moment resumes: the same plan, keys and film, and no finished take made twice."""

from __future__ import annotations

import json
import random
import shutil
import signal
from pathlib import Path

import pytest

from tests.whole.studio import Studio, build

KILLS = 12


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A film made in one go."""
    studio = build(tmp_path_factory.mktemp("finished"))
    studio.run(*studio.render)
    return studio


def copied(studio: Studio, folder: Path) -> Studio:
    """The same song and storyboard, nothing made yet."""
    for name in (studio.song, "vocals.wav", studio.storyboard):
        shutil.copy(studio.folder / name, folder / name)
    return Studio(folder, song=studio.song)


def same_plan(one: Studio, other: Studio) -> bool:
    plans = [studio.plan() for studio in (one, other)]
    for plan in plans:
        plan["song"].pop("path")
        for shot in plan["shots"]:
            shot["origin"] = Path(shot["origin"]).name
    return plans[0] == plans[1]


def test_the_film_is_made_and_proved(finished: Studio) -> None:
    report = json.loads((finished.project / "report" / "report.json").read_text())
    assert report["result"] == "complete"
    assert report["slugs"] == []
    assert report["proofs"]["film"]["sound"] == "exact"
    assert report["proofs"]["film"]["frames"] == report["frames"] == 26 * 24
    assert {Path(path).name for path in report["films"].values()} == {"Small Film.mkv", "Small Film.mp4"}
    for kind in ("film", "phone"):
        assert report["proofs"][kind]["result"] == "pass"


def test_a_second_run_makes_nothing(finished: Studio) -> None:
    before = len(finished.jobs("take")), finished.pictures()
    finished.run(*finished.render)
    assert (len(finished.jobs("take")), finished.pictures()) == before
    assert not list(finished.project.rglob(".*")), "a scratch name was left behind"


@pytest.mark.slow
def test_killed_at_many_moments_it_resumes(finished: Studio, tmp_path: Path) -> None:
    studio, moments = copied(finished, tmp_path), random.Random(440)
    for _ in range(KILLS):
        if studio.kill_after(moments.uniform(0.2, 4.0), *studio.render) == 0:
            break
        kept = studio.entries("take") if studio.project.exists() else {}
        begun = {key: len([job for job in studio.jobs("take") if job.key == key]) for key in kept}
        studio.kill_after(moments.uniform(1.0, 4.0), *studio.render)
        for key, many in begun.items():
            assert len([job for job in studio.jobs("take") if job.key == key]) == many, "a take made twice"
        assert kept.keys() <= studio.entries("take").keys(), "a finished take was lost"
    studio.run(*studio.render)
    assert same_plan(studio, finished)
    for stage in ("song", "vocals", "hearing", "voice", "take", "look", "conform", "reel", "film", "phone"):
        assert studio.entries(stage).keys() == finished.entries(stage).keys()
    assert studio.pictures() == finished.pictures()
    done = [job.key for job in studio.jobs("take") if job.outcome == "done"]
    assert len(done) == len(set(done))
    assert not (studio.project / "vault" / "scratch").exists() or not list(
        (studio.project / "vault" / "scratch").iterdir()
    )


def test_after_a_kill_nothing_is_said_to_run(finished: Studio, tmp_path: Path) -> None:
    studio = copied(finished, tmp_path)
    with studio.start(*studio.render) as child:
        while not (studio.project / "plan.json").exists() or not studio.json("status")["running"]:
            assert child.poll() is None, "while it works, it is said to"
        child.kill()
        child.communicate()
    assert studio.json("status")["running"] == []
    assert studio.json("status")["result"] != "complete"


def test_ctrl_c_ends_in_order_and_says_how_to_go_on(finished: Studio, tmp_path: Path) -> None:
    studio = copied(finished, tmp_path)
    with studio.start(*studio.render) as child:
        while not (studio.project / "plan.json").exists():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
    assert child.returncode == 130, err
    assert "stopped: finished work is kept" in err
    assert "to go on: mvpipe render --vocals vocals.wav -- song.wav board.yaml" in err
    assert not list((studio.project / "vault").glob("scratch/*"))
    assert not (studio.project / "lock.holder").exists()
    studio.run(*studio.render)
    assert studio.pictures() == finished.pictures()


def test_a_lost_journal_loses_no_take(finished: Studio, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "copy")
    studio = Studio(tmp_path / "copy")
    for path in studio.project.glob("journal.db*"):
        path.unlink()
    studio.run(*studio.render)
    assert studio.jobs("take") == []
    assert studio.json("takes", "1")["takes"][0]["seen"]
    assert studio.pictures() == finished.pictures()
