"""One run of a graph: its nodes in order, what is told about them, and the record that is left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import assets, mishaps
from mvpipe.testing.comfyui.expand import expanded
from mvpipe.testing.comfyui.plan import Plan, is_link
from mvpipe.testing.comfyui.progress import Progress
from mvpipe.testing.comfyui.queue import Item
from mvpipe.testing.comfyui.settings import CARDS
from mvpipe.testing.comfyui.signatures import Signatures
from mvpipe.testing.comfyui.values import Interrupted, Latent, Made, NodeFailed, Picture

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy
    from mvpipe.testing.comfyui.worker import Worker


class Run:
    """A prompt that runs.

    Attributes
    ----------
    executed : nodes that ran, in order
    sampled : look, seed, steps and frames of everything that was sampled
    instant : whether it takes no time at all, by fault
    """

    def __init__(self, comfy: Comfy, worker: Worker, item: Item) -> None:
        self.comfy = comfy
        self._worker = worker
        _, self.prompt_id, self.graph, extra, self._sinks = item
        worker.client = extra.get("client_id")
        self.png_info: dict[str, Any] = extra.get("extra_pnginfo") or {}
        self._progress = Progress(comfy, self.prompt_id, worker.client)
        self._signatures = Signatures(comfy.settings, self.graph)
        self.executed: list[str] = []
        self.sampled: list[dict[str, Any]] = []
        self._messages: list[list[Any]] = []
        self._outputs: dict[str, Any] = {}
        self.instant = False

    def go(self) -> dict[str, Any]:
        """Run it; the record of it."""
        self._worker.forget_interrupt()
        self._worker.node = None
        self._message("execution_start")
        if not self.comfy.settings.cache:
            self._worker.cache.clear()
        mishaps.at_start(self)
        for stale in self._worker.cache.keys() - self._signatures.all():
            del self._worker.cache[stale]
        if shown := self._stale_outputs():
            return self._pretend(shown)
        cached = [node_id for node_id in self.graph if self._is_cached(node_id)]
        self._message("execution_cached", nodes=cached)
        succeeded = self._run_nodes()
        self._worker.node = None
        return self._record(succeeded)

    def class_of(self, node_id: str) -> str:
        """A node's class."""
        return str(self.graph[node_id]["class_type"])

    def fault(self, name: str, **facts: Any) -> dict[str, Any] | None:
        """Whether a fault strikes this run now."""
        return self.comfy.faults.take(name, subject=self.prompt_id, **facts)

    def spend(self, seconds: float) -> None:
        """Work by the server's clock."""
        if not self.instant:
            self.comfy.clock.spend(seconds)

    def wait(self, seconds: float, *, everybody: bool = False) -> None:
        """Real seconds; `everybody` holds up the event loop too."""
        if everybody:
            self.comfy.freeze(seconds)
        else:
            time.sleep(seconds)

    def load(self, file: str) -> None:
        """Have weights in memory."""
        if file not in self.comfy.loaded:
            self.spend(CARDS[self.comfy.settings.card].load_s)
            self.comfy.loaded.add(file)

    def encode_prompt(self) -> None:
        """Work of the text encoder."""
        self.spend(CARDS[self.comfy.settings.card].encode_s)

    def decode(self, latent: Latent) -> Picture:
        """The picture of a sampled latent."""
        area = latent.width * latent.height / (960 * 544)
        self.spend(CARDS[self.comfy.settings.card].decode_s * latent.frames * area)
        return Picture(
            width=latent.width,
            height=latent.height,
            frames=latent.frames,
            look=latent.look,
            spoils=latent.spoils,
        )

    def asset_id(self, path: Path) -> dict[str, str]:
        """What an output's entry has besides, where assets are on."""
        return {"id": assets.record(path)["id"]} if assets.enabled(self.comfy) else {}

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """The time in which polling steals from the sampler."""
        self._worker.sampling = True
        try:
            yield
        finally:
            self._worker.sampling = False

    def say(self, node_id: str, text: str) -> None:
        """Words for whoever looks."""
        self._progress.say(node_id, text)

    def step(self, node_id: str, value: int, total: int, *, picture: bool = True) -> None:
        """A step is done: meet what can happen at steps, then tell.

        Raises
        ------
        Interrupted : somebody asked
        """
        if self.instant:
            return
        mishaps.at_node(self, node_id, value)
        mishaps.at_step(self)
        if self._worker.take_interrupt():
            raise Interrupted
        self._progress.step(node_id, value, total, picture=picture and self.comfy.settings.previews)

    def _is_cached(self, node_id: str) -> bool:
        return self._signatures[node_id] in self._worker.cache

    def _run_nodes(self) -> bool:
        plan = Plan(self.graph, self._is_cached, self._is_sink)
        for sink in self._sinks:
            plan.add(sink)
        while plan:
            node_id = plan.pick()
            try:
                self._run_node(node_id)
            except NodeFailed as exc:
                self._tell_error(node_id, exc)
                return False
            except Interrupted:
                facts = {"node_id": node_id, "node_type": self.class_of(node_id), "executed": self.executed}
                self._message("execution_interrupted", everybody=True, **facts)
                return False
            plan.done(node_id)
        self._message("execution_success")
        return True

    def _is_sink(self, node_id: str) -> bool:
        return self.comfy.schemas.is_sink(self.class_of(node_id))

    def _run_node(self, node_id: str) -> None:
        signature = self._signatures[node_id]
        made = self._worker.cache.get(signature)
        if made is None:
            if self._worker.take_interrupt():
                raise Interrupted
            self._progress.begin(node_id)
            if self._worker.client is not None:
                self._worker.node = node_id
                told = {"node": node_id, "display_node": node_id, "prompt_id": self.prompt_id}
                self.comfy.hub.tell("executing", told, self._worker.client)
            made = self._call(node_id)
            self._worker.cache[signature] = made
            self.executed.append(node_id)
        if made.shown is not None:
            self._show(node_id, made.shown)
        self._progress.end(node_id)

    def _call(self, node_id: str) -> Made:
        from mvpipe.testing.comfyui.nodes import NODES, hand_on  # brings numpy and libav

        name, inputs = self.class_of(node_id), self.graph[node_id]["inputs"]
        known = expanded(self.comfy.schemas.inputs(name), inputs)
        values: dict[str, Any] = {}
        for key, value in inputs.items():
            if is_link(value):
                if key not in known:
                    raise NodeFailed(
                        "TypeError", f"{name}.execute() got an unexpected keyword argument '{key}'"
                    )
                outputs = self._worker.cache[self._signatures[value[0]]].outputs
                values[key] = outputs[value[1]] if value[1] < len(outputs) else None
            elif key in known:
                values[key] = value
        mishaps.at_node(self, node_id, 0)
        return NODES.get(name, hand_on)(self, node_id, values)

    def _show(self, node_id: str, shown: Any) -> None:
        self._outputs[node_id] = shown
        if self._worker.client is not None:
            told = {"node": node_id, "display_node": node_id, "output": shown, "prompt_id": self.prompt_id}
            self.comfy.hub.tell("executed", told, self._worker.client)

    def _stale_outputs(self) -> dict[str, Any]:
        """By fault: what an earlier prompt left, as if everything of this one were cached."""
        earlier = [record["outputs"] for record in self.comfy.queue.history.values() if record["outputs"]]
        if self.fault("stale-file-gone"):
            entry = {"filename": "earlier_00001_.mp4", "subfolder": "", "type": "output"}
            return {self._sinks[0]: {"images": [entry], "animated": [True]}}
        if earlier and self.fault("stale-file"):
            return {self._sinks[0]: next(iter(earlier[-1].values()))}
        return {}

    def _pretend(self, shown: dict[str, Any]) -> dict[str, Any]:
        self._message("execution_cached", nodes=list(self.graph))
        for node_id, output in shown.items():
            self._show(node_id, output)
            self._progress.end(node_id)
        self._message("execution_success")
        return self._record(True)

    def _tell_error(self, node_id: str, exc: NodeFailed) -> None:
        inputs = {name: [str(value)] for name, value in self.graph[node_id]["inputs"].items()}
        self._message(
            "execution_error",
            node_id=node_id,
            node_type=self.class_of(node_id),
            executed=self.executed,
            exception_message=str(exc) if "TIPS" in str(exc) else f"{exc}\n",
            exception_type=exc.kind,
            traceback=['  File "execution.py", in execute\n', '  File "nodes.py", in execute\n'],
            current_inputs=inputs,
            current_outputs=list(self.graph),
        )

    def _message(self, event: str, *, everybody: bool = False, **facts: Any) -> None:
        data = {**facts, "prompt_id": self.prompt_id, "timestamp": self.comfy.clock.ms()}
        self._messages.append([event, data])
        if self._worker.client is not None or everybody:
            self.comfy.hub.tell(event, data, self._worker.client)

    def _record(self, succeeded: bool) -> dict[str, Any]:
        facts = {"display_node": None, "parent_node": None, "real_node_id": None}
        meta = {
            node_id: facts | {"node_id": node_id, "display_node": node_id, "real_node_id": node_id}
            for node_id in self._outputs
        }
        status = {
            "status_str": "success" if succeeded else "error",
            "completed": succeeded,
            "messages": self._messages,
        }
        return {"outputs": self._outputs, "status": status, "meta": meta}
