"""Which handler answers which path. Every route exists twice, bare and under /api, but for /api/jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mvpipe.testing.comfyui import assets, commands, info, jobs, prompt, upload, view
from mvpipe.testing.comfyui.http import PLAIN, Answer, Request, as_json, not_found

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

Handler = Callable[["Comfy", Request], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A path and who answers it.

    Parameters
    ----------
    pattern : of the path without /api
    api_only : whether it exists with the prefix alone
    modern : whether 0.3.64 lacks it
    """

    method: str
    pattern: re.Pattern[str]
    handler: Handler
    api_only: bool = False
    modern: bool = False


def _route(method: str, pattern: str, handler: Handler, *, api: bool = False) -> Route:
    return Route(method=method, pattern=re.compile(pattern), handler=handler, api_only=api, modern=api)


def exec_info(comfy: Comfy, request: Request) -> Answer:
    """How many prompts wait and run."""
    return as_json(comfy.exec_info())


ROUTES = (
    _route(
        "GET",
        "/",
        lambda comfy, request: Answer(headers={"Content-Type": "text/html"}, body=b"<html></html>"),
    ),
    _route("GET", "/system_stats", info.system_stats),
    _route("GET", "/features", info.features),
    _route("GET", "/object_info", info.object_info),
    _route("GET", "/object_info/[^/]+", info.object_info_of),
    _route("GET", "/models", info.models),
    _route("GET", "/models/[^/]+", info.model_files),
    _route("GET", "/embeddings", info.empty_list),
    _route("GET", "/extensions", info.empty_list),
    _route("GET", "/users", info.users),
    _route("GET", "/settings", info.settings_of_user),
    _route("GET", "/prompt", exec_info),
    _route("POST", "/prompt", prompt.post_prompt),
    _route("GET", "/queue", commands.queue),
    _route("POST", "/queue", commands.change_queue),
    _route("GET", "/history", commands.history),
    _route("GET", "/history/[^/]+", commands.history_of),
    _route("POST", "/history", commands.change_history),
    _route("POST", "/interrupt", commands.interrupt),
    _route("POST", "/free", commands.free),
    _route("POST", "/upload/image", upload.upload_image),
    _route("GET", "/view", view.view),
    _route("GET", "/jobs", jobs.jobs, api=True),
    _route("POST", "/jobs/cancel", jobs.cancel_many, api=True),
    _route("GET", "/jobs/[^/]+", jobs.job, api=True),
    _route("POST", "/jobs/[^/]+/cancel", jobs.cancel, api=True),
    _route("GET", "/assets", assets.listing, api=True),
    _route("GET", "/assets/hash/[^/]+", assets.by_hash, api=True),
)


def respond(comfy: Comfy, request: Request) -> Answer:
    """What the server answers; handlers raise whatever a malformed request makes them raise."""
    is_api = request.path.startswith("/api/")
    bare = request.path[4:] if is_api else request.path
    known = [
        route
        for route in ROUTES
        if route.pattern.fullmatch(bare)
        and (is_api or not route.api_only)
        and (comfy.settings.modern or not route.modern)
    ]
    method = "GET" if request.method == "HEAD" else request.method
    for route in known:
        if route.method == method:
            return route.handler(comfy, request)
    if method == "GET":
        return not_found()
    allowed = {"GET", "HEAD"} | {route.method for route in known}
    return Answer(
        status=405,
        headers={"Content-Type": PLAIN, "Allow": ",".join(sorted(allowed))},
        body=b"405: Method Not Allowed",
    )
