"""One edited shot costs one shot, and the film says what it would cost before."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.whole.studio import Studio, build


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A film that is never changed."""
    studio = build(tmp_path_factory.mktemp("original"))
    studio.run(*studio.render)
    return studio


@pytest.fixture
def studio(original: Studio, tmp_path: Path) -> Studio:
    """A copy of it, to be changed."""
    shutil.copytree(original.folder, tmp_path / "film")
    return Studio(tmp_path / "film")


def changed(studio: Studio) -> list[int]:
    """The shots that `plan --diff` says would be rendered; they are then rendered, and no others."""
    plan = studio.json("plan", "--vocals", "vocals.wav", "--diff", studio.song, studio.storyboard)
    foreseen = [line["shot"] for line in plan["diff"] if line["render"]]
    before = len(studio.jobs("take"))
    studio.run(*studio.render)
    made = sorted(int(job.name.split(" ")[1].split(".")[0]) for job in studio.jobs("take")[before:])
    assert made == foreseen
    return made


def test_nothing_changed_costs_nothing(studio: Studio) -> None:
    studio.edit("mvpipe: 1", "# a comment\nmvpipe: 1")
    assert changed(studio) == []


def test_a_prompt_costs_its_shot(studio: Studio) -> None:
    studio.edit("rain on a window", "snow on a window")
    why = studio.run("why", "2").stdout
    assert why == "shot 2 would be rendered\n  prompt: rain on a window -> snow on a window\n"
    assert "would be kept" in studio.run("why", "1").stdout
    assert changed(studio) == [2]
    takes = studio.json("takes", "2")["takes"]
    assert [(take["take"], take["seen"]) for take in takes] == [(1, False), (2, True)]


def test_an_edit_taken_back_costs_nothing(studio: Studio) -> None:
    studio.edit("rain on a window", "snow on a window")
    assert changed(studio) == [2]
    studio.edit("snow on a window", "rain on a window")
    assert changed(studio) == []


def test_a_moved_cut_costs_its_neighbours(studio: Studio) -> None:
    cut = studio.plan()["shots"][2]["cut"]["start"]
    studio.edit("title:", f"cuts: {{at: {{3: {(cut + 5) / 24:.4f}}}}}\ntitle:")
    assert changed(studio) == [2, 3]
    assert studio.plan()["shots"][2]["cut"]["start"] == cut + 5


def test_the_look_costs_every_shot(studio: Studio) -> None:
    studio.edit("ink on paper", "oil on canvas")
    assert changed(studio) == [shot["number"] for shot in studio.plan()["shots"]]


def test_the_title_alone_costs_no_wrong_name(studio: Studio) -> None:
    studio.edit("title: Small Film", "title: \"Größe: 5% / 'a'\"")
    studio.run(*studio.render)
    names = {path.name for path in (studio.project / "film").iterdir()}
    assert any("Größe" in name and name.endswith(".mkv") for name in names)


def test_rerender_makes_one_new_take_and_pick_takes_the_old_one_back(studio: Studio) -> None:
    first = studio.pictures()
    again = studio.run("rerender", "3", "--seed", "12")
    assert again.stderr.count("listening:") == 1, "the song is heard once"
    takes = studio.json("takes", "3")["takes"]
    assert [take["seen"] for take in takes] == [False, True]
    assert takes[1]["seed"] == 12
    assert studio.pictures() != first
    assert changed(studio) == []
    studio.run("pick", "3", "1")
    said = studio.run("status").stdout
    assert "incomplete" in said
    assert "not in the film yet: shot 3 (take 1, picked); mvpipe render puts it in" in said
    assert changed(studio) == []
    assert studio.pictures() == first
    status = studio.json("status")
    assert (status["result"], status["shots"][2]["state"]) == ("complete", "picked")
    studio.run("pick", "3", "9", expect=2)


def test_a_pick_holds_until_the_shot_asks_for_something_else(studio: Studio) -> None:
    studio.run("rerender", "3")
    studio.run("pick", "3", "1")
    studio.run(*studio.render)
    studio.edit("Mira turns away", "Mira turns to us")
    ran = studio.run(*studio.render)
    assert "the picked take is let go: the shot was changed since" in ran.stderr
    assert studio.json("takes", "3")["takes"][-1]["seen"]
    assert studio.json("status")["result"] == "complete", "a pick that was let go is not waited for"


def test_only_some_shots(original: Studio, tmp_path: Path) -> None:
    for name in (original.song, "vocals.wav", original.storyboard):
        shutil.copy(original.folder / name, tmp_path / name)
    studio = Studio(tmp_path)
    render = ["render", "--vocals", "vocals.wav", "--only", "2,4", studio.song, studio.storyboard]
    ran = studio.run(*render)
    assert sorted(job.name for job in studio.jobs("take")) == ["take 2.1", "take 4.1"]
    assert "slug in shot 1: not rendered yet" in ran.stdout
    report = json.loads((studio.project / "report" / "report.json").read_text())
    assert report["result"] == "incomplete"
    assert report["proofs"]["film"]["frames"] == studio.plan()["frames"], "a rough cut has the film's length"
    studio.run(*studio.render)
    assert studio.pictures() == original.pictures()


def test_a_damaged_take_is_named_and_made_again(studio: Studio) -> None:
    before = studio.pictures()
    entry = next(e for e in studio.entries("take").values() if e.facts["slate"]["shot"] == 2)
    clip = entry.path("take.mp4")
    entry.folder.chmod(0o755)
    clip.chmod(0o644)
    damaged = bytearray(clip.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    clip.write_bytes(damaged)
    jobs = len(studio.jobs("take"))
    ran = studio.run(*studio.render)
    assert "take.mp4 left its digest; it will be made again" in " ".join(ran.stderr.split())
    assert [job.name for job in studio.jobs("take")[jobs:]] == ["take 2.1"]
    assert studio.pictures() == before


def test_a_vanished_vault_entry_is_made_again(studio: Studio) -> None:
    entry = next(iter(studio.entries("conform").values()))
    entry.folder.chmod(0o755)
    shutil.rmtree(entry.folder)
    reel = next(iter(studio.entries("reel").values()))
    reel.folder.chmod(0o755)
    shutil.rmtree(reel.folder)
    before = len(studio.jobs("take"))
    studio.run(*studio.render)
    assert len(studio.jobs("take")) == before


def test_two_at_once_never_meet(studio: Studio) -> None:
    studio.edit("ink on paper", "oil on canvas")
    with studio.start(*studio.render) as first:
        while not (studio.project / "lock.holder").exists():
            assert first.poll() is None
        second = studio.run(*studio.render, expect=8)
        assert f"in use by process {first.pid}" in second.stderr
        assert studio.json("status")["title"] == "Small Film", "whoever only looks may look"
        third = studio.start("render", "--wait", *studio.render[1:])
        assert first.wait() == 0
        first.communicate()
        third.communicate()
        assert third.returncode == 0
    done = [job.key for job in studio.jobs("take") if job.outcome == "done"]
    assert len(done) == len(set(done))


def test_awkward_names(tmp_path: Path) -> None:
    name = "-a 'song' \"x\" 100% née.wav"
    studio = build(tmp_path, seconds=12.0, song=name)
    studio.run(*studio.render)
    (film,) = (studio.project / "film").glob("*.mkv")
    studio.run("verify", str(film), "--song", name)
    os.rename(studio.folder / name, studio.folder / "gone.wav")
    gone = studio.run(*studio.render, expect=3)
    assert name in gone.stderr
    assert "no such file" in gone.stderr
