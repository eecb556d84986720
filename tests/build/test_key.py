"""Keys move with what decides the bytes, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.build.key import Task, canonical, digest, file_digest

TASK = Task(
    name="take",
    version=1,
    inputs={"vocals": "ab" * 32, "picture:mira/0": "cd" * 32},
    params={"seed": 7, "size": [672, 384], "graph": {"prompt": "é", "move": "push in"}},
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_for_ever() -> None:
    assert digest("task", None) == "1d2d8fe3816a95d38c85b310231b5ce337f9c96e2ce9ce30cabaf1fe1fbc8f43"
    assert TASK.key == "4bd256d9a833aeadc37b97260003a156147ea2adc38c78d801b0e117cee030dd"


def test_kinds_never_collide() -> None:
    assert digest("task", "x") != digest("file", "x")


@pytest.mark.parametrize(
    "other",
    [
        replace(TASK, name="look"),
        replace(TASK, version=2),
        replace(TASK, inputs={**TASK.inputs, "vocals": "ac" * 32}),
        replace(TASK, inputs={"picture:mira/0": "cd" * 32}),
        replace(TASK, params={**TASK.params, "seed": 8}),
        replace(TASK, params={**TASK.params, "extra": None}),
    ],
)
def test_a_key_moves_with_everything_that_decides(other: Task) -> None:
    assert other.key != TASK.key


def test_a_key_ignores_order() -> None:
    turned = replace(
        TASK,
        inputs=dict(reversed(list(TASK.inputs.items()))),
        params=dict(reversed(list(TASK.params.items()))),
    )
    assert turned.key == TASK.key


@given(JSON)
def test_canonical_text_is_one_per_value(value: object) -> None:
    import json

    assert canonical(json.loads(canonical(value))) == canonical(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_has_no_key(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        digest("task", {"level": value})


def test_a_file_is_its_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"same")
    other.write_bytes(b"same")
    assert file_digest(one) == file_digest(other)
    other.write_bytes(b"sane")
    assert file_digest(one) != file_digest(other)
