"""What is going on, for a second terminal; and what a second terminal wants: files in the project."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.build.run import Step
from mvpipe.clock import format_time
from mvpipe.errors import Cancelled
from mvpipe.floor import Floor
from mvpipe.project import write_json
from mvpipe.room import KEPT
from mvpipe.wording import counted

PULSE, STOP = "now.json", "stop"
NOW, GENTLY = "now", "gently"

BEAT_S = 2.0
"""Seconds between two beats."""

SILENT_S = 60.0
"""Seconds without a beat after which a run is said to be silent: the walk's thread may judge for a while."""


@dataclass
class Pulse:
    """A run's sign of life, and its ear for `mvpipe stop`.

    Parameters
    ----------
    folder : of the project
    shots : in all
    room : bytes free on the disk of a folder
    now : clock, Unix seconds
    """

    folder: Path
    shots: int
    room: Callable[[Path], int]
    floor: Floor | None = None
    now: Callable[[], float] = time.time
    done: set[str] = field(default_factory=set[str], init=False)
    under_way: dict[str, tuple[float, int, int]] = field(
        default_factory=dict[str, tuple[float, int, int]], init=False
    )
    beaten: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        (self.folder / STOP).unlink(missing_ok=True)

    def step(self, step: Step) -> None:
        """Take note of a step of the walk."""
        if step.what in ("hit", "end", "fail", "rescue", "retry"):
            self.under_way.pop(step.name, None)
        elif step.what == "begin":
            self.under_way[step.name] = self.now(), 0, 0
        elif step.name in self.under_way:
            self.under_way[step.name] = self.under_way[step.name][0], step.done, step.of
        if step.what in ("hit", "end") and step.name.startswith("shot "):
            self.done.add(step.name)

    def beat(self) -> str:
        """Show that it lives; why no more takes are to be begun, or empty.

        Raises
        ------
        Cancelled : `mvpipe stop --now`
        """
        if self.now() - self.beaten >= BEAT_S:
            self.beaten = self.now()
            write_json(self.folder / PULSE, self._shown())
        asked = _asked(self.folder)
        if asked == NOW:
            raise Cancelled("stopped by mvpipe stop --now")
        if asked:
            return "mvpipe stop was said"
        room = self.room(self.folder)
        if room >= KEPT:
            return ""
        return f"only {room / 1e9:.1f} GB of disk are free, and {KEPT / 1e9:.0f} are kept"

    def close(self) -> None:
        """It is over."""
        for name in (PULSE, STOP):
            (self.folder / name).unlink(missing_ok=True)

    def _shown(self) -> dict[str, Any]:
        fleet = self.floor.fleet if self.floor else None
        left_s = fleet.left_s() if fleet else None
        return {
            "pid": os.getpid(),
            "at": round(self.now(), 1),
            "shots": self.shots,
            "done": len(self.done),
            "ends": round(self.now() + left_s, 1) if left_s is not None else None,
            "under_way": [
                {
                    "name": name,
                    "since": round(since, 1),
                    "done": done,
                    "of": of,
                    "server": self.floor.where(name) if self.floor else "",
                }
                for name, (since, done, of) in self.under_way.items()
            ],
            "servers": fleet.conditions() if fleet else {},
        }


def _asked(folder: Path) -> str:
    try:
        return (folder / STOP).read_text("utf-8").strip()
    except FileNotFoundError:
        return ""


def ask_to_stop(folder: Path, *, at_once: bool) -> None:
    """Have whoever is at work in a project stop: after the takes that run, or at once."""
    scratch = folder / f".{STOP}.{os.getpid()}"
    scratch.write_text(NOW if at_once else GENTLY, "utf-8")
    scratch.replace(folder / STOP)


def feel(folder: Path) -> Mapping[str, Any] | None:
    """The last beat of whoever is at work; None without one."""
    try:
        found: Mapping[str, Any] = json.loads((folder / PULSE).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return found


def told(beat: Mapping[str, Any], now: float) -> list[str]:
    """A beat, for people."""
    silent = now - beat["at"]
    lines = [
        f"process {beat['pid']}: {beat['done']} of {counted(beat['shots'], 'shot is', 'shots are')} ready"
    ]
    if beat["ends"] is not None:
        lines[0] += f"; takes end about {time.strftime('%H:%M', time.localtime(beat['ends']))}"
    if silent > SILENT_S:
        lines.append(f"no sign of life for {format_time(round(silent))}")
    for one in beat["under_way"]:
        steps = f", {one['done']} of {one['of']}" if one["of"] else ""
        where = f" on {one['server']}" if one["server"] else ""
        lines.append(f"{one['name']}{where}: {format_time(round(now - one['since']))}{steps}")
    lines += [f"{name}: {condition}" for name, condition in beat["servers"].items() if condition]
    return lines
