"""What the user wants filmed, and the note of it in the project for later commands."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import PlanError
from mvpipe.project import write_json

if TYPE_CHECKING:
    from mvpipe.storyboard.load import Loaded

NOTE = "project.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user wants filmed, and on which machine.

    Parameters
    ----------
    song : the finished mix
    loaded : the storyboard
    backend, separator, vocals, demucs_repo : override the storyboard's, where given
    cache : folder of model weights
    device : where networks run
    workers : takes at once; 0 for as many as there are cores, at most 4
    """

    song: Path
    loaded: Loaded
    backend: str | None = None
    separator: str | None = None
    vocals: Path | None = None
    demucs_repo: Path | None = None
    cache: Path
    device: str = "auto"
    workers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as noted in the project: the storyboard by its file, not by what it said then."""

    song: Path
    storyboard: Path
    backend: str | None = None
    separator: str | None = None
    vocals: Path | None = None
    demucs_repo: Path | None = None
    cache: Path | None = None
    device: str = "auto"


def given_vocals(request: Request) -> Path | None:
    """The stem the user brings, by option or in the storyboard."""
    return request.vocals or request.loaded.vocals


def shown(backend: str | None) -> str | None:
    """A backend as it may be written down: an address without its secrets."""
    if backend is None or "/" not in backend:
        return backend
    from mvpipe.render.comfyui.address import address

    return str(address(backend))


def note_request(folder: Path, request: Request) -> None:
    """Note in the project what was asked for.

    Files beside the project are noted by their place relative to it, so that the whole folder may move.
    """
    paths = {
        "song": request.song,
        "storyboard": request.loaded.path,
        "vocals": request.vocals,
        "demucs_repo": request.demucs_repo,
        "cache": request.cache,
    }
    texts = {"backend": shown(request.backend), "separator": request.separator, "device": request.device}
    noted = {name: _noted(path, folder) if path else None for name, path in paths.items()}
    write_json(folder / NOTE, {**noted, **texts})


def load_request(folder: Path) -> Asked:
    """What was last asked for in the project.

    Raises
    ------
    PlanError : nothing was, or a file has gone
    """
    try:
        asked = _asked(json.loads((folder / NOTE).read_text("utf-8")), folder)
    except FileNotFoundError as exc:
        hint = "mvpipe plan SONG STORYBOARD"
        raise PlanError(f"{folder}: nothing was planned here yet", hint=hint) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise PlanError(
            f"{folder / NOTE}: cannot be read: {exc}", hint="run mvpipe plan SONG STORYBOARD again"
        ) from exc
    for path in (asked.song, asked.storyboard):
        if not path.exists():
            raise PlanError(f"{path}: gone", hint="run mvpipe render with the files where they are now")
    return asked


def _noted(path: Path, folder: Path) -> str:
    home = folder.absolute().parent
    whole = path.absolute()
    return str(Path("..") / whole.relative_to(home)) if whole.is_relative_to(home) else str(whole)


def _asked(found: Mapping[str, Any], folder: Path) -> Asked:
    def path(name: str) -> Path | None:
        return _shortened(folder, found[name]) if found[name] else None

    return Asked(
        song=_shortened(folder, found["song"]),
        storyboard=_shortened(folder, found["storyboard"]),
        backend=found["backend"],
        separator=found["separator"],
        vocals=path("vocals"),
        demucs_repo=path("demucs_repo"),
        cache=path("cache"),
        device=found["device"],
    )


def _shortened(folder: Path, noted: str) -> Path:
    """`board.mvpipe/../song.wav` as `song.wav`, without following links."""
    return Path(os.path.normpath(folder / noted))
