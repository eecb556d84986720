"""One render from order to film: begun or taken up, followed, settled, begun again where that helps."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import BackendError, Cancelled, RenderFailed, Unreachable
from mvpipe.render.backend import Progress
from mvpipe.render.comfyui import ends
from mvpipe.render.comfyui.circumstances import circumstances
from mvpipe.render.comfyui.download import fetch_film
from mvpipe.render.comfyui.ends import FOLDER, Cause, End, Failure, File
from mvpipe.render.comfyui.failures import (
    RESTART,
    Full,
    Hung,
    InputsGone,
    Lasting,
    Stalled,
    Stopped,
    TooSmall,
    sign,
)
from mvpipe.render.comfyui.jobs import State
from mvpipe.render.comfyui.news import DROPPED, OPENED, News
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.pace import Pace
from mvpipe.render.comfyui.posting import is_there, may_pass, post
from mvpipe.render.comfyui.server import ABSENT, Place, Sight
from mvpipe.render.comfyui.steady import SLICE_S, Steady, aside
from mvpipe.render.comfyui.vigil import Vigil

if TYPE_CHECKING:
    from mvpipe.render.comfyui.client import Client

TAKEN_UP = "the same command takes it up where it is then"
SMALLER = "close what else uses the card, or choose a smaller size or a low-VRAM graph"
ALIKE = 2
"""A node that fails in the same words for two takes in a row does not fail by chance."""

STRANGERS = 20
"""Attempts of the same work, made by somebody else, that are passed over."""


class Making:
    """A render under way.

    Parameters
    ----------
    client : whose
    order : what
    tell : told of (steps done, of how many); raises to stop
    """

    def __init__(self, client: Client, order: Order, tell: Progress) -> None:
        self._client, self._order = client, order
        self._server, self._patience = client.server, client.patience
        self._pace = Pace(order.samplers, order.steps, order.encoders)
        self._steady = Steady(client.patience, lambda: tell(*self._pace.progress), met=client.server.met)
        self._job = client.records.read(order.key, client.server.name)
        self._listener = client.listener(self._job.client_id)
        self._made: Made | None = None

    def run(self, into: Path) -> Made:
        """Make it and write its film to `into`; as `Client.make`."""
        try:
            try:
                return self._run(into)
            finally:
                self._steady.once(self._listener.close)
        except Cancelled as exc:
            raise Cancelled(*self._cancel()) from exc

    def _run(self, into: Path) -> Made:
        self._steady(self._server.facts)
        stalled = self._steady(lambda: self._client.stall.lasts(self._server.look))
        if stalled and not self._job.begun:
            raise Stalled(stalled, hint=RESTART)
        sight = self._take_up(into)
        if stalled and self._made is None and sight.end is None:  # what had ended there is not made anew
            raise Stalled(stalled, hint=RESTART)
        while self._made is None:
            if sight.place is not Place.ABSENT or self._begin(into):
                self._see_through(sight, into)
            sight = ABSENT
        return self._made

    def _see_through(self, sight: Sight, into: Path) -> None:
        """Follow it to its end, and act on that."""
        if sight.place is not Place.ENDED:
            sight = self._follow()
        if sight.end is None:
            self._lose(into)
        else:
            self._settle(sight.end, into)

    def _take_up(self, into: Path) -> Sight:
        """Where the work stands that somebody else, or we before we died, may have begun."""
        state = self._job.state
        if state is State.DONE and self._fetch(self._own(self._job.outputs), into, ends.UNKNOWN):
            return ABSENT
        if state is State.FAILED:
            self._free()  # the server keeps what it made, and would give the same again
        if state in (State.DONE, State.FAILED):
            self._keep(self._job.renewed())
        for _ in range(STRANGERS):
            sight = self._look()
            if sight.place is Place.ABSENT and state in (State.SENT, State.RUNNING):
                if self._is_there():
                    return self._look()
                self._lose(into)
                return ABSENT
            if self._job.state is not State.NEW or sight.end is None or sight.end.failure is None:
                return sight
            self._keep(self._job.again())
        raise RenderFailed(f"{self._where()}: the server knows {STRANGERS} failed attempts at it")

    def _begin(self, into: Path) -> bool:
        """Check, upload, write it down, send; whether it is there now, and to be waited for."""
        order = self._order
        graph = self._steady(lambda: order.fit(self._server, order.graph))
        names = self._client.uploads.ensure(order.uploads, self._steady)
        graph = order.finish(graph, f"{FOLDER}/{self._job.prompt_id}", names)
        self._keep(self._job.with_state(State.SENT))
        self._steady.once(self._listener.open)
        self._pace.sent()
        try:
            for _ in range(self._patience.losses):
                unsure = post(self._server, self._job, graph, order.title, self._steady)
                if unsure is None:
                    return True
                if self._save(into):
                    return False
                if not may_pass(unsure):
                    raise unsure
        except BackendError as exc:
            if isinstance(exc, InputsGone) and self._job.losses < self._patience.losses:
                self._client.uploads.forget()
                self._keep(self._job.again(losses=self._job.losses + 1))
                return False
            if not exc.retryable:
                self._keep(self._job.with_state(State.NEW))
            raise
        raise Unreachable(f"{self._where()}: sent {self._patience.losses} times and never arrived")

    def _follow(self) -> Sight:
        """The job's end; absent where it is gone."""
        heard_all = self._listener.hears
        hears = self._steady.once(self._listener.open)
        vigil = Vigil(self._patience, time.monotonic(), hears=hears)
        if not heard_all:
            vigil.heard(OPENED if self._listener.hears else DROPPED, time.monotonic())
        while True:
            self._hear(vigil)
            now = time.monotonic()
            if vigil.due(now):
                sight = self._look()
                if sight.place is Place.ABSENT and self._is_there():
                    continue
                if sight.place in (Place.ENDED, Place.ABSENT):
                    return sight
                self._witness(sight, vigil)
            if given_up := self._given_up(vigil, now):
                sight = self._look()  # it may have ended, unheard, before another job hung
                if sight.place is Place.ENDED:
                    return sight
                raise Hung(given_up, hint=RESTART)
            self._steady.tick()

    def _given_up(self, vigil: Vigil, now: float) -> str:
        """Why to wait no more, for this job or another one of the same server; empty while there is hope."""
        if (why := vigil.overdue(now, hears=self._listener.hears)) and vigil.sight:
            self._client.stall.note(self._job.prompt_id, vigil.sight, f"{self._where()}: {why}")
        return self._client.stall.why

    def _hear(self, vigil: Vigil) -> None:
        now = time.monotonic()
        wait = min(SLICE_S, max(0.0, vigil.next - now))
        if news := self._next_news(wait):
            vigil.heard(news, time.monotonic())
            if self._pace.heard(news, time.monotonic()) and self._job.state is State.SENT:
                self._keep(self._job.with_state(State.RUNNING))

    def _next_news(self, wait: float) -> News | None:
        """What is heard; a socket that has to be opened first may take its time."""
        if self._listener.hears:
            return self._listener.hear(self._job.prompt_id, wait)
        return self._steady.once(lambda: self._listener.hear(self._job.prompt_id, wait))

    def _witness(self, sight: Sight, vigil: Vigil) -> None:
        now = time.monotonic()
        vigil.saw(sight, now, hears=self._listener.hears)
        if sight.place is Place.RUNS and self._job.state is State.SENT:
            self._keep(self._job.with_state(State.RUNNING))
        if vigil.silent(now):
            self._steady.once(self._listener.close)

    def _lose(self, into: Path) -> None:
        """It is gone: lost with its server, deleted, or its record was. Save its film, or make ready anew."""
        if self._save(into):
            return
        if self._job.cancelled:
            self._keep(self._job.again())
            return
        job, patience = self._job, self._patience
        deaths = job.deaths + (job.state is State.RUNNING)
        self._server.forget()
        self._client.uploads.forget()
        self._keep(job.again(losses=job.losses + 1, deaths=deaths))
        if deaths >= patience.deaths:
            self._fail(TooSmall, f"the server died {deaths} times while it ran this", SMALLER)
        if job.losses + 1 >= patience.losses:
            self._fail(Lasting, f"vanished from the queue {job.losses + 1} times", "who clears it?")

    def _save(self, into: Path) -> bool:
        """Whether there is a film under the name that it would have, though the server knows no such job."""
        guess = ends.foreseen(self._job.prompt_id, self._order.outputs[0])
        return self._fetch(guess, into, ends.UNKNOWN, guessed=True)

    def _settle(self, end: End, into: Path) -> None:
        """Fetch what came of it, or make ready for the next attempt; raises where there is none."""
        if end.failure is not None:
            self._mend(end.failure)
        elif not self._fetch(self._own(end.outputs), into, end):
            self._stray(end)

    def _fetch(self, file: File | None, into: Path, end: End, *, guessed: bool = False) -> bool:
        """Whether the film is here now, and whole. What the server named is noted before it is fetched."""
        if file is None:
            return False
        done = replace(
            self._job, state=State.DONE, outputs=({"node": file.node, **file.query},), cancelled=False
        )
        if not guessed:
            self._keep(done)
        self._steady.once(self._listener.close)
        sure = not guessed
        if not fetch_film(self._client.transport, file, into, self._steady, self._order.whole, sure=sure):
            return False
        self._keep(done)
        self._made = Made(
            prompt_id=self._job.prompt_id,
            sampled=not self._order.samplers <= end.cached,
            seconds=end.seconds,
            facts=self._circumstances(end),
        )
        return True

    def _own(self, outputs: Any) -> File | None:
        """The film among the outputs that an attempt of this job has made; its name says which."""
        found = ends.files(outputs) if not isinstance(outputs, tuple) else [ends.file_of(o) for o in outputs]
        mine = [f for f in found if any(known in f.filename for known in self._job.past_ids)]
        return ends.film(mine, self._order.outputs)

    def _stray(self, end: End) -> None:
        """Success, and no film of its own that can be read: again, from as early as is needed."""
        named = ", ".join(sorted({f.filename for f in ends.files(end.outputs)}))
        if not named:
            self._fail(Lasting, "success, and no film", "does the graph save one?")
        strays = self._job.strays + 1
        if strays > self._patience.strays:
            self._fail(RenderFailed, f"success, and no whole film of its own: {named}", "restart ComfyUI")
        if not self._own(end.outputs):
            self._free()  # else it would name the same earlier file again
        self._keep(self._job.again(strays=strays))

    def _mend(self, failure: Failure) -> None:
        """Make ready for another attempt at what failed, or say that there is none."""
        job, cause = self._job, failure.cause
        if job.cancelled and cause is Cause.INTERRUPTED:
            self._keep(job.again())
        elif cause is Cause.INTERRUPTED:
            self._fail(Stopped, "stopped at the server, not by mvpipe", "run it again if that was a mistake")
        elif cause is Cause.MEMORY and job.frees < self._patience.frees:
            self._free()
            self._keep(job.again(frees=job.frees + 1))
        elif cause is Cause.INPUT_GONE and job.losses < self._patience.losses:
            self._client.uploads.forget()
            self._keep(job.again(losses=job.losses + 1))
        elif cause is Cause.MEMORY:
            self._fail(TooSmall, str(failure), SMALLER)
        elif cause is Cause.DISK:
            self._fail(Full, str(failure), "make room there")
        else:
            self._fail(RenderFailed, str(failure), "look at ComfyUI's own log", enough=ALIKE)

    def _fail(self, kind: type[RenderFailed], what: str, hint: str, *, enough: int = 3) -> None:
        self._keep(self._job.with_state(State.FAILED))
        raise kind(f"{self._where()}: {what}", hint=hint, sign=sign(what), enough=enough)

    def _cancel(self) -> tuple[str, ...]:
        """Take back what was sent; what is left behind, in words.

        It may still end, and is then found by whoever comes next: its record knows it.
        """
        if self._job.state not in (State.SENT, State.RUNNING):
            return ()
        self._keep(replace(self._job, cancelled=True))
        prompt_id = self._job.prompt_id
        try:
            aside(lambda: self._server.cancel(prompt_id), lambda: None, within_s=self._patience.cancel_s)
        except (BackendError, TimeoutError):
            return (f"{self._where()}: may go on there, since the server did not answer; {TAKEN_UP}",)
        return ()

    def _look(self) -> Sight:
        return self._steady(lambda: self._server.look(self._job.prompt_id))

    def _is_there(self) -> bool:
        return is_there(self._server, self._job.prompt_id, self._steady)

    def _free(self) -> None:
        self._steady(self._server.free)
        self._steady.rest(self._patience.free_s)

    def _keep(self, job: Any) -> None:
        self._job = self._client.records.write(job)

    def _where(self) -> str:
        return f"{self._server.name}: {self._order.title}"

    def _circumstances(self, end: End) -> dict[str, Any]:
        return {
            "prompt_id": self._job.prompt_id,
            "attempt": self._job.attempt,
            "server_s": end.seconds,
            "cached_nodes": len(end.cached),
            **circumstances(self._server, self._order.graph, self._steady),
            **self._pace.record(),
        }
