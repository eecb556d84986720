"""The queue and the history over HTTP: look, delete, clear, interrupt, free. Success has an empty body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.http import Answer, Request, as_json, member, nothing

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy


def queue(comfy: Comfy, request: Request) -> Answer:
    """Running and waiting prompts with their whole graphs; the waiting ones in heap order."""
    running, waiting = comfy.queue.current()
    return as_json({"queue_running": running, "queue_pending": waiting})


def change_queue(comfy: Comfy, request: Request) -> Answer:
    """Clear all that waits, or delete some; unknown and running ids are passed over."""
    wish = request.json()
    if member(wish, "clear"):
        comfy.queue.clear()
    for prompt_id in member(wish, "delete") or ():
        comfy.queue.delete(prompt_id)
    return nothing()


def history(comfy: Comfy, request: Request) -> Answer:
    """Records in order of completion."""
    limit = request.query.get("max_items")
    offset = int(request.query.get("offset", "-1"))
    return as_json(comfy.queue.past(int(limit) if limit is not None else None, offset))


def history_of(comfy: Comfy, request: Request) -> Answer:
    """One record, or an empty object for every kind of absence."""
    prompt_id = request.path.rpartition("/")[2]
    record = comfy.queue.history.get(prompt_id)
    return as_json({prompt_id: record} if record else {})


def change_history(comfy: Comfy, request: Request) -> Answer:
    """Clear it, or delete records."""
    wish = request.json()
    if member(wish, "clear"):
        comfy.queue.history.clear()
    for prompt_id in member(wish, "delete") or ():
        comfy.queue.history.pop(prompt_id, None)
    return nothing()


def interrupt(comfy: Comfy, request: Request) -> Answer:
    """Stop what runs, whosoever it is; with a prompt_id only if that one runs."""
    wish: Any = {}
    try:
        wish = request.json()
    except ValueError:
        comfy.log.write("interrupt", every=True)
    prompt_id = wish.get("prompt_id")
    if not prompt_id or prompt_id == comfy.queue.running_id():
        comfy.worker.interrupt()
    return nothing()


def free(comfy: Comfy, request: Request) -> Answer:
    """Leave word that memory be freed; the worker does so when it is idle."""
    wish = request.json()
    for name in ("unload_models", "free_memory"):
        if wish.get(name, False):
            comfy.queue.set_flag(name, wish[name])
    return nothing()
