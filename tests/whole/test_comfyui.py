"""A film of H3 takes, made through a server that speaks ComfyUI as measured (`mvpipe.testing`)."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mvpipe import pipeline
from mvpipe.pipeline import Watcher
from mvpipe.plan import Planned
from mvpipe.project import open_project
from mvpipe.render.comfyui.address import address
from mvpipe.request import Machine
from mvpipe.testing.standin import Standin, standin
from mvpipe.timing import rest_s
from tests.render.comfyui.clips import filmed
from tests.whole.studio import Studio, build, build_for_h3, copied

SECRET = "geheimes-wort"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A song and a storyboard for H3, heard once."""
    return build_for_h3(tmp_path_factory.mktemp("h3"), seconds=16.0).folder


@pytest.fixture
def studio(folder: Path, tmp_path: Path) -> Studio:
    return copied(folder, tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Standin]:
    with standin(tmp_path / "server") as running:
        yield running


def render(studio: Studio, url: str) -> list[str]:
    return ["render", "--vocals", "vocals.wav", "--backend", url, studio.song, studio.storyboard]


def made(server: Standin) -> list[str]:
    """Keys of what was sampled, in order: the job's facts travel with the prompt."""
    return [json.dumps(run["sampled"], sort_keys=True) for run in server.runs() if run["sampled"]]


def test_a_film_of_locked_takes(studio: Studio, server: Standin) -> None:
    shots = studio.plan()["shots"]
    ran = studio.run(*render(studio, f"{server.url}?token={SECRET}"), "--header", f"X-Api-Key: {SECRET}")
    assert SECRET not in ran.stdout + ran.stderr
    report = json.loads((studio.project / "report" / "report.json").read_text())
    assert report["result"] == "complete"
    assert report["proofs"]["film"]["sound"] == "exact"
    assert len(made(server)) == len(shots)
    voices = list(studio.entries("voice").values())
    forms = [entry.task["params"] for entry in voices if "samples" in entry.task["params"]]
    windows = sorted(shot["window"]["stop"] - shot["window"]["start"] for shot in shots)
    assert sorted(form["samples"] for form in forms) == [round(n / 24 * 40) * 800 for n in windows]
    for entry in studio.entries("take").values():
        facts = json.loads(entry.path("take.facts.json").read_text())
        assert facts["lock"] == "exact"
    for path in studio.project.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), f"{path} tells the secret"
    again = len(server.requests(path="/prompt", method="POST"))
    studio.run(*render(studio, server.url))
    assert len(server.requests(path="/prompt", method="POST")) == again, "nothing is asked for twice"
    studio.edit("rain on a window", "snow on a window")
    plan = ["plan", "--vocals", "vocals.wav", "--backend", server.url, studio.song, studio.storyboard]
    night = studio.json(*plan)["night"]
    assert [one["shots"] for one in night["servers"]] == [[2]], "only what is still to be made is foretold"
    assert (night["preview"], night["kept"]) == ([2], len(shots) - 1)


@pytest.mark.parametrize("fault", ["frames-short", "black", "sound-missing", "lock-ignored", "node-error"])
def test_a_take_that_failed_in_silence_is_taken_again(studio: Studio, server: Standin, fault: str) -> None:
    server.fault(fault, times=1)
    studio.run(*render(studio, server.url))
    assert studio.json("status")["result"] == "complete"
    assert len(studio.entries("take")) in (len(studio.plan()["shots"]), len(studio.plan()["shots"]) + 1)


def test_a_reference_film_is_in_every_time_that_is_foretold(studio: Studio) -> None:
    filmed(studio.folder / "walk.mp4", seconds=9, size="256x160")
    plain = foretold(studio)
    studio.edit("a woman in a red raincoat", "a woman in a red raincoat, videos: [walk.mp4]")
    slow = foretold(studio)
    for before, now in zip(plain.planned, slow.planned, strict=True):
        assert (now.shot.cut, now.shot.window) == (before.shot.cut, before.shot.window), "cuts do not move"
        steps = [one.seconds - rest_s(len(one.shot.window), (256, 160)) for one in (before, now)]
        assert steps[1] / steps[0] == pytest.approx(2.5 if now.shot.card.cast else 1, abs=0.15)
    assert slow.changes == pytest.approx([one.seconds for one in slow.planned])
    more = sum(slow.changes) - sum(plain.changes)
    assert slow.night - plain.night == pytest.approx(more)


@dataclass(frozen=True)
class Foretold:
    """What a plan, a change and a night are said to need, in seconds."""

    planned: tuple[Planned, ...]
    changes: list[float]
    night: float


def foretold(studio: Studio) -> Foretold:
    url = "http://127.0.0.1:9"
    request = studio.request(url, machines=(Machine(address=address(url)),))
    with open_project(studio.project) as project:
        ready = pipeline.prepare(project, request, Watcher(), keep=False)
        changes = [one.seconds for one in pipeline.foresee(project, ready, Watcher())]
        night = pipeline.foretell(project, ready)
        assert night
        return Foretold(ready.production.plan.planned, changes, night.schedule.makespan_s)


@pytest.mark.slow
def test_takes_without_a_face_are_kept_and_listed_for_the_eye(studio: Studio, server: Standin) -> None:
    studio.edit("gate: {sync: off}", "gate: {sync: auto}")
    server.fault("black", times=1)
    ran = studio.run(*render(studio, server.url), expect=10)
    sung = [
        one["shot"] for one in studio.json("gate", expect=10)["shots"] if one["verdict"] == "cannot judge"
    ]
    assert sung
    assert ran.stdout.splitlines()[1] == f"  look at shot {sung[0]}: cannot judge: no face is seen"
    assert f"{len(sung)} of" in ran.stderr


def test_a_server_that_dies_is_waited_for(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "mortal", revive_s=1.0) as server:
        server.fault("die", times=1, after=1)
        studio.run(*render(studio, server.url))
        assert server.deaths == 1
    assert studio.json("status")["result"] == "complete"


@pytest.mark.slow
def test_killed_it_takes_up_what_the_server_went_on_with(studio: Studio, tmp_path: Path) -> None:
    with standin(tmp_path / "slow", speed=40.0) as server:
        with studio.start(*render(studio, server.url)) as child:
            while not server.requests(path="/prompt", method="POST"):
                assert child.poll() is None
                time.sleep(0.05)
            child.send_signal(signal.SIGKILL)
            child.communicate()
        studio.run(*render(studio, server.url))
        counts = Counter(made(server))
    assert len(counts) == len(studio.plan()["shots"])
    assert set(counts.values()) == {1}, "the same thing was sampled twice"


def test_films_and_takes_tell_nothing_unless_asked(studio: Studio, server: Standin) -> None:
    """ComfyUI writes graph and prompt into every file it saves."""
    studio.run(*render(studio, server.url))
    telling = (b"class_type", b"MiniMaxH3", b"Mira sings", b"subject_definitions", b"woman in a red raincoat")
    films = [path for place in ("film", "takes", "vault") for path in (studio.project / place).rglob("*.m*")]
    assert {path.suffix for path in films} == {".mkv", ".mp4"}
    assert [path for path in films if path.name.startswith("take")]
    for path in films:
        data = path.read_bytes()
        assert not [word for word in telling if word in data], f"{path} tells"
    pictures = studio.pictures()
    studio.run(*render(studio, server.url), "--embed")
    (master,) = (studio.project / "film").glob("*.mkv")
    told = master.read_bytes()
    assert b"Mira sings" in told
    assert b"subject_definitions" in told
    (phone,) = (studio.project / "film").glob("*.mp4")
    assert b"class_type" not in phone.read_bytes()
    assert studio.pictures() == pictures
    from mvpipe.tools import picture

    shots = json.loads(picture.facts(master).tags["MVPIPE_TAKES"])
    assert [shot["shot"] for shot in shots] == [shot["number"] for shot in studio.plan()["shots"]]
    assert "<Audio 1>" in json.dumps(shots[0]["graph"]["graph"])


def test_no_server_is_one_clear_error_before_any_work(tmp_path: Path) -> None:
    studio = build(tmp_path, seconds=8.0)
    studio.edit("look:", "render: {backend: comfyui}\nlook:")
    ran = studio.run(*render(studio, "http://127.0.0.1:9"), expect=6)
    assert "http://127.0.0.1:9" in ran.stderr
    assert not studio.entries("song"), "the song was read before the server was asked"


def test_the_prompt_of_a_shot_names_the_voice(studio: Studio) -> None:
    text = studio.run("prompt", "1").stdout
    assert "<Audio 1>" in text
    assert "fully_copy" in text
    assert "Mira sings to us" in text


def test_b_roll_to_the_accompaniment_says_where_it_comes_from(studio: Studio, server: Standin) -> None:
    studio.edit("backend: comfyui", "backend: comfyui, without_voice: accompaniment")
    studio.edit("prompt: a tram passes", "prompt: a tram passes, without_voice: silence")
    plan = studio.json("plan", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    assert any("the song minus the vocal you brought" in note for note in plan["notes"])
    studio.run(*render(studio, server.url))
    entries = studio.entries("take").values()
    sounds = {entry.facts["slate"]["shot"]: entry.facts["slate"]["graph"]["sound"] for entry in entries}
    wanted = {
        shot["number"]: "voice"
        if shot["kind"] == "performance" and shot["voice"] > 0
        else shot["without_voice"] or "accompaniment"
        for shot in plan["shots"]
    }
    assert sounds == wanted
    assert "accompaniment" in wanted.values()
    assert len(studio.entries("accompaniment")) == 1


def test_the_plan_says_what_is_not_the_profiles(studio: Studio) -> None:
    studio.edit("backend: comfyui", "backend: comfyui, sampling: {lora_strength: 0.9}")
    plan = studio.json("plan", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    (note,) = (note for note in plan["notes"] if "render.sampling" in note)
    assert "lora_strength 0.9 instead of 1" in note


def test_animatic_can_be_asked_for_whatever_the_storyboard_says(studio: Studio) -> None:
    studio.run("render", "--vocals", "vocals.wav", "--backend", "animatic", studio.song, studio.storyboard)
    assert studio.json("status")["result"] == "complete"


def test_a_rehearsal_counts_the_night_and_leaves_the_film_alone(studio: Studio) -> None:
    before = sorted(path.name for path in studio.project.rglob("*"))
    command = ["render", "--vocals", "vocals.wav", "--rehearse", studio.song, studio.storyboard]
    slow = studio.json(*command, "--card", "16gb")
    shots = len(studio.plan()["shots"])
    assert sorted(take["shot"] for take in slow["takes"]) == list(range(1, shots + 1))
    assert 60 < slow["seconds"] < 24 * 3600
    assert sum(take["seconds"] for take in slow["takes"]) == pytest.approx(slow["seconds"], abs=1)
    assert {(take["take"], take["attempt"]) for take in slow["takes"]} == {(1, 1)}
    assert slow["disk_bytes"] > 1e5
    assert sorted(path.name for path in studio.project.rglob("*")) == before
    fast = studio.json(*command)  # the 24 GB card: takes of another card are not taken for its own
    assert len(fast["takes"]) == shots
    assert 0 < fast["seconds"] < slow["seconds"]
    studio.run(*command, "--card", "3dfx", expect=2)
