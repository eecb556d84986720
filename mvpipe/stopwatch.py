"""What takes have needed: noted in the project's journal, and for all projects of this user.

A new film begins with what earlier ones have taught of the same servers. Nothing of a film is in these lines:
no names, no words, no seeds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mvpipe.build.journal import Journal
from mvpipe.render.backend import Conditioning
from mvpipe.timing import Rendered, Times, learn

EVENT = "rendered"

FILE = "times.jsonl"
"""Below the user's folder: a line a take, the oldest first."""

MOST, KEPT = 1_000_000, 2_000
"""Bytes at which the file is cut to its last lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopwatch:
    """Keeps times, and learns from them.

    Parameters
    ----------
    journal : of the project
    folder : of this user, for all projects; None for none
    say : told in words when the user's file cannot be written
    """

    journal: Journal
    folder: Path | None = None
    say: Callable[[str], None] = lambda _: None

    def note(self, made: Rendered, key: str) -> None:
        """Remember a take that was made just now."""
        self.journal.note(EVENT, f"shot {made.shot}", key=key, **asdict(made))
        if self.folder is None:
            return
        path = self.folder / FILE
        line = json.dumps({"key": key, **asdict(made), "shot": 0}, sort_keys=True) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(line)
            if path.stat().st_size > MOST:
                _shorten(path)
        except OSError as exc:
            self.say(
                f"{path}: cannot be written: {(exc.strerror or str(exc)).lower()}: other films do not learn"
            )

    def since(self, at: float = 0.0) -> list[Rendered]:
        """The project's own, in order.

        Parameters
        ----------
        at : Unix seconds
        """
        return [read(event.data) for event in self.journal.events(EVENT) if event.at >= at]

    def learnt(self) -> Times:
        """The times of takes, as far as this user's tell them; the project's own are the latest."""
        own = {str(event.data.get("key")): read(event.data) for event in self.journal.events(EVENT)}
        others = [made for key, made in self._kept() if key not in own]
        return learn([*others, *own.values()])

    def _kept(self) -> list[tuple[str, Rendered]]:
        if self.folder is None:
            return []
        found = []
        for line in _lines(self.folder / FILE):
            try:
                data = json.loads(line)
                found.append((str(data["key"]), read(data)))
            except (ValueError, KeyError, TypeError, IndexError):
                continue  # a line that a death cut short, or one of a later version
        return found


def read(data: Mapping[str, Any]) -> Rendered:
    """A take as it was noted; what an earlier version did not note is not known."""
    known = {one.name for one in fields(Rendered)}
    told = {name: value for name, value in data.items() if name in known}
    size, riding = (int(data["size"][0]), int(data["size"][1])), Conditioning(**data.get("conditioning", {}))
    return Rendered(**{**told, "size": size, "conditioning": riding})


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _shorten(path: Path) -> None:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text("\n".join(_lines(path)[-KEPT:]) + "\n", "utf-8")
    os.replace(scratch, path)
