"""The vault: finished work by key. What it holds is the resume state.

An entry is a folder with its files and an `entry.json` that lists them by size and sha256. It is built in
a scratch folder, sealed, synced, and renamed into place: that rename is the only moment at which it comes
to exist. Afterwards it is read-only. Modification times are a shortcut, content is the truth: a file whose
size and time are as sealed is believed, any other is read and compared.

Only the holder of the project's lock may write; `find` with `repair=False` never changes anything.

With a store (`build/store.py`) the vault is this machine's part of what several machines know: what it lacks
is fetched from there, every file held against its digest, and what it makes is put there.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from mvpipe.build.key import Task
from mvpipe.build.seal import RECORD, differs, read_record, seal, sync_folder
from mvpipe.build.store import Damaged, Store
from mvpipe.errors import MvpipeError, VaultError

Make = Callable[[Path], Mapping[str, Any]]
"""Writes an entry's files into a folder and returns its facts."""

Record = Mapping[str, Mapping[str, Any]]
"""What an entry's record says: `task`, `files` and `facts`; maybe `by`, which is a word."""

_SPACE = (errno.ENOSPC, errno.EDQUOT)
_LOW_WATER_BYTES = 64 << 20

KEPT = 128
"""Records in memory at once. The longest, of looks at takes, have some 50 kB there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Finished work. What its record says is read when it is asked for: a film has many, and they are long.

    Parameters
    ----------
    key : of the task that made it
    folder : where its files are
    by : who has made it; empty where it was made beside its vault

    Raises
    ------
    VaultError : what its record says is asked for, and that was lost or damaged since it was found
    """

    key: str
    folder: Path
    by: str = ""

    @property
    def task(self) -> Mapping[str, Any]:
        """The task's record."""
        return _records.of(self.folder, self.key)["task"]

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        """Name -> {size, sha256, mtime_ns}."""
        return _records.of(self.folder, self.key)["files"]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the work found out; JSON values."""
        return _records.of(self.folder, self.key)["facts"]

    def path(self, name: str) -> Path:
        """Where the file is."""
        return self.folder / name

    def digest(self, name: str) -> str:
        """sha256 (hex) of the file."""
        return str(self.files[name]["sha256"])


class _Records:
    """The records of the entries that were used last, each with its file's size and time, for all threads."""

    def __init__(self) -> None:
        self._kept = OrderedDict[Path, tuple[tuple[int, int], Record]]()
        self._lock = Lock()

    def of(self, folder: Path, key: str) -> Record:
        """The record of an entry that was found before."""
        if known := self._known(folder):
            return known[1]
        record, fault = self.read(folder, key)
        if record is None:
            raise VaultError(f"{folder}: {fault}", hint="run the same command again")
        return record

    def read(self, folder: Path, key: str) -> tuple[Record | None, str]:
        """The record as `read_record`, which is asked for what has changed or was not read lately."""
        try:
            stat = (folder / RECORD).stat()
        except FileNotFoundError:
            return None, f"{RECORD} is missing"
        mark, known = (stat.st_size, stat.st_mtime_ns), self._known(folder)
        if known and known[0] == mark:
            return known[1], ""
        record, fault = read_record(folder, key)
        if record is not None:
            with self._lock:
                self._kept[folder] = mark, record
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return record, fault

    def _known(self, folder: Path) -> tuple[tuple[int, int], Record] | None:
        with self._lock:
            if known := self._kept.get(folder):
                self._kept.move_to_end(folder)
            return known


_records = _Records()


class Vault:
    """Entries by key, below one folder.

    Parameters
    ----------
    root : the vault's folder; made when first written to
    store : what is shared with other machines, if anything
    by : noted in what is made here; empty for the machine of the person who wants it
    on_damage : told in words when an entry is found damaged
    """

    def __init__(
        self,
        root: Path,
        *,
        store: Store | None = None,
        by: str = "",
        on_damage: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.root = root
        self.store = store
        self._by = by
        self._shared: set[str] = set()
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
        if not home.exists() and not self._fetch(key, repair=repair):
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
            return self.share(found)
        with _named(self.root):
            scratch = self._scratch()
            try:
                facts = make(scratch)
                seal(scratch, task, facts, by=self._by)
                self._move_in(scratch, self.home(key))
            except MvpipeError as exc:
                self._blame_full_disk(exc)
                raise
            finally:
                _remove(scratch)
        made = self.find(key)
        if made is None:
            raise VaultError(f"{self.home(key)}: vanished: just written, and not there any more")
        return self.share(made)

    def share(self, entry: Entry) -> Entry:
        """Put an entry into the store, if there is one; the entry that stands for everybody, if not this one.

        Raises
        ------
        VaultError : the store cannot be used
        """
        if self.store is None or entry.key in self._shared:
            return entry
        ours = entry.path(RECORD).read_bytes()
        for name, sealed in entry.files.items():
            self.store.put_file(entry.path(name), sealed["sha256"])
        if self.store.put_record(entry.key, ours) != ours:
            entry = self._yield_to_first(entry)
        self._shared.add(entry.key)
        return entry

    def _yield_to_first(self, entry: Entry) -> Entry:
        """Somebody else made the same before us: what everybody else has is had here, too."""
        with _named(entry.folder):
            own = self._scratch() / entry.key
            entry.folder.chmod(0o755)
            entry.folder.rename(own)
            _remove(own.parent)
        found = self.find(entry.key)
        if found is None:
            raise VaultError(f"{self.home(entry.key)}: made by two, and now by nobody", hint="run it again")
        return found

    def _fetch(self, key: str, *, repair: bool) -> bool:
        """Have an entry of the store here; whether it has one."""
        if self.store is None or (text := self.store.record(key)) is None:
            return False
        with _named(self.root):
            scratch = self._scratch()
            try:
                if not (fault := self._filled(scratch, key, text)):
                    self._move_in(scratch, self.home(key))
                    return True
            finally:
                _remove(scratch)
        self._on_damage(f"{self.store.url}: {key[:12]}: damaged entry: {fault}; it will be made again")
        if repair:
            self.store.set_aside(key, text)
        return False

    def _filled(self, scratch: Path, key: str, text: bytes) -> str:
        """Write a stored entry into a folder; what is wrong with it, or nothing."""
        assert self.store is not None
        (scratch / RECORD).write_bytes(text)
        entry, fault = _recorded(scratch, key)
        if entry is None:
            return fault
        try:
            for name, sealed in entry.files.items():
                path = scratch / name
                self.store.get_file(sealed["sha256"], sealed["size"], path)
                os.utime(path, ns=(sealed["mtime_ns"], sealed["mtime_ns"]))
        except Damaged as exc:
            return f"{name} {exc}"
        for path in scratch.iterdir():
            path.chmod(0o444)
        return ""

    def hold(self, digest: str, size: int, name: str) -> Path:
        """A file that is no entry's, by its digest and under its name: from the store, kept here.

        Raises
        ------
        VaultError : there is no such file in the store, or it is damaged
        """
        place = self.root / "files" / digest / name
        if place.exists() and place.stat().st_size == size:
            return place
        assert self.store is not None
        with _named(self.root):
            scratch = self._scratch()
            try:
                self.store.get_file(digest, size, scratch / name)
                (scratch / name).chmod(0o444)
                self._move_in(scratch, place.parent)
            except Damaged as exc:
                raise VaultError(
                    f"{self.store.url}: {name} {exc}", hint="run the same command again"
                ) from exc
            finally:
                _remove(scratch)
        return place

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
        sync_folder(home.parent)

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
    entry, fault = _recorded(home, key)
    for name, sealed in entry.files.items() if entry else ():
        if fault := differs(home / name, sealed):
            return None, fault
    return entry, fault


def _recorded(home: Path, key: str) -> tuple[Entry | None, str]:
    """The entry as its record says, if the record is what was sealed."""
    record, fault = _records.read(home, key)
    if record is None:
        return None, fault
    return Entry(key=key, folder=home, by=str(record.get("by", ""))), ""


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
