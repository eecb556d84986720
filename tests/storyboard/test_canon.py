"""What of a storyboard moves which key."""

import json
from pathlib import Path
from typing import get_args

import pytest

from mvpipe.storyboard.canon import Part, decides
from mvpipe.storyboard.models import Storyboard
from tests.storyboard.making import loaded

TEXT = """\
look: wet
cast: {mira: {is: a woman, sings: true}}
places: {street: {is: narrow}}
sections: [{name: verse 1, start: 0:12.4, shots: [{prompt: she walks, cast: [mira], place: street}]}]
cuts: {keep: [0:41], avoid: ["1:02 - 1:03.5"], at: {4: 20.5}}
sound: {separator: spleeter}
render: {takes: 3, seed: 7, animatic: {offset_ms: 0}}
gate: {offset_frames: 1}
"""

EDITS = {
    "she walks": ("she runs", {"dealing"}),
    "0:12.4": ("0:12.5", {"cutting", "dealing"}),
    "0:41]": ("0:42]", {"cutting"}),
    "1:03.5": ("1:04", {"cutting"}),
    "20.5": ("20.6", {"cutting"}),
    "spleeter": ("htdemucs", {"separation"}),
    "takes: 3": ("takes: 5", set()),
    "seed: 7": ("seed: 8", {"rendering"}),
    "offset_ms: 0": ("offset_ms: 80", {"rendering"}),
    "offset_frames: 1": ("offset_frames: 2", {"gating"}),
    "a woman": ("a man", {"dealing", "rendering"}),
    "look: wet": ("look: dry", {"dealing", "rendering"}),
    "narrow": ("wide", {"dealing", "rendering"}),
    "0:41], avoid": ("'41.000'], avoid", set()),
    "look: wet\n": ("# a remark\nlook:   'wet'\n\n", set()),
}


def all_parts(board: Storyboard) -> dict[str, str]:
    return {part: json.dumps(decides(board, part), sort_keys=True) for part in get_args(Part)}


@pytest.mark.parametrize("before", EDITS)
def test_an_edit_moves_what_it_decides_and_nothing_else(tmp_path: Path, before: str) -> None:
    after, moved = EDITS[before]
    assert before in TEXT
    first = all_parts(loaded(tmp_path, TEXT).storyboard)
    second = all_parts(loaded(tmp_path, TEXT.replace(before, after)).storyboard)
    assert {part for part in first if first[part] != second[part]} == moved


def test_times_are_exact_and_golden(tmp_path: Path) -> None:
    assert decides(loaded(tmp_path, TEXT).storyboard, "cutting") == {
        "sections": [{"start": "62/5"}],
        "cuts": {"keep": ["41"], "avoid": [["62", "127/2"]], "at": {"4": "41/2"}, "longest": 15, "thrift": 1},
    }
