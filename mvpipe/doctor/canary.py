"""The canary's result: kept for a server and a recipe, so that either's change makes it stale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mvpipe.build.key import digest
from mvpipe.doctor.facts import Canary, Unseen
from mvpipe.doctor.wanted import Wanted
from mvpipe.project import write_json

FILE = "canaries.json"

SETTINGS = ("steps", "sampler", "scheduler", "shift", "cfg", "denoise", "weights")


def recipe_of(wanted: Wanted) -> str:
    """Digest of graph, files and sampling: what a canary proves and a film then stands on.

    Size and length are left out: a canary is small on purpose.
    """
    facts = wanted.sampling
    sampling = {name: getattr(facts, name) for name in SETTINGS} if facts else {}
    loras = [[one.file, one.strength] for one in facts.loras] if facts else []
    files = [wanted.file(role) for role in ("text_encoder", "video_vae", "audio_vae")]
    return digest("recipe", [wanted.template.name, sampling, loras, files])


def keep(folder: Path, url: str, canary: Canary) -> None:
    """Keep a result as the last one of a server.

    Raises
    ------
    VaultError : it cannot be written
    """
    kept = {name: None if isinstance(value, Unseen) else value for name, value in asdict_flat(canary).items()}
    write_json(folder / FILE, {**_all(folder), url: kept})


def asdict_flat(canary: Canary) -> dict[str, Any]:
    """Its fields, not those of its fields."""
    return {name: getattr(canary, name) for name in asdict(canary)}


def last(folder: Path, url: str) -> Canary | Unseen:
    """The last result of a server."""
    none = Unseen("none was rendered on this server: mvpipe doctor --canary")
    found = _all(folder).get(url)
    return (
        _read(found) if isinstance(found, Mapping) and {"version", "recipe", "at"} <= found.keys() else none
    )


def _read(found: Mapping[str, Any]) -> Canary:
    told = {
        name: value
        for name, value in found.items()
        if name in Canary.__dataclass_fields__ and value is not None
    }
    return Canary(**{**told, "faults": tuple(found.get("faults") or ())})


def _all(folder: Path) -> dict[str, Any]:
    """Results by server; a file that cannot be read has none, since a canary is soon rendered again."""
    try:
        found = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
