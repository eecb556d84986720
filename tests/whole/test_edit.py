"""`mvpipe edit`: what a director says changes the file where it must, and the film where it should."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe import editing, pipeline, recut, redress
from mvpipe.cli import session
from mvpipe.editing import Desk, Edited
from mvpipe.errors import MvpipeError, PlanError, SettingsError
from mvpipe.film import Shot
from mvpipe.pipeline import Watcher
from mvpipe.project import open_project
from mvpipe.sound.cutting import WANTED
from tests.whole.studio import Studio, build

TIMES = "sections:\n  - name: verse\n    start: 0   # from the first sample\n"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A film of two described shots that come round again; planned, never changed."""
    studio = build(tmp_path_factory.mktemp("original"), seconds=34.0)
    path = studio.folder / "board.yaml"
    text = path.read_text("utf-8")
    head = text[: text.index("sections:")].replace("sings: true}", "sings: true}\n  tomas: {is: tall}")
    path.write_text(
        f"# a film\n{head}{TIMES}    shots:\n      # she\n"
        "      - {prompt: Mira sings to us, cast: [mira]}\n"
        "      - kind: b-roll   # nobody\n        prompt: rain on a window\n",
        "utf-8",
    )
    studio.run("plan", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    return studio


@pytest.fixture
def desk(original: Studio, tmp_path: Path) -> Iterator[Desk]:
    """Its storyboard on the desk, in a copy."""
    shutil.copytree(original.folder, tmp_path / "film")
    with open_project(tmp_path / "film" / "board.mvpipe") as project:
        yield editing.open_desk(project, session.recall(project.folder), Watcher())


def after(desk: Desk, edited: Edited) -> Desk:
    """The desk once the edit is in place."""
    editing.keep(desk, edited)
    return editing.open_desk(desk.project, desk.request, Watcher())


def cuts(desk: Desk) -> list[int]:
    return recut.cuts(desk.heard.plan)


def rows(desk: Desk, edited: Edited) -> list[str]:
    """Lines taken out of and put into the file."""
    found = editing.diff(desk, edited).splitlines()
    return [row for row in found if row[:1] in "+-" and row[:3] not in ("+++", "---")]


def moment(frame: int) -> Fraction:
    return Fraction(frame, 24)


class TestCuts:
    def test_moved(self, desk: Desk) -> None:
        old = cuts(desk)
        edited = editing.recut(desk, recut.move(desk.loaded, desk.heard.plan, 3, moment(old[1] + 7)))
        assert len(rows(desk, edited)) == 1
        assert cuts(after(desk, edited)) == [old[0], old[1] + 7, *old[2:]]

    def test_a_kept_cut_moves_as_a_kept_cut(self, desk: Desk) -> None:
        old = cuts(desk)
        kept = after(desk, editing.recut(desk, recut.pin(desk.loaded, desk.heard.plan, 3)))
        assert cuts(kept) == old
        moved = editing.recut(kept, recut.move(kept.loaded, kept.heard.plan, 3, moment(old[1] + 30)))
        now = after(kept, moved)
        assert cuts(now) == [old[0], old[1] + 30, *old[2:]]
        assert now.loaded.storyboard.cuts.at == {}

    def test_split_and_merged_back(self, desk: Desk) -> None:
        old = cuts(desk)
        middle = (old[1] + old[2]) // 2
        edited = editing.recut(desk, recut.split(desk.loaded, desk.heard.plan, 3, moment(middle)))
        parted = after(desk, edited)
        assert cuts(parted) == sorted([*old, middle])
        merged = after(parted, editing.recut(parted, recut.merge(parted.loaded, parted.heard.plan, 3)))
        assert cuts(merged) == old

    def test_a_cut_moved_by_hand_keeps_its_place_when_shots_before_it_come_and_go(self, desk: Desk) -> None:
        old = cuts(desk)
        last = len(old) + 1
        wish = recut.move(desk.loaded, desk.heard.plan, last, moment(old[-1] + 9))
        moved = after(desk, editing.recut(desk, wish))
        middle = old[0] // 2
        parted = after(
            moved, editing.recut(moved, recut.split(moved.loaded, moved.heard.plan, 1, moment(middle)))
        )
        assert cuts(parted) == sorted([middle, *old[:-1], old[-1] + 9])
        assert list(parted.loaded.storyboard.cuts.at) == [last + 1]

    def test_merged_shots_stay_one_though_the_planner_would_cut_them(self, desk: Desk) -> None:
        old = cuts(desk)
        merged = after(desk, editing.recut(desk, recut.merge(desk.loaded, desk.heard.plan, 1)))
        assert cuts(merged) == old[1:]
        middle = old[0]
        parted = after(
            merged, editing.recut(merged, recut.split(merged.loaded, merged.heard.plan, 1, moment(middle)))
        )
        assert cuts(parted) == old

    def test_unpinned(self, desk: Desk) -> None:
        kept = after(desk, editing.recut(desk, recut.pin(desk.loaded, desk.heard.plan, 2)))
        changes = recut.unpin(kept.loaded, kept.heard.plan, 2)
        assert after(kept, editing.described(kept, changes)).loaded.storyboard == desk.loaded.storyboard

    @pytest.mark.parametrize("shot", [0, 99])
    def test_a_shot_that_is_not_there(self, desk: Desk, shot: int) -> None:
        with pytest.raises(SettingsError, match="not in the plan"):
            desk.shot(shot)

    def test_what_cannot_be(self, desk: Desk) -> None:
        plan, last = desk.heard.plan, len(desk.heard.plan.shots)
        with pytest.raises(SettingsError, match="begins with the song"):
            recut.move(desk.loaded, plan, 1, moment(30))
        with pytest.raises(SettingsError, match="no cut can fall at"):
            recut.move(desk.loaded, plan, 2, moment(1))
        with pytest.raises(SettingsError, match="no cut can fall at"):
            recut.split(desk.loaded, plan, 2, moment(5))
        with pytest.raises(SettingsError, match="no shot behind it"):
            recut.merge(desk.loaded, plan, last)
        with pytest.raises(SettingsError, match="not pinned"):
            recut.unpin(desk.loaded, plan, 2)

    def test_a_shot_too_long_to_be_filmed(self, desk: Desk) -> None:
        while desk.heard.plan.shots[1].cut.stop <= WANTED.limit:
            desk = after(desk, editing.recut(desk, recut.merge(desk.loaded, desk.heard.plan, 1)))
        with pytest.raises(PlanError, match="a shot shows at most 0:14"):
            recut.merge(desk.loaded, desk.heard.plan, 1)


class TestShots:
    def changed(self, before: tuple[Shot, ...], now: tuple[Shot, ...]) -> list[int]:
        return [shot.number for shot, old in zip(now, before, strict=True) if shot.card != old.card]

    def dressed(self, desk: Desk, number: int, everywhere: bool = False, **fields: object) -> Edited:
        return editing.described(
            desk, redress.dress(desk.loaded, desk.heard, {number: fields}, everywhere=everywhere)
        )

    @pytest.mark.parametrize("number", [1, 2, 3, 4])
    def test_one_shot_changes_alone_though_its_description_comes_round_again(
        self, desk: Desk, number: int
    ) -> None:
        before = desk.heard.plan.shots
        now = after(desk, self.dressed(desk, number, prompt="snow: at last")).heard.plan.shots
        assert [shot.number for shot, old in zip(now, before, strict=True) if shot.card != old.card] == [
            number
        ]
        assert now[number - 1].card == replace(before[number - 1].card, prompt="snow: at last")

    def test_everywhere(self, desk: Desk) -> None:
        edited = self.dressed(desk, 2, everywhere=True, prompt="snow")
        assert rows(desk, edited) == ["-        prompt: rain on a window", "+        prompt: snow"]
        before, now = desk.heard.plan.shots, after(desk, edited).heard.plan.shots
        same = [old.card.prompt == "rain on a window" for old in before]
        assert [shot.card.prompt == "snow" for shot in now] == same

    def test_a_shot_nobody_described_gets_a_description(self, desk: Desk) -> None:
        text = desk.text[: desk.text.index("    shots:")]
        (desk.loaded.path).write_text(text, "utf-8")
        bare = editing.open_desk(desk.project, desk.request, Watcher())
        before = bare.heard.plan.shots
        now = after(bare, self.dressed(bare, 2, prompt="a lamp")).heard.plan.shots
        assert [shot.number for shot, old in zip(now, before, strict=True) if shot.card != old.card] == [2]

    def test_muted_and_back(self, desk: Desk) -> None:
        number = next(shot.number for shot in desk.heard.plan.shots if shot.card.kind == "performance")
        with pytest.raises(SettingsError, match="performance already"):
            redress.unmuted(desk.heard, number)
        fields = redress.muted(desk.heard, number)
        quiet = after(desk, self.dressed(desk, number, **fields))
        assert quiet.heard.plan.shots[number - 1].card.kind == "b-roll"
        back = after(quiet, self.dressed(quiet, number, **redress.unmuted(quiet.heard, number)))
        assert back.heard.plan.shots[number - 1].card.kind == "performance"

    def test_swapped(self, desk: Desk) -> None:
        text = desk.text.replace("tomas: {is: tall}", "tomas: {is: tall, sings: true}")
        desk.loaded.path.write_text(text, "utf-8")
        desk = editing.open_desk(desk.project, desk.request, Watcher())
        edited = editing.described(desk, redress.swapped(desk.loaded, desk.heard, "mira", "tomas", []))
        assert rows(desk, edited) == ["-      - {prompt: Mira sings to us, cast: [mira]}",
                                      "+      - {prompt: Tomas sings to us, cast: [tomas]}"]  # fmt: skip
        with pytest.raises(SettingsError, match="not in the cast: ines"):
            redress.swapped(desk.loaded, desk.heard, "mira", "ines", [])

    def test_who_does_not_sing_cannot_take_a_performance(self, desk: Desk) -> None:
        changes = redress.swapped(desk.loaded, desk.heard, "mira", "tomas", [])
        edited = editing.described(desk, changes)
        with pytest.raises(MvpipeError, match="nobody in this performance sings: tomas"):
            pipeline.prepare(desk.project, edited.request, Watcher(), keep=False)


def test_what_was_edited_by_hand_is_not_taken_back(desk: Desk) -> None:
    path = desk.loaded.path
    with pytest.raises(SettingsError, match="nothing to take back"):
        editing.undo(desk.project, path)
    edited = editing.recut(desk, recut.pin(desk.loaded, desk.heard.plan, 2))
    editing.keep(desk, edited)
    path.write_text(edited.text + "# mine\n", "utf-8")
    with pytest.raises(SettingsError, match="changed since"):
        editing.undo(desk.project, path)
    with pytest.raises(SettingsError, match="changed meanwhile"):
        editing.keep(desk, edited)
    path.write_text(edited.text, "utf-8")
    path.chmod(0o640)
    editing.undo(desk.project, path)
    assert path.read_bytes() == desk.data
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_mark_the_line_ends_and_a_link_stay(desk: Desk) -> None:
    real = desk.loaded.path.with_name("real.yaml")
    real.write_bytes(b"\xef\xbb\xbf" + desk.text.replace("\n", "\r\n").encode())
    desk.loaded.path.unlink()
    desk.loaded.path.symlink_to("real.yaml")
    desk = editing.open_desk(desk.project, desk.request, Watcher())
    editing.keep(desk, editing.recut(desk, recut.pin(desk.loaded, desk.heard.plan, 2)))
    assert desk.loaded.path.is_symlink()
    data = real.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# a film\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_the_command_line_shows_and_takes_back(original: Studio, tmp_path: Path) -> None:
    shutil.copytree(original.folder, tmp_path / "film")
    studio = Studio(tmp_path / "film")
    path = studio.folder / "board.yaml"
    before, plan = path.read_bytes(), (studio.project / "plan.json").read_bytes()
    shown = studio.run("edit", "prompt", "2", "<script> & snow", "--everywhere", "--dry-run").stdout
    assert '+        prompt: "<script> & snow"' in shown
    assert "shots would be rendered" in shown
    assert (path.read_bytes(), (studio.project / "plan.json").read_bytes()) == (before, plan)
    asked = (studio.project / "project.json").read_bytes()
    assert "<Audio 1>" in studio.run("prompt", "2").stdout
    assert (studio.project / "project.json").read_bytes() == asked, (
        "who looks at a prompt asks no server later"
    )
    assert (studio.project / "plan.json").read_bytes() == plan
    studio.run("edit", "prompt", "2", "<script> & snow", "--everywhere")
    assert studio.plan()["shots"][1]["prompt"] == "<script> & snow"
    assert "as it was" in studio.run("edit", "undo").stdout
    assert path.read_bytes() == before
    assert "not a time" in studio.run("edit", "move", "2", "soon", expect=2).stderr
