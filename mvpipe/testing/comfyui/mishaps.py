"""Faults that strike a run while it works: at its start, at a node, at a step."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mvpipe.testing.comfyui.signatures import input_file
from mvpipe.testing.comfyui.values import Interrupted, NodeFailed

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.execute import Run

SAMPLERS = {"SamplerCustomAdvanced", "MiniMaxH3LatentLabLongMediaSampler", "H3MultishotMemorySampler"}
FOREVER_S = 3600.0

TORCH = (
    "torch.OutOfMemoryError",
    "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    "This error means you ran out of memory on your GPU.\n\nTIPS: try a smaller size.",
)
PLAIN = (
    "RuntimeError",
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.99 GiB total capacity)",
)


def at_start(run: Run) -> None:
    """What can happen before the first node."""
    run.instant = run.fault("instant") is not None
    if run.fault("input-gone"):
        for node in run.graph.values():
            if path := input_file(run.comfy.settings, node):
                path.unlink(missing_ok=True)


def at_node(run: Run, node_id: str, step: int) -> None:
    """What can happen in a node; step 0 is its beginning.

    Raises
    ------
    NodeFailed : it happened
    """
    name = run.class_of(node_id)
    at = "sampler" if name in SAMPLERS else name
    if run.fault("die", at=at, step=step):
        run.comfy.die()
    if at in run.comfy.starved:
        raise NodeFailed(*TORCH)
    for fault, error in (("out-of-memory", TORCH), ("out-of-memory-plain", PLAIN)):
        if found := run.fault(fault, at=at):
            if found["until_free"]:
                run.comfy.starved.add(at)
            raise NodeFailed(*error)
    if run.fault("node-error", at=at):
        raise NodeFailed("ValueError", f"stand-in: asked to fail at step {step}")


def at_step(run: Run) -> None:
    """What can happen between steps.

    Raises
    ------
    Interrupted : somebody who is not the client stops the run
    """
    if run.fault("hang"):
        time.sleep(FOREVER_S)
    if found := run.fault("freeze") or run.fault("slow-loop"):
        run.comfy.freeze(found["seconds"])
    if run.fault("interrupted"):
        raise Interrupted
