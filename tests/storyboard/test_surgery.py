# ruff: noqa: E501
"""Changes that touch what they change and nothing else."""

from __future__ import annotations

import difflib
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.change import Change, Drop, Insert, Put, values
from mvpipe.storyboard.load import parse
from mvpipe.storyboard.surgery import changed
from tests.storyboard.making import SAMPLES, steady

TEXT = """\
# A film.
mvpipe: 1
title: 'Neon Rain'   # the working title

cast: {mira: {is: "a woman, red coat", sings: true}, tomas: {is: tall}}
cuts:
  keep: [0:41, 1:12.5]   # the drums
  at:
    4: 0:23.5            # looks better
sections:
  - name: verse 1
    shots:
      # she begins
      - prompt: >
          Mira walks towards us
          and sings.

      # and the rain
      - {kind: b-roll, prompt: rain}
      - kind: b-roll     # nobody
        prompt: "a tram: late"

  # the loud part
  - name: chorus
    start: 0:30
    shots:
      - prompt: Mira sings
        cast: [mira]
render:
"""


def edit(text: str, *changes: Change) -> str:
    return changed(parse(text, Path("rain.yaml")), text, changes)


def diff(text: str, *changes: Change) -> list[str]:
    """Lines taken out and put in."""
    rows = difflib.unified_diff(text.splitlines(), edit(text, *changes).splitlines(), n=0, lineterm="")
    return [row for row in rows if not row.startswith(("---", "+++", "@@"))]


SHOTS = ("sections", 0, "shots")


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        (Put(("title",), "It's late"), ["-title: 'Neon Rain'   # the working title",
                                        '+title: "It\'s late"   # the working title']),
        (Put(("cast", "mira", "is"), "a man"), ['-cast: {mira: {is: "a woman, red coat", sings: true}, tomas: {is: tall}}',
                                                '+cast: {mira: {is: "a man", sings: true}, tomas: {is: tall}}']),
        (Put(("cast", "tomas", "is"), "a, b"), ['-cast: {mira: {is: "a woman, red coat", sings: true}, tomas: {is: tall}}',
                                                '+cast: {mira: {is: "a woman, red coat", sings: true}, tomas: {is: "a, b"}}']),
        (Put(("cuts", "at", "4"), "0:24"), ["-    4: 0:23.5            # looks better",
                                            "+    4: 0:24            # looks better"]),
        (Put(("cuts", "at", "7"), "0:50"), ["+    7: 0:50"]),
        (Put(("cuts", "avoid"), ["1 - 2"]), ["+  avoid: [1 - 2]"]),
        (Insert(("cuts", "keep", 1), "0:50"), ["-  keep: [0:41, 1:12.5]   # the drums",
                                               "+  keep: [0:41, 0:50, 1:12.5]   # the drums"]),
        (Insert(("cuts", "keep", 2), "2:00"), ["-  keep: [0:41, 1:12.5]   # the drums",
                                               "+  keep: [0:41, 1:12.5, 2:00]   # the drums"]),
        (Drop(("cuts", "keep", 0)), ["-  keep: [0:41, 1:12.5]   # the drums", "+  keep: [1:12.5]   # the drums"]),
        (Drop(("cuts", "keep", 1)), ["-  keep: [0:41, 1:12.5]   # the drums", "+  keep: [0:41]   # the drums"]),
        (Drop(("cuts", "at", "4")), ["-  at:", "-    4: 0:23.5            # looks better"]),
        (Put((*SHOTS, 0, "prompt"), "Short"), ["-          Mira walks towards us", "-          and sings.", "+          Short"]),
        (Put((*SHOTS, 1, "prompt"), "snow, at last"), ["-      - {kind: b-roll, prompt: rain}",
                                                      '+      - {kind: b-roll, prompt: "snow, at last"}']),
        (Put((*SHOTS, 0, "kind"), "b-roll"), ["+        kind: b-roll"]),
        (Put((*SHOTS, 1, "cast"), ["mira"]), ["-      - {kind: b-roll, prompt: rain}",
                                              "+      - {kind: b-roll, prompt: rain, cast: [mira]}"]),
        (Drop((*SHOTS, 2, "kind")), ["-      - kind: b-roll     # nobody", '-        prompt: "a tram: late"',
                                     '+      - prompt: "a tram: late"']),
        (Drop((*SHOTS, 1)), ["-      - {kind: b-roll, prompt: rain}"]),
        (Insert((*SHOTS, 3), {"prompt": "x", "cast": ["mira"]}), ["+      - prompt: x", "+        cast: [mira]"]),
        (Insert((*SHOTS, 1), {"prompt": "x"}), ["+      - prompt: x"]),
        (Put(("render", "seed"), 9), ["-render:", "+render: {seed: 9}"]),
        (Put(("gate", "offset_frames"), 2), ["+gate: {offset_frames: 2}"]),
        (Put(("sections", 0, "start"), "0:01"), ["+    start: 0:01"]),
    ],
)  # fmt: skip
def test_a_change_touches_its_own_lines(change: Change, rows: list[str]) -> None:
    assert diff(TEXT, change) == rows


def test_line_ends_and_a_missing_last_one_stay() -> None:
    text = TEXT.replace("\n", "\r\n").rstrip()
    after = edit(text, Put((*SHOTS, 0, "prompt"), "one two"), Put(("gate", "offset_frames"), 2))
    assert "\n" not in after.replace("\r\n", "")
    assert "          one two\r\n" in after


def test_a_long_prompt_is_folded_and_reads_the_same() -> None:
    words = "she looks up: " * 30 + "# not a comment"
    text = edit(TEXT, Put((*SHOTS, 0, "prompt"), words), Put(("sections", 1, "shots", 0, "prompt"), words))
    first, second = (parse(text, Path("x.yaml")).storyboard.sections[at].shots[0].prompt for at in (0, 1))
    assert first == second == words
    assert text.count("prompt: >") == 1


def test_what_would_not_be_a_storyboard_is_refused() -> None:
    with pytest.raises(StoryboardError, match="unknown key"):
        edit(TEXT, Put((*SHOTS, 0, "promt"), "x"))
    with pytest.raises(StoryboardError, match="not there"):
        edit(TEXT, Drop((*SHOTS, 9)))


def test_what_an_alias_repeats_is_not_changed_behind_its_back() -> None:
    text = TEXT.replace("{kind: b-roll, prompt: rain}", "&a {kind: b-roll, prompt: rain}\n      - *a")
    with pytest.raises(StoryboardError, match="cannot change safely"):
        edit(text, Put((*SHOTS, 2, "prompt"), "snow"))


def test_many_changes_of_a_long_film_take_seconds() -> None:
    shots = "".join(f"      - prompt: >\n          shot {n}\n        cast: [mira]\n" for n in range(300))
    head = "mvpipe: 1\ntitle: T\ncast: {mira: {is: x, sings: true}}\nsections:\n  - name: v\n    shots:\n"
    text = head + shots
    changes = [Put((*SHOTS, n, "prompt"), f"new {n}") for n in range(300)]
    before = process_time()
    after = edit(text, *changes)
    assert process_time() - before < 30, "one reading of the file a change would take minutes"
    assert values(after)["sections"][0]["shots"][299]["prompt"] == "new 299"


ANY = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029\x85"), max_size=60
)


@settings(steady, max_examples=25)
@given(text=ANY.filter(lambda text: text.strip()), sample=st.sampled_from([SAMPLES[0], None]), data=st.data())
def test_any_text_put_anywhere_is_read_back(text: str, sample: Path | None, data: st.DataObject) -> None:
    board = sample.read_text("utf-8") if sample else TEXT
    said = values(board)
    paths: list[Any] = [("sections", a, "shots", b, "prompt") for a, part in enumerate(said["sections"])
                        for b in range(len(part["shots"]))]  # fmt: skip
    path = data.draw(st.sampled_from([*paths, ("look",), ("title",), ("sections", 0, "shots", 0, "framing")]))
    after = edit(board, Put(path, text))
    here = values(after)
    for step in path:
        here = here[step]
    assert here == text
    kept = [row for row in board.splitlines() if row.lstrip().startswith("#")]
    assert [row for row in after.splitlines() if row in kept] == kept
