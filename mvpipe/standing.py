"""Which take stands in each shot, and what the gate says of it: for the report and for `mvpipe gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe import takes
from mvpipe.budget import UNTRIED
from mvpipe.errors import CannotJudge, MvpipeError, PipelineFault, TakesExhausted
from mvpipe.film import Outcome
from mvpipe.floor import server_of
from mvpipe.gate.decide import Common
from mvpipe.plan import Plan
from mvpipe.project import Project
from mvpipe.wording import counted, listed, named

if TYPE_CHECKING:
    from mvpipe.pipeline import Made


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands in one shot.

    Parameters
    ----------
    shot : its number
    take : the one that is seen; 0 for a slug
    picked : by a person, who has the last word
    outcome, reason : of the take, or why there is none
    marked : whether it failed and stands because the best was asked for
    slip : frames by which its picture is moved
    lips : the verdict on its lips as the journal keeps it; empty for a slug
    unjudged : why nobody judged them; empty where somebody did
    page : its verdict as a picture, from the project's folder; empty where none was drawn
    server : that made the take; empty for none
    """

    shot: int
    take: int
    picked: bool
    outcome: Outcome
    reason: str
    marked: bool
    slip: int
    lips: Mapping[str, Any]
    unjudged: str
    page: str = ""
    server: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether a person should look at it: it cannot be judged, and nobody picked it."""
        return self.take > 0 and self.outcome is Outcome.CANNOT_JUDGE and not self.picked

    @property
    def untried(self) -> bool:
        """Whether there is no take because the time, or what else was allowed, was used up."""
        return not self.take and self.reason.startswith(UNTRIED)

    def as_json(self) -> dict[str, Any]:
        """For scripts: the figures on top, all else as the journal has it."""
        figures = {
            name: self.lips.get(name) for name in ("offset_ms", "confidence", "p", "method", "control")
        }
        return {
            "shot": self.shot,
            "take": self.take,
            "verdict": self.outcome.value if self.take else "slug",
            "reason": self.reason,
            "picked": self.picked,
            "marked": self.marked,
            "slip": self.slip,
            "server": self.server,
            **figures,
            "lips": dict(self.lips),
            "page": self.page,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A take that failed and is not seen.

    Parameters
    ----------
    shot, take : which
    reason : why
    page : its verdict as a picture, from the project's folder
    """

    shot: int
    take: int
    reason: str
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """What stands in all shots, and what holds for all of them.

    Parameters
    ----------
    shots : in the order of the film
    common : offsets that many shots share
    control : what the physical control came to; empty where no lips were judged
    passed_over : takes that failed and are not seen, each with its picture
    """

    shots: tuple[Standing, ...]
    common: tuple[Common, ...] = ()
    control: Mapping[str, Any]
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def fault(self) -> str:
        """What is wrong with the pipeline or the gate and not with a take; empty where nothing is."""
        found = [f"{one}: a fault of the pipeline or of the gate, not of the takes" for one in self.common]
        if self.control.get("ok") is False:
            found.insert(0, f"the gate's control failed: {self.control['reason']}")
        return "; ".join(found)

    @property
    def result(self) -> str:
        """`pipeline fault`, `incomplete` (a slug, or a take that failed), `cannot judge`, or `complete`."""
        if self.fault:
            return "pipeline fault"
        if any(one.marked or not one.take for one in self.shots):
            return "incomplete"
        return "cannot judge" if any(one.doubtful for one in self.shots) else "complete"

    def only(self, numbers: Sequence[int] | None) -> Stand:
        """The same for some shots."""
        shots = tuple(one for one in self.shots if numbers is None or one.shot in numbers)
        over = tuple(one for one in self.passed_over if numbers is None or one.shot in numbers)
        return Stand(shots=shots, common=self.common, control=self.control, passed_over=over)

    def complaint(self) -> MvpipeError | None:
        """The error that says the same as the result; None where there is nothing to say."""
        lost = [one for one in self.shots if one.marked or not one.take]
        doubts = [one for one in self.shots if one.doubtful]
        if self.fault:
            hint = "look at one of these shots; the report says what to do" if self.common else ""
            return PipelineFault(self.fault, hint=hint or "the lips of no shot count as judged")
        if lost:
            return _exhausted(lost, len(self.shots))
        if doubts:
            first = doubts[0]
            return CannotJudge(
                f"{len(doubts)} of {counted(len(self.shots), 'shot')} cannot be judged: "
                f"look at {numbered(doubts)}; shot {first.shot}: {first.reason}",
                hint=f"what is good: mvpipe pick {first.shot} {first.take}; what is not: mvpipe rerender",
            )
        return None


def stand(project: Project, plan: Plan, made: Made) -> Stand:
    """What stands after a shoot or a judging."""
    shots = tuple(_standing(project, plan, number, made) for number in range(1, len(plan.shots) + 1))
    seen = {(one.shot, one.take) for one in shots}
    over = tuple(
        _passed_over(project, plan, shot, take, path)
        for (shot, take), path in made.pages.items()
        if (shot, take) not in seen
    )
    failed = tuple(one for one in over if one is not None)
    return Stand(shots=shots, common=made.common, control=made.control, passed_over=failed)


def names(shots: Sequence[Standing]) -> str:
    """Their numbers, for people."""
    return listed([one.shot for one in shots])


def numbered(shots: Sequence[Standing]) -> str:
    """The same with the noun before them."""
    return named("shot", [one.shot for one in shots])


def _standing(project: Project, plan: Plan, number: int, made: Made) -> Standing:
    shot, journal = plan.shots[number - 1], project.journal
    used = takes.last_used(journal, number)
    key = used["key"] if used else ""
    known = next((one for one in takes.known_takes(journal, shot.cut) if one.key == key), None)
    pick = takes.picked(journal, shot.cut)
    entry = project.vault.find(key, repair=False) if key else None
    return Standing(
        shot=number,
        take=known.number if known else 0,
        picked=bool(known and pick and pick["key"] == key),
        outcome=known.outcome if known else Outcome.FAIL,
        reason=known.words if known else made.slugs.get(number, ""),
        marked=number in made.marked,
        slip=known.slip if known else 0,
        lips=known.lips if known else {},
        unjudged=made.unjudged.get(number, ""),
        page=_within(project, made.pages.get((number, known.number)) if known else None),
        server=server_of(entry) if entry else "",
    )


def _passed_over(project: Project, plan: Plan, shot: int, take: int, page: Path) -> PassedOver | None:
    known = takes.known_takes(project.journal, plan.shots[shot - 1].cut)[take - 1]
    if known.outcome is Outcome.PASS:
        return None
    return PassedOver(shot=shot, take=take, reason=known.words, page=_within(project, page))


def _within(project: Project, path: Path | None) -> str:
    return path.relative_to(project.folder).as_posix() if path else ""


def _exhausted(lost: Sequence[Standing], many: int) -> TakesExhausted:
    slugs, marked = [one for one in lost if not one.take], [one for one in lost if one.take]
    first = (slugs or marked)[0]
    what = ""
    if slugs:
        what = f"no take for {len(slugs)} of {counted(many, 'shot')}: {names(slugs)}: a slug stands in"
    if marked:
        what += f"{'; ' if what else ''}the best of failed takes stands in {names(marked)}"
    failed = [str(one.shot) for one in lost if not one.untried]
    hints = [f"change them, or try new takes: mvpipe rerender {' '.join(failed)}"] if failed else []
    if len(failed) < len(lost):
        hints.append("mvpipe render, said again, goes on with those that were not rendered")
    return TakesExhausted(f"{what}; shot {first.shot}: {first.reason}", hint="; ".join(hints))
