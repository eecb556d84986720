"""The files of a Demucs model in a folder, kept as Demucs keeps them.

A folder holds `NAME.yaml` (the models of a bag, each one's weights for each part, the segment) and for each
model `SIGNATURE.safetensors`, `SIGNATURE.th` or `SIGNATURE-CHECKSUM.th`, preferred in this order. Only the
models whose voice counts are needed: of htdemucs_ft's four, one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from mvpipe.errors import ToolError

VOICE = 3
"""Where Demucs models have the voice: drums, bass, other, vocals, ...; held against what is loaded."""

_SIGNATURE = re.compile(r"[0-9A-Za-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One model of a bag: its file, and its share of the voice (> 0)."""

    path: Path
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bag:
    """What a name stands for: models whose estimates are averaged.

    Parameters
    ----------
    name : as asked for
    members : those whose voice counts
    segment : seconds that override the models' own, or None
    """

    name: str
    members: tuple[Member, ...]
    segment: float | None = None


def local_names(folder: Path) -> list[str]:
    """Names of the bags in a folder whose files are all there."""
    if not folder.is_dir():
        return []
    return sorted(path.stem for path in folder.glob("*.yaml") if in_folder(folder, path.stem))


def in_folder(folder: Path, name: str) -> Bag | None:
    """The bag of that name in a folder, if all its files are there; a bare signature is a bag of one.

    Raises
    ------
    ToolError : the yaml is not a bag, or two files have one signature
    """
    if not _SIGNATURE.fullmatch(name):
        return None
    recipe = folder / f"{name}.yaml"
    if not recipe.is_file():
        single = _model_file(folder, name)
        return Bag(name=name, members=(Member(path=single, share=1.0),)) if single else None
    signatures, shares, segment = _recipe(recipe)
    pairs = [(_model_file(folder, s), share) for s, share in zip(signatures, shares, strict=True) if share]
    members = tuple(Member(path=path, share=share) for path, share in pairs if path)
    return Bag(name=name, members=members, segment=segment) if len(members) == len(pairs) else None


def _recipe(path: Path) -> tuple[list[str], list[float], float | None]:
    """Of a bag: signatures, each one's share of the voice, segment."""
    try:
        read: Any = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
        signatures = [str(one) for one in read["models"]]
        rows = read.get("weights") or [[1.0] * (VOICE + 1)] * len(signatures)
        shares = [float(row[VOICE]) for row in rows]
        segment = None if read.get("segment") is None else float(read["segment"])
    except (
        YAMLError,
        UnicodeDecodeError,
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
    ) as exc:
        raise ToolError(f"{path}: not a bag of Demucs models: {exc!r}") from exc
    named = all(_SIGNATURE.fullmatch(one) for one in signatures) and len(shares) == len(signatures)
    counted = all(0 <= share < inf for share in shares) and any(shares)
    if not (named and counted and (segment is None or 0 < segment < inf)):
        raise ToolError(f"{path}: not a bag of Demucs models: {read}")
    return signatures, shares, segment


def _model_file(folder: Path, signature: str) -> Path | None:
    safe = folder / f"{signature}.safetensors"
    if safe.is_file():
        return safe
    pickles = [
        path for path in (folder / f"{signature}.th", *folder.glob(f"{signature}-*.th")) if path.is_file()
    ]
    if len(pickles) > 1:
        raise ToolError(f"{folder}: {signature}: two files: {pickles[0].name}, {pickles[1].name}")
    return pickles[0] if pickles else None
