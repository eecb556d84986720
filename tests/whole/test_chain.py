"""Chained shots: rendered after the one before, from its picture, and again when that one changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mvpipe import pipeline
from mvpipe.chain import chains, check_chains, join_frame, with_followers
from mvpipe.clock import Span
from mvpipe.errors import MediaError, StoryboardError
from mvpipe.film import Card, Continuity, Shot
from mvpipe.pipeline import Watcher
from mvpipe.project import open_project
from mvpipe.testing.standin import Standin, standin
from mvpipe.tools import frames
from tests.whole import test_shoot
from tests.whole.studio import Studio, build_for_h3, copied

PACKS = ("--packs", "core,multishot", "--no-previews")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A song, and a storyboard whose second and third shots go on from the one before."""
    chained = [
        ("prompt: rain on a window", "prompt: rain on a window, continuity: chain"),
        ("prompt: Mira turns away,", "prompt: Mira turns away, continuity: chain,"),
    ]
    home = tmp_path_factory.mktemp("chain")
    return build_for_h3(home, seconds=26.0, render="graph: multishot-pinned", edits=chained).folder


@pytest.fixture
def studio(folder: Path, tmp_path: Path) -> Studio:
    return copied(folder, tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Standin]:
    with standin(tmp_path / "server", flags=PACKS) as running:
        yield running


def render(studio: Studio, url: str) -> list[str]:
    return ["render", "--vocals", "vocals.wav", "--backend", url, studio.song, studio.storyboard]


def posts(server: Standin) -> int:
    return len(server.requests(path="/prompt", method="POST"))


def joins(studio: Studio, number: int) -> set[str]:
    """Digests of the pictures from which takes of a shot have gone on."""
    slates = [entry.facts["slate"] for entry in studio.entries("take").values()]
    return {slate["inputs"]["join"] for slate in slates if slate["shot"] == number}


def shown(studio: Studio) -> dict[int, Mapping[str, Any]]:
    """Slates of the takes there are, by shot."""
    takes = studio.entries("take").values()
    return {entry.facts["slate"]["shot"]: entry.facts["slate"] for entry in takes}


def test_a_chain_is_rendered_in_its_order_and_again_when_its_head_changes(
    studio: Studio, server: Standin
) -> None:
    plan = studio.plan()
    assert plan["chains"] == [[1, 2, 3]]
    studio.run(*render(studio, server.url))
    assert studio.json("status")["result"] == "complete"
    first = shown(studio)
    assert [number for number in sorted(first) if "join" in first[number]["inputs"]] == [2, 3]
    sample = first[2]["graph"]["graph"]["sample"]["inputs"]
    assert (sample["bank_pinned"], sample["memory_frames"], sample["continuity"]) == (1, 0, "cut")
    assert "start_image" in sample
    ends = {job.name: job.ended for job in studio.jobs("take")}
    begins = {job.name: job.started for job in studio.jobs("take")}
    for earlier, later in (("take 1.1", "take 2.1"), ("take 2.1", "take 3.1")):
        assert (ends[earlier] or 0) <= begins[later]
    for entry in studio.entries("join").values():
        take = next(e for e in studio.entries("take").values() if e.digest("take.mp4") in str(entry.task))
        picture = frames.still(take.path("take.mp4"), entry.task["params"]["frame"])
        assert picture.shape == (160, 256, 3)
    count = posts(server)
    studio.run(*render(studio, server.url))
    assert posts(server) == count, "nothing is done twice"

    studio.edit("prompt: Mira sings to us", "prompt: Mira sings to the moon")
    diff = studio.json("plan", "--vocals", "vocals.wav", "--diff", studio.song, studio.storyboard)["diff"]
    why = {change["shot"]: " ".join(change["why"]) for change in diff if change["render"]}
    assert sorted(why) == [1, 2, 3]
    assert "chained to shot 1, which is rendered anew" in why[2]
    assert "chained to shot 2, which is rendered anew" in why[3]
    studio.run(*render(studio, server.url))
    assert posts(server) == count + 3
    assert len(joins(studio, 2)) == 2, "the new take goes on from the new picture"

    asked = studio.run("rerender", "2")
    assert posts(server) == count + 5, "shot 3 goes along with shot 2, and nothing else"
    assert "proof" in asked.stdout or asked.returncode == 0
    clean = studio.json("plan", "--vocals", "vocals.wav", "--diff", studio.song, studio.storyboard)["diff"]
    assert not [change for change in clean if change["render"]]


def test_only_takes_the_followers_along_and_says_so(studio: Studio, server: Standin) -> None:
    ran = studio.run(*render(studio, server.url), "--only", "2", expect=7)
    assert "shot 3: chained to what is rendered: goes along" in ran.stderr
    assert "chained to shot 1, which has no take" in ran.stderr
    assert posts(server) == 0


def test_a_graph_that_cannot_is_refused_before_anything_is_sent(studio: Studio, server: Standin) -> None:
    studio.edit("graph: multishot-pinned", "graph: native-ref2va")
    ran = studio.run(*render(studio, server.url), expect=2)
    assert "continuity: chain: graph native-ref2va has no start_picture" in ran.stderr
    assert not server.requests("", "POST")


def test_the_animatic_draws_it_as_any_other(studio: Studio) -> None:
    studio.run("render", "--vocals", "vocals.wav", "--backend", "animatic", studio.song, studio.storyboard)
    assert studio.json("status")["result"] == "complete"


class Chaining(test_shoot.Puppeteer):
    """A puppeteer whose shots may be chained."""

    def chains(self, shot: Shot, options: Mapping[str, Any]) -> bool:
        return shot.card.continuity is Continuity.CHAIN


def test_behind_a_shot_without_a_take_the_chain_is_slugs(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "board.mvpipe", tmp_path / "board.mvpipe")
    backend = Chaining(faults={(1, take): "black" for take in (1, 2, 3)})
    with open_project(tmp_path / "board.mvpipe") as project:
        ready = test_shoot.ready(project, folder, backend)
        made = pipeline.shoot(project, ready, watcher=Watcher())
    assert set(made.slugs) == {1, 2, 3}
    assert made.slugs[2] == "chained to shot 1, which has no take"
    assert made.slugs[3] == "chained to shot 2, which has no take"
    assert {shot for shot, _ in backend.rendered} == {1, *range(4, len(ready.production.plan.shots) + 1)}


def shot(number: int, start: int, *, chain: bool = False, head: int = 12, frames: int = 124) -> Shot:
    continuity = Continuity.CHAIN if chain else Continuity.CUT
    return Shot(
        number=number,
        cut=Span(start, start + 100),
        window=Span(max(0, start - head), max(0, start - head) + frames),
        card=Card(prompt="", continuity=continuity, origin=f"rain.yaml:{number}"),
    )


def test_chains_and_their_followers() -> None:
    marks = (False, True, True, False, False, True)
    shots = [shot(n, (n - 1) * 100, chain=chain) for n, chain in enumerate(marks, 1)]
    assert chains(shots) == ((1, 2, 3), (5, 6))
    assert with_followers(shots, {2}) == {2, 3}
    assert with_followers(shots, {4, 6}) == {4, 6}
    assert join_frame(shots[0], shots[1]) == 88
    check_chains(shots)


def test_a_chain_that_begins_with_nothing() -> None:
    with pytest.raises(StoryboardError, match="the film's first shot"):
        check_chains([shot(1, 0, chain=True)])
    with pytest.raises(StoryboardError, match="which no take of shot 1 shows"):
        check_chains([shot(1, 100), shot(2, 200, chain=True, head=150, frames=260)])


def test_a_still_is_the_frame_that_was_asked_for(folder: Path, tmp_path: Path) -> None:
    from mvpipe.tools import ffmpeg, process

    clip = tmp_path / "ramp.mp4"
    source = "color=black:size=64x64:rate=24,geq=lum='20+8*N':cb=128:cr=128"
    process.run(ffmpeg.quiet("-f", "lavfi", "-i", source, "-frames:v", "20", "-crf", "1", ffmpeg.file(clip)))
    levels = [float(frames.still(clip, n).mean()) for n in (0, 5, 19)]
    assert levels[0] < levels[1] < levels[2]
    assert levels[1] - levels[0] == pytest.approx(5 * 8 * 255 / 219, abs=3)
    with pytest.raises(MediaError, match="no such frame"):
        frames.still(clip, 20)


def test_the_plan_says_it_in_json(studio: Studio) -> None:
    plan = json.loads((studio.project / "plan.json").read_text())
    assert [shot["continuity"] for shot in plan["shots"][:4]] == ["cut", "chain", "chain", "cut"]
