"""What commands that work in a project share: terminal, open project, request, watcher."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.build.run import Step
from mvpipe.cli.settings import default_cache
from mvpipe.cli.terminal import Terminal
from mvpipe.errors import PlanError, SettingsError
from mvpipe.film import Shot
from mvpipe.pipeline import Watcher
from mvpipe.plan import load_plan
from mvpipe.project import Project, find_folder, folder_for, open_project, read_project
from mvpipe.request import Request, is_server, load_request, shown, without_user

if TYPE_CHECKING:
    from mvpipe.build.muster import Force

HEADER = "--header"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A command at work.

    Parameters
    ----------
    terminal : how it talks
    project : where it works
    cluster : whose workers do it; None for this process
    """

    terminal: Terminal
    project: Project
    cluster: Force | None = None

    @contextmanager
    def watcher(self) -> Iterator[Watcher]:
        """Progress while the body runs."""
        with self.terminal.progress() as stages:

            def step(one: Step) -> None:
                stages(one)
                self._explain(one)

            yield Watcher(step=step, expect=stages.expect, say=self.terminal.note)

    def _explain(self, step: Step) -> None:
        """Say what is known of a failed take, and note it."""
        if step.what not in ("retry", "rescue", "fail") or not step.name.startswith("take "):
            return
        from mvpipe.doctor.faults import explain

        for found in explain(step.note)[:1]:
            self.terminal.note(f"{step.name}: {found.brief}")
            self.project.journal.note("explained", step.name, fault=found.name, line=step.note)


@contextmanager
def work_in(folder: Path, *, quiet: bool, wait: bool, resume: str = "") -> Iterator[Session]:
    """A session that may change the project; it holds the project's lock and keeps a log."""
    terminal = Terminal(quiet=quiet, resume=resume or _command())
    with open_project(folder, wait=wait, say=terminal.warn) as project:
        terminal.log = project.logs / f"{time.strftime('%Y-%m-%d-%H%M%S')}.log"
        terminal.record(_command())
        yield Session(terminal=terminal, project=project)


def _command() -> str:
    """The command line as it may be shown and logged: addresses and headers without their secrets."""
    return shlex.join(["mvpipe", *shown_words(sys.argv[1:])])


def shown_words(argv: Sequence[str]) -> list[str]:
    """Words of a command line as they may be shown: a header by its name alone."""
    words, after = [], ""
    for word in argv:
        flag, equals, value = word.partition("=")
        if after == HEADER:
            words.append(_name_alone(word))
        elif flag == HEADER and equals:
            words.append(f"{HEADER}={_name_alone(value)}")
        else:
            words.append(str(shown(word)) if is_server(word) or after == "--backend" else without_user(word))
        after = word
    return words


def _name_alone(header: str) -> str:
    name, colon, _ = header.partition(":")
    return f"{name}: ***" if colon else "***"


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
    backends: Sequence[str] = (),
    headers: Sequence[str] = (),
    authority: Path | None = None,
    separator: str | None = None,
    vocals: Path | None = None,
    demucs_repo: Path | None = None,
    cache: Path | None = None,
    device: str = "auto",
    workers: int = 0,
    embed: bool = False,
    cluster: str | None = None,
    vault: str | None = None,
) -> Request:
    """What the user asked for, read and checked.

    Raises
    ------
    PlanError, StoryboardError, SettingsError : as named
    """
    from mvpipe.cli.servers import find_machines
    from mvpipe.storyboard.load import load

    if workers < 0:
        raise SettingsError(f"--workers: must not be negative: {workers}")
    find_song(song)
    return Request(
        song=song,
        loaded=load(storyboard),
        backend=backends[0] if backends else None,
        also=tuple(backends[1:]),
        machines=find_machines(backends, headers, authority),
        separator=separator,
        vocals=vocals,
        demucs_repo=demucs_repo,
        cache=cache or default_cache(),
        kept=default_cache().parent,
        device=device,
        workers=workers,
        embed=embed,
        cluster=cluster,
        vault=vault,
    )


def project_folder(storyboard: Path, into: Path | None) -> Path:
    """Where a storyboard's project is."""
    return folder_for(storyboard, into)


def find_song(song: Path) -> None:
    """Whether the song is there, before a project is made for it.

    Raises
    ------
    PlanError : it is not
    SettingsError : it is a storyboard: the two were exchanged
    """
    from mvpipe.storyboard.scalars import did_you_mean

    if song.suffix.lower() in (".yaml", ".yml"):
        raise SettingsError(f"{song}: a storyboard, and no song", hint="first SONG, then STORYBOARD")
    if not song.exists():
        folder = song.parent
        beside = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        raise PlanError(f"{song}: no such file", hint=did_you_mean(song.name, beside))


def check_shots(wanted: Collection[int], shots: Sequence[Shot]) -> None:
    """Whether a plan has all shots that were named.

    Raises
    ------
    SettingsError : it has not
    """
    if unknown := sorted(set(wanted) - {shot.number for shot in shots}):
        raise SettingsError(f"shot {unknown[0]}: not in the plan: it has shots 1 to {len(shots)}")


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


def recall(
    folder: Path, *, workers: int = 0, headers: Sequence[str] = (), authority: Path | None = None
) -> Request:
    """What was last asked for in this project.

    Raises
    ------
    PlanError : nothing was, or its files are gone
    """
    asked = load_request(folder)
    return request(
        asked.song,
        asked.storyboard,
        backends=(asked.backend, *asked.also) if asked.backend else (),
        headers=headers,
        authority=authority,
        separator=asked.separator,
        vocals=asked.vocals,
        demucs_repo=asked.demucs_repo,
        cache=asked.cache,
        device=asked.device,
        workers=workers,
        embed=asked.embed,
        cluster=asked.cluster,
        vault=asked.vault,
    )


def planned_shot(project: Project, number: int) -> Shot:
    """A shot of the plan as last made.

    Raises
    ------
    PlanError : there is no plan yet
    SettingsError : it has no such shot
    """
    shots = load_plan(project.plan).shots
    check_shots([number], shots)
    return shots[number - 1]
