"""The doctor is asked before a night: of a cluster, at every worker that renders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build.places import Hand
from mvpipe.build.store import Store
from mvpipe.cli.doctor import before
from mvpipe.cli.session import Session
from mvpipe.cli.terminal import Terminal
from mvpipe.doctor.check import Level, Row
from mvpipe.errors import BackendError, NotReady
from mvpipe.project import open_project
from mvpipe.request import Request
from mvpipe.storyboard.load import load
from tests.whole.studio import STORYBOARD

WELL = Row(id="nodes", area="graph", level=Level.OK, says="all are there")
LACKS = Row(id="files", area="files", level=Level.FAIL, says="no text encoder")
AWAY = Row(id="server-answers", area="server", level=Level.FAIL, says="no answer")


@dataclass
class Crowd:
    """Workers by name, and what each says when it is asked; `cyd` does not render."""

    says: Mapping[str, Any]
    spared: list[str] = field(default_factory=list)

    @property
    def store(self) -> Store:
        raise AssertionError("nothing is made")

    def hands(self) -> list[Hand]:
        able = [
            Hand(address=f"tcp://{name}", name=name, threads=1, resources={"h3": 1}) for name in self.says
        ]
        return [*able, Hand(address="tcp://cyd", name="cyd", threads=1)]

    def everyone(
        self, function: Callable[..., Any], *words: Any, workers: Collection[str] | None = None
    ) -> dict[str, Any]:
        assert workers == [f"tcp://{name}" for name in self.says], "only those that render"
        return {f"tcp://{name}": said for name, said in self.says.items()}

    def spare(self, names: Collection[str], resource: str) -> None:
        assert resource == "h3"
        self.spared += names

    def scheduler(self, function: Callable[..., Any]) -> Any:
        raise AssertionError("it renders nothing")


def asked(tmp_path: Path, crowd: Crowd, *, force: bool = False) -> tuple[str, ...]:
    """The checks gone against."""
    (tmp_path / "board.yaml").write_text(STORYBOARD)
    (tmp_path / "song.wav").write_bytes(b"")
    loaded = load(tmp_path / "board.yaml")
    ask = Request(song=tmp_path / "song.wav", loaded=loaded, cache=tmp_path, cluster="tcp://head:8786")
    with open_project(tmp_path / "board.mvpipe") as project:
        work = Session(terminal=Terminal(quiet=True), project=project, cluster=crowd)
        after, against = before(work, replace(ask, backend="comfyui"), force=force)
        assert after.cluster == ask.cluster
    return against


def test_a_worker_that_fails_gets_no_takes_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crowd = Crowd({"ada": (WELL,), "ben": (WELL, LACKS), "dee": (AWAY,)})
    assert asked(tmp_path, crowd) == ()
    assert crowd.spared == ["ben"], "who is away may come back"
    assert "ben: left out: doctor: files: no text encoder" in capsys.readouterr().err


def test_where_all_fail_nothing_is_begun(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="doctor: files: no text encoder"):
        asked(tmp_path, Crowd({"ada": (LACKS,), "ben": (AWAY,)}))


def test_who_has_just_gone_may_come_back(tmp_path: Path) -> None:
    crowd = Crowd({})
    assert asked(tmp_path, crowd) == ()
    assert crowd.spared == []


def test_by_force_all_are_used_and_the_checks_are_named(tmp_path: Path) -> None:
    crowd = Crowd({"ada": (WELL,), "ben": (LACKS,)})
    assert asked(tmp_path, crowd, force=True) == ("files",)
    assert crowd.spared == []


def test_a_worker_that_cannot_be_asked_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="worker ben: doctor: cannot be asked: no module"):
        asked(tmp_path, Crowd({"ada": (WELL,), "ben": ImportError("no module")}))
