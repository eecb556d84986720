"""Shots as a backend is given them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from mvpipe.clock import Span
from mvpipe.film import Card, Shot, ShotKind
from mvpipe.render.backend import Asset, CastMember, Place, Setup
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.slating import sound_of
from mvpipe.render.comfyui.template import DEFAULT, load


def asset(name: str, digest: str | None = None) -> Asset:
    """A file that is not there, with a digest of its own."""
    return Asset(path=Path(f"/refs/{name}"), digest=digest or hashlib.sha256(name.encode()).hexdigest())


MIRA = CastMember(
    name="mira",
    description="a woman of twenty-five, silver bob, red raincoat",
    pictures=(asset("mira-front.png"), asset("mira-left.png")),
    sings=True,
)
TOMAS = CastMember(
    name="tomas",
    description="a man of thirty-five, short ginger beard, faded denim jacket",
    pictures=(asset("tomas.png"),),
)
STREET = Place(
    name="street", description="a narrow street of broken neon signs", pictures=(asset("street.png"),)
)


def setup(
    prompt: str = "Mira walks towards us through the rain and sings.",
    *,
    cast: tuple[CastMember, ...] = (MIRA,),
    place: Place | None = STREET,
    kind: ShotKind = ShotKind.PERFORMANCE,
    voice: float = 0.8,
    frames: int = 124,
    look: str = "35 mm film, wet neon streets, shallow depth of field",
    **card: Any,
) -> Setup:
    """A shot with its card."""
    shot = Shot(
        number=3,
        cut=Span(240, 240 + frames - 5),
        window=Span(240, 240 + frames),
        card=Card(
            prompt=prompt,
            kind=kind,
            cast=tuple(member.name for member in cast),
            place=place.name if place else "",
            origin="rain.yaml:20",
            **card,
        ),
        voice=voice,
    )
    return Setup(
        shot=shot,
        title="Neon Rain",
        look=look,
        cast=cast,
        place=place,
        vocals=asset("voice.wav"),
        size=(1344, 768),
    )


def sounding(made: Setup, without_voice: Sounding = Sounding.SILENCE) -> Sounding:
    """What a shot is locked to in the default graph."""
    return sound_of(made.shot, load(DEFAULT), Options(without_voice=without_voice))
