"""The JSON Schema of storyboards, from the models: editors complete, explain and check with it.

It never refuses what `load` accepts of a film written in the plain style of the samples; what it cannot
know (names, files, duplicate keys), `load` says.
"""

from __future__ import annotations

from typing import Any

from mvpipe.storyboard.models import Storyboard

SCHEMA_ID = "urn:mvpipe:storyboard:1"

SNIPPETS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "Shot": [
        ("performance", "somebody sings", {"prompt": "$1", "cast": ["$2"], "place": "$3"}),
        ("b-roll", "nobody sings", {"kind": "b-roll", "prompt": "$1", "place": "$2"}),
        ("tied to a line", "where a line is sung", {"lyric": "$1", "prompt": "$2", "cast": ["$3"]}),
        ("tied to a moment", "where a time falls", {"at": "${1:0:31.0}", "prompt": "$2"}),
    ],
    "Section": [("section", "a part of the song", {"name": "$1", "shots": [{"prompt": "$2"}]})],
    "CastMember": [("singer", "somebody who sings", {"is": "$1", "pictures": ["$2"], "sings": True})],
    "Place": [("place", "where shots play", {"is": "$1", "pictures": ["$2"]})],
}
"""What editors offer to write: label, what it is, and keys with stops to type at (`$1`), as the YAML language
server reads them."""


def json_schema() -> dict[str, Any]:
    """The schema, in the 2020-12 dialect."""
    schema = Storyboard.model_json_schema(by_alias=True)
    parts = [schema, *schema.get("$defs", {}).values()]
    for name, snippets in SNIPPETS.items():
        schema["$defs"][name]["defaultSnippets"] = [
            {"label": label, "description": told, "body": body} for label, told, body in snippets
        ]
    for part in parts:
        required = part.get("required", ())
        for key, field in part.get("properties", {}).items():
            part["properties"][key] = field if key in required else _or_nothing(field)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "mvpipe storyboard",
    }


def _or_nothing(field: dict[str, Any]) -> dict[str, Any]:
    """The field, or its key with nothing behind it, which counts as left out."""
    told = {key: value for key, value in field.items() if key in _TOLD}
    rest = {key: value for key, value in field.items() if key not in _TOLD}
    options = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    if not any(option == {"type": "null"} for option in options):
        options = [*options, {"type": "null"}]
    return {"anyOf": options, **told}


_TOLD = ("title", "description", "examples", "default")
