"""A small film in a folder, made through the command line as a user would, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.backends import JOBS
from mvpipe.build.journal import Job, Journal
from mvpipe.build.vault import Entry, Vault
from mvpipe.request import Request
from mvpipe.storyboard.load import load
from tests import synth

STORYBOARD = """\
mvpipe: 1
title: Small Film
picture: {size: 192x128}
look: ink on paper
cast:
  mira: {is: a woman in a red raincoat, sings: true}
sections:
  - name: verse
    start: 0
    shots:
      - {prompt: Mira sings to us, cast: [mira]}
      - {kind: b-roll, prompt: rain on a window}
      - {prompt: Mira turns away, cast: [mira]}
      - {kind: b-roll, prompt: a tram passes}
      - {prompt: Mira laughs, cast: [mira]}
"""


@dataclass(frozen=True)
class Studio:
    """A folder with a song, its voice and a storyboard, and the project that grows beside them."""

    folder: Path
    song: str = "song.wav"
    storyboard: str = "board.yaml"

    @property
    def project(self) -> Path:
        return self.folder / "board.mvpipe"

    @property
    def render(self) -> list[str]:
        return ["render", "--vocals", "vocals.wav", "--", self.song, self.storyboard]

    def request(self, url: str, **more: Any) -> Request:
        """What is asked of the pipeline, with a server at this address."""
        return Request(
            song=self.folder / self.song,
            loaded=load(self.folder / self.storyboard),
            backend=url,
            vocals=self.folder / "vocals.wav",
            cache=self.folder / "cache",
            **more,
        )

    def forget_takes(self) -> None:
        """Leave it as before the first take, but with all that follows from the bytes of good ones."""
        for entry in self.entries("take").values():
            entry.folder.chmod(0o755)
            shutil.rmtree(entry.folder)
        for path in [*self.project.glob("journal.db*"), *self.project.glob("*.mp4"), self.project / "lock"]:
            path.unlink(missing_ok=True)
        for name in (JOBS, "takes", "film", "report"):
            shutil.rmtree(self.project / name, ignore_errors=True)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """`mvpipe WORDS`, running."""
        return subprocess.Popen(
            [sys.executable, "-m", "mvpipe", *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )

    def run(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """`mvpipe WORDS`, ended with the exit code that was expected."""
        with self.start(*words) as child:
            out, err = child.communicate()
        assert child.returncode == expect, f"mvpipe {' '.join(words)}: {child.returncode}\n{out}\n{err}"
        return subprocess.CompletedProcess(words, child.returncode, out, err)

    def json(self, *words: str, expect: int = 0) -> Any:
        """What `mvpipe WORDS --json` prints."""
        return json.loads(self.run(*words, "--json", expect=expect).stdout)

    def kill_after(self, seconds: float, *words: str, how: int = signal.SIGKILL) -> int:
        """Start `mvpipe WORDS`, kill it after a while, and say how it ended."""
        with self.start(*words) as child:
            time.sleep(seconds)
            child.send_signal(how)
            child.communicate()
        return child.returncode

    def edit(self, old: str, new: str) -> None:
        """Edit the storyboard as a director would."""
        path = self.folder / self.storyboard
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def plan(self) -> dict[str, Any]:
        """The plan as last written."""
        found: dict[str, Any] = json.loads((self.project / "plan.json").read_text("utf-8"))
        return found

    def entries(self, name: str) -> dict[str, Entry]:
        """What the vault holds of a kind of task, by key."""
        vault = Vault(self.project / "vault")
        return {entry.key: entry for entry in vault.entries() if entry.task["name"] == name}

    def jobs(self, stage: str) -> list[Job]:
        """Attempts at a stage, in order."""
        journal = Journal(self.project / "journal.db")
        try:
            return [job for job in journal.jobs() if job.name.split(" ")[0] == stage]
        finally:
            journal.close()

    def events(self, kind: str) -> list[dict[str, Any]]:
        """What the journal keeps of a kind of event, in order."""
        journal = Journal(self.project / "journal.db")
        try:
            return [dict(event.data) for event in journal.events(kind)]
        finally:
            journal.close()

    def pictures(self) -> str:
        """sha256 of the decoded frames of the master."""
        from mvpipe.reel.proof import picture_digest

        (film,) = (self.project / "film").glob("*.mkv")
        return picture_digest(film)


def build(folder: Path, *, seconds: float = 26.0, song: str = "song.wav") -> Studio:
    """A studio with a new song in it."""
    made = synth.song(seconds, seed=5, sample_rate=16_000)
    made.write(folder / "stems")
    (folder / "stems" / "mix.wav").rename(folder / song)
    (folder / "stems" / "vocals.wav").rename(folder / "vocals.wav")
    (folder / "board.yaml").write_text(STORYBOARD, "utf-8")
    return Studio(folder, song=song)


def build_for_h3(
    folder: Path,
    *,
    seconds: float,
    size: str = "256x160",
    render: str = "",
    edits: Sequence[tuple[str, str]] = (),
) -> Studio:
    """A studio whose film is made by a ComfyUI server, its song heard once; a stand-in's takes have no lips.

    Parameters
    ----------
    render : more settings of the backend, such as `graph: multishot-pinned`
    edits : of the storyboard, before it is planned
    """
    studio = build(folder, seconds=seconds)
    studio.edit("192x128", size)
    settings = ", ".join(filter(None, ("backend: comfyui", render)))
    studio.edit("look:", f"render: {{{settings}}}\ngate: {{sync: off}}\nlook:")
    for old, new in edits:
        studio.edit(old, new)
    studio.run("plan", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    return studio


def copied(folder: Path, into: Path) -> Studio:
    """The studio of a folder, in a copy that a test may spoil."""
    return Studio(Path(shutil.copytree(folder, into / "film")))
