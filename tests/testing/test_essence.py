"""What is compared would be seen to differ: planted drift in each kind of fact."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.testing import essence
from tests.testing.conftest import VERSIONS, facts
from tests.testing.gather import SCENARIOS, _shared

EXECUTING = {"type": "executing", "data": {"node": "1", "display_node": "1", "prompt_id": "p"}}
STATE = {
    "value": 1, "max": 4, "state": "running", "node_id": "1", "prompt_id": "p", "display_node_id": "1",
    "parent_node_id": None, "real_node_id": "1",
}  # fmt: skip


def drifted(message: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> str:
    other = copy.deepcopy(message)
    change(other["data"])
    return essence.told(other)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("prompt_id"), lambda data: data.update(node="2"),
        lambda data: data.update(more=1), lambda data: data.update(node=None),
    ],
)  # fmt: skip
def test_another_message_is_told_in_other_words(change: Callable[[dict[str, Any]], object]) -> None:
    assert drifted(EXECUTING, change) != essence.told(EXECUTING)


def test_a_states_words() -> None:
    message = {"type": "progress_state", "data": {"prompt_id": "p", "nodes": {"1": STATE}}}
    assert essence.told(message) == "progress_state 1 1 1/4 running"
    assert drifted(message, lambda data: data["nodes"]["1"].pop("parent_node_id")) != essence.told(message)
    assert essence.told({"binary": {"event": 4}}) == "binary 4"


def test_headers_that_matter() -> None:
    known = {"content-type": "video/mp4", "Date": "now", "etag": "x"}
    assert essence.headers(known) == {"Content-Type": "video/mp4", "Etag": ""}


def test_a_refusals_words_count_and_its_traceback_does_not() -> None:
    reason = {
        "type": "t",
        "message": "m",
        "details": "d",
        "extra_info": {"traceback": ["x"], "input_name": "n"},
    }
    body = {"error": {"type": "e"}, "node_errors": {"1": {"errors": [reason], "class_type": "C"}}}
    other = copy.deepcopy(body)
    other["node_errors"]["1"]["errors"][0]["extra_info"]["traceback"] = ["y"]  # type: ignore[index]
    assert essence.refusal(body) == essence.refusal(other)
    other["node_errors"]["1"]["errors"][0]["details"] = "other"  # type: ignore[index]
    assert essence.refusal(body) != essence.refusal(other)


def test_a_schema_tells_both_styles_apart() -> None:
    old = {"X": {"input": {"required": {"a": [["x", "y"], {}]}}, "input_order": {"required": ["a"]},
                 "output": [], "output_name": [], "output_node": True}}  # fmt: skip
    new = copy.deepcopy(old)
    new["X"]["input"]["required"]["a"] = ["COMBO", {"options": ["x", "y"]}]  # type: ignore[index]
    assert essence.schema(old) != essence.schema(new)
    assert essence.schema({}) == {}


def test_facts_are_there_for_both_versions() -> None:
    for scenario in SCENARIOS:
        for version in VERSIONS:
            assert facts(scenario, version)


def test_what_both_share_is_told_once() -> None:
    shared = _shared({VERSIONS[0]: {"a": 1, "b": 2}, VERSIONS[1]: {"a": 1, "b": 3}})
    assert shared == {"both": {"a": 1}, VERSIONS[0]: {"b": 2}, VERSIONS[1]: {"b": 3}}
    assert _shared({VERSIONS[0]: [1], VERSIONS[1]: [1]}) == {"both": [1]}
