"""What somebody proposes for the shots of a section, held against the schema before anybody sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mvpipe.storyboard.described import Shot
from mvpipe.storyboard.scalars import Wrong, show

MAY_SAY = ("prompt", "framing", "cast", "place")
"""What a proposal may say of a shot. What is sung, cut and rendered is not up to it."""

LONGEST_PROMPT = 1500
"""Characters; H3's text encoder is given some 500 words for a shot in all."""


def read(
    answer: str, shots: Sequence[Mapping[str, Any]], *, cast: Sequence[str], places: Sequence[str]
) -> list[dict[str, Any]]:
    """The proposed fields of every shot of a section.

    Parameters
    ----------
    answer : JSON, alone or inside other text: `{"shots": [{"prompt": "..."}, ...]}`
    shots : what is known of each, of which `kind` is kept
    cast, places : names that may be used

    Raises
    ------
    Wrong : it is no such JSON, has another number of shots, or says what a shot cannot be
    """
    rows = _rows(answer)
    if len(rows) != len(shots):
        raise Wrong(f"not one proposal a shot: {len(rows)} for {len(shots)}")
    return [
        _row(row, shot, at, {"cast": tuple(cast), "places": tuple(places)})
        for at, (row, shot) in enumerate(zip(rows, shots, strict=True), 1)
    ]


def _rows(answer: str) -> list[Any]:
    fenced = re.search(r"```(?:json)?\s*(.*?)```", answer, re.DOTALL)
    text = fenced[1] if fenced else answer[max(answer.find("{"), 0) : answer.rfind("}") + 1]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Wrong(f"not JSON: {show(answer.strip())}") from exc
    rows = found.get("shots") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise Wrong('no list of "shots" in it')
    return rows


def _row(row: Any, shot: Mapping[str, Any], at: int, names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise Wrong(f"shot {at}: not keys and values: {show(row)}")
    if unknown := [key for key in row if key not in MAY_SAY]:
        raise Wrong(f"shot {at}: not up to a proposal: {', '.join(map(str, unknown[:5]))}")
    try:
        checked = Shot.model_validate({**row, "kind": shot["kind"]}, context=dict(names))
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Wrong(f"shot {at}: {where}: {first['msg'].removeprefix('Value error, ')}") from exc
    said = " ".join(checked.prompt.split())
    if not said or len(said) > LONGEST_PROMPT:
        raise Wrong(f"shot {at}: a prompt of 1 to {LONGEST_PROMPT} characters: found {len(said)}")
    rest = {"framing": checked.framing, "cast": list(checked.cast), "place": checked.place}
    return {"prompt": said} | {key: value for key, value in rest.items() if value}
