"""How near and from where: framings in words, held against each other.

An editor cuts between pictures of the same subject only where size or angle changes clearly; else the subject
seems to jump. The steps of size are those of camera reports; a change of side counts as the thirty degrees
that the rule of thumb asks for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SIZES = (
    "extreme wide|establishing|panorama",
    "wide|long shot|full|total",
    "medium long|american|cowboy|knee",
    "two-shot|medium|mid|waist",
    "medium close|chest|bust",
    "close two-shot|close|head",
    "extreme close|detail|macro|insert",
)
"""From far to near."""

ANGLES = (
    "three-quarter from the left|three-quarter left|from the left",
    "three-quarter from the right|three-quarter right|from the right",
    "from behind|back|over the shoulder",
    "side|profile",
    "overhead|top shot|bird",
    "high",
    "low",
    "three-quarter",
    "front|eye level",
)

CLEAR_STEP = 1
"""Steps of size that make a cut clear where the angle stays: medium close-up to close-up is a punch-in."""


class Framing(NamedTuple):
    """What is known of a framing; None where the words do not say."""

    size: int | None
    angle: int | None


def framing(words: str) -> Framing:
    """The framing that words describe."""
    said = words.casefold()
    # the longer name is meant: `medium close` is not `medium`
    sizes = {at: length for at, names in enumerate(SIZES) if (length := _said(said, names))}
    angle = next((at for at, names in enumerate(ANGLES) if _said(said, names)), None)
    return Framing(max(sizes, key=lambda at: sizes[at]) if sizes else None, angle)


def _said(text: str, names: str) -> int:
    """Letters of the name that the text says; 0 if it says none."""
    found = re.search(rf"\b(?:{names})\b", text)
    return len(found[0]) if found else 0


def like(one: str, other: str) -> bool:
    """Whether a cut from one to the other makes the same subject jump.

    Framings that do not say how near they are cannot be compared, and are taken to differ unless they are the
    same words.
    """
    if one == other:
        return bool(one)
    a, b = framing(one), framing(other)
    if a.size is None or b.size is None:
        return False
    return abs(a.size - b.size) < CLEAR_STEP and a.angle == b.angle
