"""A small stage for the animatic: setups, a voice of known syllables, and eyes that measure a mouth.

The mouth is measured without the code that draws it: how much of a box under the eyes is darker than skin
and lips, frame by frame, in the decoded take.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

from mvpipe.clock import Span
from mvpipe.film import Card, Shot, ShotKind, Slate
from mvpipe.render.animatic import camera
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.animatic.board import Board
from mvpipe.render.backend import Asset, CastMember, Place, Setup
from mvpipe.tools import encode

PerFrame = NDArray[np.float64]

FRAMES, RATE, SAMPLE_RATE = 124, Fraction(24), 44_100
SIZE = (320, 180)

MIRA = CastMember(name="mira", description="a pale woman, silver bob, red raincoat", sings=True)
JON = CastMember(name="jon", description="a pale man, dark quiff, grey jacket", sings=True)
STREET = Place(name="street", description="a narrow street of neon signs")


def digest(path: Path) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Voice:
    """A vocal of vowels with silence between them, and how loud it is at every frame, 0 to 1."""

    asset: Asset
    loudness: PerFrame


def sing(path: Path, *, frames: int = FRAMES, seed: int = 1, gain: float = 0.4) -> Voice:
    """Sing 'a' in syllables of 0.15 to 0.4 s, with pauses of 0.1 to 0.35 s."""
    dice = np.random.default_rng([seed, 440])
    samples = -(-frames * SAMPLE_RATE // 24)
    t = np.arange(samples) / SAMPLE_RATE
    level, at = np.zeros(samples), 0.2
    while at < frames / 24:
        long, pause = dice.uniform(0.15, 0.4), dice.uniform(0.1, 0.35)
        rise, fall = (t - at) / 0.03, (at + long - t) / 0.05
        level = np.maximum(level, np.clip(np.minimum(rise, fall), 0, 1))
        at += long + pause
    hertz = 196.0
    vowel = sum(
        np.sin(2 * np.pi * hertz * k * t) / (1 + ((hertz * k - 800) / 250) ** 2) for k in range(1, 16)
    )
    sf.write(path, (gain * level * vowel / 3).astype(np.float32), SAMPLE_RATE, subtype="FLOAT")
    near = np.interp(np.arange(frames) / 24, t, np.convolve(level, np.ones(1000) / 1000, "same"))
    return Voice(Asset(path=path, digest=digest(path)), near)


def setup(vocals: Asset, **changes: Any) -> Setup:
    """A close-up of Mira, before a camera that does not move, unless the changes say otherwise."""
    given: dict[str, Any] = {
        "number": 7, "start": 240, "frames": FRAMES, "prompt": "static shot: she sings", "cast": (MIRA,),
        "place": STREET, "framing": "close-up", "section": "verse 1", "lyric": "no way home",
        "kind": ShotKind.PERFORMANCE, "title": "Neon Rain", "look": "35 mm film", "size": SIZE, "options": {},
    } | changes  # fmt: skip
    start, frames = given["start"], given["frames"]
    card = Card(
        prompt=given["prompt"],
        kind=given["kind"],
        cast=tuple(member.name for member in given["cast"]),
        place=given["place"].name if given["place"] else "",
        framing=given["framing"],
        section=given["section"],
        lyric=given["lyric"],
        origin=given.get("origin", "story.yaml:3"),
    )
    shot = Shot(
        number=given["number"],
        cut=Span(start + 6, start + frames - 4),
        window=Span(start, start + frames),
        card=card,
    )
    return Setup(
        shot=shot,
        title=given["title"],
        look=given["look"],
        cast=given["cast"],
        place=given["place"],
        vocals=vocals,
        size=given["size"],
        options=given["options"],
    )


def assets(*paths: Path) -> tuple[Asset, ...]:
    """Files with their digests."""
    return tuple(Asset(path=path, digest=digest(path)) for path in paths)


def shoot(setup: Setup, into: Path, *, seed: int = 1, take: int = 1) -> Slate:
    """Make a take; its slate."""
    backend = Animatic()
    slate = backend.slate(setup, take=take, seed=seed)
    paths = {role: asset.path for role, asset in backend.assets(setup).items()}
    backend.render(slate, paths, into, lambda done, of: None)
    return slate


def frames_of(path: Path, size: tuple[int, int] = SIZE, count: int = FRAMES) -> NDArray[np.uint8]:
    """All frames of a take: RGB, shape (n, h, w, 3)."""
    return np.stack(encode.read_frames(path, size, range(count)))


def openness(frames: NDArray[np.uint8], slate: Slate, *, figure: int = 0) -> PerFrame:
    """How much of the box where a figure's mouth is drawn is darker than lips."""
    board = Board.read(slate.graph)
    marks = camera.marks(max(1, len(board.cast)), camera.framing_of(board.framing), slate.size, slate.seed)
    mark = marks[figure]
    zoom = 1 + 0.03 * 1.35  # of a camera that holds still, for what stands at the figures' depth
    x = slate.size[0] / 2 + (mark.x - slate.size[0] / 2) * zoom
    y = slate.size[1] * 0.42 + (mark.y - slate.size[1] * 0.42) * zoom
    unit = mark.unit * zoom
    rows = slice(round(y + 0.45 * unit), round(y + 1.05 * unit))
    columns = slice(round(x - 0.32 * unit), round(x + 0.32 * unit))
    grey = frames[:, rows, columns].astype(float) @ (0.2126, 0.7152, 0.0722)
    skin = np.percentile(grey, 80, axis=(1, 2))
    return np.asarray((grey < 0.42 * skin[:, None, None]).mean((1, 2)), float)


def best_lag(mouth: PerFrame, voice: PerFrame, reach: int = 14) -> tuple[int, float]:
    """The frames a mouth is behind a voice where they agree best, and their correlation there."""
    found = [(_agreement(mouth, voice, lag), lag) for lag in range(-reach, reach + 1)]
    most, lag = max(found)
    return lag, most


def _agreement(mouth: PerFrame, voice: PerFrame, lag: int) -> float:
    n = len(mouth)
    m, v = mouth[max(0, lag) : n + min(0, lag)], voice[max(0, -lag) : n + min(0, -lag)]
    if m.std() < 1e-3 or v.std() < 1e-3:
        return 0.0
    return float(np.corrcoef(m, v)[0, 1])
