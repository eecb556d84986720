"""The figures by which sync is judged: each with where it comes from, each open to the storyboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mvpipe.errors import SettingsError

FINDINGS = "measured on ground truth and a native H3 clip (findings-sync, section 3)"


@dataclass(frozen=True, slots=True)
class Rule:
    """A figure.

    Parameters
    ----------
    value : unless the storyboard says otherwise
    low, high : what it may be
    what : in words, with its unit
    source : of the value
    """

    value: float
    low: float
    high: float
    what: str
    source: str


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "offset_frames": Rule(
            1, 0, 3, "pictures at 25/s within which a shot passes",
            "design, section 7; viewers notice 45 ms early, 125 ms late (ITU-R BT.1359)",
        ),
        "fail_frames": Rule(
            2, 1, 5, "pictures at 25/s from which a shot fails",
            "findings-sync, Gate",
        ),
        "pass_p": Rule(
            0.05, 0.002, 0.1, "chance at which the mouth still passes",
            FINDINGS,
        ),
        "fail_p": Rule(
            0.01, 0.002, 0.1, "chance at which the mouth still fails",
            FINDINGS,
        ),
        "control_slack": Rule(
            1, 0, 2, "pictures by which the control may miss the ten it was moved",
            "design, section 7",
        ),
        "coverage": Rule(
            0.8, 0.5, 1, "share of frames in which the face is seen",
            "findings-sync, Gate",
        ),
        "eyes_px": Rule(
            24, 12, 200, "pixels between the outer corners of the eyes",
            "the smallest real face that was measured had 23, and could not be judged",
        ),
        "voiced_s": Rule(
            1.5, 0.5, 10, "seconds in which somebody is heard",
            "findings-sync, Gate",
        ),
        "shortest_s": Rule(
            5, 3, 15, "seconds of a shot that is judged alone; shorter ones are pooled",
            FINDINGS,
        ),
        "syncnet_floor": Rule(
            3, 1, 10, "LSE-C from which SyncNet is believed",
            "its authors cut LRS and VoxCeleb at 3 to 4; provisional for generated faces",
        ),
        "syncnet_chance": Rule(
            95, 50, 100, "percentile of LSE-C with voices sung elsewhere that is a sung shot's floor",
            "findings-sync, Gate; speech's floor misjudges song",
        ),
        "syncnet_voices": Rule(
            20, 10, 1000, "voices sung elsewhere that such a floor needs",
            "findings-sync, Gate",
        ),
        "syncnet_edge": Rule(
            14, 10, 15, "pictures from which an offset is the end of the search",
            "uninformative features read 15 in 6 to 9 % of clips (findings-sync, section 1)",
        ),
    }
)  # fmt: skip
"""Name -> figure."""


def figures(changed: Mapping[str, float] | None = None) -> dict[str, float]:
    """The value of every rule.

    Parameters
    ----------
    changed : by the storyboard

    Raises
    ------
    SettingsError : no such rule, or a value it may not have
    """
    values = {name: rule.value for name, rule in RULES.items()}
    for name, value in (changed or {}).items():
        if name not in RULES:
            raise SettingsError(f"gate: {name}: no such rule", hint=f"there are {', '.join(RULES)}")
        rule = RULES[name]
        if not rule.low <= value <= rule.high:
            raise SettingsError(
                f"gate: {name}: {value:g}: outside {rule.low:g} to {rule.high:g}", hint=rule.what
            )
        values[name] = value
    return values
