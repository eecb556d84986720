"""A store that machines share: finished work on a shared path, or in any store that fsspec knows (S3, ...).

::

    files/ab/ab12...          every file, under its sha256
    entries/cd/cd34...json    what an entry consists of: written last, and never over another

An entry exists for others from the moment its record does. A file or record is put in place as a whole: by a
rename on a path, by a single request in an object store. So nobody ever sees half of one, and of two who
have made the same entry the second finds the first one's record and takes that. Everything that is read is
held against its digest, every time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from mvpipe.build.key import file_digest
from mvpipe.build.seal import sync
from mvpipe.errors import SettingsError, VaultError

WHOLE = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory"})
"""Protocols whose stores show a file only once all of it is there; elsewhere it is renamed into place."""

LOCAL = frozenset({"file", "local"})


class Damaged(Exception):
    """What the store holds is not what it says."""


class Store:
    """Files by digest and records by key, below one URL.

    Parameters
    ----------
    url : a path, or what fsspec takes: `s3://bucket/films`; who may write there is said where that library
        looks for it (`AWS_...`, its own files), never here

    Raises
    ------
    SettingsError : no such protocol, or its library is not installed
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._kept: set[str] = set()
        self._fs, self._root = _opened(url)
        self._protocol = self._fs.protocol if isinstance(self._fs.protocol, str) else self._fs.protocol[0]

    def record(self, key: str) -> bytes | None:
        """The record of an entry, as it was written; None where there is none."""
        return self._read(self._entry(key))

    def put_record(self, key: str, text: bytes) -> bytes:
        """Let an entry exist whose files are all there; the record that stands: ours, or an earlier one."""
        if not self._create(self._entry(key), text):
            return self._read(self._entry(key)) or text
        return text

    def put_file(self, path: Path, digest: str) -> None:
        """Have a file of this digest in the store; it is not sent again."""
        if digest in self._kept:
            return
        place = self._file(digest)
        with self._named():
            if not self._fs.exists(place):
                self._send(path, place)
        self._kept.add(digest)

    def get_file(self, digest: str, size: int | None, into: Path) -> None:
        """Write a file of the store to `into`.

        Raises
        ------
        Damaged : it is not there, or its bytes left their digest, and is taken out of the store; nothing is
            left at `into`
        """
        place = self._file(digest)
        try:
            with self._named(absent=True):
                self._fs.get_file(place, str(into))
        except FileNotFoundError:
            into.unlink(missing_ok=True)
            raise Damaged("is missing") from None
        found = into.stat().st_size
        if (size is not None and found != size) or file_digest(into) != digest:
            into.unlink()
            self._remove(place)
            self._kept.discard(digest)
            raise Damaged(f"left its digest: {found} bytes")

    def set_aside(self, key: str, text: bytes) -> None:
        """Take a damaged entry out of sight: its record goes to `damaged/`, its work will be done again."""
        self._write(f"{self._root}/damaged/{key}.{uuid4().hex[:8]}.json", text)
        if self.record(key) == text:
            self._remove(self._entry(key))

    def _remove(self, place: str) -> None:
        try:
            with self._named(absent=True):
                self._fs.rm_file(place)
        except FileNotFoundError:
            return  # somebody else was as quick

    def mark(self, name: str, text: bytes) -> None:
        """Leave a note under `notes/`, over an earlier one."""
        self._write(f"{self._root}/notes/{name}", text)

    def marked(self, name: str) -> bytes | None:
        """The note of this name, or None."""
        return self._read(f"{self._root}/notes/{name}")

    def unmark(self, name: str) -> None:
        """Take a note away."""
        self._remove(f"{self._root}/notes/{name}")

    def _entry(self, key: str) -> str:
        return f"{self._root}/entries/{key[:2]}/{key}.json"

    def _file(self, digest: str) -> str:
        return f"{self._root}/files/{digest[:2]}/{digest}"

    def _read(self, place: str) -> bytes | None:
        try:
            with self._named(absent=True):
                return bytes(self._fs.cat_file(place))
        except FileNotFoundError:
            return None

    def _send(self, path: Path, place: str) -> None:
        if self._protocol in WHOLE:
            self._fs.put_file(str(path), place)
            return
        scratch = self._scratch(place)
        self._fs.put_file(str(path), scratch)
        self._rename(scratch, place)

    def _write(self, place: str, data: bytes) -> None:
        with self._named():
            if self._protocol in WHOLE:
                self._fs.pipe_file(place, data)
                return
            scratch = self._scratch(place)
            self._fs.pipe_file(scratch, data)
            self._rename(scratch, place)

    def _create(self, place: str, data: bytes) -> bool:
        """Write what is not there yet; whether it was not."""
        with self._named():
            if self._protocol in WHOLE:
                return self._create_whole(place, data)
            if self._fs.exists(place):
                return False
            scratch = self._scratch(place)
            self._fs.pipe_file(scratch, data)
            if self._protocol in LOCAL:
                return _linked(Path(scratch), Path(place))
            self._rename(scratch, place)
            return True

    def _create_whole(self, place: str, data: bytes) -> bool:
        try:
            self._fs.pipe_file(place, data, mode="create")
        except FileExistsError:
            return False
        return True

    def _scratch(self, place: str) -> str:
        folder, _, name = place.rpartition("/")
        self._fs.makedirs(folder, exist_ok=True)
        return f"{folder}/.{name}.{uuid4().hex[:8]}"

    def _rename(self, scratch: str, place: str) -> None:
        if self._protocol in LOCAL:
            sync(Path(scratch))
            Path(scratch).replace(place)
        else:
            self._fs.mv(scratch, place)

    @cached_property
    def _faults(self) -> tuple[type[BaseException], ...]:
        """What its library raises where the store cannot be used."""
        if self._protocol not in ("s3", "s3a"):
            return (OSError,)
        from botocore.exceptions import BotoCoreError

        return (OSError, BotoCoreError)

    @contextmanager
    def _named(self, *, absent: bool = False) -> Iterator[None]:
        """Say what is wrong with the store; where a file may well be absent, that is not."""
        try:
            yield
        except self._faults as exc:
            if absent and isinstance(exc, FileNotFoundError):
                raise
            said = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
            raise VaultError(
                f"{self.url}: cannot be used: {said}",
                hint="is it there, and may this machine write to it? finished work is kept",
            ) from exc


def _opened(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, root = url_to_fs(url)
    except ImportError as exc:
        library = "pip install 'mvpipe[cluster]' brings the one for S3"
        raise SettingsError(f"--vault: {url}: its library is not installed: {exc}", hint=library) from exc
    except ValueError as exc:
        raise SettingsError(f"--vault: {url}: {exc}", hint="a path, or a URL such as s3://bucket") from exc
    return fs, str(root).rstrip("/")


def _linked(scratch: Path, place: Path) -> bool:
    """Give a whole file its name, unless somebody has it."""
    sync(scratch)
    try:
        os.link(scratch, place)
    except FileExistsError:
        return False
    except OSError:  # a disk without links: whoever comes second within these microseconds stands
        scratch.replace(place)
    finally:
        scratch.unlink(missing_ok=True)
    return True
