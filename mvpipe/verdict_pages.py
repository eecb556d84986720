"""The verdicts of takes as pictures, in `report/verdicts/`: of those that do not pass, and of any asked for.

They are drawn when the film is made, from what the vault keeps; only mouths are cut out of the takes anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe import takes
from mvpipe.build.graph import NO_GROWTH, Growth, Node, Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.vault import Entry
from mvpipe.errors import MediaError, MvpipeError
from mvpipe.film import Finding, Outcome, Shot
from mvpipe.lips import Lips
from mvpipe.production import CLIP
from mvpipe.project import Project, publish
from mvpipe.takes import Known
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.gate.sync import SyncVerdict

PAGE = "verdict.png"

MOUTHS = "closed mouth"
"""The check beside the lips' own whose reason is seen in mouths; all others are seen in whole pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a verdict on a take rests on: entries of the vault; no `lips` where nobody judged them."""

    take: Entry
    look: Entry
    lips: Entry | None = None


Pages = dict[tuple[int, int], Path]
"""(shot, take) -> the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """Draws the verdicts of a film's takes.

    Parameters
    ----------
    project : where they are kept
    lips : judged them
    say : told of a take that could not be drawn
    """

    project: Project
    lips: Lips
    say: Callable[[str], None]

    def wanted(
        self, shot: Shot, seen: Mapping[str, Evidence], shots: Collection[int]
    ) -> Iterator[tuple[Known, Evidence]]:
        """The takes of a shot that do not pass; of a shot asked for, all that were judged."""
        for known in takes.known_takes(self.project.journal, shot.cut):
            if known.key in seen and (known.outcome is not Outcome.PASS or shot.number in shots):
                yield known, seen[known.key]

    def node(self, shot: Shot, known: Known, rests_on: Evidence, drawn: Pages) -> Node:
        """Draw one of them, and show it under a name for people."""
        name = f"page {shot.number}.{known.number}"

        def show(entry: Entry) -> Growth:
            place = self.folder / f"shot-{shot.number:03}-take-{known.number}.png"
            publish(entry.path(PAGE), place)
            drawn[shot.number, known.number] = place
            return NO_GROWTH

        def lost(error: MvpipeError) -> Growth:
            if not isinstance(error, MediaError):
                raise error
            self.say(f"shot {shot.number}: the verdict on take {known.number} cannot be drawn: {error}")
            return NO_GROWTH

        return Node(name=name, bind=lambda _: self._draw(shot, known, rests_on), then=show, rescue=lost)

    def clear(self) -> None:
        """Take away the pictures of the last run."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def folder(self) -> Path:
        """Where they are shown."""
        return self.project.report / "verdicts"

    def _draw(self, shot: Shot, known: Known, rests_on: Evidence) -> Work:
        title = f"shot {shot.number}, take {known.number}"
        title += f", its picture moved by {counted(known.slip, 'frame', form='+d')}" if known.slip else ""
        findings = tuple(Finding(**{**one, "outcome": Outcome(one["outcome"])}) for one in known.findings)
        lips = self.lips

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate import page
            from mvpipe.gate.look import Look

            seen = Look.load(rests_on.look.facts, rests_on.look.folder).seen
            if rests_on.lips is None and not _about_mouths(findings):
                seen = replace(seen, tracks=())
            page.show(
                rests_on.take.path(CLIP),
                _verdict(known, rests_on.lips, lips.values, float(seen.seconds)),
                seen,
                lips.voice(shot, slip=known.slip),
                lips.production.plan.song.sample_rate,
                title=title,
                into=folder / PAGE,
                findings=findings,
            )
            return {}

        inputs = {"take": rests_on.take.digest(CLIP), "look": rests_on.look.key, **self.lips.inputs}
        inputs |= {"lips": rests_on.lips.key} if rests_on.lips else {}
        window = [shot.window.start, shot.window.stop, str(shot.window.rate)]
        params = {
            "window": window,
            "slip": known.slip,
            "title": title,
            "outcome": known.outcome.value,
            "reason": known.reason,
            "findings": list(map(dict, known.findings)),
        }
        return Work(task=Task(name="page", version=2, inputs=inputs, params=params), make=make)


def _about_mouths(findings: Sequence[Finding]) -> bool:
    return any(one.check == MOUTHS and one.outcome is not Outcome.PASS for one in findings)


def _verdict(known: Known, lips: Entry | None, rules: Mapping[str, float], seconds: float) -> SyncVerdict:
    """What was measured on the lips, under what all checks together and all shots together say."""
    from mvpipe.gate.recall import recall
    from mvpipe.gate.sync import SyncVerdict

    if lips is not None:
        return replace(recall(lips.facts), outcome=known.outcome, reason=known.words)
    return SyncVerdict(
        outcome=known.outcome,
        reason=known.words,
        method="none",
        track=None,
        opinions=(),
        rules=rules,
        numbers={"seconds": seconds},
    )
