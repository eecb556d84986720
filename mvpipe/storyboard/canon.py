"""What of a storyboard decides which part of the film, so that keys move only with what matters."""

from __future__ import annotations

from typing import Any, Literal

from mvpipe.storyboard.models import Storyboard

Part = Literal["separation", "cutting", "dealing", "rendering", "gating"]

_DECIDES: dict[Part, Any] = {
    "separation": {"sound": True},
    "cutting": {"cuts": True, "sections": {"__all__": {"start"}}},
    "dealing": {"title": True, "look": True, "cast": True, "places": True, "sections": True},
    "rendering": {
        "title": True,
        "picture": True,
        "look": True,
        "cast": True,
        "places": True,
        "render": {"backend", "graph", "profile", "seed", "animatic"},
    },
    "gating": {"gate": True},
}


def decides(storyboard: Storyboard, part: Part) -> dict[str, Any]:
    """What decides one part of the film, as canonical JSON values: times are exact fractions.

    Files are named here, not digested: whoever builds a key puts their contents in their place. What
    cannot change a result (how often a take is tried, where a value stands in the file) is never in it.
    """
    return storyboard.model_dump(mode="json", by_alias=True, include=_DECIDES[part])
