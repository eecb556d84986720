"""A storyboard changed on its maker's behalf: tried, proved, put in place as a whole, and taken back."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from mvpipe import pipeline
from mvpipe.backends import find_backend
from mvpipe.cutting import Heard, cut_song
from mvpipe.errors import MvpipeError, PlanError, SettingsError, StoryboardError
from mvpipe.pipeline import Watcher
from mvpipe.project import Project
from mvpipe.recut import Recut, cuts
from mvpipe.request import Request
from mvpipe.storyboard.change import Change
from mvpipe.storyboard.files import decode, encoded
from mvpipe.storyboard.load import Loaded, parse
from mvpipe.storyboard.surgery import changed

KEPT = 100
"""Earlier versions of a storyboard kept in its project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A storyboard on the editor's desk.

    Parameters
    ----------
    project : where its takes are
    request : what was last asked for, with the storyboard as it reads now
    data, text : what its file holds
    heard : its plan
    """

    project: Project
    request: Request
    data: bytes
    text: str
    heard: Heard

    @property
    def loaded(self) -> Loaded:
        """The storyboard."""
        return self.request.loaded

    def shot(self, number: int) -> int:
        """The number of a shot that is there.

        Raises
        ------
        SettingsError : the plan has no such shot
        """
        if not 1 <= number <= len(self.heard.plan.shots):
            raise SettingsError(
                f"shot {number}: not in the plan: it has shots 1 to {len(self.heard.plan.shots)}"
            )
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A change that would be made.

    Parameters
    ----------
    text : of the storyboard
    request : with the storyboard as it would read
    """

    text: str
    request: Request


def open_desk(project: Project, request: Request, watcher: Watcher) -> Desk:
    """The storyboard of a project, planned as it reads now.

    Raises
    ------
    MvpipeError : it cannot be read or planned
    """
    path = request.loaded.path
    data = path.read_bytes()
    text = decode(data, path)
    request = replace(request, loaded=parse(text, path))
    return Desk(
        project=project,
        request=request,
        data=data,
        text=text,
        heard=pipeline.hear(project, request, watcher),
    )


def described(desk: Desk, changes: Sequence[Change]) -> Edited:
    """Changes of what the storyboard says, proved to be these and no others.

    Raises
    ------
    StoryboardError : the result would be none
    """
    text = changed(desk.loaded, desk.text, changes)
    return Edited(text=text, request=replace(desk.request, loaded=parse(text, desk.loaded.path)))


def recut(desk: Desk, wish: Recut) -> Edited:
    """Changes of the pins that give exactly the wanted cuts.

    Raises
    ------
    PlanError, StoryboardError : no pins do
    """
    refused: MvpipeError | None = None
    for way in wish.ways():
        try:
            edited = described(desk, way)
            if cuts(_planned(desk, edited).plan) == wish.wanted:
                return edited
        except (PlanError, StoryboardError) as exc:
            refused = exc
    raise refused or PlanError(
        f"{desk.loaded.path}: no pins give these cuts and leave the others",
        hint="pin the shots beside it first, or take out pins that are in the way",
    )


def _planned(desk: Desk, edited: Edited) -> Heard:
    backend = find_backend(edited.request, desk.project.folder)  # its prices decide cuts too
    return cut_song(edited.request, desk.heard.entries, notes=(), predict=backend.predict_s)


def diff(desk: Desk, edited: Edited) -> str:
    """What changes in the file, as a unified diff."""
    name = desk.loaded.path.name
    rows = difflib.unified_diff(
        desk.text.splitlines(), edited.text.splitlines(), f"{name} (now)", name, n=1, lineterm=""
    )
    return "\n".join(rows)


def keep(desk: Desk, edited: Edited) -> Path:
    """Put the changed storyboard in place as a whole, and what it was into the project.

    Returns
    -------
    where the earlier version is

    Raises
    ------
    SettingsError : somebody else has changed the file meanwhile, or it cannot be written
    """
    folder = _folder(desk.project)
    after = encoded(edited.text, desk.data)
    number = max((int(path.stem) for path in _earlier(folder)), default=0) + 1
    before = folder / f"{number:04}.yaml"
    try:
        if desk.loaded.path.read_bytes() != desk.data:
            raise SettingsError(f"{desk.loaded.path}: changed meanwhile", hint="edit again")
        folder.mkdir(parents=True, exist_ok=True)
        before.write_bytes(desk.data)
        before.with_suffix(".after").write_text(sha256(after).hexdigest(), "utf-8")
        _put(desk.loaded.path, after)
    except OSError as exc:
        raise SettingsError(f"{exc.filename}: {(exc.strerror or str(exc)).lower()}") from exc
    for old in _earlier(folder)[:-KEPT]:
        old.unlink()
        old.with_suffix(".after").unlink(missing_ok=True)
    return before


def undo(project: Project, path: Path) -> Path:
    """Put back what the storyboard was before the last edit; the edit before that is next.

    Raises
    ------
    SettingsError : nothing to take back, or the file was changed by hand since
    """
    earlier = _earlier(_folder(project))
    if not earlier:
        raise SettingsError(f"{path}: nothing to take back: mvpipe has not edited it")
    last = earlier[-1]
    try:
        after = last.with_suffix(".after").read_text("utf-8")
        if sha256(path.read_bytes()).hexdigest() != after:
            raise SettingsError(
                f"{path}: changed since mvpipe edited it", hint=f"what it was before lies in {last}"
            )
        _put(path, last.read_bytes())
        last.unlink()
        last.with_suffix(".after").unlink()
    except OSError as exc:
        raise SettingsError(f"{exc.filename}: {(exc.strerror or str(exc)).lower()}") from exc
    return path


def _folder(project: Project) -> Path:
    return project.folder / "edits"


def _earlier(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9][0-9][0-9][0-9].yaml"))


def _put(path: Path, data: bytes) -> None:
    """Replace a file as a whole; a link stays one, and the file keeps who may read it."""
    real = path.resolve()
    scratch = real.with_name(f".{real.name}.{os.getpid()}")
    try:
        scratch.write_bytes(data)
        scratch.chmod(real.stat().st_mode & 0o7777)
        scratch.replace(real)
    finally:
        scratch.unlink(missing_ok=True)


Wish = Callable[[Desk], Edited]
"""What a command makes of a storyboard."""
