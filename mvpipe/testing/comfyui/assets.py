"""What there is of /api/assets: whether a content is known. Off by default in 0.33.0, on later.

The real server hashes with BLAKE3, which Python has not; here the digest is SHA-256 under the same name.
"""

from __future__ import annotations

import hashlib
import mimetypes
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.http import Answer, Request, as_json, nothing
from mvpipe.testing.comfyui.info import feature_flags

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

OFF = {
    "error": {
        "code": "SERVICE_DISABLED",
        "message": "Assets system is disabled. Start the server with --enable-assets to use this feature.",
        "details": {},
    }
}


def enabled(comfy: Comfy) -> bool:
    """Whether the server keeps asset records."""
    return bool(feature_flags(comfy).get("assets"))


def record(path: Path, *tags: str) -> dict[str, Any]:
    """The asset record of a file."""
    content = path.read_bytes()
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(path))),
        "name": path.name,
        "asset_hash": f"blake3:{hashlib.sha256(content).hexdigest()}",
        "size": len(content),
        "mime_type": mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        "tags": list(tags),
    }


def listing(comfy: Comfy, request: Request) -> Answer:
    """All assets of the input folder; 503 where assets are off."""
    if not enabled(comfy):
        return as_json(OFF, 503)
    files = [path for path in (comfy.settings.root / "input").rglob("*") if path.is_file()]
    found = [record(path, "input") for path in files]
    return as_json({"assets": found, "total": len(found), "has_more": False})


def by_hash(comfy: Comfy, request: Request) -> Answer:
    """Whether this content is there already: 200 or 404."""
    if not enabled(comfy):
        return as_json(OFF, 503)
    wanted = request.path.rpartition("/")[2]
    files = (path for path in (comfy.settings.root / "input").rglob("*") if path.is_file())
    return nothing(200 if any(record(path)["asset_hash"] == wanted for path in files) else 404)
