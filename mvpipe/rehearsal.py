"""The whole film against the stand-in server: schedule, time and disk use, before the night.

Keys do not say which server rendered, so rehearsed takes must never lie in the film's own vault: a
rehearsal has a project folder of its own, which may be deleted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mvpipe.backends import JOBS
from mvpipe.clock import format_time
from mvpipe.project import REHEARSAL, SUFFIX, Project
from mvpipe.request import Machine, Request
from mvpipe.wording import counted

CARDS = ("24gb", "16gb")
"""Cards whose speed somebody published; see `mvpipe.testing.comfyui.settings`."""

SERVER = "server"
"""Below the rehearsal's project: all that the stand-in keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A take as it was made.

    Parameters
    ----------
    shot, take : numbers; a take after the first is a retake
    seconds : by the server's clock, with the loading, encoding and decoding that fell to it
    attempt : above 1 where it was begun anew: the server had died, or was out of memory
    """

    shot: int
    take: int
    seconds: float
    attempt: int

    @property
    def name(self) -> str:
        """For people."""
        retake = f", retake {self.take - 1}" if self.take > 1 else ""
        return f"shot {self.shot}{retake}"

    @property
    def note(self) -> str:
        """What was out of the ordinary."""
        return f", begun {self.attempt} times" if self.attempt > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What the night would need.

    Parameters
    ----------
    card : whose speed was taken
    takes : in the order sent
    disk : bytes of the rehearsal's project, without what the stand-in keeps
    """

    card: str
    takes: tuple[Rehearsed, ...]
    disk: int

    @property
    def seconds(self) -> float:
        """Of the card in all."""
        return sum(one.seconds for one in self.takes)

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        takes = [
            {"shot": one.shot, "take": one.take, "seconds": round(one.seconds, 1), "attempt": one.attempt}
            for one in self.takes
        ]
        return {"card": self.card, "seconds": round(self.seconds, 1), "disk_bytes": self.disk, "takes": takes}

    def text(self) -> str:
        """For people."""
        lines, begun = [f"rehearsed on a {self.card} card:"], 0.0
        for one in self.takes:
            at, needs = format_time(round(begun)), format_time(round(one.seconds))
            lines.append(f"  {one.name}: begins {at}, needs {needs}{one.note}")
            begun += one.seconds
        total, many = format_time(round(begun)), counted(len(self.takes), "take")
        lines.append(f"  in all {total} of the card for {many}, if the gate lets every one of them pass")
        lines.append(f"  {self.disk / 1e6:.0f} MB of disk here, with drawn pictures: real ones need more")
        return "\n".join(lines)


def rehearsal_folder(folder: Path) -> Path:
    """Where the rehearsal of a project is kept."""
    return folder.with_name(f"{folder.name.removesuffix(SUFFIX)}{REHEARSAL}{SUFFIX}")


@contextmanager
def stage(request: Request, folder: Path, card: str) -> Iterator[tuple[Request, Stage]]:
    """A server that takes no time and counts it, and the request turned towards it."""
    from mvpipe.render.comfyui.address import address
    from mvpipe.testing.standin import standin

    shutil.rmtree(folder / SERVER, ignore_errors=True)
    with standin(folder / SERVER, flags=("--card", card)) as server:
        machine = Machine(address=address(server.url))
        yield replace(request, backend=server.url, also=(), machines=(machine,), kept=None), Stage(card)


class Stage:
    """The stand-in while a rehearsal runs.

    Parameters
    ----------
    card : whose speed it has
    """

    def __init__(self, card: str) -> None:
        self._card = card

    def clear(self, project: Project) -> None:
        """Let go of the takes of an earlier rehearsal: their times are those of its card."""
        for entry in list(project.vault.entries()):
            if entry.task["name"] == "take":
                entry.folder.chmod(0o755)
                shutil.rmtree(entry.folder)
        shutil.rmtree(project.folder / JOBS, ignore_errors=True)

    def rehearsed(self, project: Project) -> Rehearsal:
        """What came of it."""
        takes: list[tuple[float, Rehearsed]] = []
        for entry in project.vault.entries():
            if entry.task["name"] == "take":
                facts = json.loads(entry.path("take.facts.json").read_text("utf-8"))
                slate = entry.facts["slate"]
                made = Rehearsed(
                    shot=slate["shot"],
                    take=slate["take"],
                    seconds=facts["server_s"] or 0.0,
                    attempt=facts["attempt"],
                )
                takes.append((facts["sent_at"], made))
        return Rehearsal(
            card=self._card,
            takes=tuple(made for _, made in sorted(takes, key=lambda one: one[0])),
            disk=_bytes_in(project.folder),
        )


def _bytes_in(folder: Path) -> int:
    """Bytes below a project; what is shown under two names lies there once."""
    below = folder / SERVER
    files = [path for path in folder.rglob("*") if path.is_file() and below not in path.parents]
    sizes = {(stat.st_dev, stat.st_ino): stat.st_size for stat in (path.stat() for path in files)}
    return sum(sizes.values())
