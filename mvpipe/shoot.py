"""One shot, from its slice of the voice to the mezzanine: a piece of graph that grows a take where one fails.

::

    voice 3 ──► take 3.1 ──► look 3.1 ──► promise 3.1 ──► lips 3.1 ──► shot 3
                                             │ fails         │ does not pass: all shots are weighed together
                                             │               └──► screening 1 ──► take 3.2, or shot 3
                                             └──► take 3.2 ──► look 3.2 ──► promise 3.2 ──► lips 3.2

A take depends on its own card, its slice of the voice and its pictures, not on the task that cut the song:
moving one cut renders the two shots beside it and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe import shot_notes, takes
from mvpipe.attempts import Attempt, attempts, too_large
from mvpipe.build.graph import NO_GROWTH, Growth, Node, Progress, Work
from mvpipe.build.key import Task, file_digest
from mvpipe.build.vault import Entry
from mvpipe.casting import findings, shown
from mvpipe.chain import join_frame, join_work
from mvpipe.errors import BackendError, MediaError, MvpipeError, NotRendered, VaultError
from mvpipe.film import Finding, Outcome, Shot, Slate, Verdict
from mvpipe.gate.decide import Decision, slip_for
from mvpipe.lips import Lips
from mvpipe.mezzanine import conformed, slate_of, slugged
from mvpipe.production import CLIP, Crew
from mvpipe.project import Project
from mvpipe.render.backend import Notes, Setup
from mvpipe.screening import Candidate, Screen
from mvpipe.verdict_pages import Evidence
from mvpipe.verdicts import by_score, lips_finding, lips_record

NOT_RENDERED = "not rendered yet"


@dataclass
class ShotWork:
    """One shot on its way to a take, and from the take to its mezzanine.

    Parameters
    ----------
    crew : who works on it
    shot : the shot
    screen : where the lips of all shots are weighed; None where nobody's are
    before : the shot it is chained to
    take : the take that is seen, once there is one
    slip : frames by which its picture is moved
    slug : why there is none
    marked : why the take that is seen should not be, where the best of bad ones was asked for
    sent : role -> file, of all that goes into its takes
    evidence : key of each take that was judged -> what its verdict rests on
    """

    crew: Crew
    shot: Shot
    screen: Screen | None = None
    before: ShotWork | None = None
    take: Entry | None = None
    slip: int = 0
    family: str = ""
    slug: str = NOT_RENDERED
    marked: str = ""
    sent: Mapping[str, Path] = field(default_factory=dict[str, Path])
    evidence: dict[str, Evidence] = field(default_factory=dict[str, Evidence])
    rest: Iterator[Attempt] = field(default_factory=lambda: iter(()))
    failed: list[tuple[Candidate, Decision]] = field(default_factory=list[tuple[Candidate, Decision]])

    @property
    def smaller(self) -> str:
        """How its take is smaller than the film, in words; empty where it is not."""
        whole = self.crew.production.size
        size = slate_of(self.take).size if self.take else whole
        return "" if size == whole else "{}x{}, where the film has {}x{}".format(*size, *whole)

    @property
    def lips(self) -> Lips:
        """Who judges them."""
        return Lips(production=self.crew.production, backend=self.crew.backend)

    @property
    def judged(self) -> bool:
        """Whether somebody judges the lips."""
        return self.screen is not None and not self.lips.unjudged(self.shot)

    @property
    def _weighed(self) -> bool:
        """Whether its lips are weighed with all others; a chained shot begins when they are long decided."""
        return self.judged and self.before is None

    def nodes(self) -> tuple[Node, Node]:
        """The nodes that are there from the beginning: the slice of the voice, and the conformed shot."""
        voice = dataclasses.replace(self.voice_alone(), then=self._begin)
        shot = Node(name=f"shot {self.shot.number}", needs=(voice.name,), bind=lambda _: self._conform())
        self.crew.expect(shot.name, len(self.shot.cut))
        return voice, shot

    def voice_alone(self) -> Node:
        """The slice of the voice, and nothing that follows from it."""
        name = f"voice {self.shot.number}"
        self.crew.expect(name, 1)
        return Node(name=name, bind=lambda _: self.crew.production.voice(self.shot, self.crew.backend))

    def slates(self, voice: Entry, join: Entry | None = None) -> Iterator[Slate]:
        """The slate of each attempt the shot gets, in order, each made up when it is asked for."""
        for one in self.attempts(voice, join):
            yield one.smaller.slate if one.smaller and too_large(self.crew, one) else one.slate

    def attempts(self, voice: Entry, join: Entry | None = None) -> Iterator[Attempt]:
        """The attempts the shot gets, in order; the last may ask for a closer framing."""
        setup = self.crew.production.setup(self.shot, voice, join)
        return attempts(self.crew, setup, judged=not self.lips.unjudged(self.shot))

    def _begin(self, voice: Entry) -> Growth:
        """The voice is cut: go on, if need be when the shot before is known."""
        if self.before is None:
            return self._roll(voice)
        name, before = f"join {self.shot.number}", self.before
        self.crew.expect(name, 1)

        def lost(error: MvpipeError) -> Growth:
            if not isinstance(error, ChainBroken):
                raise error
            self.slug = str(error)
            return NO_GROWTH

        join = Node(
            name=name,
            needs=(f"shot {before.shot.number}",),
            bind=lambda _: self.join(before.take, before.slip),
            then=lambda entry: self._roll(voice, entry),
            rescue=lost,
        )
        return self._wait_for(join)

    def join(self, take: Entry | None, slip: int) -> Work:
        """The picture this shot goes on from, out of the take that is seen in the shot before.

        Parameters
        ----------
        slip : frames by which that take's picture is moved

        Raises
        ------
        ChainBroken : there is none
        """
        assert self.before is not None
        if take is None:
            raise ChainBroken(f"chained to shot {self.before.shot.number}, which has no take")
        frame = join_frame(self.before.shot, self.shot) + slip
        frame = min(frame, len(self.before.shot.window) - 1)  # a whole tail of slip ends one frame short
        return join_work(take.path(CLIP), take.digest(CLIP), frame)

    def _roll(self, voice: Entry, join: Entry | None = None) -> Growth:
        """All that the shot needs is there: decide which take is wanted."""
        attempts = self.attempts(voice, join)
        first = next(attempts)
        assets = self.crew.backend.assets(first.setup)
        self.sent = {role: asset.path for role, asset in assets.items()}
        self.family = takes.family(takes.take_task(first.slate))
        if picked := self._picked():
            return self._grow_picked(picked)
        self.rest = attempts
        return self._try(first)

    def _picked(self) -> Entry | None:
        journal, cut = self.crew.project.journal, self.shot.cut
        if not (pick := takes.picked(journal, cut)):
            return None
        if pick["family"] == self.family and (entry := self.crew.project.vault.find(pick["key"])):
            return entry
        why = "the shot was changed since" if pick["family"] != self.family else "that take is lost"
        self.crew.say(f"shot {self.shot.number}: the picked take is let go: {why}")
        takes.forget_pick(journal, cut)
        return None

    def _grow_picked(self, entry: Entry) -> Growth:
        number = self.shot.number

        def gone(folder: Path, progress: Progress) -> Mapping[str, Any]:
            raise VaultError(f"{entry.folder}: vanished: the picked take of shot {number}")

        work = Work(task=Task(**entry.task), make=gone)
        name = f"take {self.shot.number}.picked"
        self.crew.expect(name, 1)
        self._use(entry)  # whatever the checks say
        return self._wait_for(Node(name=name, bind=lambda _: work, then=lambda e: self._look(name, e, 0)))

    def _attempt(self) -> Growth:
        """Grow the next attempt; the others follow as long as they fail."""
        attempt = next(self.rest, None)
        return self._try(attempt) if attempt else self._exhausted()

    def _try(self, attempt: Attempt) -> Growth:
        if why := too_large(self.crew, attempt):
            return self._shrink(attempt, why)
        return self._take(attempt)

    def _shrink(self, attempt: Attempt, why: str) -> Growth:
        """The same attempt, smaller, since nobody can make it as it should be."""
        assert attempt.smaller is not None
        self.crew.say(f"shot {self.shot.number}: rendered {attempt.smaller.extent}: {why}")
        return self._take(attempt.smaller)

    def _take(self, attempt: Attempt) -> Growth:
        slate = attempt.slate
        task = takes.take_task(slate)
        if not self.crew.project.vault.find(task.key):
            if not self.crew.may_render(self.shot):
                return self._exhausted()
            self._note(attempt.setup)
        name = attempt.name

        def retake(error: MvpipeError) -> Growth:
            if isinstance(error, NotRendered):
                self.slug, self.rest = str(error), iter(())
                return self._exhausted() if self.crew.production.gate.on_fail == "best" else NO_GROWTH
            if isinstance(error, BackendError) and error.grows and attempt.smaller:
                return self._shrink(attempt, str(error))
            if not (isinstance(error, BackendError) and error.retake):
                raise error
            self.slug = str(error)
            return self._attempt()

        floor, setup = self.crew.floor, attempt.setup
        hint = floor.ask(name, setup, slate) if floor else None
        self.crew.expect(name, round(hint.seconds) if hint else slate.frames)
        take = Node(
            name=name,
            bind=lambda _: Work(task=task, make=self._render(attempt)),
            lane="render",
            hint=hint,
            then=lambda e: self._made(name, e, slate.take),
            rescue=retake,
        )
        return self._wait_for(take)

    def _made(self, name: str, entry: Entry, number: int) -> Growth:
        """A take is there."""
        if self.crew.floor:
            self.crew.floor.note(name, entry)
        return self._look(name, entry, number)

    def _exhausted(self) -> Growth:
        """No attempt is left: the best of them stands where that was asked for, or the slug names it."""
        if self.take or not self.failed:
            return NO_GROWTH
        best, decision = min(self.failed, key=by_score)
        if self.crew.production.gate.on_fail == "best":
            self.marked = decision.reason
            return self._use(best.take)
        self.slug = decision.reason
        if len(self.failed) > 1:
            self.slug += f" (attempt {best.number}, the best of {len(self.failed)})"
        return NO_GROWTH

    def _note(self, setup: Setup) -> None:
        """Say what the backend would have the person know before a take is made; of many shots, once."""
        backend, noted = self.crew.backend, self.crew.noted
        for note in backend.notes(setup) if isinstance(backend, Notes) else ():
            if (about := shot_notes.bare(note)) not in noted:
                noted.add(about)
                self.crew.say(note)

    def _render(self, attempt: Attempt) -> Callable[[Path, Progress], Mapping[str, Any]]:
        slate, backend, floor = attempt.slate, self.crew.backend, self.crew.floor
        assets = backend.assets(attempt.setup)
        render = floor.render if floor and floor.fleet else backend.render

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            render(slate, {role: asset.path for role, asset in assets.items()}, folder / CLIP, progress)
            for role, asset in assets.items():
                if file_digest(asset.path) != asset.digest:
                    raise MediaError(
                        f"{asset.path}: {role}: changed while shot {slate.shot} was rendered",
                        hint="run the same command again",
                    )
            return {"slate": dataclasses.asdict(slate)}

        return make

    def _use(self, take: Entry, slip: int = 0) -> Growth:
        self.take, self.slip, self.rest = take, slip, iter(())
        return NO_GROWTH

    def _wait_for(self, node: Node) -> Growth:
        """A node that the shot waits for, and while its lips are open, all other shots too."""
        whole = (f"shot {self.shot.number}", node.name)
        if self.screen is None or not self._weighed:
            return Growth(nodes=(node,), waits=(whole,))
        return Growth(nodes=(node,), waits=(whole, (self.screen.gate, node.name)))

    def _look(self, take_name: str, take: Entry, number: int) -> Growth:
        """The look at a take that is there; the shot waits for it too."""

        def unreadable(error: MvpipeError) -> Growth:
            if not isinstance(error, MediaError):
                raise error
            finding = Finding(
                check="decodable", outcome=Outcome.FAIL, value="no", limit="yes", reason=str(error)
            )
            return self._failed(take, Verdict(findings=(finding,)), number)

        name = take_name.replace("take", "look", 1)
        self.crew.expect(name, 1)
        look = Node(
            name=name,
            bind=lambda _: self.looking(take),
            then=lambda seen: self._seen(name, take, seen, number),
            rescue=unreadable,
        )
        return self._wait_for(look)

    def looking(self, take: Entry) -> Work:
        """The look at a take, as much of it as is asked for."""
        casting = self.lips.casting
        faces, sound = casting.wants_faces(self.shot), casting.wants_sound(slate_of(take))
        return self.lips.look(take, lips=self.judged, faces=faces, sound=sound)

    def _seen(self, name: str, take: Entry, look: Entry, number: int) -> Growth:
        """A take was looked at: it is held against what was promised of it, if anything was."""
        casting, slate = self.lips.casting, slate_of(take)
        if not (casting.wants_faces(self.shot) or casting.wants_sound(slate)):
            return self._held(name, take, look, (), number)
        promise = name.replace("look", "promise", 1)
        self.crew.expect(promise, 1)
        node = Node(
            name=promise,
            bind=lambda _: casting.promise(self.shot, take, slate, look, self.sent),
            then=lambda found: self._held(name, take, look, findings(found), number),
        )
        return self._wait_for(node)

    def _held(
        self, name: str, take: Entry, look: Entry, promised: tuple[Finding, ...], number: int
    ) -> Growth:
        """A take whose pictures are whole, and that is what was promised, goes on to its lips."""
        verdict = self._judge(take, look, promised)
        self.evidence[take.key] = Evidence(take=take, look=look)
        if verdict.outcome is Outcome.FAIL:
            return self._failed(take, verdict, number)
        if not self.judged:
            self._record(take, verdict, lips={"unjudged": self.lips.unjudged(self.shot)})
            return self._use(take)
        name = name.replace("look", "lips", 1)
        self.crew.expect(name, 1)
        lips = Node(
            name=name,
            bind=lambda _: self.lips.judge(self.shot, look),
            then=lambda found: self._heard(
                name,
                Candidate(shot=self.shot, take=take, look=look, lips=found, number=number, verdict=verdict),
            ),
        )
        return self._wait_for(lips)

    def _failed(self, take: Entry, verdict: Verdict, number: int) -> Growth:
        """Something is wrong with the pictures; a pick stands all the same."""
        self._record(take, verdict)
        if not number:
            return NO_GROWTH
        self.slug = verdict.reason
        self.crew.say(f"shot {self.shot.number}: attempt {number} fails: {verdict.reason}")
        return self._attempt()

    def _judge(self, take: Entry, look: Entry, promised: tuple[Finding, ...]) -> Verdict:
        """Hold the take against what was asked for and against all others, beside what it promised."""
        from mvpipe.gate.judge import judge
        from mvpipe.gate.pictures import Sight

        seen = Sight.from_json(look.facts["sight"])
        key, name = self.crew.seen.setdefault(seen.digest, (take.key, f"a take of shot {self.shot.number}"))
        others = self._earlier(take) if key == take.key else {seen.digest: name} | self._earlier(take)
        verdict = judge(
            seen,
            frames=len(self.shot.window),
            rate=self.shot.cut.rate,
            size=slate_of(take).size,
            others=others,
            shown=shown(self.shot),
            rules=self.lips.values,
        )
        return Verdict(findings=(*verdict.findings, *promised))

    def _earlier(self, take: Entry) -> dict[str, str]:
        """Digest of the frames -> name, of takes of this shot that an earlier run made before this one.

        A server may send a cached file. What draws may draw the same again, where nothing it shows changed.
        """
        vault, found = self.crew.project.vault, dict[str, str]()
        known = [] if self.lips.casting.drawn else self._known()
        for one in known:
            if one.key == take.key:
                break
            entry = vault.find(one.key, repair=False)
            look = vault.find(self.looking(entry).task.key, repair=False) if entry else None
            if look:
                found[look.facts["sight"]["digest"]] = f"take {one.number} of this shot"
        return found

    def _heard(self, name: str, candidate: Candidate) -> Growth:
        """Its lips were judged: it may go on, or all shots are weighed first, or a slip is tried before."""
        found = candidate.lips.facts
        if candidate.outcome is Outcome.PASS:
            if self._weighed and self.screen:
                self.screen.enter(candidate, self)
            elif self.screen:
                self.screen.alone(candidate, self)
            if all(known.key != candidate.take.key for known in self._known()):
                self.decided(candidate, Decision(outcome=Outcome.PASS, reason=found["reason"]), None)
            return self._use(candidate.take)
        slip = 0
        if candidate.outcome is Outcome.FAIL and candidate.offset_ms is not None:
            rate = float(self.shot.cut.rate)
            slip = slip_for(candidate.offset_ms, rate, self.shot.head, self.shot.tail)
        if not slip:
            return self._weigh(candidate)
        self.crew.expect(f"{name} slipped", 1)
        slipped = Node(
            name=f"{name} slipped",
            bind=lambda _: self.lips.judge(self.shot, candidate.look, slip=slip),
            then=lambda entry: self._weigh(dataclasses.replace(candidate, slip=slip, slipped=entry)),
        )
        return self._wait_for(slipped)

    def _weigh(self, candidate: Candidate) -> Growth:
        assert self.screen is not None
        if not self._weighed:
            return self.decided(candidate, self.screen.alone(candidate, self), None)
        self.screen.enter(candidate, self)
        return Growth(waits=((f"shot {self.shot.number}", self.screen.name),))

    def decided(self, candidate: Candidate, decision: Decision, pooled: Mapping[str, Any] | None) -> Growth:
        """What all shots together say of this one's lips: use it, or take it again."""
        self._note_lips(candidate, decision, pooled)
        if decision.outcome is not Outcome.FAIL or not candidate.number:
            return self._use(candidate.take, decision.slip)
        self.slug = decision.reason
        self.failed.append((candidate, decision))
        self.crew.say(f"shot {self.shot.number}: attempt {candidate.number} fails: {decision.reason}")
        return self._attempt()

    def voided(self, candidate: Candidate, decision: Decision) -> None:
        """The control failed after this take went on to the film."""
        if self.take is candidate.take:
            self._note_lips(candidate, decision, None)

    def _note_lips(self, candidate: Candidate, decision: Decision, pooled: Mapping[str, Any] | None) -> None:
        verdict = Verdict(findings=(*candidate.verdict.findings, lips_finding(candidate, decision)))
        lips = lips_record(candidate, decision, pooled)
        read = candidate.slipped if candidate.slipped and decision.slip else candidate.lips
        self.evidence[candidate.take.key] = Evidence(take=candidate.take, look=candidate.look, lips=read)
        self._record(candidate.take, verdict, lips=lips, slip=decision.slip)

    def _known(self) -> list[takes.Known]:
        return takes.known_takes(self.crew.project.journal, self.shot.cut)

    def _record(
        self, take: Entry, verdict: Verdict, *, lips: Mapping[str, Any] | None = None, slip: int = 0
    ) -> None:
        takes.record_take(
            self.crew.project.journal,
            self.shot.cut,
            key=take.key,
            family=takes.family(Task(**take.task)),
            seed=take.task["params"]["seed"],
            verdict=verdict,
            lips=lips,
            slip=slip,
        )

    def _conform(self) -> Work:
        """The frames that are seen, from the take or from a slug."""
        takes.record_used(
            self.crew.project.journal,
            self.shot,
            key=self.take.key if self.take else "",
            family=self.family,
            reason="" if self.take else self.slug,
        )
        size = self.crew.production.size
        if self.take:
            return conformed(self.shot, self.take, size=size, slip=self.slip)
        return slugged(self.shot, self.slug, size=size)


class ChainBroken(MvpipeError):
    """The shot before has no take to go on from."""


def works(crew: Crew, screen: Screen | None = None) -> list[ShotWork]:
    """Every shot of the plan, each with the one it is chained to.

    Raises
    ------
    SettingsError : a shot is to be chained, and the graph cannot
    """
    found: list[ShotWork] = []
    for shot in crew.production.plan.shots:
        before = found[-1] if found and crew.production.goes_on(shot, crew.backend) else None
        found.append(ShotWork(crew, shot, screen, before))
    return found


def take_place(project: Project, shot: Shot, number: int) -> Path:
    """Where a take is shown to people."""
    return project.takes / f"shot-{shot.number:03}" / f"take-{number}.mp4"
