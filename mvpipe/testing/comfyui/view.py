"""GET /view: files of the input, output and temp folders, whole, in ranges, or not if they are unchanged."""

from __future__ import annotations

import mimetypes
import os
import re
from datetime import UTC
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.testing.comfyui.http import Answer, Request, nothing, trouble

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

ACTIVE = {"text/html", "image/svg+xml", "text/javascript", "application/xhtml+xml", "text/css"}
TYPES = {".wav": "audio/x-wav", ".mp4": "video/mp4", ".mkv": "video/x-matroska"}
ANNOTATION = re.compile(r"(.*) \[(input|output|temp)\]")


def view(comfy: Comfy, request: Request) -> Answer:
    """A file, found by filename, subfolder and type as a record gave them."""
    query = request.query
    if "filename" not in query:
        return nothing(404)
    filename, kind = query["filename"], query.get("type", "output")
    if annotated := ANNOTATION.fullmatch(filename):
        filename, kind = annotated[1], annotated[2]
    home = comfy.settings.folder(kind)
    if not filename or filename.startswith("/") or ".." in filename or home is None:
        return nothing(400)
    subfolder = query.get("subfolder", "")
    if comfy.settings.windows:
        subfolder = subfolder.replace("\\", "/")
    folder = Path(os.path.abspath(home / subfolder))
    if not folder.is_relative_to(os.path.abspath(home)):
        return nothing(403)
    path = folder / os.path.basename(filename)
    if not path.is_file() or comfy.faults.take("view-gone", subject=filename):
        return nothing(404)
    if "preview" in query and not _type(path).startswith("image/"):
        return trouble()
    return _file(path, request, strict=comfy.settings.modern)


def _type(path: Path) -> str:
    return TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def _file(path: Path, request: Request, *, strict: bool) -> Answer:
    stat = path.stat()
    changed = formatdate(int(stat.st_mtime), usegmt=True)
    tag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
    headers = {"Content-Disposition": f'filename="{path.name}"', "Content-Type": _type(path)}
    if strict:
        headers["X-Content-Type-Options"] = "nosniff"
        if _type(path) in ACTIVE:
            headers |= {"Content-Disposition": f'attachment; filename="{path.name}"'}
            headers |= {"Content-Type": "application/octet-stream"}
            headers |= {"Vary": "Sec-Fetch-Dest", "Cache-Control": "no-store"}
    known = {"Etag": tag, "Last-Modified": changed}
    if _is_unchanged(request, tag, stat.st_mtime):
        return Answer(status=304, headers=headers | known)
    wanted = request.headers.get("range") if _range_holds(request, stat.st_mtime) else None
    if wanted is None:
        return Answer(headers=headers | known | {"Accept-Ranges": "bytes"}, body=path.read_bytes())
    span = _span(wanted, stat.st_size)
    if span is None:
        headers["Content-Range"] = f"bytes */{stat.st_size}"
        return Answer(status=416, headers=headers, chunked=True)
    start, stop = span
    known |= {"Accept-Ranges": "bytes", "Content-Range": f"bytes {start}-{stop - 1}/{stat.st_size}"}
    with path.open("rb") as file:
        file.seek(start)
        return Answer(status=206, headers=headers | known, body=file.read(stop - start))


def _is_unchanged(request: Request, tag: str, mtime: float) -> bool:
    if tags := request.headers.get("if-none-match"):
        return tags == "*" or tag in [one.strip().removeprefix("W/") for one in tags.split(",")]
    since = _seconds(request.headers.get("if-modified-since"))
    return since is not None and int(mtime) <= since


def _range_holds(request: Request, mtime: float) -> bool:
    """If-Range is read as a date only, as aiohttp does; an ETag in it is passed over."""
    since = _seconds(request.headers.get("if-range"))
    return since is None or int(mtime) <= since


def _seconds(date: str | None) -> float | None:
    if not date:
        return None
    try:
        return parsedate_to_datetime(date).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _span(text: str, size: int) -> tuple[int, int] | None:
    """[start, stop) of one range; None for several, for nonsense, or past the end."""
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", text.strip())
    if not found or found[1] + found[2] == "":
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start, stop = int(found[1]), int(found[2]) + 1 if found[2] else size
    return (start, min(stop, size)) if start < size and start < stop else None
