"""The routes of one ComfyUI server, of both generations, as functions with answers of ours."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from mvpipe.render.comfyui import ends
from mvpipe.render.comfyui.address import without_secrets
from mvpipe.render.comfyui.answers import CHECK_IT, Answer, checked, refusal
from mvpipe.render.comfyui.ends import End, File
from mvpipe.render.comfyui.failures import Full, Lasting, NotComfyUI
from mvpipe.render.comfyui.transport import Transport

HEAD_BYTES = 4096
"""More than the form around an upload; the limit counts the whole request."""

SAFE_INTERRUPT = (0, 3, 64)
"""The oldest version measured to stop only the job it is told to; before, it might stop anybody's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a server tells of itself.

    Parameters
    ----------
    version : as it writes it
    has_jobs : whether it has /api/jobs
    upload_bytes : the largest request it takes; None where it does not say
    system : the `system` part of /system_stats, its command line without secrets
    devices : as they come
    """

    version: str
    has_jobs: bool
    upload_bytes: float | None
    system: Mapping[str, Any] = field(repr=False)
    devices: tuple[Mapping[str, Any], ...] = field(repr=False)

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers; empty where it has none."""
        numbers = self.version.lstrip("v").split(".")
        return tuple(int(n) for n in numbers) if all(n.isdigit() for n in numbers) else ()

    def record(self) -> dict[str, Any]:
        """What is kept with a take."""
        names = ("comfyui_version", "pytorch_version", "python_version", "os", "argv")
        kept: dict[str, Any] = {name: self.system[name] for name in names if name in self.system}
        return kept | {"packages": self.system.get("comfy_package_versions") or []}


class Place(StrEnum):
    """Where a job is."""

    WAITS = "waits"
    RUNS = "runs"
    ENDED = "ended"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A look at a job.

    Parameters
    ----------
    place : where it is
    ahead : waiting jobs that come before it
    running : ids of what runs; only known while it waits
    end : how it ended
    """

    place: Place
    ahead: int = 0
    running: tuple[str, ...] = ()
    end: End | None = None


ABSENT = Sight(place=Place.ABSENT)
_STATES = {"pending": Place.WAITS, "in_progress": Place.RUNS}
_ENDED = ("completed", "failed", "cancelled")


class Server:
    """A server; may be used from several threads.

    Attributes
    ----------
    met : whether it has answered as ComfyUI does
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.met = False
        self._lock = threading.Lock()
        self._facts: Facts | None = None
        self._schemas: dict[str, Mapping[str, Any] | None] = {}

    @property
    def name(self) -> str:
        """Its address, without secrets."""
        return self.transport.address.base

    def facts(self) -> Facts:
        """What it tells of itself; asked once, until `forget`.

        Raises
        ------
        BackendError : it does not answer, does not let us in, or is not ComfyUI
        """
        with self._lock:
            if self._facts is None:
                self._facts = self._ask_facts()
                self.met = True
            return self._facts

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """A node class as /object_info tells it, None where it has none. Asked once, until `forget`."""
        with self._lock:
            if name not in self._schemas:
                found = self._object(f"/object_info/{quote(name, safe='')}")
                self._schemas[name] = found.get(name)
            return self._schemas[name]

    def packs(self, names: Iterable[str]) -> list[str]:
        """The modules that classes come from, as far as they were asked for; versions are not told."""
        found = (self._schemas.get(name) or {} for name in names)
        return sorted({str(schema["python_module"]) for schema in found if "python_module" in schema})

    def forget(self) -> None:
        """It may be another one now: it was away."""
        with self._lock:
            self._facts = None
            self._schemas.clear()

    def devices(self) -> tuple[Mapping[str, Any], ...]:
        """Its devices, with their memory as it is now."""
        return self.memory()[0]

    def memory(self) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, int]]:
        """(its devices, `ram_total` and `ram_free` as far as it tells), with their memory as it is now."""
        stats = self._object("/system_stats")
        system = stats.get("system")
        told = system if isinstance(system, dict) else {}
        main = {name: told[name] for name in ("ram_total", "ram_free") if isinstance(told.get(name), int)}
        return tuple(stats.get("devices") or ()), main

    def look(self, prompt_id: str) -> Sight:
        """Where a job is. Absent means not at this moment: a frozen server may still hold its post."""
        return self._look_jobs(prompt_id) if self.facts().has_jobs else self._look_queue(prompt_id)

    def post(
        self, graph: Mapping[str, Any], prompt_id: str, client_id: str, facts: Mapping[str, Any]
    ) -> Answer:
        """Send a job; the answer whatever its status. Not to be repeated blindly."""
        body = {
            "prompt": graph,
            "prompt_id": prompt_id,
            "client_id": client_id,
            # an object at all costs: null kills the worker of 0.3.64
            "extra_data": {"mvpipe": dict(facts)},
        }
        return self.transport.ask("POST", "/prompt", body=body)

    def cancel(self, prompt_id: str) -> None:
        """Ask that one job be stopped, waiting or running; never another."""
        facts = self.facts()
        if facts.has_jobs:
            checked(self.transport.ask("POST", f"/api/jobs/{prompt_id}/cancel"))
            return
        checked(self.transport.ask("POST", "/queue", body={"delete": [prompt_id]}))
        if facts.release >= SAFE_INTERRUPT:
            checked(self.transport.ask("POST", "/interrupt", body={"prompt_id": prompt_id}))

    def free(self) -> None:
        """Ask that memory and cache be freed; done when nothing runs."""
        checked(self.transport.ask("POST", "/free", body={"unload_models": True, "free_memory": True}))

    def upload(self, name: str, content: bytes) -> str:
        """Store a file, unless it is there; the name a graph has to use.

        Parameters
        ----------
        name : `mvpipe/DIGEST.wav`: tells the content, so that of equal names and lengths one is enough
        """
        folder, _, base = name.rpartition("/")
        size = len(content)
        if self.size_of(File(node="", filename=base, subfolder=folder, kind="input")) == size:
            return name
        limit = self.facts().upload_bytes
        if limit is not None and size + HEAD_BYTES > limit:
            raise Lasting(
                f"{self.name}: {base}: {size} bytes, where it takes {limit:.0f}",
                hint="start ComfyUI with --max-upload-size MIB",
            )
        fields = {"type": "input", "subfolder": folder, "overwrite": "true"}
        answer = self.transport.ask("POST", "/upload/image", file=(base, content, fields))
        if answer.status == 500:
            raise Full(
                f"{answer.where}: {base}: 500: not stored: {answer.words()}",
                hint="is its disk full, or its input folder read-only?",
            )
        said = checked(answer).object()
        if not isinstance(said.get("name"), str):
            raise NotComfyUI(f"{answer.where}: an answer without a name", hint=CHECK_IT)
        stored = str(said.get("subfolder") or "").replace("\\", "/")
        return f"{stored}/{said['name']}" if stored else str(said["name"])

    def size_of(self, file: File) -> int | None:
        """Bytes of a file of the server's; None where there is none, or it does not say."""
        answer = self.transport.ask("HEAD", "/view", query=file.query)
        if answer.status in (404, 405):
            return None
        length = checked(answer).headers.get("Content-Length", "")
        return int(length) if length.isdigit() else None

    def _ask_facts(self) -> Facts:
        stats = self._object("/system_stats")
        system = stats.get("system")
        if not isinstance(system, dict):
            raise NotComfyUI(f"{self.name}: an answer that is not ComfyUI's: no system in it", hint=CHECK_IT)
        features = self.transport.ask("GET", "/features")
        known = features.object() if features.status == 200 else {}
        limit = known.get("max_upload_size")
        argv = [str(word) for word in system.get("argv") or ()]
        return Facts(
            version=str(system.get("comfyui_version") or ""),
            has_jobs=self._has_jobs(),
            upload_bytes=float(limit) if isinstance(limit, int | float) else None,
            system={**system, "argv": without_secrets(argv)},
            devices=tuple(stats.get("devices") or ()),
        )

    def _has_jobs(self) -> bool:
        answer = self.transport.ask("GET", "/api/jobs", query={"limit": "1"})
        return answer.status != 404 and "jobs" in checked(answer).object()

    def _look_jobs(self, prompt_id: str) -> Sight:
        answer = self.transport.ask("GET", f"/api/jobs/{prompt_id}")
        if answer.status == 404 and "error" in answer.object():  # a proxy's own 404 is no object
            return ABSENT
        job = checked(answer).object()
        state = job.get("status")
        if state == "pending":
            return self._place_in_line(prompt_id)
        if state in _STATES:
            return Sight(place=_STATES[state])
        if state not in _ENDED:
            raise NotComfyUI(f"{answer.where}: a job without a status we know", hint=CHECK_IT)
        return Sight(place=Place.ENDED, end=ends.read(job.get("outputs"), job.get("execution_status")))

    def _place_in_line(self, prompt_id: str) -> Sight:
        query = {"status": "pending,in_progress", "limit": "500"}
        jobs = self._object("/api/jobs", query).get("jobs") or []
        waiting = {job["id"]: job.get("priority", 0) for job in jobs if job.get("status") == "pending"}
        running = tuple(str(job["id"]) for job in jobs if job.get("status") == "in_progress")
        mine = waiting.get(prompt_id)
        if mine is None:  # it moved on meanwhile
            return Sight(place=Place.RUNS)
        ahead = sum(number < mine for number in waiting.values())
        return Sight(place=Place.WAITS, ahead=ahead, running=running)

    def _look_queue(self, prompt_id: str) -> Sight:
        """Queue first, then history: a job moves from one to the other in one step."""
        queue = self._object("/queue")
        running = [str(item[1]) for item in queue.get("queue_running") or ()]
        waiting = {str(item[1]): item[0] for item in queue.get("queue_pending") or ()}
        if prompt_id in running:
            return Sight(place=Place.RUNS)
        if prompt_id in waiting:
            ahead = sum(number < waiting[prompt_id] for number in waiting.values())
            return Sight(place=Place.WAITS, ahead=ahead, running=tuple(running))
        record = self._object(f"/history/{prompt_id}").get(prompt_id)
        if not isinstance(record, dict):
            return ABSENT
        return Sight(place=Place.ENDED, end=ends.read(record.get("outputs"), record.get("status")))

    def _object(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        answer = self.transport.ask("GET", path, query=query)
        if answer.status != 200:
            raise refusal(answer)
        return answer.object()
