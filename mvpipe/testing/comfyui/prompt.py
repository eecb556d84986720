"""POST /prompt: number a graph, look at it, queue it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.http import Answer, Request, as_json, member
from mvpipe.testing.comfyui.jobs import is_uuid
from mvpipe.testing.comfyui.validate import Reason, refusal, validate

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

BAD_ID = refusal(
    "invalid_prompt_id",
    "prompt_id must be a valid UUID",
    "prompt_id must be a UUID string in canonical lowercase hyphenated form; "
    "omit it to let the server generate one",
)


def post_prompt(comfy: Comfy, request: Request) -> Answer:
    """Queue a graph; the counter goes up for refused ones as well."""
    wish = request.json()
    _put_foreign_first(comfy, wish)
    number = _number(comfy, wish)
    if "prompt" not in wish:
        return _refused(refusal("no_prompt", "No prompt provided", "No prompt provided"))
    prompt_id = _prompt_id(comfy, wish)
    if prompt_id is None:
        return _refused(BAD_ID)
    graph = wish["prompt"]
    verdict = validate(comfy.settings, comfy.schemas, graph, wish.get("partial_execution_targets"))
    if verdict.error is not None:
        return _refused(verdict.error, verdict.node_errors)
    extra = wish.get("extra_data", {})
    if "client_id" in wish:
        extra["client_id"] = wish["client_id"]
    if comfy.settings.modern:
        extra["create_time"] = comfy.clock.ms()
    comfy.queue.put((number, prompt_id, graph, extra, verdict.outputs))
    if comfy.faults.take("queue-cleared", subject=prompt_id):
        comfy.queue.clear()
    if comfy.faults.take("half-accepted", subject=prompt_id):
        reason = refusal("required_input_missing", "Required input is missing", "filename_prefix")
        entry = {"errors": [reason], "dependent_outputs": ["x"], "class_type": "SaveAudio"}
        verdict.node_errors = {"x": entry}
    return as_json({"prompt_id": prompt_id, "number": number, "node_errors": verdict.node_errors})


def _number(comfy: Comfy, wish: Any) -> float:
    if "number" in wish:
        return float(wish["number"])
    number = -comfy.number if member(wish, "front") else comfy.number
    comfy.number += 1
    return number


def _prompt_id(comfy: Comfy, wish: dict[str, Any]) -> str | None:
    """The id to run under, or None for one that is refused."""
    if not comfy.settings.modern:
        return str(wish.get("prompt_id", uuid.uuid4()))
    prompt_id = wish.get("prompt_id")
    if prompt_id is None:
        return str(uuid.uuid4())
    return prompt_id if is_uuid(prompt_id) else None


def _refused(error: Reason, node_errors: dict[str, Any] | None = None) -> Answer:
    return as_json({"error": error, "node_errors": node_errors or {}}, 400)


def _put_foreign_first(comfy: Comfy, wish: Any) -> None:
    if not isinstance(wish, dict) or "StandinBusy" not in comfy.schemas:
        return
    if found := comfy.faults.take("foreign-first", subject=str(wish.get("prompt_id"))):
        put_foreign(comfy, found["count"], found["seconds"])


def put_foreign(comfy: Comfy, count: int, seconds: float) -> list[str]:
    """Queue work of somebody who gives no client id; their prompt ids. `seconds` are real ones, each."""
    ids = []
    for _ in range(count):
        inputs = {"seconds": seconds, "hold": "real", "steps": 4, "nonce": comfy.number}
        graph = {"1": {"class_type": "StandinBusy", "inputs": inputs}}
        extra: dict[str, Any] = {"create_time": comfy.clock.ms()} if comfy.settings.modern else {}
        ids.append(str(uuid.uuid4()))
        comfy.queue.put((comfy.number, ids[-1], graph, extra, ["1"]))
        comfy.number += 1
    return ids
