"""The JSON Schema that editors use."""

import json
from collections.abc import Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from mvpipe.storyboard.load import load
from mvpipe.storyboard.models import Storyboard
from mvpipe.storyboard.schema import json_schema
from tests.storyboard.making import SAMPLES
from tests.storyboard.test_load import RAIN


@pytest.fixture
def jsonschema() -> Any:
    return import_module("jsonschema")


def objects(node: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        if "properties" in node:
            yield node.get("title", name), node
        for key, child in node.items():
            yield from objects(child, key)


def valid(jsonschema: Any, text: str) -> bool:
    """What an editor says: it types bare words before it looks at the schema."""
    data = YAML(typ="safe", pure=True).load(StringIO(text))
    return bool(jsonschema.Draft202012Validator(json_schema()).is_valid(data))


def test_it_has_a_name_and_is_a_schema(jsonschema: Any) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["$id"], schema["title"]) == ("urn:mvpipe:storyboard:1", "mvpipe storyboard")


def test_every_field_is_described_with_an_example_and_nothing_else_is_allowed() -> None:
    found = dict(objects(json_schema()))
    assert len(found) == 13
    for name, part in found.items():
        assert part["additionalProperties"] is False, name
        for key, field in part["properties"].items():
            assert field.get("description"), (name, key)
            assert field.get("examples"), (name, key)


def choices(field: dict[str, Any]) -> list[str]:
    """What a field may be one of."""
    options = [field, *field.get("anyOf", ())]
    return [choice for option in options for choice in option.get("enum", ())]


def test_every_kind_of_thing_is_described_and_every_choice_is_explained_where_it_is_made() -> None:
    schema = json_schema()
    assert [name for name, part in schema["$defs"].items() if not part.get("description")] == []
    for name, part in objects(schema):
        for key, field in part["properties"].items():
            told = f"{field['description']} {field['examples']}"
            assert [choice for choice in choices(field) if choice not in told] == [], (name, key)


def test_every_snippet_is_a_thing_that_can_stand_there(jsonschema: Any) -> None:
    schema = json_schema()
    offered = {
        name: part["defaultSnippets"] for name, part in schema["$defs"].items() if "defaultSnippets" in part
    }
    assert {"Shot", "Section", "CastMember", "Place"} <= offered.keys()
    for name, snippets in offered.items():
        validator = jsonschema.Draft202012Validator({**schema["$defs"][name], "$defs": schema["$defs"]})
        for snippet in snippets:
            body = json.loads(json.dumps(snippet["body"]).replace("${1:0:31.0}", "0:31.0"))
            validator.validate(body)
            assert snippet["label"]
            assert snippet["description"]


def test_every_example_is_valid_in_its_place(jsonschema: Any) -> None:
    schema = json_schema()
    for _, part in objects(schema):
        for field in part["properties"].values():
            validator = jsonschema.Draft202012Validator({**field, "$defs": schema["$defs"]})
            for example in field["examples"]:
                validator.validate(example)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_it_takes_the_samples(jsonschema: Any, sample: Path) -> None:
    load(sample)
    assert valid(jsonschema, sample.read_text())


@pytest.mark.parametrize(
    "text",
    [
        RAIN,
        "mvpipe: 1\ntitle: 1999\nlook: null\ncast: {on: {is: 5}}\nsections: [{name: true}]\n",
        "mvpipe: 1\ntitle: T\ncast:\nplaces:\nsections:\ncuts:\n  keep:\nrender:\n",
        "mvpipe: 1\ntitle: T\ncuts: {keep: [41, 0:41, '0:41', 41.5], avoid: [1 - 2], at: {'3': 1:02:03}}\n",
    ],
)
def test_it_takes_what_load_takes(jsonschema: Any, text: str) -> None:
    assert valid(jsonschema, text)


@pytest.mark.parametrize(
    "text",
    [
        "title: T\n",
        "mvpipe: 2\ntitle: T\n",
        "mvpipe: 1\ntitle: T\ntitel: T\n",
        "mvpipe: 1\ntitle: T\nrender: {takes: 21}\n",
        "mvpipe: 1\ntitle: T\nrender: {backend: x}\n",
        "mvpipe: 1\ntitle: T\nsections: [{name: a, shots: [{kind: broll}]}]\n",
        "mvpipe: 1\ntitle: T\nsections: [{name: a, start: soon}]\n",
        "mvpipe: 1\ntitle: T\ncast: {m: {sings: true}}\n",
        "mvpipe: 1\ntitle: T\npicture: {size: big}\n",
    ],
)
def test_it_refuses_what_load_refuses(jsonschema: Any, text: str) -> None:
    assert not valid(jsonschema, text)


def test_what_it_takes_at_least_covers_every_key_that_load_knows() -> None:
    parts = dict(objects(json_schema()))
    assert set(parts["mvpipe storyboard"]["properties"]) == set(Storyboard.model_fields)
    assert "is" in parts["CastMember"]["properties"]
    assert "description" not in parts["CastMember"]["properties"]
