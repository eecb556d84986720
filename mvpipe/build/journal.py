"""The journal: what was done when, and what the user chose. SQLite in WAL mode, one file a project.

What the vault holds is true even if the journal is lost: then only the history and the choices are gone.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.errors import VaultError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL,
    started REAL NOT NULL, ended REAL, outcome TEXT, note TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS jobs_by_key ON jobs (key);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_subject ON events (kind, subject);
CREATE TABLE IF NOT EXISTS choices (subject TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL);
PRAGMA user_version = 1;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt at a task. Times are Unix seconds; an attempt that never ended died with its process."""

    name: str
    key: str
    started: float
    ended: float | None
    outcome: str | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a subject."""

    at: float
    kind: str
    subject: str
    data: Mapping[str, Any]


class Journal:
    """A project's history. Used from one thread.

    Parameters
    ----------
    path : the database file; made when it is not there
    now : the clock, in Unix seconds
    on_damage : told in words when the file is not a journal any more and a new one was begun

    Raises
    ------
    VaultError : it cannot be opened or written
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], float] = time.time,
        on_damage: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._path = path
        self._now = now
        with self._named():
            try:
                self._db = self._connect()
            except sqlite3.DatabaseError as exc:
                if isinstance(exc, sqlite3.OperationalError):
                    raise
                aside = path.with_name(f"{path.name}.damaged-{int(now())}")
                path.rename(aside)
                on_damage(f"{path}: not a journal: {exc}; kept as {aside.name}, history begins anew")
                self._db = self._connect()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def begin(self, name: str, key: str) -> int:
        """Note that an attempt begins; returns its number."""
        sql = "INSERT INTO jobs (name, key, started) VALUES (?, ?, ?)"
        with self._named(), self._db:
            return int(self._db.execute(sql, (name, key, self._now())).lastrowid or 0)

    def end(self, job: int, outcome: str, note: str = "") -> None:
        """Note how an attempt ended."""
        sql = "UPDATE jobs SET ended = ?, outcome = ?, note = ? WHERE id = ?"
        with self._named(), self._db:
            self._db.execute(sql, (self._now(), outcome, note, job))

    def jobs(self, *, key: str | None = None) -> list[Job]:
        """Attempts in order, of one task or of all."""
        columns = "name, key, started, ended, outcome, note"
        which, words = ("", ()) if key is None else ("WHERE key = ?", (key,))
        sql = f"SELECT {columns} FROM jobs {which} ORDER BY id"
        with self._named():
            rows = self._db.execute(sql, words).fetchall()
        return [Job(name=n, key=k, started=s, ended=e, outcome=o, note=t) for n, k, s, e, o, t in rows]

    def note(self, kind: str, subject: str, **data: Any) -> None:
        """Note an event; data are JSON values."""
        sql = "INSERT INTO events (at, kind, subject, data) VALUES (?, ?, ?, ?)"
        with self._named(), self._db:
            self._db.execute(sql, (self._now(), kind, subject, json.dumps(data, sort_keys=True)))

    def events(self, kind: str, subject: str | None = None) -> list[Event]:
        """Events of a kind in order, of one subject or of all."""
        which, words = ("", (kind,)) if subject is None else ("AND subject = ?", (kind, subject))
        sql = f"SELECT at, subject, data FROM events WHERE kind = ? {which} ORDER BY id"
        with self._named():
            rows = self._db.execute(sql, words).fetchall()
        return [Event(at=at, kind=kind, subject=s, data=json.loads(d)) for at, s, d in rows]

    def choose(self, subject: str, value: Any) -> None:
        """Remember what the user chose for a subject; None forgets it."""
        with self._named(), self._db:
            if value is None:
                self._db.execute("DELETE FROM choices WHERE subject = ?", (subject,))
            else:
                sql = "INSERT OR REPLACE INTO choices (subject, value, at) VALUES (?, ?, ?)"
                self._db.execute(sql, (subject, json.dumps(value, sort_keys=True), self._now()))

    def choice(self, subject: str) -> Any:
        """What the user chose for a subject, or None."""
        with self._named():
            row = self._db.execute("SELECT value FROM choices WHERE subject = ?", (subject,)).fetchone()
        return json.loads(row[0]) if row else None

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=30)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # a killed process loses nothing; a power cut may lose the last events, never the vault
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_SCHEMA)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as exc:
            raise VaultError(
                f"{self._path}: cannot be used: {exc}",
                hint="is the disk full or read-only? finished work in the vault is kept",
            ) from exc
