"""What a run came to: for people in `report/report.txt`, for scripts in `report/report.json`.

What a person must look at comes first: faults that are nobody's take, takes that stand though they failed,
takes that could not be judged, takes whose picture was moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe import __version__
from mvpipe.account import Account
from mvpipe.clock import format_time
from mvpipe.film import Outcome
from mvpipe.plan import Plan, voice_from
from mvpipe.project import Project, write_atomically, write_json
from mvpipe.standing import Stand, Standing, numbered, stand
from mvpipe.timing import Foresight
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.pipeline import Made

LEFT = (
    "nothing was moved, and nothing taken again. Look at one of them: if its lips are off, voice and "
    "pictures are shifted on the way (gate.common_offset: mend moves them all the same); if they are not, "
    "the gate misreads this singer (gate.sync: off)"
)
MOVED = "pictures were moved as asked for; find out where voice and pictures are shifted on the way"


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
    stand : what stands in each shot, and what the gate says of it
    notes : those of the plan
    smaller : shots whose takes are smaller than the film, and how
    foresight : how well the times of takes were foreseen
    account : where the time of the servers went
    forced : checks of the doctor that failed, and were gone against
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
    stand: Stand
    notes: tuple[str, ...]
    smaller: Mapping[int, str] = field(default_factory=dict[int, str])
    foresight: Foresight | None = None
    account: Account | None = None
    forced: tuple[str, ...] = ()

    @property
    def result(self) -> str:
        """`complete`; or `incomplete`, `cannot judge`, `pipeline fault`: see `Stand.result`."""
        return self.stand.result

    def as_json(self) -> dict[str, Any]:
        """All of it, for scripts."""
        standing, common = self.stand.shots, self.stand.common
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
            "pipeline_faults": [{"shots": list(one.shots), "offset_ms": one.offset_ms} for one in common],
            "control": dict(self.stand.control),
            "slugs": [{"shot": number, "reason": why} for number, why in self.slugs.items()],
            "smaller": [{"shot": number, "how": how} for number, how in self.smaller.items()],
            "failed_but_seen": [_line(one) for one in standing if one.marked],
            "cannot_judge": [_line(one) for one in standing if one.doubtful],
            "slipped": [{**_line(one), "frames": one.slip} for one in standing if one.slip],
            "passed_over": [asdict(one) for one in self.stand.passed_over],
            "lips_not_judged": [
                {"shot": one.shot, "reason": one.unjudged} for one in standing if one.unjudged
            ],
            "gate": [one.as_json() for one in standing],
            "foresight": asdict(self.foresight) if self.foresight else None,
            "account": self.account.as_json() if self.account else None,
            "notes": list(self.notes),
            "forced": list(self.forced),
        }

    def text(self, here: Path | None = None) -> str:
        """All of it, for people; paths are shown from the folder `here` where they lie below it."""
        extent = f"{counted(self.shots, 'shot')}, {counted(self.frames, 'frame')}, {self.seconds}"
        lines = [f"{self.title}: {extent}"]
        lines += [f"  {line}" for line in gate_lines(self.stand)]
        for kind, path in self.films.items():
            proof = self.proofs[kind]
            shown = path.relative_to(here) if here and path.is_relative_to(here) else path
            lines.append(f"  {shown}")
            lines.append(f"    proved: {_proof_words(proof)}")
        lines.append(f"  voice: {voice_from(self.separator)}")
        lines += [f"  slug in shot {number}: {why}" for number, why in self.slugs.items()]
        lines += [f"  shot {number} was rendered smaller: {how}" for number, how in self.smaller.items()]
        untried = {one.shot for one in self.stand.shots if one.untried}
        again = sorted({*self.slugs, *(one.shot for one in self.stand.shots if one.marked)} - untried)
        if again:
            lines.append(f"  to try again: mvpipe rerender {' '.join(map(str, again))}")
        if untried:
            lines.append("  to go on with what was not rendered: mvpipe render, said again")
        lines += [f"  {line}" for line in _servers_lines(self.stand)]
        lines += [f"  {self.foresight.text()}"] if self.foresight else []
        lines += [f"  {line}" for line in self.account.text().splitlines()] if self.account else []
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  forced, against the doctor: {name}" for name in self.forced]
        return "\n".join(lines)


def summarise(project: Project, plan: Plan, made: Made, *, forced: tuple[str, ...] = ()) -> Report:
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
        stand=stand(project, plan, made),
        notes=plan.notes,
        smaller=made.smaller,
        foresight=made.foresight,
        account=made.account,
        forced=forced,
    )


def write_report(project: Project, report: Report) -> None:
    """Put the report into the project."""
    write_json(project.report / "report.json", report.as_json())
    write_atomically(project.report / "report.txt", report.text() + "\n")


def gate_lines(found: Stand) -> Iterator[str]:
    """What the gate has to say, the worst first."""
    if found.control.get("ok") is False:
        yield f"THE GATE'S CONTROL FAILED: {found.control['reason']}: no verdict on lips counts"
    for common in found.common:
        yield f"THE SAME OFFSET IN {len(common.shots)} SHOTS: {common}"
        yield f"  {MOVED if any(one.slip and one.shot in common.shots for one in found.shots) else LEFT}"
    for one in found.shots:
        if one.marked:
            yield f"look at shot {one.shot}: take {one.take} is seen though it failed: {one.reason}"
            yield from _page_line(one)
    for one in found.shots:
        if one.doubtful:
            yield f"look at shot {one.shot}: cannot judge: {one.reason}"
            yield from _page_line(one)
    for one in found.shots:
        if one.slip:
            yield f"shot {one.shot}: {one.reason}"
    for over in found.passed_over:
        yield f"shot {over.shot}: take {over.take} was passed over: {over.reason}"
        yield f"  its verdict as a picture: {over.page}"
    yield from _lips_lines(found)


def _lips_lines(found: Stand) -> Iterator[str]:
    judged = [one for one in found.shots if one.take and one.lips.get("method")]
    if judged:
        passed = [one for one in judged if one.outcome is Outcome.PASS]
        methods = sorted({one.lips["method"] for one in judged} - {"none"})
        by = f", by {' and '.join(methods)}" if methods else ""
        of = counted(len(judged), "judged shot passes", "judged shots pass")
        yield f"lips: {len(passed)} of {of}{by}"
        if found.control:
            yield f"  control: {found.control['reason']}"
    reasons: dict[str, list[Standing]] = {}
    for one in found.shots:
        if one.unjudged:
            reasons.setdefault(one.unjudged, []).append(one)
    for why, shots in reasons.items():
        yield f"lips not judged in {numbered(shots)}: {why}"


def _page_line(one: Standing) -> Iterator[str]:
    if one.page:
        yield f"  its verdict as a picture: {one.page}"


def _servers_lines(found: Stand) -> Iterator[str]:
    """Which server has made the takes that are seen."""
    by_server: dict[str, list[Standing]] = {}
    for one in found.shots:
        if one.server:
            by_server.setdefault(one.server, []).append(one)
    for server, shots in sorted(by_server.items()):
        yield f"made by {server}: {numbered(shots)}"


def _line(one: Standing) -> dict[str, Any]:
    return {"shot": one.shot, "take": one.take, "reason": one.reason, "page": one.page}


def _proof_words(proof: Mapping[str, Any]) -> str:
    frames = f"{counted(proof['frames'], 'frame')}, each at its time"
    if proof["sound"] == "exact":
        return f"{frames}; the song's {counted(proof['samples'], 'sample')}, bit for bit"
    return f"{frames}; the song coded once, in step with the original"
