"""The animatic: storyboard cards with a drawn face that follows the voice, made on any CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mvpipe.errors import RenderFailed, ToolError
from mvpipe.film import Slate
from mvpipe.render.animatic import fonts, pillow
from mvpipe.render.animatic.board import board_of, used_pictures
from mvpipe.render.backend import Asset, Progress, Setup

NAME = "animatic/2"
"""The number is raised when the same slate would give other bytes."""

_BASE_S, _FRAME_S, _MEGAPIXEL_S = 0.5, 0.004, 0.019


@dataclass(frozen=True, slots=True)
class Animatic:
    """The embedded backend (`mvpipe.render.backend.Backend`)."""

    @property
    def name(self) -> str:
        """With the version of what decides the bytes."""
        return NAME

    @property
    def slots(self) -> int:
        """As many takes at once as there are cores, four at most."""
        return min(4, os.cpu_count() or 1)

    @property
    def draws_mouths(self) -> str:
        """How: so their sync is known, and not asked unless somebody wants to see the gate at work."""
        return "from the articulation of the isolated voice"

    def slate(self, setup: Setup, *, take: int, seed: int) -> Slate:
        """What decides the take's bytes; its graph is the board.

        Raises
        ------
        StoryboardError : an option the animatic does not know, a picture that cannot be drawn
        """
        board = board_of(setup)
        assets = self.assets(setup)
        for role, asset in assets.items():
            if role != "vocals":
                _check(asset.path, asset.digest)
        return Slate(
            shot=setup.shot.number,
            take=take,
            seed=seed,
            backend=NAME,
            frames=len(setup.shot.window),
            size=setup.size,
            graph=board.graph(),
            inputs={role: asset.digest for role, asset in assets.items()},
        )

    def assets(self, setup: Setup) -> Mapping[str, Asset]:
        """The isolated vocal, and the pictures that are shown."""
        pictures = {
            f"{kind}:{owner.name}/{i}": asset
            for kind, owners in (("picture", setup.cast), ("place", [setup.place] if setup.place else []))
            for owner in owners
            for i, asset in enumerate(owner.pictures)
        }
        shown = {role: pictures[role] for role in used_pictures(board_of(setup))}
        return {"vocals": setup.vocals, **shown}

    def notes(self, setup: Setup) -> tuple[str, ...]:
        """What the user should know of a shot's card: letters that no font of this computer has."""
        card = setup.shot.card
        absent = fonts.missing([setup.title, setup.look, card.section, card.prompt, card.lyric, *card.cast])
        if not absent:
            return ()
        some = " ".join(f"{char} (U+{ord(char):04X})" for char in absent[:5])
        return (f"shot {setup.shot.number}: no font here has {some}: drawn as boxes",)

    def render(self, slate: Slate, assets: Mapping[str, Path], into: Path, progress: Progress) -> None:
        """Write the take: H.264, yuv420p, BT.709, with the vocal as AAC.

        Raises
        ------
        RenderFailed : the vocal is not as long as the picture, or ffmpeg failed
        """
        from mvpipe.render.animatic import shoot

        try:
            shoot.shoot(slate, assets, into, progress)
        except ToolError as exc:
            raise RenderFailed(f"shot {slate.shot}: animatic: {exc}", hint=exc.hint) from exc

    def predict_s(self, frames: int, size: tuple[int, int]) -> float:
        """Seconds for a take that has a core to itself; from `python -m tests.benchmarks animatic`."""
        megapixels = size[0] * size[1] / 1e6
        return _BASE_S + frames * (_FRAME_S + _MEGAPIXEL_S * megapixels)


@lru_cache(maxsize=256)
def _check(path: Path, digest: str) -> None:
    pillow.check_picture(path)
