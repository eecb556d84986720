"""Gather the facts: the server asked once, the headers of model files read, the machine looked at."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mvpipe.doctor.facts import Damaged, Device, ModelFile, Server, Unseen
from mvpipe.doctor.headers import BadHeader, Header, read_header
from mvpipe.errors import BackendError, MediaError
from mvpipe.render.comfyui.server import Server as Wire

FOLDERS = ("diffusion_models", "unet", "text_encoders", "clip", "vae", "loras", "model_patches")
"""Folders below ComfyUI's models folder in which files of H3 lie."""

WITH_HEADER = (".safetensors", ".sft", ".gguf")
LEFTOVERS = (".part", ".partial", ".crdownload", ".aria2", ".tmp", ".incomplete", ".download")
"""Endings of downloads that were not finished."""

MOST_FILES = 2000
"""A models folder may be a whole disk."""

MARKS = (
    "MiniMaxH3SigmaShift", "MiniMaxH3AddGuide", "MiniMaxH3ReferenceToVideo",
    "MiniMaxH3TextEncoderOnlyReference", "LTXVConcatAVLatent", "CLIPLoader", "H3MultishotMemorySampler",
    "MiniMaxChunkFeedForward",
    "MiniMaxLowVRAMAttention", "MiniMaxH3LowVRAMAttentionT8Advanced", "MiniMaxH3ChunkFeedForwardT8Advanced",
    "LoraLoaderBypassModelOnly", "BlockSparseAttention", "UnetLoaderGGUF", "LoaderGGUF", "GGUFLoaderKJ",
)  # fmt: skip
"""Classes whose presence or schema tells what a server is."""


def is_local(url: str) -> bool:
    """Whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def see_server(wire: Wire, classes: Iterable[str] = ()) -> Server | Unseen:
    """A server: what it tells of itself, and the node classes asked for; or why it cannot be asked.

    Parameters
    ----------
    classes : asked for besides `MARKS`
    """
    asked = frozenset({*MARKS, *classes})
    try:
        told = wire.facts()
        nodes = {name: schema for name in sorted(asked) if (schema := wire.schema(name)) is not None}
    except BackendError as exc:
        return Unseen(str(exc))
    system = told.system
    return Server(
        url=wire.name,
        local=is_local(wire.name),
        version=told.version,
        release=told.release,
        argv=tuple(system.get("argv") or ()),
        system={name: value for name, value in system.items() if isinstance(value, str)},
        memory=_size(system, "ram_total"),
        free=_size(system, "ram_free"),
        devices=tuple(_device(one) for one in told.devices),
        upload_bytes=Unseen("the server does not say") if told.upload_bytes is None else told.upload_bytes,
        nodes=nodes,
        asked=asked,
    )


def _size(told: Mapping[str, Any], name: str) -> int | Unseen:
    found = told.get(name)
    return int(found) if isinstance(found, int | float) else Unseen(f"the server says no {name}")


def _device(told: Mapping[str, Any]) -> Device:
    return Device(
        name=str(told.get("name") or ""),
        kind=str(told.get("type") or ""),
        memory=int(told.get("vram_total") or 0),
        free=int(told.get("vram_free") or 0),
    )


def models_beside(server: Server) -> Path | None:
    """The models folder of a server on this machine, as its command line tells it."""
    if not server.local or not server.argv:
        return None
    base = next((one.partition("=")[2] for one in server.argv if one.startswith("--base-directory=")), "")
    if "--base-directory" in server.argv[:-1]:
        base = server.argv[server.argv.index("--base-directory") + 1]
    folder = (Path(base) if base else Path(server.argv[0]).parent) / "models"
    return folder if folder.is_absolute() and folder.is_dir() else None


def see_models(folder: Path, hashed: Collection[str] = ()) -> tuple[ModelFile, ...]:
    """The files of H3's folders below a models folder, with their headers; no weights are read.

    Parameters
    ----------
    hashed : base names of files that are read whole, for their sums

    Raises
    ------
    MediaError : it is no folder
    """
    if not folder.is_dir():
        raise MediaError(
            f"{folder}: not a folder", hint="--models takes the folder that holds diffusion_models"
        )
    found: list[ModelFile] = []
    for path in _files(folder):
        if len(found) == MOST_FILES:
            raise MediaError(
                f"{folder}: more than {MOST_FILES} model files", hint="name ComfyUI's own models folder"
            )
        found.append(_model(folder, path, whole=path.name in hashed))
    return tuple(sorted(found, key=lambda one: one.path))


def _files(folder: Path) -> Iterator[Path]:
    for name in FOLDERS:
        for path in (folder / name).rglob("*"):
            if path.suffix.lower() in (*WITH_HEADER, *LEFTOVERS) and path.is_file():
                yield path


def _model(folder: Path, path: Path, *, whole: bool) -> ModelFile:
    header: Header | Damaged | None = None
    if path.suffix.lower() in WITH_HEADER:
        try:
            header = read_header(path)
        except BadHeader as exc:
            header = Damaged(str(exc).partition(": ")[2] or str(exc))
    return ModelFile(
        path=path.relative_to(folder).as_posix(),
        size=path.stat().st_size,
        sha256=_sum(path) if whole else "",
        header=header,
    )


def _sum(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise MediaError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
