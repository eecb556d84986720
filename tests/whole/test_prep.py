"""`auto` stays with what it chose for a song, and moves on only when the better weights are here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build.journal import Journal
from mvpipe.build.vault import Vault
from mvpipe.film import Song
from mvpipe.prep import Chooser
from mvpipe.project import Project
from mvpipe.request import Request
from mvpipe.sound import choose, weights
from mvpipe.storyboard.load import load
from tests.whole.studio import STORYBOARD

NOTICE = "separated with spleeter, not htdemucs: offline"


@dataclass(frozen=True)
class Named:
    """A separator that only has a name."""

    name: str


@dataclass
class Hub:
    """What may be chosen, and what was asked for."""

    here: bool = False
    asked: list[str] = field(default_factory=list)

    def choose(self, wanted: str, **_: Any) -> tuple[Named, str]:
        self.asked.append(wanted)
        if wanted == choose.AUTO:
            return (Named("htdemucs"), "") if self.here else (Named("spleeter"), NOTICE)
        return Named(wanted), ""

    def find(self, name: str, **_: Any) -> str | None:
        return "weights" if self.here else None


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub()
    monkeypatch.setattr(choose, "choose", made.choose)
    monkeypatch.setattr(weights, "find", made.find)
    return made


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    journal = Journal(tmp_path / "journal.db")
    yield Project(folder=tmp_path, vault=Vault(tmp_path / "vault"), journal=journal)
    journal.close()


def song(digest: str) -> Song:
    return Song(
        path=Path("song.wav"),
        digest=digest * 32,
        sample_rate=44_100,
        samples=44_100,
        channels=2,
        sample_format="s16",
    )


def chooser(project: Project, separator: str | None = None) -> Chooser:
    board = project.folder / "board.yaml"
    board.write_text(STORYBOARD, "utf-8")
    request = Request(
        song=Path("song.wav"), loaded=load(board), separator=separator, cache=project.folder / "cache"
    )
    return Chooser(project, request, lambda _: None)


def test_it_stays_with_its_choice_and_does_not_ask_again(hub: Hub, project: Project) -> None:
    first = chooser(project)
    assert first(song("ab")).name == "spleeter"
    assert first.notice == NOTICE
    again = chooser(project)
    assert again(song("ab")).name == "spleeter"
    assert again.notice == NOTICE, "the fallback is recorded in every plan made with it"
    assert hub.asked == ["auto", "spleeter"]


def test_another_song_is_another_choice(hub: Hub, project: Project) -> None:
    chooser(project)(song("ab"))
    chooser(project)(song("cd"))
    assert hub.asked == ["auto", "auto"]


def test_it_moves_on_when_the_weights_are_here(hub: Hub, project: Project) -> None:
    chooser(project)(song("ab"))
    hub.here = True
    later = chooser(project)
    assert later(song("ab")).name == "htdemucs"
    assert later.notice == ""


def test_what_is_named_is_used(hub: Hub, project: Project) -> None:
    chooser(project)(song("ab"))
    assert chooser(project, "htdemucs")(song("ab")).name == "htdemucs"
    assert hub.asked[-1] == "htdemucs"
