"""POST /prompt: the one call that must not be made twice blindly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mvpipe.errors import BackendError, GraphRejected
from mvpipe.render.comfyui.answers import Answer, refusal
from mvpipe.render.comfyui.ends import FOLDER
from mvpipe.render.comfyui.failures import InputsGone, Lasting, NotComfyUI
from mvpipe.render.comfyui.jobs import Job
from mvpipe.render.comfyui.order import Graph
from mvpipe.render.comfyui.server import Place, Server
from mvpipe.render.comfyui.steady import Steady

FAULTS_SHOWN = 4

NO_FILE = re.compile(rf"Invalid (image|audio|video) file: {FOLDER}/")
"""As LoadImage, LoadAudio and LoadVideo say of a file that is not in the input folder, of ours."""


def post(server: Server, job: Job, graph: Graph, title: str, steady: Steady) -> BackendError | None:
    """Send a job; None where it is there, else what was said instead.

    A time-out, a broken connection and even a 500 may have queued it: it is looked for. A job that is not
    there may never have come, or have ended and been forgotten by a server that died: its film tells.

    Raises
    ------
    GraphRejected : the server refuses the graph, or a part of it
    BackendError : it cannot be sent
    """
    facts = {"key": job.key, "title": title}
    try:
        answer = steady.once(lambda: server.post(graph, job.prompt_id, job.client_id, facts))
        if answer.status != 500:
            _judge(server, job, answer, title, steady)
            return None
        unsure = refusal(answer)
    except BackendError as exc:
        if not may_pass(exc):
            raise
        unsure = exc
    return None if is_there(server, job.prompt_id, steady) else unsure


def may_pass(error: BackendError) -> bool:
    """Whether a job that was not taken for this is sent again: a proxy may answer for its server."""
    return error.retryable or isinstance(error, NotComfyUI)


def is_there(server: Server, prompt_id: str, steady: Steady) -> bool:
    """Whether the server knows a job: looked for twice, so that a frozen one comes to what waits for it."""
    if steady(lambda: server.look(prompt_id)).place is not Place.ABSENT:
        return True
    steady.rest(steady.patience.again_s)
    return steady(lambda: server.look(prompt_id)).place is not Place.ABSENT


def _judge(server: Server, job: Job, answer: Answer, title: str, steady: Steady) -> None:
    where = f"{server.name}: {title}"
    if answer.status == 400:
        why = refused(answer.object())
        kind = InputsGone if NO_FILE.search(why) else GraphRejected
        raise kind(f"{where}: graph refused: {why}", hint="mvpipe doctor says what is missing")
    if answer.status != 200:
        raise refusal(answer)
    said = answer.object()
    if faults := said.get("node_errors"):
        # outputs that did not fit were dropped, the rest would run and end as a success
        steady(lambda: server.cancel(job.prompt_id))
        raise GraphRejected(
            f"{where}: graph half refused: {refused(said)}", hint=f"{len(faults)} of its nodes"
        )
    if said.get("prompt_id") != job.prompt_id:
        steady(lambda: server.cancel(str(said.get("prompt_id"))))
        raise Lasting(f"{where}: it gave the job another id", hint="ComfyUI is too old: update it")


def refused(said: Mapping[str, Any]) -> str:
    """A refusal in words: each node's faults, or what is said of the whole."""
    nodes = said.get("node_errors")
    found = [
        f"node {node} ({entry.get('class_type')}): {_words(fault)}"
        for node, entry in (nodes.items() if isinstance(nodes, dict) else ())
        if isinstance(entry, dict)
        for fault in entry.get("errors") or ()
        if isinstance(fault, dict)
    ]
    whole = said.get("error")
    if not found:
        return _words(whole) if isinstance(whole, dict) else str(whole or "no reason given")
    more = f" (and {len(found) - FAULTS_SHOWN} more)" if len(found) > FAULTS_SHOWN else ""
    return "; ".join(found[:FAULTS_SHOWN]) + more


def _words(fault: Mapping[str, Any]) -> str:
    message, details = str(fault.get("message") or fault.get("type")), str(fault.get("details") or "")
    return f"{message}: {details}"[:300] if details and details != message else message[:300]
