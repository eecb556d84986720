"""The terminal: results on stdout, notes and progress on stderr. Nothing else in mvpipe prints."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from mvpipe.build.run import Step

STAGES = {
    "song": "reading the song",
    "vocals": "separating the voice",
    "singers": "telling the singers apart",
    "hearing": "listening",
    "voice": "cutting the voice",
    "take": "making takes",
    "look": "checking takes",
    "promise": "telling who is seen and heard",
    "lips": "judging lips",
    "control": "proving the gate",
    "screening": "weighing all shots",
    "shot": "conforming",
    "reel": "assembling",
    "film": "laying the song, proving",
    "phone": "copy for phones, proving",
    "page": "drawing verdicts",
}


@dataclass
class Terminal:
    """How one command talks.

    Parameters
    ----------
    quiet : no notes and no progress
    log : a file that gets every note and step, with times; None for no log
    resume : the command that goes on where this one was stopped
    """

    quiet: bool = False
    log: Path | None = None
    resume: str = ""
    _console: Console | None = field(default=None, repr=False)
    _current: ClassVar[Terminal | None] = None

    def __post_init__(self) -> None:
        type(self)._current = self

    @classmethod
    def current(cls) -> Terminal:
        """The one in use, so that an error that ends the command reaches its log too."""
        return cls._current or cls()

    @property
    def console(self) -> Console:
        """The one for notes, on stderr; honours NO_COLOR."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        return self._console

    def result(self, text: str) -> None:
        """Print what the command is for."""
        sys.stdout.write(f"{text}\n")

    def json(self, value: Any) -> None:
        """Print a result for scripts."""
        self.result(json.dumps(value, indent=1, ensure_ascii=False))

    def note(self, text: str, *, style: str = "") -> None:
        """Tell the person something on the way."""
        self.record(text)
        if not self.quiet:
            self.console.print(text, style=style, markup=False)

    def warn(self, text: str) -> None:
        """Tell the person something they should not miss, quiet or not."""
        self.record(f"warning: {text}")
        self.console.print(f"warning: {text}", style="yellow", markup=False)

    def error(self, text: str, hint: str = "") -> None:
        """Say what went wrong and what to do."""
        self.record(f"error: {text}")
        self.console.print(f"error: {text}", style="bold red", markup=False)
        if hint:
            self.record(f" hint: {hint}")
            self.console.print(f" hint: {hint}", markup=False)

    def stopped(self, left: Sequence[object] = ()) -> None:
        """Say that the user stopped it, what was kept, what is left elsewhere, and how to go on."""
        for text in ("stopped: finished work is kept, nothing half-made is", *map(str, left)):
            self.record(text)
            self.console.print(text, style="yellow", markup=False)
        if self.resume:
            self.console.print(f" to go on: {self.resume}", markup=False)

    def record(self, text: str) -> None:
        """Write a line to the log alone."""
        if self.log:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    @contextmanager
    def progress(self) -> Iterator[Stages]:
        """Show stages while the body runs: bars on a terminal, a line a stage elsewhere."""
        if self.quiet or not self.console.is_terminal:
            stages = Stages(self, None)
            yield stages
            return
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        bars = Progress(
            TextColumn("{task.description:<26}"),
            BarColumn(bar_width=32),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=False,
        )
        with bars:
            yield Stages(self, bars)


class Stages:
    """Turns the steps of a walk into one bar a stage, weighted by what each node costs.

    The time left is what was done in this run, not what was found in the vault, at the speed so far.
    """

    def __init__(self, terminal: Terminal, bars: Progress | None) -> None:
        self._terminal = terminal
        self._bars = bars
        self._weights: dict[str, int] = {}
        self._done: dict[str, float] = {}
        self._hits: set[str] = set()
        self._ids: dict[str, TaskID] = {}
        self._since: dict[str, float] = {}
        self._said: set[str] = set()

    def expect(self, name: str, weight: int) -> None:
        """Announce a node and what it costs, in units of its stage."""
        self._weights[name] = max(weight, 1)

    def __call__(self, step: Step) -> None:
        """Show a step."""
        stage = step.name.split(" ")[0]
        weight = self._weights.setdefault(step.name, 1)
        if step.what != "progress":
            self._terminal.record(f"{step.name}: {step.what}{': ' + step.note if step.note else ''}")
        if step.what == "hit":
            self._hits.add(step.name)
        if step.what == "begin":
            self._since.setdefault(stage, time.monotonic())
        if step.what in ("retry", "rescue") and step.note:
            self._terminal.note(f"{step.name}: {step.note}", style="yellow")
        if step.what == "fail":
            return  # the command ends with this error, and says it then
        ended = step.what in ("hit", "end", "rescue")
        self._done[step.name] = weight if ended else weight * step.done / max(step.of, 1)
        self._show(stage)

    def _show(self, stage: str) -> None:
        names = [name for name in self._weights if name.split(" ")[0] == stage]
        total = sum(self._weights[name] for name in names)
        done = sum(self._done.get(name, 0) for name in names)
        label = STAGES.get(stage, stage)
        if self._bars is None:
            if done >= total and stage not in self._said:
                self._said.add(stage)
                fresh = len(names) - len(self._hits.intersection(names))
                what = f"{fresh} of {len(names)} new" if len(names) > 1 else ("new" if fresh else "kept")
                self._terminal.note(f"{label}: {what}")
            return
        if stage not in self._ids:
            self._ids[stage] = self._bars.add_task(label, total=total, left="")
        self._bars.update(self._ids[stage], total=total, completed=done, left=self._left(stage, names, total))

    def _left(self, stage: str, names: list[str], total: int) -> str:
        kept = sum(self._weights[name] for name in self._hits.intersection(names))
        fresh = sum(self._done.get(name, 0) for name in names) - kept
        since = self._since.get(stage)
        rest = total - kept - fresh
        if since is None or fresh <= 0 or rest <= 0:
            return ""
        seconds = (time.monotonic() - since) / fresh * rest
        return f"{int(seconds // 60)}:{int(seconds % 60):02} left"
