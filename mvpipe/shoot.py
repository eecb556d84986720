"""One shot, from its slice of the voice to the mezzanine: a piece of graph that grows a take where one fails.

::

    voice 3 ──► take 3.1 ──► look 3.1 ──► shot 3
                                │ fails
                                └──► take 3.2 ──► look 3.2 ──► shot 3

A take depends on its own card, its slice of the voice and its pictures, not on the task that cut the song:
moving one cut renders the two shots beside it and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe import takes
from mvpipe.build.graph import NO_GROWTH, Growth, Node, Progress, Work
from mvpipe.build.key import Task, file_digest
from mvpipe.build.vault import Entry
from mvpipe.errors import BackendError, MediaError, MvpipeError, VaultError
from mvpipe.film import Clip, Finding, Outcome, Shot, Slate, Slug, Take, Verdict
from mvpipe.production import Crew
from mvpipe.project import Project
from mvpipe.render.backend import Notes, Setup

CLIP = "take.mp4"
MEZZANINE = "shot.mp4"
NOT_RENDERED = "not rendered yet"
LOOK_VERSION = 1


@dataclass
class ShotWork:
    """One shot on its way to a take, and from the take to its mezzanine.

    Parameters
    ----------
    crew : who works on it
    shot : the shot
    take : the take that is seen, once there is one
    slug : why there is none
    """

    crew: Crew
    shot: Shot
    take: Entry | None = None
    family: str = ""
    slug: str = NOT_RENDERED

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

    def slates(self, voice: Entry) -> list[Slate]:
        """The slate of each attempt the shot gets, in order."""
        production, journal = self.crew.production, self.crew.project.journal
        setup = production.setup(self.shot, voice)
        seeds = takes.attempts(journal, self.shot.cut, storyboard_seed=production.seed, many=production.takes)
        return [self.crew.backend.slate(setup, take=i, seed=seed) for i, seed in enumerate(seeds, 1)]

    def _begin(self, voice: Entry) -> Growth:
        """The voice is cut: decide which take is wanted."""
        slates = self.slates(voice)
        self.family = takes.family(takes.take_task(slates[0]))
        if picked := self._picked():
            return self._grow_picked(picked)
        return self._attempt(self.crew.production.setup(self.shot, voice), slates)

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
        def gone(folder: Path, progress: Progress) -> Mapping[str, Any]:
            raise VaultError(f"{entry.folder}: vanished: the picked take of shot {self.shot.number}")

        work = Work(task=Task(**entry.task), make=gone)
        name = f"take {self.shot.number}.picked"
        self.crew.expect(name, 1)
        take = Node(
            name=name, bind=lambda _: work, then=lambda e: self._look(name, e, lambda verdict: self._use(e))
        )
        return self._wait_for(take)

    def _attempt(self, setup: Setup, slates: list[Slate]) -> Growth:
        """Grow the first of these attempts; the others follow as long as they fail."""
        if not slates:
            return NO_GROWTH
        slate, *rest = slates
        task = takes.take_task(slate)
        if not self.crew.project.vault.find(task.key):
            if not self.crew.may_render(self.shot):
                return NO_GROWTH
            self._note(setup)
        name = f"take {self.shot.number}.{slate.take}"

        def retake(error: MvpipeError) -> Growth:
            if not (isinstance(error, BackendError) and error.retake):
                raise error
            self.slug = str(error)
            return self._attempt(setup, rest)

        def judged(take: Entry, verdict: Verdict) -> Growth:
            if verdict.outcome is not Outcome.FAIL:
                return self._use(take)
            self.slug = verdict.reason
            self.crew.say(f"shot {self.shot.number}: attempt {slate.take} fails: {verdict.reason}")
            return self._attempt(setup, rest)

        self.crew.expect(name, slate.frames)
        take = Node(
            name=name,
            bind=lambda _: Work(task=task, make=self._render(slate, setup)),
            lane="render",
            then=lambda e: self._look(name, e, lambda verdict: judged(e, verdict)),
            rescue=retake,
        )
        return self._wait_for(take)

    def _note(self, setup: Setup) -> None:
        """Say what the backend would have the person know before a take is made."""
        backend = self.crew.backend
        for note in backend.notes(setup) if isinstance(backend, Notes) else ():
            self.crew.say(f"shot {self.shot.number}: {note}")

    def _render(self, slate: Slate, setup: Setup) -> Callable[[Path, Progress], Mapping[str, Any]]:
        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            assets = self.crew.backend.assets(setup)
            paths = {role: asset.path for role, asset in assets.items()}
            self.crew.backend.render(slate, paths, folder / CLIP, progress)
            for role, asset in assets.items():
                if file_digest(asset.path) != asset.digest:
                    raise MediaError(
                        f"{asset.path}: {role}: changed while shot {slate.shot} was rendered",
                        hint="run the same command again",
                    )
            return {"slate": dataclasses.asdict(slate)}

        return make

    def _use(self, take: Entry) -> Growth:
        self.take = take
        return NO_GROWTH

    def _wait_for(self, node: Node) -> Growth:
        return Growth(nodes=(node,), waits=((f"shot {self.shot.number}", node.name),))

    def _look(self, take_name: str, take: Entry, judged: Callable[[Verdict], Growth]) -> Growth:
        """The look at a take that is there; the shot waits for it too."""

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.gate.pictures import look

            return look(take.path(CLIP)).as_json()

        def unreadable(error: MvpipeError) -> Growth:
            if not isinstance(error, MediaError):
                raise error
            finding = Finding(
                check="decodable", outcome=Outcome.FAIL, value="no", limit="yes", reason=str(error)
            )
            return judged(self._record(take, Verdict(findings=(finding,))))

        name = take_name.replace("take", "look", 1)
        self.crew.expect(name, 1)
        task = Task(name="look", version=LOOK_VERSION, inputs={"take": take.digest(CLIP)})
        look = Node(
            name=name,
            bind=lambda _: Work(task=task, make=make),
            then=lambda sight: judged(self._judge(take, sight)),
            rescue=unreadable,
        )
        return self._wait_for(look)

    def _judge(self, take: Entry, sight: Entry) -> Verdict:
        """Hold the take against what was asked for, and against all others."""
        from mvpipe.gate.judge import judge
        from mvpipe.gate.pictures import Sight

        seen = Sight.from_json(sight.facts)
        others = {digest: name for digest, (key, name) in self.crew.seen.items() if key != take.key}
        verdict = judge(
            seen,
            frames=len(self.shot.window),
            rate=self.shot.cut.rate,
            size=self.crew.production.size,
            others=others,
        )
        self.crew.seen.setdefault(seen.digest, (take.key, f"a take of shot {self.shot.number}"))
        return self._record(take, verdict)

    def _record(self, take: Entry, verdict: Verdict) -> Verdict:
        takes.record_take(
            self.crew.project.journal,
            self.shot.cut,
            key=take.key,
            family=takes.family(Task(**take.task)),
            seed=take.task["params"]["seed"],
            verdict=verdict,
        )
        return verdict

    def _conform(self) -> Work:
        """The frames that are seen, from the take or from a slug."""
        takes.record_used(
            self.crew.project.journal,
            self.shot,
            key=self.take.key if self.take else "",
            family=self.family,
        )
        return self._mezzanine(self.take) if self.take else self._slug()

    def _mezzanine(self, entry: Entry) -> Work:
        size = self.crew.production.size
        take = Take(
            slate=_slate(entry.facts["slate"]),
            key=entry.key,
            path=entry.path(CLIP),
            digest=entry.digest(CLIP),
            frames=len(self.shot.window),
            rate=self.shot.cut.rate,
            size=size,
        )
        clip = Clip(shot=self.shot, take=take)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel.conform import conform

            conform(clip, folder / MEZZANINE, size=size, progress=progress)
            return {}

        params = {
            "first": clip.first,
            "frames": len(self.shot.cut),
            "rate": str(self.shot.cut.rate),
            "size": list(size),
        }
        task = Task(name="conform", version=1, inputs={"take": take.digest}, params=params)
        return Work(task=task, make=make)

    def _slug(self) -> Work:
        size, missing = self.crew.production.size, Slug(shot=self.shot, reason=self.slug)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.reel.conform import slug

            slug(missing, folder / MEZZANINE, size=size, progress=progress)
            return {}

        params = {
            "number": self.shot.number,
            "start": self.shot.cut.start,
            "frames": len(self.shot.cut),
            "rate": str(self.shot.cut.rate),
            "size": list(size),
            "reason": self.slug,
        }
        return Work(task=Task(name="slug", version=1, params=params), make=make)


def _slate(record: Mapping[str, Any]) -> Slate:
    return Slate(**{**record, "size": tuple(record["size"])})


def take_place(project: Project, shot: Shot, number: int) -> Path:
    """Where a take is shown to people."""
    return project.takes / f"shot-{shot.number:03}" / f"take-{number}.mp4"
