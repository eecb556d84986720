"""SyncNet's weights, which the user brings: the published file, where a copy is kept, how it gets there."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from mvpipe.errors import ToolError, WeightsMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A file of weights as its makers published it."""

    name: str
    size: int
    sha256: str
    licence: str
    source: str


OFFICIAL = Published(
    name="syncnet_v2.model",
    size=54_573_114,
    sha256="961e8696f888fce4f3f3a6c3d5b3267cf5b343100b238e79b2659bff2c605442",
    licence="for research, under Creative Commons Attribution (Oxford VGG); the network's code is MIT",
    source="www.robots.ox.ac.uk/~vgg/software/lipsync",
)
"""Size and digest agree in three public sources (findings-sync, section 1)."""


def place(cache: Path) -> Path:
    """Where the weights lie in a user's cache, once they were brought there."""
    return cache / OFFICIAL.name


def find(cache: Path | None) -> Path | None:
    """The weights in a user's cache, if they are there; their digest is checked when they are read."""
    return path if cache and (path := place(cache)).is_file() else None


def check(path: Path, *, size: int | None = None, sha256: str | None = None) -> None:
    """Hold a file against what was published, without opening it as anything.

    Parameters
    ----------
    size, sha256 : what it must be; those of the official one unless given

    Raises
    ------
    WeightsMissing : no such file
    ToolError : another file, or one that cannot be read
    """
    size, sha256 = size or OFFICIAL.size, sha256 or OFFICIAL.sha256
    hint = f"the gate accepts only {OFFICIAL.name} as published"
    try:
        if not path.is_file():
            raise WeightsMissing(
                f"{path}: weights: no such file",
                hint="mvpipe models licence syncnet says where they are from",
            )
        if (found := path.stat().st_size) != size:
            more = ": a download that broke off" if found < size else ""
            raise ToolError(f"{path}: weights: {found} bytes, not {size}{more}", hint=hint)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    if digest != sha256:
        raise ToolError(f"{path}: weights: sha256 {digest[:16]}..., not {sha256[:16]}...", hint=hint)


def keep(path: Path, cache: Path) -> Path:
    """Copy a checked file of SyncNet's weights to where the gate finds it; where that is.

    Raises
    ------
    WeightsMissing, ToolError : as for `check`; or it cannot be written
    """
    from mvpipe.gate.syncnet import load_weights

    load_weights(path)  # checked, opened without running anything, and held against the network
    home = place(cache)
    scratch = home.with_name(f".{home.name}.{os.getpid()}")
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, scratch)
        check(scratch)
        os.replace(scratch, home)
    except OSError as exc:
        raise ToolError(
            f"{home}: cannot be written: {(exc.strerror or str(exc)).lower()}",
            hint="make room there, or keep models elsewhere with --cache DIR",
        ) from exc
    finally:
        if scratch.exists():
            scratch.unlink()
    return home


def _unreadable(path: Path, exc: OSError) -> ToolError:
    return ToolError(f"{path}: weights: cannot be read: {(exc.strerror or str(exc)).lower()}")
