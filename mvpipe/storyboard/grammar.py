"""A first draft without anybody's help: what is done, how the camera moves, from tables that take turns.

The same section, cast and turn give the same words on every machine. Names stand where a pronoun would, so
that the sentences fit whoever is cast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mvpipe.film import ShotKind

ROLES = {
    "lift": "pre-?chorus|lift|build",
    "ending": "outro|ending|end|coda|fade",
    "break": "break|solo|instrumental|interlude",
    "intro": "intro|opening|prelude",
    "chorus": "chorus|hook|refrain|drop",
    "bridge": "bridge|middle 8|c-part",
}
"""What a section is for -> how musicians name it, as patterns; the first that fits. The rest are verses."""

SUNG = {
    "intro": (
        "{who} stands still and sings the first words almost to nobody",
        "{who} sings with eyes closed and opens them on the last word",
    ),
    "verse": (
        "{who} walks towards us without hurry and sings, half in thought",
        "{who} sits, leans forward and sings as if telling it for the first time",
        "{who} sings to someone just beside the camera",
        "{who} looks down while singing, then up at us on the end of the line",
        "{who} leans against the wall and sings, hands still",
    ),
    "lift": (
        "{who} rises while singing, each line a little larger than the last",
        "{who} turns towards the light and sings into it",
    ),
    "chorus": (
        "{who} sings straight at us with the whole body, nothing held back",
        "{who} sings with face lifted and arms open",
        "{who} turns round once and sings as the camera is met again",
        "{who} sings it out, eyes on us, and does not blink on the long note",
    ),
    "bridge": (
        "{who} sings quietly, very close, lit from one side only",
        "{who} sings to a reflection in dark glass",
        "{who} sings with eyes closed, alone in the frame",
    ),
    "break": ("{who} sings one line over the shoulder and is gone from the light",),
    "ending": (
        "{who} sings the last words, and holds our look after them",
        "{who} sings while turning slowly away",
    ),
}

UNSUNG = {
    "intro": (
        "{where} before anybody comes: light moves, nothing else does",
        "A door stands open; dust hangs in the light that falls through it",
        "Hands come to rest and are still",
    ),
    "verse": (
        "Something small that the words are about, alone on a table, in the light of the window",
        "{where}, empty, a curtain moving in the draught",
        "Feet pass through the frame from left to right, unhurried",
    ),
    "lift": ("The light grows at the edge of the frame until it reaches the lens",),
    "chorus": (
        "{where} from far away and above, everything in it moving at once",
        "Light breaks in the lens as the camera swings across {there}",
        "Hair and cloth move in the wind, in slow motion",
    ),
    "bridge": (
        "Rain on a pane; behind it {there} is only colour",
        "A lamp goes out, and another one further away comes on",
    ),
    "break": (
        "{where} seen from a moving vehicle, lights passing in the rhythm of the drums",
        "Hands on an instrument, close enough to see the strings move",
        "A shadow crosses the wall of {there} and comes back",
    ),
    "ending": (
        "{where} as it was in the beginning, the light gone from it",
        "A last light is switched off; the dark keeps the shape of the window",
    ),
}

MOVES = {
    "still": ("The camera does not move", "The camera breathes and hardly moves"),
    "calm": (
        "The camera comes slowly closer",
        "The camera walks backwards at the same pace",
        "The camera drifts a hand's breadth to the left",
    ),
    "large": (
        "The camera circles a quarter turn",
        "The camera pushes in until the face fills the frame",
        "The camera rises and looks down",
    ),
}

_ENERGY = {"intro": "still", "bridge": "still", "ending": "still", "chorus": "large", "break": "large"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What a shot is about.

    Parameters
    ----------
    kind : whether somebody sings
    section : the name of its section
    turn : how many of its kind came before it in this section
    again : how many sections of the same role came before
    who : names as they are to be read, such as `Mira and Tomas`
    where : the place in a few words; empty for none
    """

    kind: ShotKind
    section: str
    turn: int
    again: int = 0
    who: str = ""
    where: str = ""


def role(section: str) -> str:
    """What a section is for, by its name; `verse` where the name says nothing."""
    name = section.casefold()
    return next((what for what, names in ROLES.items() if re.search(rf"\b(?:{names})\b", name)), "verse")


def sentence(about: Sentence) -> str:
    """What is seen and how the camera moves, in two plain sentences."""
    part = role(about.section)
    sung = about.kind is ShotKind.PERFORMANCE
    table: Sequence[str] = (SUNG if sung else UNSUNG)[part]
    turn = about.turn + 2 * about.again
    moves = MOVES[_ENERGY.get(part, "calm")]
    seen = table[turn % len(table)].format(
        who=about.who or "The singer",
        where=capital(about.where) if about.where else "The place",
        there=about.where or "the place",
    )
    return f"{seen}. {moves[(turn + turn // len(table)) % len(moves)]}."


def capital(text: str) -> str:
    """The text with its first letter large; the rest as it is."""
    return text[:1].upper() + text[1:]


def together(names: Sequence[str]) -> str:
    """Names as they are read: `Mira, Tomas and Ines`."""
    shown = [capital(name) for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
