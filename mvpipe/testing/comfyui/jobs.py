"""/api/jobs: queue and history in one answer, and the one safe way to cancel. 0.3.64 has none of it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.http import Answer, Request, as_json
from mvpipe.testing.comfyui.queue import Item

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

STATES = ("pending", "in_progress", "completed", "failed", "cancelled")
ENDS = {
    "execution_success": "completed",
    "execution_error": "failed",
    "execution_interrupted": "cancelled",
}
SORTS = {"created_at": "create_time", "execution_duration": "execution_end_time"}


def jobs(comfy: Comfy, request: Request) -> Answer:
    """All jobs, newest first, without their graphs."""
    query = request.query
    wanted = [state for state in query.get("status", "").split(",") if state]
    if unknown := [state for state in wanted if state not in STATES]:
        text = f"Invalid status value(s): {', '.join(unknown)}. Valid values: {', '.join(STATES)}"
        return as_json({"error": text}, 400)
    limit, offset = query.get("limit"), query.get("offset", "0")
    if limit is not None and not (limit.isdigit() and int(limit) > 0):
        return as_json({"error": "limit must be a positive integer"}, 400)
    if not offset.isdigit():
        return as_json({"error": "offset must be a non-negative integer"}, 400)
    order, direction = query.get("sort_by", "created_at"), query.get("sort_order", "desc")
    if order not in SORTS or direction not in ("asc", "desc"):
        return as_json({"error": "Invalid sort_by or sort_order"}, 400)
    found = [job for job in _all(comfy) if not wanted or job["status"] in wanted]
    if workflow := query.get("workflow_id"):
        found = [job for job in found if job.get("workflow_id") == workflow]
    found.sort(key=lambda job: job.get(SORTS[order], 0), reverse=direction == "desc")
    return as_json(_page(found, int(offset), int(limit) if limit else None))


def _page(found: list[dict[str, Any]], offset: int, limit: int | None) -> dict[str, Any]:
    stop = len(found) if limit is None else offset + limit
    pages = {"offset": offset, "limit": limit, "total": len(found), "has_more": stop < len(found)}
    return {"jobs": found[offset:stop], "pagination": pages}


def job(comfy: Comfy, request: Request) -> Answer:
    """One job; with its outputs, messages and graph once it has ended."""
    prompt_id = request.path.rpartition("/")[2]
    running, waiting = comfy.queue.current()
    for state, items in (("in_progress", running), ("pending", waiting)):
        for item in items:
            if item[1] == prompt_id:
                return as_json(_unfinished(item, state))
    record = comfy.queue.history.get(prompt_id)
    if record is None:
        return as_json({"error": "Job not found"}, 404)
    whole = _finished(record) | {
        "outputs": record["outputs"],
        "execution_status": record["status"],
        "workflow": {"prompt": record["prompt"][2], "extra_data": record["prompt"][3]},
    }
    return as_json(whole)


def cancel(comfy: Comfy, request: Request) -> Answer:
    """Whether it waited (and is gone) or ran (and is told to stop)."""
    return as_json({"cancelled": _cancel(comfy, request.path.split("/")[-2])})


def cancel_many(comfy: Comfy, request: Request) -> Answer:
    """The same for several ids; 400 if one of them is no UUID."""
    ids = request.json()["job_ids"]
    if invalid := [one for one in ids if not is_uuid(one)]:
        return as_json({"error": "job_ids contains invalid id(s)", "invalid_ids": invalid}, 400)
    return as_json({"cancelled": any([_cancel(comfy, one) for one in ids])})


def is_uuid(text: Any) -> bool:
    """Whether it is a UUID in canonical lower case."""
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _cancel(comfy: Comfy, prompt_id: str) -> bool:
    if comfy.queue.delete(prompt_id):
        comfy.hub.tell("status", {"status": comfy.exec_info()})  # a second time, as recorded
        return True
    if comfy.queue.running_id() == prompt_id:
        comfy.worker.interrupt()
        return True
    return False


def _all(comfy: Comfy) -> list[dict[str, Any]]:
    running, waiting = comfy.queue.current()
    return [
        *(_unfinished(item, "in_progress") for item in running),
        *(_unfinished(item, "pending") for item in waiting),
        *(_finished(record) for record in list(comfy.queue.history.values())),
    ]


def _unfinished(item: Item, state: str) -> dict[str, Any]:
    number, prompt_id, _, extra, _ = item
    facts = {"id": prompt_id, "status": state, "priority": number, "create_time": extra["create_time"]}
    return facts | {"outputs_count": 0, "previewable_outputs_count": 0} | _workflow(extra)


def _finished(record: dict[str, Any]) -> dict[str, Any]:
    number, prompt_id, _, extra, _ = record["prompt"]
    messages = record["status"]["messages"]
    last, facts = messages[-1]
    job = {
        "id": prompt_id,
        "status": ENDS[last],
        "priority": number,
        "create_time": extra["create_time"],
        "execution_start_time": messages[0][1]["timestamp"],
        "execution_end_time": facts["timestamp"],
    }
    if last == "execution_error":
        job["execution_error"] = facts
    shown = [
        (node, kind, entry)
        for node, output in record["outputs"].items()
        for kind, entries in output.items()
        for entry in entries
        if isinstance(entry, dict) and "filename" in entry
    ]
    job |= {"outputs_count": len(shown), "previewable_outputs_count": len(shown)}
    if shown:
        node, kind, entry = shown[0]
        job["preview_output"] = entry | {"nodeId": node, "mediaType": kind}
    return job | _workflow(extra)


def _workflow(extra: dict[str, Any]) -> dict[str, Any]:
    info = extra.get("extra_pnginfo")
    workflow = info.get("workflow") if isinstance(info, dict) else None
    return {"workflow_id": workflow["id"]} if isinstance(workflow, dict) and "id" in workflow else {}
