"""The one thread that runs prompts, one at a time, and dies of the same things as the real one."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from mvpipe.testing.comfyui.execute import Run
from mvpipe.testing.comfyui.values import Made

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

PATIENCE_S = 1000.0


class Worker(threading.Thread):
    """Takes prompts off the queue until the process ends.

    Attributes
    ----------
    client : whose prompt runs, or ran last; None for a prompt without client id
    node : the node that runs
    sampling : whether a sampler runs
    cache : signature of a node -> what it made; only what the last prompt used is kept
    """

    def __init__(self, comfy: Comfy) -> None:
        super().__init__(name="worker", daemon=True)
        self._comfy = comfy
        self._stop_asked = threading.Event()
        self.client: str | None = None
        self.node: str | None = None
        self.sampling = False
        self.cache: dict[str, Made] = {}

    def interrupt(self) -> None:
        """Ask what runs to stop; it looks between steps and nodes."""
        self._stop_asked.set()

    def forget_interrupt(self) -> None:
        """Whatever was asked before a run begins does not count."""
        self._stop_asked.clear()

    def take_interrupt(self) -> bool:
        """Whether to stop now; asked once a request."""
        asked = self._stop_asked.is_set()
        self._stop_asked.clear()
        return asked

    def run(self) -> None:
        """Work. An item that cannot be ordered, or extra_data that is null, is the end of the thread."""
        from mvpipe.testing.comfyui import nodes  # noqa: F401  # numpy and libav, before the first prompt

        while True:
            got = self._comfy.queue.get(PATIENCE_S)
            if got is not None:
                ticket, item = got
                if self._comfy.faults.take("worker-dies", subject=item[1]):
                    return
                self._work(ticket, Run(self._comfy, self, item))
            self._free()

    def _work(self, ticket: int, run: Run) -> None:
        began = time.time()
        record = run.go()
        self._comfy.leaked += self._comfy.settings.leak_mib << 20
        lost = self._comfy.faults.take("record-lost", subject=run.prompt_id)
        self._comfy.log.write(
            "run",
            prompt_id=run.prompt_id,
            client=self.client,
            status=record["status"]["status_str"],
            last=record["status"]["messages"][-1][0],
            executed=run.executed,
            sampled=run.sampled,
            outputs=record["outputs"],
            seconds=round(time.time() - began, 4),
        )
        self._comfy.queue.done(ticket, None if lost else record)
        if self.client is not None:
            over = {"node": None, "prompt_id": run.prompt_id}
            self._comfy.hub.tell("executing", over, self.client)

    def _free(self) -> None:
        flags = self._comfy.queue.take_flags()
        if flags.get("unload_models", flags.get("free_memory")):
            self._comfy.loaded.clear()
        if flags.get("free_memory"):
            self.cache.clear()
            self._comfy.starved.clear()
            self._comfy.leaked = 0
