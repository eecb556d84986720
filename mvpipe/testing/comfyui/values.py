"""What flows between the nodes: no tensors, only what decides the clip that is written in the end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

LATENT_RATE = 32_000
LATENT_SAMPLES = 800
"""The audio VAE: 32 kHz, 800 samples a latent, 40 latents a second (h3.md 4)."""

Spoils = tuple[tuple[str, Mapping[str, Any]], ...]
"""Faults of a result, by name, with their figures; they stick to the picture until it is written."""


def digest(value: Any) -> str:
    """A hash of anything that JSON can carry."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def on_grid(length: int) -> int:
    """The frames H3 makes when asked for `length`: 17k+5, rounded up."""
    return 5 + 17 * max(0, -(-(length - 5) // 17))


def audio_latents(frames: int) -> int:
    """Audio latents of a clip."""
    return round(frames / 24 * 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """Samples: float32, shape (channels, n), at `rate` Hz; `digest` of what they came from."""

    samples: Samples
    rate: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A picture file; `pixels` of it, 0 where its first bytes do not say."""

    digest: str
    pixels: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Weights and what was laid over them.

    Parameters
    ----------
    facts : name -> value of everything but LoRAs
    loras : (file, strength), strength 0 left out
    """

    facts: Mapping[str, Any]
    loras: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """The encoded prompt with its references and their `rows`; `guides` are audio keyframes."""

    facts: Mapping[str, Any]
    references: int = 0
    rows: int = 0
    guides: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Guider:
    """A model and what conditions it; `calls` of the model a step."""

    model: Model
    conditioning: Conditioning
    calls: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """An AV latent, or one half of it.

    Parameters
    ----------
    sound : of its audio half
    mask : of its audio half: 0 keeps it, 1 makes it anew
    look : decides the picture; empty before sampling
    """

    width: int = 0
    height: int = 0
    frames: int = 0
    sound: Sound | None = None
    mask: float = 1.0
    look: str = ""
    spoils: Spoils = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A decoded clip without its pixels."""

    width: int
    height: int
    frames: int
    look: str
    spoils: Spoils = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """A picture, how fast it goes, and its sound."""

    picture: Picture
    rate: Fraction
    sound: Sound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a node gave: its outputs, and what an output node shows."""

    outputs: tuple[Any, ...] = ()
    shown: Mapping[str, Any] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


def references(values: Mapping[str, Any]) -> list[Any]:
    """Digests of every picture, video and sound among the inputs, by slot."""
    found = []
    for name, value in sorted(values.items()):
        if isinstance(value, Picture):
            found.append([name, value.look])
        elif isinstance(value, Still | Sound):
            found.append([name, value.digest])
    return found


def conditioning(values: Mapping[str, Any]) -> Conditioning:
    """A prompt with its references."""
    refs, facts = references(values), {"prompt": values.get("prompt", "")}
    return Conditioning(facts={**facts, "refs": refs}, references=len(refs), rows=reference_rows(values))


def reference_rows(values: Mapping[str, Any]) -> int:
    """Rows of the pictures and films among the inputs: none larger or longer than the shot (h3.md 1.1, 4)."""
    shot, frames = values.get("width", 0) * values.get("height", 0), on_grid(values.get("length", 5))
    rows = 0
    for value in values.values():
        if isinstance(value, Picture):
            groups = max(0, min(value.frames, frames) - 5) // 17 * 5 + 2
            rows += groups * (value.width // 32) * (value.height // 32)
        elif isinstance(value, Still):
            rows += min(value.pixels, shot) // 32**2
    return rows


class NodeFailed(Exception):
    """A node raised; `kind` is the type's full name as a traceback gives it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Interrupted(Exception):
    """Somebody stopped the run."""
