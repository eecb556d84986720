"""What better cuts cost: the plans between which a director can choose, each the best for its render time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mvpipe.cutting import CuttingRoom

LONGEST = (5, 6, 7, 8, 9, 10, 12, 15)
THRIFT = (0, 1, 10, 40, 160)
"""What is tried: every `cuts.longest` with every `cuts.thrift`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plan that no other beats in everything.

    Parameters
    ----------
    longest, thrift : the storyboard's `cuts.longest` and `cuts.thrift` that give it
    shots : how many
    inside : cuts inside a word, or inside singing where words are not known
    quality : mean weight of the cuts, in [0, 1]
    seconds : what one take of every shot is predicted to need
    chosen : whether the storyboard asks for this one
    """

    longest: int
    thrift: int
    shots: int
    inside: int
    quality: float
    seconds: float
    chosen: bool = False

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "longest": self.longest,
            "thrift": self.thrift,
            "shots": self.shots,
            "cuts_inside_words": self.inside,
            "quality": round(self.quality, 3),
            "predicted_seconds": round(self.seconds, 1),
            "chosen": self.chosen,
        }


def frontier(room: CuttingRoom, *, longest: int, thrift: int) -> tuple[Choice, ...]:
    """The plans worth choosing from, the cheapest first; what the storyboard asks for is always among them.

    Parameters
    ----------
    longest, thrift : what the storyboard asks for
    """
    asked = _choice(room, longest, thrift, chosen=True)
    tried = [_choice(room, seconds, weight) for seconds in LONGEST for weight in THRIFT]
    kept = [asked]
    for one in sorted(tried, key=_order):
        if not any(_beats(other, one) for other in [*tried, *kept] if other is not one) and not any(
            _measures(one) == _measures(other) for other in kept
        ):
            kept.append(one)
    return tuple(sorted(kept, key=_order))


def _choice(room: CuttingRoom, longest: int, thrift: int, *, chosen: bool = False) -> Choice:
    from mvpipe.sound.cutting import at_most

    shots = room.cut(at_most(longest, thrift=thrift)).shots
    weights: Sequence[float] = [shot.boundary.weight for shot in shots if shot.boundary]
    return Choice(
        longest=longest,
        thrift=thrift,
        shots=len(shots),
        inside=sum(shot.inside for shot in shots),
        quality=sum(weights) / len(weights) if weights else 1.0,
        seconds=sum(room.price(len(shot.window)) for shot in shots),
        chosen=chosen,
    )


def _measures(one: Choice) -> tuple[float, int, float]:
    """What is weighed, each the less the better."""
    return (round(one.seconds), one.inside, round(-one.quality, 2))


def _beats(one: Choice, other: Choice) -> bool:
    """Whether one is nowhere worse, and somewhere better."""
    pairs = list(zip(_measures(one), _measures(other), strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def _order(one: Choice) -> tuple[float, int, float, int, int]:
    """The cheapest first; of equals that which asks for least."""
    return (*_measures(one), one.longest, abs(one.thrift - 1))
