"""What a storyboard's `render` may ask of the animatic: ways to sing wrongly, and takes that are broken.

They exist for tests and for teaching: a gate that never saw a late mouth or a black take proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mvpipe.errors import StoryboardError

MOUTHS = ("follow", "closed", "frozen", "unrelated")
FAULTS = ("none", "black", "frozen", "short", "duplicate", "size", "rate", "damaged")
LATEST_MS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings, checked.

    Parameters
    ----------
    mouth : `follow` the vocal; `closed` or `frozen` half open; `unrelated`: sing something else
    offset_ms : milliseconds the picture's mouth is late, negative early
    fault : what is wrong with a take: `black`, `frozen` picture, 12 frames too `short`, a `duplicate` of
        every other such take, half the `size`, another `rate`, or a `damaged` file
    fault_shots : numbers of the shots that have the fault; none for all
    fault_takes : how many takes of a shot have it, from the first; 0 for all
    """

    mouth: str = "follow"
    offset_ms: int = 0
    fault: str = "none"
    fault_shots: tuple[int, ...] = ()
    fault_takes: int = 0

    def fault_in(self, shot: int) -> str:
        """The fault of a shot's takes."""
        return self.fault if not self.fault_shots or shot in self.fault_shots else "none"


def read_options(settings: Mapping[str, Any]) -> Options:
    """The options of a storyboard's settings for this backend.

    Raises
    ------
    StoryboardError : an unknown option, or a value it cannot have
    """
    known = tuple(Options.__dataclass_fields__)
    for name in settings:
        if name not in known:
            raise StoryboardError(
                f"render.{name}: unknown option of the animatic backend", hint=f"it knows {', '.join(known)}"
            )
    shots = settings.get("fault_shots", ())
    return Options(
        mouth=_one_of("mouth", settings.get("mouth", "follow"), MOUTHS),
        offset_ms=_whole("offset_ms", settings.get("offset_ms", 0), -LATEST_MS, LATEST_MS),
        fault=_one_of("fault", settings.get("fault", "none"), FAULTS),
        fault_shots=tuple(_whole("fault_shots", n, 1, 100_000) for n in _listed("fault_shots", shots)),
        fault_takes=_whole("fault_takes", settings.get("fault_takes", 0), 0, 1000),
    )


def _one_of(name: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise StoryboardError(f"render.{name}: not one of {', '.join(known)}: {value!r}")
    return value


def _whole(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise StoryboardError(f"render.{name}: not a whole number from {low} to {high}: {value!r}")
    return value


def _listed(name: str, value: object) -> list[object]:
    if not isinstance(value, (list, tuple)):
        raise StoryboardError(f"render.{name}: not a list: {value!r}")
    return list(value)
