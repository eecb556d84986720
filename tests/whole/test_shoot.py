"""A shot whose take fails is taken again, and where no take passes a slug stands in and the film is made."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mvpipe import pipeline, takes
from mvpipe.build import run as run_module
from mvpipe.cli import session, shooting
from mvpipe.cli.terminal import Terminal
from mvpipe.errors import (
    GraphRejected,
    MediaError,
    MvpipeError,
    RenderFailed,
    RenderTimeout,
    SettingsError,
    TakesExhausted,
    Unreachable,
    VaultError,
)
from mvpipe.film import Outcome, Slate
from mvpipe.foresee import Change
from mvpipe.pipeline import Ready, Watcher
from mvpipe.project import Project, open_project
from mvpipe.render.backend import Asset, Progress, Setup
from mvpipe.tools import ffmpeg, process
from tests.whole.studio import build
from tests.whole.test_planted import Saboteur

WATCHER = Watcher()


@dataclass
class Puppeteer:
    """A backend that does as it is told: `(shot, attempt) -> fault`, everything else is a good take."""

    faults: Mapping[tuple[int, int], str | MvpipeError] = field(default_factory=dict)
    rendered: Counter[tuple[int, int]] = field(default_factory=Counter)

    name = "puppeteer/1"
    slots = 2

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        return Slate(
            shot=setup.shot.number,
            take=take,
            seed=seed,
            backend=self.name,
            frames=len(setup.shot.window),
            size=setup.size,
            graph={"prompt": setup.shot.card.prompt, "start": setup.shot.window.start},
            inputs={"vocals": setup.vocals.digest},
        )

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        return {"vocals": setup.vocals}

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        self.rendered[slate.shot, slate.take] += 1
        fault = self.faults.get((slate.shot, slate.take), "")
        if isinstance(fault, MvpipeError):
            raise fault
        if fault == "once" and self.rendered[slate.shot, slate.take] == 1:
            raise Unreachable("server: no answer")
        width, height = slate.size
        frames = slate.frames - 17 if fault == "short" else slate.frames
        hue = 7 if fault == "same" else slate.seed % 360
        picture = f"testsrc2=size={width}x{height}:rate=24,hue=h={hue}"
        if fault == "black":
            picture = f"color=black:size={width}x{height}:rate=24"
        if fault == "frozen":
            picture = f"{picture},loop=loop=-1:size=1:start=20"
        if fault == "garbage":
            into.write_bytes(b"not a film" * 100)
            return
        output = ["-frames:v", str(frames), "-c:v", "libx264", "-preset", "ultrafast", "-threads", "1"]
        process.run(ffmpeg.quiet("-f", "lavfi", "-i", picture, *output, ffmpeg.file(into)))

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        return frames / 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A song and a storyboard, heard and cut once for all tests here."""
    studio = build(tmp_path_factory.mktemp("shoot"), seconds=32.0)
    cuts = "cuts: {keep: [6, 12, 18, 24]}"  # windows alike in length, whatever is heard
    studio.edit("look:", f"gate: {{sync: off}}\n{cuts}\nlook:")
    studio.run("plan", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    return studio.folder


@pytest.fixture
def project(folder: Path, tmp_path: Path) -> Iterator[Project]:
    import shutil

    shutil.copytree(folder / "board.mvpipe", tmp_path / "board.mvpipe")
    with open_project(tmp_path / "board.mvpipe") as opened:
        yield opened


def ready(project: Project, folder: Path, backend: Puppeteer) -> Ready:
    ask = session.request(folder / "song.wav", folder / "board.yaml", vocals=folder / "vocals.wav")
    return dataclasses.replace(pipeline.prepare(project, ask, WATCHER), backend=backend, workers=2)


def shoot(project: Project, folder: Path, backend: Puppeteer) -> pipeline.Made:
    return pipeline.shoot(project, ready(project, folder, backend), watcher=WATCHER)


def seen(project: Project, folder: Path, number: int) -> list[tuple[int, Outcome]]:
    shot = ready(project, folder, Puppeteer()).production.plan.shots[number - 1]
    return [(known.number, known.outcome) for known in takes.known_takes(project.journal, shot.cut)]


def test_whoever_decides_starts_no_program(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No picture and no sound is decoded while servers wait to be told what is next."""
    started: list[threading.Thread] = []
    spawn = process._spawn

    def heard(*words: Any) -> Any:
        started.append(threading.current_thread())
        return spawn(*words)

    prepared = ready(project, folder, Puppeteer())
    monkeypatch.setattr(process, "_spawn", heard)
    pipeline.shoot(project, dataclasses.replace(prepared, backend=Saboteur()), only={2}, watcher=WATCHER)
    assert started
    assert threading.current_thread() not in started
    done = [job.name for job in project.journal.jobs() if job.outcome == "done"]
    assert {"take 2.1", "look 2.1", "promise 2.1"} <= {*done}


@pytest.mark.parametrize("fault", ["black", "frozen", "short", "garbage"])
def test_a_bad_take_is_taken_again(project: Project, folder: Path, fault: str) -> None:
    backend = Puppeteer({(2, 1): fault})
    made = shoot(project, folder, backend)
    assert made.slugs == {}
    assert backend.rendered[2, 2] == 1
    assert sum(backend.rendered.values()) == len(ready(project, folder, backend).production.plan.shots) + 1
    assert seen(project, folder, 2) == [(1, Outcome.FAIL), (2, Outcome.PASS)]


def test_a_second_copy_of_a_take_is_taken_again(project: Project, folder: Path) -> None:
    shots = ready(project, folder, Puppeteer()).production.plan.shots
    assert len(shots[1].window) == len(shots[2].window)
    one, other = shots[1].number, shots[2].number
    backend = Puppeteer({(one, 1): "same", (other, 1): "same"})
    made = shoot(project, folder, backend)
    assert made.slugs == {}
    assert backend.rendered[one, 2] + backend.rendered[other, 2] == 1


def test_where_no_take_passes_a_slug_stands_in(project: Project, folder: Path) -> None:
    backend = Puppeteer({(2, attempt): "black" for attempt in (1, 2, 3)})
    made = shoot(project, folder, backend)
    assert list(made.slugs) == [2]
    assert "black" in made.slugs[2]
    assert made.proofs["film"]["result"] == "pass", "the film is made, and as long as the song"
    again = Puppeteer()
    assert shoot(project, folder, again).slugs.keys() == {2}, "what failed is not rendered again unasked"
    assert not again.rendered


def test_failed_renders_count_as_attempts(project: Project, folder: Path) -> None:
    backend = Puppeteer({(1, 1): RenderFailed("node 7: out of memory"), (1, 2): "black"})
    assert shoot(project, folder, backend).slugs == {}
    assert backend.rendered[1, 3] == 1


def test_a_server_that_comes_back_costs_no_attempt(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "PAUSE_S", 0.01)
    backend = Puppeteer({(1, 1): "once"})
    assert shoot(project, folder, backend).slugs == {}
    assert backend.rendered[1, 1] == 2
    assert backend.rendered[1, 2] == 0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (GraphRejected("node 3: no such class"), GraphRejected),
        (RenderTimeout("server: no sign of life"), RenderTimeout),
        (MediaError("picture: changed"), MediaError),
        (VaultError("disk full"), VaultError),
    ],
)
def test_what_no_retake_can_mend_ends_the_run(
    project: Project,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: MvpipeError,
    kind: type[MvpipeError],
) -> None:
    monkeypatch.setattr(run_module, "PAUSE_S", 0.01)
    backend = Puppeteer({(1, 1): error})
    with pytest.raises(kind):
        shoot(project, folder, backend)
    assert backend.rendered[1, 2] == 0
    assert shoot(project, folder, Puppeteer()).slugs == {}, "the next run goes on"


def test_the_command_says_which_shots_failed_and_how_to_try_again(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = Puppeteer({(2, attempt): "black" for attempt in (1, 2, 3)})
    monkeypatch.setattr(pipeline, "find_backend", lambda *_: backend)
    ask = session.request(folder / "song.wav", folder / "board.yaml", vocals=folder / "vocals.wav")
    work = session.Session(terminal=Terminal(quiet=True), project=project)
    with pytest.raises(TakesExhausted, match="shots: 2: a slug stands in") as caught:
        shooting.shoot(work, ask, only=None, json=False)
    assert caught.value.exit_code == 7
    assert "mvpipe rerender 2" in caught.value.hint
    assert "slug in shot 2" in capsys.readouterr().out
    assert "rerender 2" in (project.report / "report.txt").read_text()


def test_a_shot_that_is_not_in_the_plan_is_named_before_any_is_rendered(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Puppeteer()
    monkeypatch.setattr(pipeline, "find_backend", lambda *_: backend)
    ask = session.request(folder / "song.wav", folder / "board.yaml", vocals=folder / "vocals.wav")
    work = session.Session(terminal=Terminal(quiet=True), project=project)
    with pytest.raises(SettingsError, match="shot 33: not in the plan: it has shots 1 to"):
        shooting.shoot(work, ask, only=[1, 33], json=False)
    assert not backend.rendered


def test_a_plan_foresees_slugs_and_lost_takes(project: Project, folder: Path) -> None:
    backend = Puppeteer({(2, attempt): "black" for attempt in (1, 2, 3)})
    prepared = ready(project, folder, backend)

    def foreseen() -> list[Change]:
        return pipeline.foresee(project, prepared, WATCHER)

    assert all(change.render and change.why == ("never rendered",) for change in foreseen())
    pipeline.shoot(project, prepared, watcher=WATCHER)
    assert [change.render for change in foreseen()] == [False] * len(prepared.production.plan.shots)
    assert "all 3 attempts failed" in foreseen()[1].why[0]
