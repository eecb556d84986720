"""Whether seed and LoRA do anything: how far two renders lie apart, against the same one rendered twice.

A LoRA whose keys match nothing loads and raises nothing, and a stuck cache gives one film for every seed;
neither shows in a single take. A graphics card need not compute the same sum twice alike, so that a digest
differs for every render there; what is weighed is the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mvpipe.tools import frames

if TYPE_CHECKING:
    from mvpipe.doctor.facts import Canary

LEAST = 0.5
"""Levels (of 255) under which nothing changed: half of what eight bits can tell."""

TIMES = 4.0
"""Times as far as the same seed lies from itself. Chosen, not measured: of what no card renders alike nobody
published figures; a LoRA that takes part at 4 steps changes all of the picture."""

Luma = NDArray[np.uint8]


def luma(path: Path) -> Luma:
    """Brightness of every frame of a take: uint8, shape (frames, height, width), 0 (black) to 255.

    Raises
    ------
    MediaError : as for `frames.read`
    """
    seen: list[Luma] = []
    frames.read(path, see=seen.append)
    return np.stack(seen)


def distance(one: Luma, other: Luma) -> float:
    """Mean absolute difference in levels, 0 to 255, over the frames both have."""
    both = min(len(one), len(other))
    return float(np.abs(one[:both].astype(np.int16) - other[:both]).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """How far renders lie from the first one, in levels of brightness, 0 to 255.

    Parameters
    ----------
    itself : the same seed, sampled again
    seed : another seed
    lora : the same seed without the LoRA; None where none was left out
    """

    itself: float
    seed: float
    lora: float | None = None

    @property
    def limit(self) -> float:
        """From which on a difference is one."""
        return max(LEAST, TIMES * self.itself)

    @property
    def seed_works(self) -> bool:
        """Whether another seed gives another picture."""
        return self.seed >= self.limit

    @property
    def lora_works(self) -> bool | None:
        """Whether the LoRA changes the picture; None where none was left out."""
        return None if self.lora is None else self.lora >= self.limit


def in_words(canary: Canary) -> str:
    """What a kept canary measured."""
    figures = (
        ("the same seed", canary.itself),
        ("another seed", canary.by_seed),
        ("no LoRA", canary.by_lora),
    )
    told = [f"{name} {value:.2f}" for name, value in figures if isinstance(value, float)]
    return f"apart by levels of 255: {', '.join(told)}" if told else ""
