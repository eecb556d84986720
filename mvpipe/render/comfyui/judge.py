"""Hold a filled graph against what is known of H3: wrong combinations are refused, unknown ones warned of.

Works on any graph; every remark names the node, the reason, the right way and who says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mvpipe.render.comfyui.examine import ONE_CLOCK, Facts, examine
from mvpipe.render.comfyui.judge_nodes import node_remarks
from mvpipe.render.comfyui.judge_sampling import sampling_remarks, size_remarks, weights_remarks
from mvpipe.render.comfyui.remarks import Remark, noted, refused, warned
from mvpipe.render.comfyui.slots import Fill, Lock
from mvpipe.render.comfyui.template import Template

Graph = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where and for what a graph will be rendered.

    Parameters
    ----------
    device : the card as /system_stats names it; empty if not known
    argv : the server's command line
    lock : what is claimed that the graph does to the sound; None where nothing is
    vocals : id of the node that loads the vocal, or empty
    probe : a look at whether it works at all: too short and too small on purpose
    """

    device: str = ""
    argv: Sequence[str] = ()
    lock: Lock | None = None
    vocals: str = ""
    probe: bool = False


def setting_of(
    template: Template, values: Mapping[str, Fill], *, device: str = "", argv: Sequence[str] = ()
) -> Setting:
    """What a template claims of itself when it is filled so."""
    voiced = values.get("vocals") is not None
    return Setting(
        device=device,
        argv=argv,
        lock=template.lock(values),
        vocals=template.loader("vocals") if voiced else "",
        probe=template.name == "canary",
    )


def judge(graph: Graph, setting: Setting | None = None) -> list[Remark]:
    """All that is to be said of a filled graph, the worst first."""
    setting = setting or Setting()
    remarks = [*node_remarks(graph, setting.device, setting.argv)]
    samplers = examine(graph)
    if not samplers:
        remarks.append(warned("", "no node that samples was recognised: its settings cannot be seen"))
    for facts in samplers:
        remarks += [
            *size_remarks(facts, probe=setting.probe),
            *weights_remarks(facts),
            *sampling_remarks(facts),
            *order_remarks(facts),
            *lock_remarks(facts, setting),
        ]
    return sorted(remarks, key=lambda remark: ("refuse", "warn", "note").index(remark.level))


def order_remarks(facts: Facts) -> Iterator[Remark]:
    """LoRA, then shift, then guider and scheduler, both of the same model."""
    if facts.lora_after_shift:
        yield warned(facts.shift_node, "a LoRA comes behind the shift", "LoRA, then shift, then guider")
    if not facts.scheduler_shift:
        yield refused(
            facts.node,
            "the scheduler's model is not the one with the shift: the steps are those of another shift",
            f"link both to node {facts.shift_node}",
            "run",
        )
    if facts.shift_class in ONE_CLOCK:
        says = f"{facts.shift_class}: one clock for picture and sound, where H3 has two"
        yield refused(facts.shift_node, says, "MiniMaxH3SigmaShift", "core")


_STRENGTH = {"none": 0, "unclear": 0, "soft": 1, "exact": 2}


def lock_remarks(facts: Facts, setting: Setting) -> Iterator[Remark]:
    """Of what happens to the sound, against what is claimed."""
    lock, claimed = facts.lock, setting.lock
    if claimed is None:
        yield noted(facts.node, f"lock: {lock.kind}: {lock.why}")
    elif _STRENGTH[lock.kind] < _STRENGTH[claimed]:
        says = f"lock: said to be {claimed}, but {lock.why}"
        if lock.kind == "unclear":
            yield warned(facts.node, f"{says}: render a canary and look at its sound")
        else:
            yield refused(facts.node, says, f"say lock: {lock.kind} in the slots file, or mend the graph")
    elif _STRENGTH[lock.kind] > _STRENGTH[claimed]:
        yield noted(facts.node, f"lock: said to be {claimed}, and yet {lock.why}")
    if (
        setting.vocals
        and claimed in ("exact", "soft")
        and lock.sources
        and setting.vocals not in lock.sources
    ):
        says = f"locked to the sound of node {lock.sources[0]}, not to the vocal of node {setting.vocals}"
        yield refused(facts.node, says)
