"""Styles: finished storyboards to begin a new one from, each a file in `storyboards/`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mvpipe.errors import SettingsError
from mvpipe.film import ShotKind
from mvpipe.storyboard.described import Shot
from mvpipe.storyboard.grammar import capital, role
from mvpipe.storyboard.load import Loaded, load
from mvpipe.storyboard.models import Storyboard
from mvpipe.storyboard.scalars import did_you_mean
from mvpipe.tools import shipped

SAMPLE = "ballad"
"""A style that is always there."""


def home() -> Path:
    """The folder of mvpipe's styles.

    Raises
    ------
    SettingsError : it is nowhere: a broken installation
    """
    return shipped.folder("storyboards", f"{SAMPLE}.yaml")


def names() -> list[str]:
    """The names of all styles, sorted."""
    return sorted(path.stem for path in home().glob("*.yaml"))


def find(name: str) -> Style:
    """A style by its name.

    Raises
    ------
    SettingsError : there is none of this name
    """
    if name not in names():
        known = ", ".join(names())
        raise SettingsError(
            f"--style: no such style: {name}", hint=did_you_mean(name, names()) or f"there are {known}"
        )
    return Style(load(home() / f"{name}.yaml"))


@dataclass(frozen=True, slots=True)
class Style:
    """A storyboard that lends its look, places, people and shots to another."""

    loaded: Loaded

    @property
    def board(self) -> Storyboard:
        """What it says."""
        return self.loaded.storyboard

    @property
    def sings(self) -> bool:
        """Whether anybody is ever seen singing in it."""
        return any(shot.kind is ShotKind.PERFORMANCE for part in self.board.sections for shot in part.shots)

    def shots(self, section: str, kind: ShotKind) -> tuple[Shot, ...]:
        """Its shots of a kind for a section of this name, by what the section is for."""
        wanted = role(section)
        return tuple(
            shot
            for part in self.board.sections
            if role(part.name) == wanted
            for shot in part.shots
            if shot.kind is kind
        )


def recast(text: str, roles: Mapping[str, str]) -> str:
    """A text about the style's people, told about others.

    Parameters
    ----------
    roles : name in the style -> name in its place
    """
    for old, new in roles.items():
        text = re.sub(rf"\b{re.escape(capital(old))}\b", capital(new), text)
    return text


def roles(style: Storyboard, given: Sequence[str]) -> dict[str, str]:
    """Who takes whose part: those who sing first, then the others, each in the order they were named."""
    singers = [name for name, member in style.cast.items() if member.sings]
    others = [name for name, member in style.cast.items() if not member.sings]
    return dict(zip([*singers, *others], given, strict=False))
