"""What a run came to: for people in `report/report.txt`, for scripts in `report/report.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe import __version__, takes
from mvpipe.clock import format_time
from mvpipe.film import Outcome
from mvpipe.plan import Plan
from mvpipe.project import Project, write_atomically, write_json

if TYPE_CHECKING:
    from mvpipe.pipeline import Made


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run came to.

    Parameters
    ----------
    title : of the film
    shots, frames, rate : of the film
    separator : what made the stem
    films : published files by kind
    proofs : what was proved of each
    slugs : shots without a take, and why
    doubts : shots whose take could not be judged, and why: look at these first
    notes : those of the plan
    """

    title: str
    shots: int
    frames: int
    rate: str
    seconds: str
    separator: str
    films: Mapping[str, Path]
    proofs: Mapping[str, Mapping[str, Any]]
    slugs: Mapping[int, str]
    doubts: Mapping[int, str]
    notes: tuple[str, ...]

    @property
    def result(self) -> str:
        """`complete`, or `incomplete` where a slug stands in."""
        return "incomplete" if self.slugs else "complete"

    def as_json(self) -> dict[str, Any]:
        """All of it, for scripts."""
        return {
            "result": self.result,
            "title": self.title,
            "mvpipe": __version__,
            "shots": self.shots,
            "frames": self.frames,
            "rate": self.rate,
            "separator": self.separator,
            "films": {kind: str(path) for kind, path in self.films.items()},
            "proofs": {kind: dict(proof) for kind, proof in self.proofs.items()},
            "slugs": [{"shot": number, "reason": why} for number, why in self.slugs.items()],
            "cannot_judge": [{"shot": number, "reason": why} for number, why in self.doubts.items()],
            "notes": list(self.notes),
        }

    def text(self, here: Path | None = None) -> str:
        """All of it, for people; paths are shown from the folder `here` where they lie below it."""
        lines = [f"{self.title}: {self.shots} shots, {self.frames} frames, {self.seconds}"]
        for kind, path in self.films.items():
            proof = self.proofs[kind]
            shown = path.relative_to(here) if here and path.is_relative_to(here) else path
            lines.append(f"  {shown}")
            lines.append(f"    proved: {_proof_words(proof)}")
        lines.append(f"  voice: {self.separator}")
        lines += [f"  look at shot {number}: cannot judge: {why}" for number, why in self.doubts.items()]
        lines += [f"  slug in shot {number}: {why}" for number, why in self.slugs.items()]
        if self.slugs:
            lines.append(f"  to try again: mvpipe rerender {' '.join(map(str, self.slugs))}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def summarise(project: Project, plan: Plan, made: Made) -> Report:
    """The report of a shoot."""
    return Report(
        title=plan.title,
        shots=len(plan.shots),
        frames=plan.frames,
        rate=str(plan.rate),
        seconds=format_time(plan.song.seconds),
        separator=plan.separator,
        films=made.films,
        proofs=made.proofs,
        slugs=dict(sorted(made.slugs.items())),
        doubts=_doubts(project, plan),
        notes=plan.notes,
    )


def write_report(project: Project, report: Report) -> None:
    """Put the report into the project."""
    write_json(project.report / "report.json", report.as_json())
    write_atomically(project.report / "report.txt", report.text() + "\n")


def _doubts(project: Project, plan: Plan) -> dict[int, str]:
    found = {}
    for shot in plan.shots:
        used = takes.last_used(project.journal, shot.number)
        for known in takes.known_takes(project.journal, shot.cut):
            if used and known.key == used["key"] and known.outcome is Outcome.CANNOT_JUDGE:
                found[shot.number] = known.reason
    return found


def _proof_words(proof: Mapping[str, Any]) -> str:
    frames = f"{proof['frames']} frames, each at its time"
    if proof["sound"] == "exact":
        return f"{frames}; the song's {proof['samples']} samples, bit for bit"
    return f"{frames}; the song coded once, in step with the original"
