"""The figures by which takes are judged: each with where it comes from, each open to the storyboard."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    about : what is judged by it: `lips`, `faces`, `picture` or `sound`
    """

    value: float
    low: float
    high: float
    what: str
    source: str
    about: str = "lips"


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
        "several_p": Rule(
            0.01, 0.002, 0.1, "chance at which one of several mouths passes, none of which is known to sing",
            "of mouths that sing something else 9 % have p <= 0.05, and 2 % p <= 0.01 (findings-sync)",
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
        "mouth_moves": Rule(
            0.015, 0.01, 0.1, "deviation of the lips' height over the eyes' distance of a mouth that moves",
            "measured (gate/people.py): mouths that are still have 0.011 at most, those that sing 0.02",
            "faces",
        ),
        "same_face": Rule(
            0.6, 0.3, 1, "distance up to which two faces are one person's",
            "the author of the identity network; one person in photographs and native H3: 0.18 to 0.49",
            "faces",
        ),
        "other_face": Rule(
            0.7, 0.4, 1.2, "distance from which two faces are two persons'",
            "photographs and native H3: 0.73 and more between any two people",
            "faces",
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
        "still_frames": Rule(
            48, 4, 1000, "frames in a row that show the same picture",
            "twice what any good take that was measured needed (gate/judge.py)",
            "picture",
        ),
        "still_tail": Rule(
            24, 4, 1000, "frames at the end that show the same picture",
            "takes of video models freeze at their end (gate/judge.py)",
            "picture",
        ),
        "black_share": Rule(
            0.1, 0, 1, "share of the frames that may be black",
            "a fade of half a second in a take of five",
            "picture",
        ),
        "plain_share": Rule(
            0.1, 0, 1, "share of the frames that may be one flat colour",
            "as for black",
            "picture",
        ),
        "noise_share": Rule(
            0.1, 0, 1, "share of the frames that may be noise",
            "as for black; good takes have none",
            "picture",
        ),
        "flashes": Rule(
            0, 0, 1000, "pictures that may break in",
            "good takes have none (gate/structure.py)",
            "picture",
        ),
        "cuts": Rule(
            0, 0, 100, "cuts that may be inside a shot",
            "every cut is the plan's (design, section 4)",
            "picture",
        ),
        "alike": Rule(
            0.5, 0.2, 0.95, "likeness of a take's sound to the voice that was locked into it",
            "the same sung window 0.6 and more, another 0.21 and less (tools/audible.py)",
            "sound",
        ),
        "sound_share": Rule(
            0.95, 0.5, 1, "share of the picture's length that its sound has",
            "a codec pads, and cuts no more than a packet",
            "sound",
        ),
        "steady_db": Rule(
            3, 0, 10, "deviation of its level under which a sound is noise or a tone",
            "brown noise 2.3, voices 10.6 and more (tools/audible.py)",
            "sound",
        ),
        "clipped_share": Rule(
            0.05, 0, 1, "share of a sound cut off at full scale, beyond that of the voice",
            "a voice 6 dB too loud 0.15, native H3 speech 0.04 at most (tools/audible.py)",
            "sound",
        ),
        "bright_lost": Rule(
            0.67, 0.1, 1, "share of 4-10 kHz that may be gone in a chain",
            "pinned chains lose 8 to 50 %, those that feed on themselves 84 to 92 % (h3.md, section 3)",
            "sound",
        ),
    }
)  # fmt: skip
"""Name -> figure."""


LOOKED_AT = ("lips", "faces")
"""What lips are judged by; the others are about all takes."""


def figures(
    changed: Mapping[str, float] | None = None, about: Collection[str] | None = None
) -> dict[str, float]:
    """The value of every rule.

    Parameters
    ----------
    changed : by the storyboard
    about : which ones; None for all

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
    return {name: value for name, value in values.items() if about is None or RULES[name].about in about}
