"""The vault: finished work by key. What it holds is the resume state.

An entry is a folder with its files and an `entry.json` that lists them by size and sha256. It is built in
a scratch folder, sealed, synced, and renamed into place: that rename is the only moment at which it comes
to exist. Afterwards it is read-only. Modification times are a shortcut, content is the truth: a file whose
size and time are as sealed is believed, any other is read and compared.

Only the holder of the project's lock may write; `find` with `repair=False` never changes anything.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.build.key import Task, canonical, digest, file_digest
from mvpipe.errors import MvpipeError, VaultError

Make = Callable[[Path], Mapping[str, Any]]
"""Writes an entry's files into a folder and returns its facts."""

RECORD = "entry.json"
_SPACE = (errno.ENOSPC, errno.EDQUOT)
_LOW_WATER_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Finished work.

    Parameters
    ----------
    key : of the task that made it
    folder : where its files are
    task : the task's record
    files : name -> {size, sha256, mtime_ns}
    facts : what the work found out; JSON values
    """

    key: str
    folder: Path
    task: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Any]]
    facts: Mapping[str, Any]

    def path(self, name: str) -> Path:
        """Where the file is."""
        return self.folder / name

    def digest(self, name: str) -> str:
        """sha256 (hex) of the file."""
        return str(self.files[name]["sha256"])


class Vault:
    """Entries by key, below one folder.

    Parameters
    ----------
    root : the vault's folder; made when first written to
    on_damage : told in words when an entry is found damaged
    """

    def __init__(self, root: Path, *, on_damage: Callable[[str], None] = lambda _: None) -> None:
        self.root = root
        self._on_damage = on_damage

    def home(self, key: str) -> Path:
        """Where an entry of this key lives."""
        return self.root / key[:2] / key

    def find(self, key: str, *, repair: bool = True) -> Entry | None:
        """The entry, or None where there is none or it is damaged.

        A damaged one is named, and with `repair` it is moved to `damaged/`, so that its task is done again.

        Raises
        ------
        VaultError : it cannot be read
        """
        home = self.home(key)
        if not home.exists():
            return None
        with _named(home):
            entry, fault = _open(home, key)
            if entry:
                return entry
            self._on_damage(f"{home}: damaged entry: {fault}; it will be made again")
            if repair:
                self._set_aside(home)
        return None

    def make(self, task: Task, make: Make) -> Entry:
        """The task's entry: the one that is there, or a new one.

        Raises
        ------
        VaultError : it cannot be written: full or read-only disk
        """
        key = task.key
        if found := self.find(key):
            return found
        with _named(self.root):
            scratch = self._scratch()
            try:
                facts = make(scratch)
                _seal(scratch, task, facts)
                self._move_in(scratch, self.home(key))
            except MvpipeError as exc:
                self._blame_full_disk(exc)
                raise
            finally:
                _remove(scratch)
        made = self.find(key)
        if made is None:
            raise VaultError(f"{self.home(key)}: vanished: just written, and not there any more")
        return made

    def sweep(self) -> None:
        """Remove what runs that died left half-made. Only for the holder of the project's lock."""
        _remove(self.root / "scratch")

    def entries(self) -> Iterator[Entry]:
        """Every whole entry, by key."""
        for home in sorted(self.root.glob("??/*")):
            if found := self.find(home.name, repair=False):
                yield found

    def _scratch(self) -> Path:
        below = self.root / "scratch"
        below.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=below))

    def _move_in(self, scratch: Path, home: Path) -> None:
        home.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.rename(home)
        except OSError as exc:
            if exc.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return  # somebody else made the same thing first
            raise
        home.chmod(0o555)
        _sync_folder(home.parent)

    def _set_aside(self, home: Path) -> None:
        below = self.root / "damaged"
        below.mkdir(parents=True, exist_ok=True)
        home.chmod(0o755)
        home.rename(Path(tempfile.mkdtemp(prefix=f"{home.name[:12]}-", dir=below)) / home.name)

    def _blame_full_disk(self, exc: MvpipeError) -> None:
        free = shutil.disk_usage(self.root).free
        if free < _LOW_WATER_BYTES:
            raise VaultError(
                f"{self.root}: disk full: {free >> 20} MiB free; the work stopped with: {exc}",
                hint="free some space and run the same command again; finished work is kept",
            ) from exc


@contextmanager
def _named(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        full = exc.errno in _SPACE
        what = "disk full" if full else (exc.strerror or str(exc)).lower()
        hint = (
            "free some space" if full else "make the project folder writable, or choose another with --into"
        )
        raise VaultError(f"{exc.filename or place}: {what}", hint=f"{hint}; finished work is kept") from exc


def _open(home: Path, key: str) -> tuple[Entry | None, str]:
    try:
        record = json.loads((home / RECORD).read_text("utf-8"))
        seal = record.pop("seal")
        entry = Entry(key=key, folder=home, task=record["task"], files=record["files"], facts=record["facts"])
    except FileNotFoundError:
        return None, f"{RECORD} is missing"
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, f"{RECORD} is not readable"
    if seal != digest("entry", record) or digest("task", record["task"]) != key:
        return None, f"{RECORD} left its digest"
    for name, sealed in entry.files.items():
        if fault := _compare(home / name, sealed):
            return None, fault
    return entry, ""


def _compare(path: Path, sealed: Mapping[str, Any]) -> str:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return f"{path.name} is missing"
    if stat.st_size != sealed["size"]:
        return f"{path.name} has {stat.st_size} bytes, not {sealed['size']}"
    if stat.st_mtime_ns != sealed["mtime_ns"] and file_digest(path) != sealed["sha256"]:
        return f"{path.name} left its digest"
    return ""


def _seal(scratch: Path, task: Task, facts: Mapping[str, Any]) -> None:
    files = {}
    for path in sorted(scratch.iterdir()):
        path.chmod(0o444)
        stat = path.stat()
        files[path.name] = {
            "size": stat.st_size,
            "sha256": file_digest(path),
            "mtime_ns": stat.st_mtime_ns,
        }
        _sync(path)
    record: dict[str, Any] = json.loads(
        canonical({"task": task.record(), "files": files, "facts": dict(facts)})
    )
    record["seal"] = digest("entry", record)
    sheet = scratch / RECORD
    sheet.write_text(json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    sheet.chmod(0o444)
    _sync(sheet)
    _sync_folder(scratch)


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows cannot open a folder to sync it; NTFS journals the rename
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
