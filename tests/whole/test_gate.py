"""A film in which every kind of fault is planted: each is caught, mended or listed, and nothing else is.

Takes are animatics whose mouths are told to be late, closed or somebody else's; to the gate they are takes of
a model that claims that its mouths follow the voice.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from mvpipe import pipeline, takes
from mvpipe.cli import session
from mvpipe.cli.calibrate import Spread, calibrate
from mvpipe.errors import CannotJudge, PipelineFault, TakesExhausted
from mvpipe.film import Outcome, Slate
from mvpipe.gate import physical
from mvpipe.lips import Lips
from mvpipe.pipeline import Made, Ready, Watcher
from mvpipe.production import GateSettings
from mvpipe.project import Project, open_project
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.backend import Asset, Progress, Setup
from mvpipe.report import summarise
from mvpipe.standing import Stand, stand
from tests.whole.studio import build

LATE, FAR = {"offset_ms": 200}, {"offset_ms": 560}
"""Within the handles, and beyond them; the last shot has no frames behind it, so there every lateness is."""

BLACK = {"fault": "black"}


@dataclass
class Actors:
    """A backend that claims its mouths are locked: `(shot, attempt) -> options`; all else is a good take."""

    parts: Mapping[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)
    rendered: Counter[tuple[int, int]] = field(default_factory=Counter)
    framings: dict[tuple[int, int], str] = field(default_factory=dict)

    name = "actors/1"
    slots = 2

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        options = self.parts.get((setup.shot.number, take), {})
        self.framings[setup.shot.number, take] = setup.shot.card.framing
        return Animatic().slate(dataclasses.replace(setup, options=options), take=take, seed=seed)

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        return Animatic().assets(setup)

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        self.rendered[slate.shot, slate.take] += 1
        Animatic().render(slate, assets, into, progress)

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        return frames / 100


def ready(project: Project, folder: Path, backend: Actors, **gate: Any) -> Ready:
    ask = session.request(folder / "song.wav", folder / "board.yaml", vocals=folder / "vocals.wav")
    prepared = pipeline.prepare(project, ask, Watcher())
    production = dataclasses.replace(prepared.production, gate=GateSettings(**gate))
    return dataclasses.replace(prepared, production=production, backend=backend, workers=2)


def came_to(project: Project, prepared: Ready, made: Made) -> Stand:
    return stand(project, prepared.production.plan, made)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film of good takes."""
    studio = build(tmp_path_factory.mktemp("gate"), seconds=44.0)
    studio.edit("192x128", "320x256")
    studio.edit("kind: b-roll, prompt: a tram passes", "prompt: Mira waits, cast: [mira]")
    with open_project(studio.project) as project:
        pipeline.shoot(project, ready(project, studio.folder, Actors()), watcher=Watcher())
    return studio.folder


@pytest.fixture
def project(folder: Path, tmp_path: Path) -> Iterator[Project]:
    shutil.copytree(folder / "board.mvpipe", tmp_path / "board.mvpipe")
    with open_project(tmp_path / "board.mvpipe") as opened:
        yield opened


@pytest.fixture
def judged(project: Project, folder: Path) -> list[int]:
    """Numbers of the shots in which Mira sings; nobody sings in the others."""
    prepared = ready(project, folder, Actors())
    lips = Lips(production=prepared.production, backend=prepared.backend)
    shots = prepared.production.plan.shots
    assert shots[-1].tail == 0
    return [shot.number for shot in shots if not lips.unjudged(shot)]


@pytest.fixture
def sung(project: Project, folder: Path, judged: list[int]) -> list[int]:
    """Those in which she sings enough to be judged alone."""
    shots = ready(project, folder, Actors()).production.plan.shots
    found = [number for number in judged if shots[number - 1].voice > 0.5]
    assert len(found) >= 6
    assert found[-1] == len(shots)
    return found


Shoot = Callable[..., Stand]


@pytest.fixture
def shoot(project: Project, folder: Path) -> Shoot:
    """Make the film with these actors, and say what stands."""

    def one(actors: Actors, **gate: Any) -> Stand:
        prepared = ready(project, folder, actors, **gate)
        return came_to(project, prepared, pipeline.shoot(project, prepared, watcher=Watcher()))

    return one


def shots(found: Stand, wanted: Callable[[Any], object]) -> list[int]:
    return [one.shot for one in found.shots if wanted(one)]


def test_good_takes_pass_and_the_control_was_read(shoot: Shoot, judged: list[int]) -> None:
    found = shoot(actors := Actors())
    assert not actors.rendered
    assert shots(found, lambda one: one.lips.get("method")) == judged
    assert shots(found, lambda one: one.unjudged != "nobody sings in it") == judged
    assert all(one.outcome is Outcome.PASS and not one.slip for one in found.shots)
    assert found.complaint() is None
    assert found.control["ok"] is True
    assert abs(found.control["read"] - found.control["delay"]) <= 1
    assert abs(found.control["delay"]) == 10


def test_every_planted_fault_is_caught_mended_or_listed(
    shoot: Shoot, project: Project, folder: Path, sung: list[int]
) -> None:
    late, other, far, black, still, *_, last = sung
    parts: dict[tuple[int, int], Mapping[str, Any]] = {
        (late, 1): LATE,
        (other, 1): {"mouth": "unrelated"},
        (far, 1): FAR,
        (black, 1): BLACK,
        (still, 1): {"mouth": "frozen"},
        **{(last, attempt): {"offset_ms": ms} for attempt, ms in ((1, 320), (2, 280), (3, 360))},
    }
    actors = Actors(parts)
    found = shoot(actors)

    one = found.shots[late - 1]
    assert (one.outcome, one.slip, one.take) == (Outcome.PASS, 5, 2)
    assert one.lips["offset_ms"] == pytest.approx(200, abs=25)
    assert abs(one.lips["slipped"]["offset_ms"]) <= 40
    assert actors.rendered[late, 2] == 0, "no retake is spent on what a slip mends"

    for one in (found.shots[other - 1], found.shots[still - 1]):
        assert (one.outcome, one.take, one.doubtful) == (Outcome.CANNOT_JUDGE, 2, True)
        assert actors.rendered[one.shot, 2] == 0, "what cannot be judged is kept"

    for one in (found.shots[far - 1], found.shots[black - 1]):
        assert (one.outcome, one.slip) == (Outcome.PASS, 0)
        assert actors.rendered[one.shot, 2] == 1

    assert found.shots[last - 1].take == 0
    assert "the picture is 7 frames late" in found.shots[last - 1].reason
    assert "(attempt 2, the best of 3)" in found.shots[last - 1].reason
    assert isinstance(found.complaint(), TakesExhausted)
    assert found.common == ()

    cut = ready(project, folder, actors).production.plan.shots[far - 1].cut
    failed = [take for take in takes.known_takes(project.journal, cut) if take.outcome is Outcome.FAIL]
    assert [take.lips["offset_ms"] for take in failed] == [pytest.approx(560, abs=25)]
    assert {finding["check"] for finding in failed[0].findings} >= {"black", "frozen", "lips"}
    assert failed[0].lips["control"]["ok"] is True

    again = Actors(parts)
    assert shoot(again) == found, "a second run decides the same"
    assert not again.rendered


def test_the_report_says_first_what_must_be_looked_at(
    project: Project, folder: Path, sung: list[int]
) -> None:
    late, closed, *_ = sung
    actors = Actors({(closed, 1): {"mouth": "closed"}, (late, 1): LATE})
    prepared = ready(project, folder, actors)
    report = summarise(
        project, prepared.production.plan, pipeline.shoot(project, prepared, watcher=Watcher())
    )
    lines = report.text().splitlines()
    assert lines[1].startswith(f"  look at shot {closed}: cannot judge: ")
    place = f"report/verdicts/shot-{closed:03}-take-2.png"
    assert lines[2] == f"    its verdict as a picture: {place}"
    assert (project.folder / place).read_bytes()[:4] == b"\x89PNG"
    assert lines[3].startswith(f"  shot {late}: slipped by +5 frames")
    assert "judged shots pass, by mouth" in report.text()
    assert report.result == "cannot judge"
    record = json.loads(json.dumps(report.as_json()))
    assert [one["shot"] for one in record["cannot_judge"]][:1] == [closed]
    assert [(one["shot"], one["frames"]) for one in record["slipped"]] == [(late, 5)]
    complaint = report.stand.complaint()
    assert isinstance(complaint, CannotJudge)
    assert complaint.exit_code == 10
    assert f"mvpipe pick {closed} 2" in complaint.hint


def test_a_person_has_the_last_word(shoot: Shoot, project: Project, folder: Path, sung: list[int]) -> None:
    actors = Actors({(sung[1], 1): {"mouth": "closed"}})
    found = shoot(actors).shots[sung[1] - 1]
    shot = ready(project, folder, actors).production.plan.shots[sung[1] - 1]
    known = takes.known_takes(project.journal, shot.cut)[found.take - 1]
    takes.choose_pick(project.journal, shot.cut, known.key, known.family)
    after = shoot(actors)
    picked = after.shots[sung[1] - 1]
    assert picked.picked
    assert picked.outcome is Outcome.CANNOT_JUDGE, "and still it does not count as a pass"
    assert after.complaint() is None


def test_the_same_offset_in_five_shots_is_said_and_not_mended(shoot: Shoot, sung: list[int]) -> None:
    actors = Actors({(shot, 1): {"offset_ms": 200 + shot} for shot in sung[:5]})
    found = shoot(actors)
    assert list(found.common[0].shots) == sung[:5]
    assert not shots(found, lambda one: one.slip)
    assert {found.shots[number - 1].outcome for number in sung[:5]} == {Outcome.CANNOT_JUDGE}
    assert sum(actors.rendered.values()) == 5, "no retake is spent on it"
    complaint = found.complaint()
    assert isinstance(complaint, PipelineFault)
    assert complaint.exit_code == 12
    assert shoot(Actors(actors.parts)) == found

    mended = shoot(Actors(actors.parts), mend_common=True)
    assert shots(mended, lambda one: one.slip == 5) == sung[:5]
    assert isinstance(mended.complaint(), PipelineFault), "and is said all the same"

    four = shoot(Actors({key: part for key, part in actors.parts.items() if key[0] != sung[0]}))
    assert four.common == ()
    assert shots(four, lambda one: one.slip == 5) == sung[1:5], "four shots late alike are mended"


def test_a_control_that_is_not_read_voids_every_verdict(
    shoot: Shoot, project: Project, sung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the control is written without its delay: as if times of frames were never looked at."""
    for entry in project.vault.entries():
        if entry.task["name"] == "control":
            entry.folder.chmod(0o755)
            shutil.rmtree(entry.folder)
    honest = physical.delayed_argv
    monkeypatch.setattr(physical, "delayed_argv", lambda take, into, delay: honest(take, into, delay // 5))
    actors = Actors({(sung[0], 1): LATE, (sung[2], 1): FAR})
    found = shoot(actors)
    assert found.control["ok"] is False
    assert {found.shots[number - 1].outcome for number in sung} == {Outcome.CANNOT_JUDGE}
    assert "the control failed: pictures moved by" in found.shots[sung[0] - 1].reason
    assert not shots(found, lambda one: one.slip)
    assert sum(actors.rendered.values()) == 2, "no retake is spent on it"
    assert isinstance(found.complaint(), PipelineFault)


def test_the_ladder(shoot: Shoot, sung: list[int]) -> None:
    last, other = sung[-1], sung[2]
    parts: dict[tuple[int, int], Mapping[str, Any]] = {
        (last, attempt): {"offset_ms": ms} for attempt, ms in ((1, 320), (2, 280), (3, 360))
    }
    parts |= {(other, attempt): BLACK for attempt in (1, 2, 3)}
    found = shoot(actors := Actors(parts), on_fail="best")
    framings = [actors.framings[last, attempt] for attempt in (1, 2, 3)]
    assert framings[0] == framings[1] != framings[2]
    assert "close-up" in framings[2]
    best = found.shots[last - 1]
    assert best.marked
    assert best.lips["offset_ms"] == pytest.approx(280, abs=25)
    assert found.shots[other - 1].take == 0, "a hard defect never stands"
    assert isinstance(found.complaint(), TakesExhausted)
    assert f"the best of failed takes stands in {last}" in str(found.complaint())


def test_other_rules_judge_again_and_decode_nothing(
    project: Project, folder: Path, sung: list[int], judged: list[int]
) -> None:
    def looks() -> int:
        return len([job for job in project.journal.jobs() if job.name.startswith(("look", "take"))])

    before = looks()
    prepared = ready(project, folder, Actors(), rules={"eyes_px": 150})
    found = came_to(project, prepared, pipeline.rejudge(project, prepared, watcher=Watcher()))
    assert shots(found, lambda one: one.doubtful) == judged
    assert "the face is too small" in found.shots[sung[0] - 1].reason
    assert found.shots[sung[0] - 1].lips["numbers"]["rules"]["eyes_px"] == 150
    assert looks() == before
    assert not any(one.page for one in found.shots), "nothing is drawn that nobody asked for"


def test_shots_too_short_to_be_judged_alone_are_heard_with_their_neighbours(
    shoot: Shoot, project: Project, sung: list[int]
) -> None:
    other = sung[2]
    found = shoot(Actors({(other, 1): {"mouth": "unrelated"}}), rules={"shortest_s": 15})
    for number in set(sung) - {other}:
        one = found.shots[number - 1]
        assert one.outcome is Outcome.PASS, one.reason
        assert ", heard with shots " in one.lips["reason"]
        assert one.lips["alone"] == "cannot judge"
        assert number not in one.lips["pooled"]["with"]
    assert found.shots[other - 1].outcome is Outcome.CANNOT_JUDGE, "good neighbours carry nobody"


def test_any_verdict_is_drawn_that_is_asked_for(project: Project, folder: Path, sung: list[int]) -> None:
    prepared = ready(project, folder, Actors())
    made = pipeline.rejudge(project, prepared, pictures=[sung[0]], watcher=Watcher())
    assert [number for number, _ in made.pages] == [sung[0]]
    one = came_to(project, prepared, made).shots[sung[0] - 1]
    assert one.outcome is Outcome.PASS
    assert (project.folder / one.page).read_bytes()[:4] == b"\x89PNG"
    again = pipeline.rejudge(project, prepared, pictures=[], watcher=Watcher())
    assert again.pages == {}
    assert not (project.folder / one.page).exists(), "what is shown is of the last run"


def test_floors_are_learnt_from_a_projects_own_takes(shoot: Shoot, project: Project, sung: list[int]) -> None:
    good, bad = sung[:3], sung[3:6]
    shoot(Actors({(shot, 1): {"mouth": "unrelated"} for shot in bad}))
    takes_of = {
        take: [str(project.folder / f"takes/shot-{shot:03}/take-{take}.mp4") for shot in shots]
        for take, shots in ((1, good), (2, bad))
    }
    app = typer.Typer()
    app.command(cls=Spread)(calibrate)
    said = CliRunner().invoke(app, ["--good", *takes_of[1], "--bad", *takes_of[2], "--json"])
    assert said.exit_code == 0, said.exception
    told = json.loads(said.stdout)
    assert (told["missed_now"], told["let_through_now"]) == (
        {"count": 0, "total": 3},
        {"count": 0, "total": 3},
    )
    assert told["storyboard"][:2] == ["gate:", "  rules:"]
    assert [one["name"] for one in told["takes"]] == [*takes_of[1], *takes_of[2]]


def test_a_file_that_an_earlier_run_had_is_no_new_take(
    shoot: Shoot, project: Project, folder: Path, sung: list[int]
) -> None:
    @dataclass
    class Stale(Actors):
        """Sends a file again that it had sent before."""

        def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
            if (slate.shot, slate.take) == (sung[0], 1):
                shutil.copy(project.folder / f"takes/shot-{sung[0]:03}/take-1.mp4", into)
            else:
                super().render(slate, assets, into, progress)

    actors = Stale({(sung[0], 1): {"offset_ms": 1}})
    found = shoot(actors)
    assert (found.shots[sung[0] - 1].take, found.shots[sung[0] - 1].outcome) == (3, Outcome.PASS)
    cut = ready(project, folder, actors).production.plan.shots[sung[0] - 1].cut
    first, stale, _ = takes.known_takes(project.journal, cut)
    assert (first.outcome, stale.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert stale.reason == "the same frames as take 1 of this shot"


def test_nothing_is_judged_where_nobody_asked(project: Project, folder: Path) -> None:
    prepared = ready(project, folder, Actors(), sync="off")
    found = came_to(project, prepared, pipeline.rejudge(project, prepared, watcher=Watcher()))
    assert {one.unjudged for one in found.shots} == {"gate.sync is off"}
    assert found.control == {}
    drawn = dataclasses.replace(ready(project, folder, Actors()), backend=Animatic())
    reasons = {
        work.unjudged
        for work in came_to(project, drawn, pipeline.rejudge(project, drawn, watcher=Watcher())).shots
    }
    assert any("drawn from the voice" in why for why in reasons)
