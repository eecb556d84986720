"""One render from order to film: begun or taken up, followed, settled, begun again where that helps."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import BackendError, Cancelled, RenderFailed, RenderTimeout
from mvpipe.render.backend import Progress
from mvpipe.render.comfyui import ends
from mvpipe.render.comfyui.download import download
from mvpipe.render.comfyui.ends import Cause, End, Failure, File
from mvpipe.render.comfyui.failures import Lasting, Stopped
from mvpipe.render.comfyui.jobs import State
from mvpipe.render.comfyui.news import DROPPED, OPENED
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.pace import Pace
from mvpipe.render.comfyui.posting import is_there, post
from mvpipe.render.comfyui.server import ABSENT, FOLDER, Place, Sight
from mvpipe.render.comfyui.steady import SLICE_S, Steady
from mvpipe.render.comfyui.vigil import Vigil

if TYPE_CHECKING:
    from mvpipe.render.comfyui.client import Client

RESTART = "restart ComfyUI; then the same command goes on where it stands"
SMALLER = "close what else uses the card, or choose a smaller size or a low-VRAM graph"
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
        self._pace = Pace(order.samplers, order.steps)
        self._steady = Steady(client.patience, lambda: tell(*self._pace.progress), met=client.server.met)
        self._job = client.records.read(order.key, client.server.name)
        self._listener = client.listener(self._job.client_id)
        self._made: Made | None = None

    def run(self, into: Path) -> Made:
        """Make it and write its film to `into`; as `Client.make`."""
        try:
            self._steady(self._server.facts)
            sight = self._take_up(into)
            while self._made is None:
                if sight.place is Place.ABSENT:
                    self._begin()
                if sight.place is not Place.ENDED:
                    sight = self._follow()
                if sight.end is None:
                    self._lose(into)
                else:
                    self._settle(sight.end, into)
                sight = ABSENT
        except Cancelled:
            self._cancel()
            raise
        finally:
            self._listener.close()
        return self._made

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

    def _begin(self) -> None:
        """Check, upload, write it down, send."""
        order = self._order
        graph = self._steady(lambda: order.fit(self._server, order.graph))
        names = self._client.uploads.ensure(order.uploads, self._steady)
        graph = order.finish(graph, f"{FOLDER}/{self._job.prompt_id}", names)
        self._keep(self._job.with_state(State.SENT))
        self._listener.open()
        self._pace.sent()
        try:
            post(self._server, self._job, graph, order.title, self._steady)
        except BackendError as exc:
            if not exc.retryable:
                self._keep(self._job.with_state(State.NEW))
            raise

    def _follow(self) -> Sight:
        """The job's end; absent where it is gone."""
        heard_all = self._listener.hears
        vigil = Vigil(self._patience, time.monotonic(), hears=self._listener.open())
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
            if why := vigil.overdue(now, hears=self._listener.hears):
                raise RenderTimeout(f"{self._where()}: {why}", hint=RESTART)
            self._steady.tick()

    def _hear(self, vigil: Vigil) -> None:
        now = time.monotonic()
        wait = min(SLICE_S, max(0.0, vigil.next - now))
        if news := self._listener.hear(self._job.prompt_id, wait):
            vigil.heard(news, time.monotonic())
            if self._pace.heard(news, time.monotonic()) and self._job.state is State.SENT:
                self._keep(self._job.with_state(State.RUNNING))

    def _witness(self, sight: Sight, vigil: Vigil) -> None:
        now = time.monotonic()
        vigil.saw(sight, now, hears=self._listener.hears)
        if sight.place is Place.RUNS and self._job.state is State.SENT:
            self._keep(self._job.with_state(State.RUNNING))
        if vigil.silent(now):
            self._listener.close()

    def _lose(self, into: Path) -> None:
        """It is gone: lost with its server, deleted, or its record was. Save its film, or make ready anew."""
        if self._fetch(self._guess(), into, ends.UNKNOWN, guessed=True):
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
            self._fail(Lasting, f"the server died {deaths} times while it ran this", SMALLER)
        if job.losses + 1 >= patience.losses:
            self._fail(RenderFailed, f"vanished from the queue {job.losses + 1} times", "who clears it?")

    def _guess(self) -> File:
        """What the job's film is called; nobody else's is, so it is known without a record."""
        name = f"{self._job.prompt_id}_00001_.mp4"
        return File(node=self._order.outputs[0], filename=name, subfolder=FOLDER, kind="output")

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
        self._listener.close()
        if not download(self._client.transport, file, into, self._steady):
            return False
        if not self._order.whole(into):
            into.unlink(missing_ok=True)
            return False
        self._keep(done)
        self._made = Made(
            prompt_id=self._job.prompt_id,
            sampled=not self._order.samplers <= end.cached,
            seconds=end.seconds,
            facts=self._facts(end),
        )
        return True

    def _own(self, outputs: Any) -> File | None:
        """The film among the outputs that an attempt of this job has made; its name says which."""
        found = ends.files(outputs) if not isinstance(outputs, tuple) else [ends.file_of(o) for o in outputs]
        mine = [f for f in found if any(known in f.filename for known in self._job.past_ids)]
        return ends.film(mine, self._order.outputs)

    def _stray(self, end: End) -> None:
        """Success, and no film of its own that can be read: once more, from as early as is needed."""
        named = ", ".join(sorted({f.filename for f in ends.files(end.outputs)}))
        if not named:
            self._fail(RenderFailed, "success, and no film", "does the graph save one?")
        if self._job.strays:
            self._fail(RenderFailed, f"success, and no whole film of its own: {named}", "restart ComfyUI")
        if not self._own(end.outputs):
            self._free()  # else it would name the same earlier file again
        self._keep(self._job.again(strays=1))

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
        elif cause is Cause.INPUT_GONE and not job.losses:
            self._client.uploads.forget()
            self._keep(job.again(losses=1))
        elif cause in (Cause.MEMORY, Cause.DISK):
            self._fail(Lasting, str(failure), SMALLER if cause is Cause.MEMORY else "make room there")
        else:
            self._fail(RenderFailed, str(failure), "look at ComfyUI's own log")

    def _fail(self, kind: type[RenderFailed], what: str, hint: str) -> None:
        self._keep(self._job.with_state(State.FAILED))
        raise kind(f"{self._where()}: {what}", hint=hint)

    def _cancel(self) -> None:
        """Take back what was sent; it may still end, and is then found by whoever comes next."""
        if self._job.state not in (State.SENT, State.RUNNING):
            return
        self._keep(replace(self._job, cancelled=True))
        with suppress(BackendError):  # its record knows it as well as any that was left behind
            self._server.cancel(self._job.prompt_id)

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

    def _facts(self, end: End) -> dict[str, Any]:
        told: dict[str, Any] = {"url": self._server.name}
        with suppress(BackendError):  # the film is here; it does not wait for its circumstances
            told["server"] = self._server.facts().record()
            told["packs"] = self._server.packs(str(node["class_type"]) for node in self._order.graph.values())
            told["devices"] = [dict(device) for device in self._server.devices()]
        return told | {
            "prompt_id": self._job.prompt_id,
            "attempt": self._job.attempt,
            "server_s": end.seconds,
            "cached_nodes": len(end.cached),
            **self._pace.record(),
        }
