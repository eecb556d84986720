"""What commands that work in a project share: terminal, open project, request, watcher."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mvpipe.cli.settings import default_cache
from mvpipe.cli.terminal import Terminal
from mvpipe.errors import SettingsError
from mvpipe.film import Shot
from mvpipe.pipeline import Watcher
from mvpipe.plan import load_plan
from mvpipe.project import Project, find_folder, folder_for, open_project, read_project
from mvpipe.request import Request, load_request, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A command at work.

    Parameters
    ----------
    terminal : how it talks
    project : where it works
    """

    terminal: Terminal
    project: Project

    @contextmanager
    def watcher(self) -> Iterator[Watcher]:
        """Progress while the body runs."""
        with self.terminal.progress() as stages:
            yield Watcher(step=stages, expect=stages.expect, say=self.terminal.note)


@contextmanager
def work_in(folder: Path, *, quiet: bool, wait: bool, resume: str = "") -> Iterator[Session]:
    """A session that may change the project; it holds the project's lock and keeps a log."""
    terminal = Terminal(quiet=quiet, resume=resume or _command())
    with open_project(folder, wait=wait, say=terminal.warn) as project:
        terminal.log = project.logs / f"{time.strftime('%Y-%m-%d-%H%M%S')}.log"
        terminal.record(_command())
        yield Session(terminal=terminal, project=project)


def _command() -> str:
    """The command line as it may be shown and logged: addresses without their secrets."""
    words = [shown(word) if "://" in word else word for word in sys.argv[1:]]
    return shlex.join(["mvpipe", *(str(word) for word in words)])


@contextmanager
def look_into(folder: Path | None) -> Iterator[Session]:
    """A session that only reads; another mvpipe may be at work."""
    terminal = Terminal()
    with read_project(folder or find_folder(Path.cwd()), say=terminal.warn) as project:
        yield Session(terminal=terminal, project=project)


def request(
    song: Path,
    storyboard: Path,
    *,
    backend: str | None = None,
    separator: str | None = None,
    vocals: Path | None = None,
    demucs_repo: Path | None = None,
    cache: Path | None = None,
    device: str = "auto",
    workers: int = 0,
) -> Request:
    """What the user asked for, read and checked.

    Raises
    ------
    StoryboardError, SettingsError : as named
    """
    from mvpipe.storyboard.load import load

    if workers < 0:
        raise SettingsError(f"--workers: must not be negative: {workers}")
    return Request(
        song=song,
        loaded=load(storyboard),
        backend=backend,
        separator=separator,
        vocals=vocals,
        demucs_repo=demucs_repo,
        cache=cache or default_cache(),
        device=device,
        workers=workers,
    )


def project_folder(storyboard: Path, into: Path | None) -> Path:
    """Where a storyboard's project is."""
    return folder_for(storyboard, into)


def numbers(texts: list[str]) -> list[int]:
    """Shot numbers from `3`, `7-9` and `3,7-9`, in order, each once.

    Raises
    ------
    SettingsError : not such a text
    """
    found: set[int] = set()
    for part in (part.strip() for text in texts for part in text.split(",")):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else True)):
            raise SettingsError(f"shots: not a number or a range like 7-9: {part!r}")
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= 100_000:
            raise SettingsError(f"shots: a range runs upwards from 1: {part!r}")
        found.update(range(low, high + 1))
    return sorted(found)


def recall(folder: Path, *, workers: int = 0) -> Request:
    """What was last asked for in this project.

    Raises
    ------
    PlanError : nothing was, or its files are gone
    """
    asked = load_request(folder)
    return request(
        asked.song,
        asked.storyboard,
        backend=asked.backend,
        separator=asked.separator,
        vocals=asked.vocals,
        demucs_repo=asked.demucs_repo,
        cache=asked.cache,
        device=asked.device,
        workers=workers,
    )


def planned_shot(project: Project, number: int) -> Shot:
    """A shot of the plan as last made.

    Raises
    ------
    PlanError : there is no plan yet
    SettingsError : it has no such shot
    """
    shots = load_plan(project.plan).shots
    if not 1 <= number <= len(shots):
        raise SettingsError(f"shot {number}: not in the plan: it has shots 1 to {len(shots)}")
    return shots[number - 1]
