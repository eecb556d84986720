"""Framings and slow camera moves: where the figures stand, and how the picture travels."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOVES = ("push in", "pull out", "pan left", "pan right", "tilt up", "tilt down")
"""What a seed may choose; `hold` is only asked for."""

_ASKED = {
    "hold": r"static|locked off|holds? still|tripod|(does not|hardly) moves?",
    "push in": r"push(es|ing)? in|dolly in|zooms? in|moves? in|closer",
    "pull out": r"pull(s|ing)? (out|back)|dolly out|zooms? out|reveal",
    "pan left": r"pans? left|tracks? left",
    "pan right": r"pans? right|tracks? right|tracking|walks past",
    "tilt up": r"cranes? up|tilts? up|rises|looks up",
    "tilt down": r"cranes? down|tilts? down|sinks|looks down",
}


def asked_move(words: str) -> str:
    """The move that words ask for in the usual English, or nothing."""
    return next((m for m, signs in _ASKED.items() if re.search(rf"\b({signs})\b", words.lower())), "")


def move_of(asked: str, seed: int) -> str:
    """The move that was asked for, else one by the seed."""
    return asked or MOVES[seed % len(MOVES)]


@dataclass(frozen=True, slots=True)
class Framing:
    """How large a figure stands in the picture: head and eye line as shares of its height."""

    head: float
    eyes: float


FRAMINGS = {
    "extreme close-up": Framing(0.84, 0.335),
    "close-up": Framing(0.70, 0.335),
    "medium close-up": Framing(0.49, 0.325),
    "medium": Framing(0.37, 0.28),
    "medium wide": Framing(0.275, 0.27),
    "wide": Framing(0.205, 0.30),
}
"""At the smallest usual size, 672x384, the eyes of `wide` are 35 pixels apart; a face mesh needs 24."""

_FRAMING_WORDS = (
    ("extreme close-up", ("extreme", "ecu", "xcu", "big close")),
    ("medium close-up", ("medium close", "mcu", "bust", "head and shoulders")),
    ("medium wide", ("medium wide", "mws", "american", "cowboy", "knee", "medium long")),
    ("close-up", ("close", "cu", "tight", "portrait", "face")),
    ("wide", ("wide", "long", "full", "establishing", "ws", "total", "whole")),
    ("medium", ("medium", "mid", "waist", "ms", "two-shot")),
)


def framing_of(words: str) -> str:
    """The framing that words name; a medium close-up where they name none."""
    text = re.sub(r"[\s_-]+", " ", words.lower())
    for name, signs in _FRAMING_WORDS:
        if any(re.search(rf"\b{sign.replace('-', ' ')}", text) for sign in signs):
            return name
    return "medium close-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a figure stands.

    Parameters
    ----------
    x, y : of the point between its eyes, in pixels
    unit : pixels of one of its units
    facing : the turn of its head it comes back to
    behind : whether it stands behind somebody, out of focus and in less light
    """

    x: float
    y: float
    unit: float
    facing: float
    behind: bool = False


HEAD_UNITS = 2.05

_TOGETHER = Framing(0.46, 0.31)
"""As near as two heads can stand side by side. Several figures are never smaller than `medium`: a face finder
that looks for one face took a smaller singer's listener in up to half of the takes."""


def marks(count: int, framing: str, size: tuple[int, int], seed: int) -> list[Mark]:
    """Places for up to three figures; the first, who sings, stands in front."""
    width, height = size
    reach = min(height, width * 0.8)
    frame = FRAMINGS[framing]
    if count > 1:
        frame = _TOGETHER if count == 2 and frame.head >= _TOGETHER.head else FRAMINGS["medium"]
    unit, eyes = frame.head * reach / HEAD_UNITS, frame.eyes
    way = -1 if seed % 2 else 1
    spots = {1: (0.58,), 2: (0.5 + 0.17 * way, 0.5 - 0.17 * way), 3: (0.53, 0.24, 0.80)}[count]
    facing = 0.16 * way if count == 1 else _to(spots[0], 0.5, 0.12)
    front = Mark(x=spots[0] * width, y=eyes * height, unit=unit, facing=facing)
    others = (
        Mark(
            x=spot * width,
            y=(eyes + 0.035) * height,
            unit=unit * 0.70,
            facing=_to(spot, spots[0], 0.56),
            behind=True,
        )
        for spot in spots[1:]
    )
    return [front, *others]


def _to(x: float, other: float, turn: float) -> float:
    """The turn of a head at x that looks towards another place in the picture."""
    return turn if other > x else -turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """A slow move over a whole take.

    Parameters
    ----------
    move : one of `MOVES`
    frames : of the take
    size : of the picture
    """

    move: str
    frames: int
    size: tuple[int, int]

    def view(self, i: int, depth: float = 1.0) -> tuple[float, float, float]:
        """Zoom, and the shift (x, y) in pixels, of things at a depth: 1 the backdrop, more what is nearer."""
        t = i / max(1, self.frames - 1)
        ease = 0.6 * t + 0.4 * t * t * (3 - 2 * t)
        way = 2 * ease - 1
        width, height = self.size
        zoom, x, y = 1.03, 0.0, 0.0
        if self.move == "push in":
            zoom = 1.0 + 0.085 * ease
        elif self.move == "pull out":
            zoom = 1.085 - 0.085 * ease
        elif self.move.startswith("pan"):
            x = 0.032 * width * way * (1 if self.move == "pan left" else -1)
        elif self.move in ("tilt up", "tilt down"):
            y = 0.024 * height * way * (1 if self.move == "tilt up" else -1)
        return 1 + (zoom - 1) * depth, x * depth, y * depth
