"""The workers of a cluster as the place where takes are made, each with a server of its own.

The cluster places takes; what is decided here is their order, and what is learnt of who can do what.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from mvpipe.build.lane import Ready
from mvpipe.build.places import Hand, Places, Workforce
from mvpipe.fitness import Fitness
from mvpipe.schedule import Ask

H3 = "h3"
"""The resource of a worker that renders: so many takes it has at once. With 2, one renders and the next is
queued at its server."""


def renderers(hands: Collection[Hand]) -> list[Hand]:
    """Those of some workers that render."""
    return [hand for hand in hands if hand.resources.get(H3, 0) >= 1]


def rendering(force: Workforce) -> list[str]:
    """Names of the workers that render."""
    return sorted(hand.name for hand in renderers(force.hands()))


def takes_lane(
    force: Workforce, *, hosted: bool, first: Collection[str], say: Callable[[str], None]
) -> Places:
    """The lane: what is to be seen early, then retakes, then equal texts together, the long ones first.

    Which worker has a text encoded already, the cluster does not know: each of them encodes it once.

    Parameters
    ----------
    hosted : whether servers make the takes; if not, any worker does
    first : names of the takes that are made first
    """

    def rank(turn: Ready) -> tuple[bool, bool, str, str, float, int]:
        ask: Ask = turn.hint
        return ask.name not in first, not ask.retake, ask.model, ask.text, -ask.seconds, ask.at

    if not hosted:
        return Places(force, rank=rank, say=say)
    return Places(force, resource=H3, rank=rank, fitness=Fitness(()), say=say)
