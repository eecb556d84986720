"""A filled graph made ready for one server, or refused before anything is sent, with every reason at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mvpipe.errors import GraphRejected
from mvpipe.render.comfyui.check import check
from mvpipe.render.comfyui.filling import with_loaders
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge import Setting, judge
from mvpipe.render.comfyui.model_files import placed_files, said_missing
from mvpipe.render.comfyui.schema import Schemas
from mvpipe.render.comfyui.template import Template, clashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A graph that this server runs.

    Parameters
    ----------
    graph : with the server's own loaders, and its files in their folders
    notes : what may be wrong, and what should be known
    """

    graph: Graph
    notes: tuple[str, ...]


def fitted(
    template: Template, graph: Mapping[str, Any], schemas: Schemas, setting: Setting | None = None
) -> Fitted:
    """A filled graph as this server runs it.

    Parameters
    ----------
    schemas : of the classes in `template.asks()`, as far as the server has them
    setting : what the graph is for, and on which card; see `judge.setting_of`

    Raises
    ------
    GraphRejected : a pack or a file is missing, an input does not fit, or it is known to go wrong
    """
    wrong = clashes(template, schemas.__contains__)
    ready = placed_files(with_loaders(template, graph, schemas.__contains__), schemas)
    missing = said_missing(ready, schemas)
    faults = check(ready, schemas)
    remarks = judge(ready, setting)
    wrong += missing
    wrong += [str(fault) for fault in faults if fault.fatal and not _is_missing(str(fault), missing)]
    wrong += [str(remark) for remark in remarks if remark.level == "refuse"]
    if wrong:
        raise GraphRejected(
            f"graph {template.name}: {'; '.join(wrong)}", hint=_hint(template, schemas, missing)
        )
    notes = [str(fault) for fault in faults] + [str(remark) for remark in remarks]
    return Fitted(graph=ready, notes=tuple(dict.fromkeys(notes)))


def _is_missing(fault: str, missing: list[str]) -> bool:
    """Whether a fault is a file that is said to be missing already."""
    return any(said.partition(":")[0] in fault for said in missing)


def _hint(template: Template, schemas: Schemas, missing: list[str]) -> str:
    """What to install: packs whose classes are not there, else files."""
    absent = {str(node["class_type"]) for node in template.graph.values()} - schemas.keys()
    needs = template.slots.needs
    if absent and needs.packs:
        packs = [f"{pack.name} ({pack.source})" for pack in needs.packs]
        return f"install {' or '.join(packs)}, and restart ComfyUI"
    if absent and needs.core:
        return f"ComfyUI {needs.core} or later has these nodes"
    return "put the files there" if missing else "mvpipe doctor compares server and graph"
