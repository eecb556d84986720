"""What a drawn character looks like: read from the director's words, filled in from a digest of them.

"a woman of twenty-five, silver bob, red raincoat" gives silver hair cut as a bob and a red raincoat; what
the words leave open (skin, eyes, the shape of the jaw) is chosen by the digest of name and description, so
that a character looks the same in every shot and two characters do not look alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from mvpipe.render.animatic.words import (
    BEARDS,
    COLOURS,
    CUTS,
    GARMENTS,
    GLASSES,
    HAIR_ALONE,
    HAIR_COLOURS,
    HAIR_NOUNS,
    HATS,
    OLD,
    SEXES,
    SKIN_WORDS,
    SKINS,
    Colour,
    heard,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a character is drawn.

    Parameters
    ----------
    skin, hair, cloth, iris : RGB colours
    cut : of the hair, one of the values of `CUTS`
    garment : one of the values of `GARMENTS`
    hat : `beanie`, `hat` or empty
    beard : `full`, `stubble`, `moustache` or empty
    glasses : `clear`, `dark` or empty
    jaw : 0 narrow and soft .. 1 broad and square
    age : 0 or 1
    part : -1 or 1, the side the hair is parted on
    freckles : whether there are any
    """

    skin: Colour
    hair: Colour
    cloth: Colour
    iris: Colour
    cut: str
    garment: str
    hat: str
    beard: str
    glasses: str
    jaw: float
    age: float
    part: int
    freckles: bool


def look_of(name: str, description: str) -> Look:
    """The look a name and a description ask for; the same words always give the same look."""
    phrases = [list(heard(part)) for part in _PAUSE.split(description.lower())]
    words = [word for phrase in phrases for word in phrase]
    dice = sha256(f"{name}\n{description}".encode()).digest()
    masculine = _said(words, SEXES, "mf"[dice[0] % 2]) == "m"
    skin = _said(words, SKIN_WORDS, (0, 1, 1, 2, 3, 4, 5)[dice[2] % 7])
    old = any(word in OLD for word in words)
    return Look(
        skin=SKINS[skin],
        hair=_hair_colour(phrases, dice[3], old, dark=skin > 3),
        cloth=_coloured(phrases, frozenset(GARMENTS), COLOURS, _CLOTHS[dice[4] % len(_CLOTHS)]),
        iris=_IRISES[dice[5] % len(_IRISES)],
        cut=_said(words, CUTS, _USUAL_CUTS[masculine][dice[1] % 5]),
        garment=_said(words, GARMENTS, ("jacket", "shirt", "knit", "coat")[dice[6] % 4]),
        hat=_said(words, HATS, ""),
        beard=_said(words, BEARDS, "stubble" if masculine and dice[7] % 4 == 0 else ""),
        glasses=_said(words, GLASSES, ""),
        jaw=(0.6 if masculine else 0.0) + dice[8] / 640,
        age=1.0 if old else 0.0,
        part=1 if dice[9] % 2 else -1,
        freckles=any(word.startswith("freckle") for word in words),
    )


_USUAL_CUTS = {
    True: ("crop", "quiff", "crop", "buzz", "curls"),
    False: ("bob", "long", "wavy", "bun", "curls"),
}
_USUAL_HAIR = ((84, 58, 44), (32, 30, 38), (122, 56, 36), (198, 160, 100), (60, 42, 36), (160, 84, 46))
_PAUSE = re.compile(r"[,;.:()]|\b(?:and|with|in|wearing)\b")
_IRISES: tuple[Colour, ...] = ((78, 56, 40), (70, 96, 70), (72, 104, 136), (96, 70, 44))
_CLOTHS: tuple[Colour, ...] = tuple(
    COLOURS[name] for name in ("rust", "navy", "burgundy", "teal", "charcoal", "olive", "cream", "denim")
)


def _said(words: list[str], table: Mapping[str, T], otherwise: T) -> T:
    return next((table[word] for word in words if word in table), otherwise)


def _coloured(
    phrases: list[list[str]], nouns: frozenset[str], table: Mapping[str, Colour], otherwise: Colour
) -> Colour:
    """The colour named before one of the nouns in the same phrase, or joined to it by a hyphen."""
    for words in phrases:
        for at, word in enumerate(words):
            if word in nouns or word.rpartition("-")[2] in nouns:
                near = [word.rpartition("-")[0], *reversed(words[:at])]
                found = next((table[w] for w in near if w in table), None)
                if found:
                    return found
    return otherwise


def _hair_colour(phrases: list[list[str]], die: int, old: bool, *, dark: bool) -> Colour:
    usual = ((38, 32, 36), (52, 38, 34), (32, 30, 38)) if dark else _USUAL_HAIR
    otherwise = (206, 208, 212) if old else usual[die % len(usual)]
    words = [word for phrase in phrases for word in phrase]
    alone = _said(words, {word: HAIR_COLOURS[word] for word in HAIR_ALONE}, otherwise)
    return _coloured(phrases, HAIR_NOUNS, COLOURS | HAIR_COLOURS, alone)
