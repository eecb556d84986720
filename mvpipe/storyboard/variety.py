"""Framings where the storyboard leaves them open: near enough to sing, and never twice alike on a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mvpipe.film import Card, ShotKind
from mvpipe.storyboard.framing import like

SINGING = (
    "medium close-up, front",
    "close-up, three-quarter from the left",
    "medium close-up, three-quarter from the right",
    "close-up, front",
    "medium close-up, three-quarter from the left",
)
SINGING_TOGETHER = (
    "medium two-shot, front",
    "close two-shot, three-quarter from the left",
    "medium two-shot, three-quarter from the right",
    "close two-shot, front",
    "medium two-shot, three-quarter from the left",
)
B_ROLL = (
    "wide",
    "detail, shallow focus",
    "medium, eye level",
    "extreme wide, low angle",
    "close, from the side",
)
"""Framings where the storyboard leaves them open. Whoever sings is close enough, and turned to us
enough, for the mouth to be seen and measured. Five of each: a section whose shots come round in any
other number shows each of them in a new framing every time."""


class Source(NamedTuple):
    """Where a card comes from: section and described shot, by index; None where nobody described it."""

    section: int | None
    shot: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A card as it was dealt.

    Parameters
    ----------
    card : the card
    source : where it comes from
    free : whether the framing was left to mvpipe
    """

    card: Card
    source: Source
    free: bool


def table(kind: ShotKind, cast: Sequence[str]) -> tuple[str, ...]:
    """The framings that take turns in shots of a kind."""
    if kind is ShotKind.B_ROLL:
        return B_ROLL
    return SINGING_TOGETHER if len(cast) > 1 else SINGING


def jumps(one: Card, other: Card) -> bool:
    """Whether the same people in the same place would jump on this cut."""
    return (
        bool(set(one.cast) & set(other.cast))
        and one.place == other.place
        and like(one.framing, other.framing)
    )


def varied(hands: Sequence[Hand]) -> list[Card]:
    """The cards; a free framing that would jump from the one before gives way to one that does not.

    Nor does it jump to the one behind. Within a section the tables see to that already, so a change goes no
    further than its own shot.
    """
    cards = [hand.card for hand in hands]
    for at in range(1, len(cards)):
        if not hands[at].free or not jumps(cards[at - 1], cards[at]):
            continue
        others = [replace(cards[at], framing=words) for words in table(cards[at].kind, cards[at].cast)]
        beside = [cards[at - 1], *cards[at + 1 : at + 2]]
        clear = [one for one in others if not any(jumps(one, next_to) for next_to in beside)]
        cards[at] = clear[0] if clear else cards[at]
    return cards
