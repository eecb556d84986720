"""Which clips are made: each decided by its set and number alone, so that halves and pieces agree.

Numbers are dealt so that voices and faces change every second clip: the even half, on which figures may be
tuned, and the odd half, on which they are reported, hold the same kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tests.gate.faces_synth import Part

SETS: dict[str, int] = {
    "sync": 144, "other": 24, "closed": 12, "frozen": 12, "covered": 12, "nobody": 6, "two": 24, "pair": 24,
}  # fmt: skip
"""Clips of each set: 258 in all."""

MEANING: dict[str, str] = {
    "sync": "sings or talks what is heard",
    "other": "a mouth that says something else",
    "closed": "a closed mouth",
    "frozen": "a mouth that stands open",
    "covered": "a mouth behind a card",
    "nobody": "no face large enough to be found",
    "two": "two faces, neither of which sings this",
    "pair": "two faces, one of which sings this",
}

SIZES = ((640, 360), (480, 272))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A clip of a set.

    Parameters
    ----------
    number : in its set; even ones are for tuning
    voice : whose
    faces : one for each head
    part : all else
    """

    set: str
    number: int
    voice: str
    faces: tuple[str, ...]
    part: Part

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.set}-{self.number:03d}"


def recipe(kind: str, number: int, voices: Sequence[str], faces: Sequence[str]) -> Recipe:
    """The clip with this number in a set.

    Parameters
    ----------
    voices, faces : that can be had here; other ones make other clips
    """
    seed = crc32(f"{kind} {number}".encode()) & 0xFFFFFF
    rng = np.random.default_rng(seed)
    turn = number // 2
    heads = 2 if kind in ("two", "pair") else 1
    voice = voices[turn % len(voices)]
    mouth = {"other": "other", "closed": "closed", "frozen": "frozen", "two": "other"}.get(kind, "talk")
    part = Part(
        seed=seed,
        size=SIZES[int(rng.integers(2))],
        seconds=float(rng.choice([5, 6, 7, 8])),
        rate=int(rng.choice([24, 24, 25, 30])),
        late=float(rng.uniform(-0.02, 0.02)),
        mouth=mouth,
        noise=float(rng.uniform(2, 8)),
        motion=float(rng.uniform(0, 1)),
        gain=float(rng.uniform(0.6, 1)),
        bleed=float(rng.choice([0, 0, 0.1, 0.25])),
        heads=heads,
        covered="all" if kind == "covered" else str(rng.choice(["none"] * 8 + ["mic", "half"])),
        head=_head(kind, rng),
        crf=int(rng.integers(20, 31)),
    )
    first = turn // len(voices) + turn
    chosen = tuple(faces[(first + head) % len(faces)] for head in range(heads))
    return Recipe(set=kind, number=number, voice=voice, faces=chosen, part=part)


def _head(kind: str, rng: np.random.Generator) -> float:
    """Height of the head: of two heads each has half of the picture; nobody's is too small to be found."""
    if kind == "nobody":
        return 0.02
    return float(rng.uniform(1.0, 1.3) if kind in ("two", "pair") else rng.uniform(0.6, 1.2))
