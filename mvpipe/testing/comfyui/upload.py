"""POST /upload/image, which takes images, sound and video alike, and looks into none of them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.testing.comfyui import assets
from mvpipe.testing.comfyui.http import Answer, Part, Request, as_json, form, nothing

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy


def upload_image(comfy: Comfy, request: Request) -> Answer:
    """Store a file; the answer's name is the one to use."""
    fields = form(request)
    image = fields.get("image")
    if not image:
        return nothing(400)
    if not isinstance(image, Part):
        raise TypeError("the field image is text")
    if not image.filename:
        return nothing(400)
    kind, subfolder = str(fields.get("type", "input")), str(fields.get("subfolder", ""))
    folder = comfy.settings.folder(kind)
    if folder is None:
        raise TypeError(f"no folder of that type: {kind}")
    home = folder.resolve()
    into = Path(os.path.abspath(home / os.path.normpath(subfolder)))
    target = Path(os.path.abspath(into / image.filename))
    if not target.is_relative_to(home):
        return nothing(400)
    if comfy.faults.take("upload-full", subject=image.filename):
        raise OSError(errno.ENOSPC, "No space left on device")
    into.mkdir(parents=True, exist_ok=True)
    renamed = comfy.faults.take("upload-renamed", subject=image.filename)
    replace = str(fields.get("overwrite")) in ("true", "1") and not renamed
    name = _store(target, image, replace=replace, rename=bool(renamed))
    answer: dict[str, object] = {"name": name, "subfolder": subfolder, "type": kind}
    if assets.enabled(comfy):
        answer["asset"] = assets.record(into / name, kind, "uploaded")
    return as_json(answer)


def _store(target: Path, image: Part, *, replace: bool, rename: bool) -> str:
    """Write the file unless the same bytes are there; its name relative to the subfolder."""
    name, count = image.filename, 1
    stem, suffix = os.path.splitext(image.filename)
    while not replace and (target.exists() or (rename and count == 1)):
        if target.exists() and not (rename and count == 1) and target.read_bytes() == image.content:
            return name
        name = f"{stem} ({count}){suffix}"
        target = target.with_name(os.path.basename(name))
        count += 1
    target.write_bytes(image.content)
    return name
