"""What the user wants filmed, and the note of it in the project for later commands."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.errors import PlanError
from mvpipe.project import write_json
from mvpipe.render.backend import NO_LIMITS, Limits

if TYPE_CHECKING:
    from mvpipe.render.comfyui.address import Address
    from mvpipe.storyboard.load import Loaded

NOTE = "project.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server that renders.

    Parameters
    ----------
    address : where it is, with its secrets
    weight : how fast it is beside the others, as the user says; takes tell better
    limits : what it is to be given
    """

    address: Address
    weight: float = 1.0
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user wants filmed, and on which machine.

    Parameters
    ----------
    song : the finished mix
    loaded : the storyboard
    backend, separator, vocals, demucs_repo : override the storyboard's, where given
    also : further servers, as the user named them
    machines : the servers that `backend` and `also` mean, with their secrets; never written down
    cache : folder of model weights
    device : where networks run
    workers : takes at once; 0 for as many as there are cores, at most 4
    embed : whether the master says what its takes were made from
    cluster : address of the Dask scheduler whose workers do the work; None for this machine
    vault : path or URL of the store that machines share; None for none, or the project's own
    """

    song: Path
    loaded: Loaded
    backend: str | None = None
    also: tuple[str, ...] = ()
    machines: tuple[Machine, ...] = ()
    separator: str | None = None
    vocals: Path | None = None
    demucs_repo: Path | None = None
    cache: Path
    device: str = "auto"
    workers: int = 0
    embed: bool = False
    kept: Path | None = None
    cluster: str | None = None
    vault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as noted in the project: the storyboard by its file, not by what it said then."""

    song: Path
    storyboard: Path
    backend: str | None = None
    also: tuple[str, ...] = ()
    separator: str | None = None
    vocals: Path | None = None
    demucs_repo: Path | None = None
    cache: Path | None = None
    device: str = "auto"
    embed: bool = False
    cluster: str | None = None
    vault: str | None = None


def given_vocals(request: Request) -> Path | None:
    """The stem the user brings, by option or in the storyboard."""
    return request.vocals or request.loaded.vocals


def shown(backend: str | None) -> str | None:
    """A backend as it may be written down: an address without its secrets."""
    if backend is None or "/" not in backend:
        return backend
    from mvpipe.render.comfyui.address import address

    return str(address(backend))


def is_server(word: str) -> bool:
    """Whether a word is the address of a server."""
    return word.startswith(("http://", "https://"))


def without_user(word: str) -> str:
    """A word, without the name and password of a URL in it."""
    return re.sub(r"://[^/@]*@", "://", word)


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
    texts = {
        "backend": shown(request.backend),
        "separator": request.separator,
        "device": request.device,
        "embed": request.embed,
        "cluster": without_user(request.cluster) if request.cluster else None,
        "vault": without_user(request.vault) if request.vault else None,
    }
    noted = {name: _noted(path, folder) if path else None for name, path in paths.items()}
    write_json(folder / NOTE, {**noted, **texts, "also": [shown(one) for one in request.also]})


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
        also=tuple(found.get("also", ())),
        separator=found["separator"],
        vocals=path("vocals"),
        demucs_repo=path("demucs_repo"),
        cache=path("cache"),
        device=found["device"],
        embed=found.get("embed", False),
        cluster=found.get("cluster"),
        vault=found.get("vault"),
    )


def _shortened(folder: Path, noted: str) -> Path:
    """`board.mvpipe/../song.wav` as `song.wav`, without following links."""
    return Path(os.path.normpath(folder / noted))
