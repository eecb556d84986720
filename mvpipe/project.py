"""The project folder: everything mvpipe makes for one storyboard, and the lock that keeps one writer.

`STORYBOARD-NAME.mvpipe/` beside the storyboard, unless told otherwise: `plan.json`, `journal.db`, `vault/`,
`takes/`, `film/`, `report/`, `logs/`. Deleting it loses only this project; nothing outside it is written,
except model weights in a per-user cache.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.build.journal import Journal
from mvpipe.build.places import Workforce
from mvpipe.build.vault import Vault
from mvpipe.errors import PlanError, ProjectBusy, VaultError

SUFFIX = ".mvpipe"
REHEARSAL = ".rehearsal"
"""Before the suffix of a rehearsal's project."""


HOLDER = "lock.holder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """An open project.

    Parameters
    ----------
    folder : the project folder
    vault : finished work
    journal : history and choices
    force : who does the work; None for this process
    """

    folder: Path
    vault: Vault
    journal: Journal
    force: Workforce | None = None

    @property
    def plan(self) -> Path:
        """The plan as last made."""
        return self.folder / "plan.json"

    @property
    def film(self) -> Path:
        """Where finished films go."""
        return self.folder / "film"

    @property
    def takes(self) -> Path:
        """Human-named links to the takes."""
        return self.folder / "takes"

    @property
    def report(self) -> Path:
        """What the last run did."""
        return self.folder / "report"

    @property
    def logs(self) -> Path:
        """A log a run."""
        return self.folder / "logs"


def folder_for(storyboard: Path, into: Path | None = None) -> Path:
    """The project folder of a storyboard."""
    return into if into else storyboard.absolute().parent / f"{storyboard.stem}{SUFFIX}"


def find_folder(start: Path) -> Path:
    """The project a command means that is not told which: the only one in `start`, or `start` itself.

    What a rehearsal left counts where nothing else is there.

    Raises
    ------
    PlanError : there is none, or more than one
    """
    if start.name.endswith(SUFFIX):
        return start
    found = sorted(path for path in start.glob(f"*{SUFFIX}") if path.is_dir())
    real = [path for path in found if not path.stem.endswith(REHEARSAL)] or found
    if len(real) == 1:
        return real[0]
    names = ", ".join(path.name for path in found)
    what = f"more than one project: {names}" if found else "no project here"
    hint = "name it with --project DIR" + ("" if found else ", or render something first")
    raise PlanError(f"{start}: {what}", hint=hint)


@contextmanager
def read_project(folder: Path, say: Callable[[str], None] = lambda _: None) -> Iterator[Project]:
    """A project to look into; another mvpipe may be at work in it.

    Raises
    ------
    PlanError : there is no such project
    """
    if not (folder / "journal.db").exists():
        raise PlanError(f"{folder}: not a project: no journal.db in it", hint="render something first")
    journal = Journal(folder / "journal.db", on_damage=say)
    try:
        yield Project(folder=folder, vault=Vault(folder / "vault", on_damage=say), journal=journal)
    finally:
        journal.close()


@contextmanager
def open_project(
    folder: Path, *, wait: bool = False, say: Callable[[str], None] = lambda _: None
) -> Iterator[Project]:
    """A project to work in, held against every other mvpipe until left.

    Raises
    ------
    ProjectBusy : another mvpipe works in it, and `wait` is false
    VaultError : it cannot be written
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise VaultError(
            f"{folder}: {(exc.strerror or str(exc)).lower()}", hint="choose another folder with --into"
        ) from exc
    with _lock(folder, wait, say):
        journal = Journal(folder / "journal.db", on_damage=say)
        try:
            vault = Vault(folder / "vault", on_damage=say)
            vault.sweep()
            yield Project(folder=folder, vault=vault, journal=journal)
        finally:
            journal.close()


@contextmanager
def _lock(folder: Path, wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(folder / "lock")
    holder = folder / HOLDER
    try:
        lock.acquire(timeout=0)
    except Timeout:  # is an OSError too, so it comes first
        who = holder.read_text("utf-8").strip() if holder.exists() else "another mvpipe"
        if not wait:
            raise ProjectBusy(
                f"{folder}: in use by {who}", hint="wait for it with --wait, or stop it with Ctrl-C there"
            ) from None
        say(f"{folder}: in use by {who}; waiting")
        lock.acquire()
    except OSError as exc:
        raise VaultError(
            f"{folder}: cannot be locked: {exc}", hint="choose another folder with --into"
        ) from exc
    try:
        holder.write_text(f"process {os.getpid()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}\n", "utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def at_work(folder: Path) -> bool:
    """Whether another mvpipe seems to be at work: a killed one leaves its name behind, but no process.

    Looked up by the noted process, since trying the lock would keep one that starts just now from having it.
    """
    try:
        found = re.match(r"process (\d+)", (folder / HOLDER).read_text("utf-8"))
    except FileNotFoundError:
        return False
    if found is None or os.name == "nt":
        return found is not None
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write_atomically(path: Path, text: str) -> None:
    """Put a small file in place as a whole.

    Raises
    ------
    VaultError : it cannot be written
    """
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, "utf-8")
        scratch.replace(path)
    except OSError as exc:
        scratch.unlink(missing_ok=True)
        raise VaultError(f"{path}: {(exc.strerror or str(exc)).lower()}", hint="free some space") from exc


def write_json(path: Path, value: Any) -> None:
    """Put a JSON file in place as a whole."""
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def publish(source: Path, place: Path) -> None:
    """Show a vault file under a human name: the same file where the disk can link, else a copy.

    Raises
    ------
    VaultError : it cannot be written
    """
    scratch = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        if place.exists() and place.samefile(source):
            return  # renaming one link over another of the same file would leave both
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch.unlink(missing_ok=True)
        try:
            os.link(source, scratch)
        except OSError:  # another disk, or one without links
            shutil.copyfile(source, scratch)
        scratch.replace(place)
    except OSError as exc:
        raise VaultError(f"{place}: {(exc.strerror or str(exc)).lower()}", hint="free some space") from exc
