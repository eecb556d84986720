from __future__ import annotations

import pytest

from mvpipe.errors import SettingsError
from mvpipe.gate.rules import LOOKED_AT, RULES, figures


def test_every_figure_has_words_a_source_and_a_range() -> None:
    for rule in RULES.values():
        assert rule.what
        assert rule.source
        assert rule.about in {"lips", "faces", "picture", "sound"}
        assert rule.low <= rule.value <= rule.high


def test_a_storyboard_changes_what_it_names() -> None:
    changed = figures({"offset_frames": 2})
    assert changed == {**figures(), "offset_frames": 2}


def test_lips_are_judged_by_nothing_but_their_own() -> None:
    lips = figures({"cuts": 2, "coverage": 0.7}, LOOKED_AT)
    assert lips["coverage"] == 0.7
    assert "cuts" not in lips
    assert set(figures()) - set(lips) == {n for n, r in RULES.items() if r.about in {"picture", "sound"}}


@pytest.mark.parametrize(
    ("name", "value"), [("offset", 1), ("offset_frames", 9), ("pass_p", 1), ("coverage", 0)]
)
def test_no_other_rules_and_no_loose_values(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"gate: {name}"):
        figures({name: value})
