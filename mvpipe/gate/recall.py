"""A verdict from the JSON it was written down as, so that it can be drawn long after it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mvpipe.film import Outcome
from mvpipe.gate.opinions import Control, Opinion
from mvpipe.gate.sync import SyncVerdict

BELOW = ("track", "tracks", "rules")
"""What `SyncVerdict.as_json` puts among the numbers."""


def recall(record: Mapping[str, Any]) -> SyncVerdict:
    """The verdict that `as_json` wrote down."""
    numbers = record["numbers"]
    opinions = tuple(tuple(_opinion(one) for one in face) for face in numbers["tracks"])
    known = {field.name for field in fields(SyncVerdict)}
    return SyncVerdict(
        **{name: value for name, value in record.items() if name in known - {"numbers"}},
        outcome=Outcome(record["verdict"]),
        track=numbers["track"],
        opinions=opinions,
        rules=dict(numbers["rules"]),
        numbers={name: value for name, value in numbers.items() if name not in BELOW},
    )


def _opinion(told: Mapping[str, Any]) -> Opinion:
    return Opinion(**{**told, "outcome": Outcome(told["outcome"]), "control": Control(**told["control"])})
