"""Output nodes: where a file goes, what it is called, and what can go wrong while it is written."""

from __future__ import annotations

import errno
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import clip
from mvpipe.testing.comfyui.expand import DYNAMIC, known_choice
from mvpipe.testing.comfyui.values import Made, NodeFailed, Picture, Video

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.execute import Run

Values = dict[str, Any]

CONTAINERS = {"auto": "mp4", "mp4": "mp4", "mkv": "mkv"}
SAVE_S = 0.01
"""Seconds a frame takes to encode."""


def place(run: Run, prefix: str, picture: Picture | None) -> tuple[Path, str, int]:
    """(folder, name, counter) of the next file of a prefix.

    Raises
    ------
    NodeFailed : the prefix leaves the output folder
    """
    home = (run.comfy.settings.root / "output").resolve()
    full = Path(os.path.abspath(home / _filled(prefix, picture)))
    folder, name = full.parent, full.name
    if not full.is_relative_to(home):
        message = (
            "**** ERROR: Saving image outside the output folder is not allowed.\n"
            f" full_output_folder: {folder}\n         output_dir: {home}\n"
        )
        raise NodeFailed("Exception", message)
    folder.mkdir(parents=True, exist_ok=True)
    taken = re.compile(re.escape(name) + r"_(\d+)_?\..*|" + re.escape(name) + r"_(\d+)_.*")
    counts = [int(found[1] or found[2]) for one in folder.iterdir() if (found := taken.fullmatch(one.name))]
    return folder, name, max(counts, default=0) + 1


def _filled(prefix: str, picture: Picture | None) -> str:
    now = time.localtime()
    words = {
        "year": f"{now.tm_year}", "month": f"{now.tm_mon:02}", "day": f"{now.tm_mday:02}",
        "hour": f"{now.tm_hour:02}", "minute": f"{now.tm_min:02}", "second": f"{now.tm_sec:02}",
    }  # fmt: skip
    if picture is not None:
        words |= {"width": str(picture.width), "height": str(picture.height)}
    for word, value in words.items():
        prefix = prefix.replace(f"%{word}%", value)
    return prefix


def save_video(run: Run, node_id: str, values: Values) -> Made:
    """Write the clip; the whole graph goes into its metadata, as in the real server."""
    video: Video = values["video"]
    suffix = _suffix(run, values)
    folder, name, count = place(run, values["filename_prefix"], video.picture)
    path = folder / f"{name}_{count:05}_.{suffix}"
    _meet_faults(run, path)
    run.spend(video.picture.frames * SAVE_S)
    metadata = {"prompt": json.dumps(run.graph), **{k: json.dumps(v) for k, v in run.png_info.items()}}
    clip.write(path, video, shrink=run.comfy.settings.shrink, metadata=metadata)
    if found := run.fault("file-damaged"):
        os.truncate(path, min(path.stat().st_size, found["bytes"]))
    return Made(outputs=(video,), shown={"images": [_entry(run, path)], "animated": [True]})


def _suffix(run: Run, values: Values) -> str:
    """The container of a choice nobody checked before."""
    chosen = values.get("format", "auto")
    spec = run.comfy.schemas.inputs("SaveVideo")["required"]["format"]
    if spec[0] == DYNAMIC and not known_choice(spec, chosen):
        message = "SaveVideo.execute() missing 1 required positional argument: 'format'"
        raise NodeFailed("TypeError", message)
    if chosen not in CONTAINERS:
        raise NodeFailed("ValueError", f"'{chosen}' is not a valid VideoContainer")
    if not run.comfy.settings.modern and values.get("codec", "auto") not in ("auto", "h264"):
        raise NodeFailed("ValueError", "Only H264 codec is supported for now")
    return CONTAINERS[chosen]


def _meet_faults(run: Run, path: Path) -> None:
    for name, number, words in (
        ("disk-full", errno.ENOSPC, "No space left on device"),
        ("no-rights", errno.EACCES, "Permission denied"),
    ):
        if run.fault(name):
            kind = "OSError" if number == errno.ENOSPC else "PermissionError"
            raise NodeFailed(kind, f"[Errno {number}] {words}: '{path}'")


def _entry(run: Run, path: Path) -> dict[str, str]:
    home = (run.comfy.settings.root / "output").resolve()
    subfolder = path.parent.relative_to(home).as_posix()
    if run.comfy.settings.windows:
        subfolder = subfolder.replace("/", "\\")
    entry = {"filename": path.name, "subfolder": "" if subfolder == "." else subfolder, "type": "output"}
    return entry | run.asset_id(path)


def save_audio(run: Run, node_id: str, values: Values) -> Made:
    """Write the sound as FLAC, whatever the class; the record has it under `audio`."""
    folder, name, count = place(run, values["filename_prefix"], None)
    path = folder / f"{name}_{count:05}_.flac"
    clip.write_sound(path, values["audio"])
    return Made(outputs=(values["audio"],), shown={"audio": [_entry(run, path)]})


def show_nothing(run: Run, node_id: str, values: Values) -> Made:
    """Previews of pictures: nothing is drawn, the record has an empty list."""
    return Made(outputs=(next(iter(values.values()), None),), shown={"images": []})
