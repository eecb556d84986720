"""Which project a command means that is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.errors import PlanError
from mvpipe.project import find_folder


def test_the_only_one_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a.rehearsal.mvpipe").mkdir()
    assert find_folder(tmp_path).name == "a.rehearsal.mvpipe"
    (tmp_path / "a.mvpipe").mkdir()
    assert find_folder(tmp_path).name == "a.mvpipe", "a rehearsal is not in the way"
    (tmp_path / "b.mvpipe").mkdir()
    with pytest.raises(PlanError, match=r"more than one project: a\.mvpipe, a\.rehearsal\.mvpipe, b\.mvpipe"):
        find_folder(tmp_path)


def test_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no project here") as caught:
        find_folder(tmp_path)
    assert "render something first" in caught.value.hint
