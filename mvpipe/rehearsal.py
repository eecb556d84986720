"""The whole film against the stand-in server: schedule, time and disk use, before the night.

Keys do not say which server rendered, so rehearsed takes must never lie in the film's own vault: a
rehearsal has a project folder of its own, which may be deleted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mvpipe.clock import format_time
from mvpipe.project import SUFFIX, Project
from mvpipe.request import Request

CARDS = ("24gb", "16gb")
"""Cards whose speed somebody published; see `mvpipe.testing.comfyui.settings`."""

FOLDER = ".rehearsal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What the night would need.

    Parameters
    ----------
    card : whose speed was taken
    takes : (shot, seconds of the server's clock), in the order sent
    seconds : of the server in all, loading and decoding included
    disk : bytes of the rehearsal's project
    """

    card: str
    takes: tuple[tuple[int, float], ...]
    seconds: float
    disk: int

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        takes = [{"shot": shot, "seconds": round(seconds, 1)} for shot, seconds in self.takes]
        return {"card": self.card, "seconds": round(self.seconds, 1), "disk_bytes": self.disk, "takes": takes}

    def text(self) -> str:
        """For people."""
        lines, begun = [f"rehearsed on a {self.card} card:"], 0.0
        for shot, seconds in self.takes:
            at, needs = format_time(round(begun)), format_time(round(seconds))
            lines.append(f"  shot {shot}: begins {at}, needs {needs}")
            begun += seconds
        total = format_time(round(self.seconds))
        lines.append(f"  in all {total} of the card, and {self.disk / 1e6:.0f} MB of disk")
        return "\n".join(lines)


def rehearsal_folder(folder: Path) -> Path:
    """Where the rehearsal of a project is kept."""
    return folder.with_name(f"{folder.name.removesuffix(SUFFIX)}{FOLDER}{SUFFIX}")


@contextmanager
def stage(request: Request, folder: Path, card: str) -> Iterator[tuple[Request, Stage]]:
    """A server that takes no time and counts it, and the request turned towards it."""
    from mvpipe.testing.standin import standin

    with standin(folder / "server", flags=("--card", card)) as server:
        yield replace(request, backend=server.url), Stage(card, server)


class Stage:
    """The stand-in while a rehearsal runs.

    Parameters
    ----------
    card : whose speed it has
    server : the stand-in
    """

    def __init__(self, card: str, server: Any) -> None:
        self._card = card
        self._server = server

    def rehearsed(self, project: Project) -> Rehearsal:
        """What came of it."""
        ahead = float(self._server.state()["clock"]) - time.time()
        takes = []
        for entry in project.vault.entries():
            if entry.task["name"] == "take":
                facts = json.loads(entry.path("take.facts.json").read_text("utf-8"))
                takes.append((facts["sent_at"], entry.facts["slate"]["shot"], facts["server_s"] or 0.0))
        files = [path for path in project.folder.rglob("*") if path.is_file()]
        return Rehearsal(
            card=self._card,
            takes=tuple((shot, seconds) for _, shot, seconds in sorted(takes)),
            seconds=ahead,
            disk=sum(path.stat().st_size for path in files),
        )
