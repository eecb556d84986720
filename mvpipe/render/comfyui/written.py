"""Files that people write: YAML and JSON from disk, with a line number where they are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from mvpipe.errors import SettingsError

LARGEST = 16 * 1024 * 1024
"""Bytes; the largest workflow seen was under one million."""

Model = TypeVar("Model", bound=BaseModel)


def read_text(path: Path) -> str:
    """A text file.

    Raises
    ------
    SettingsError : it is missing, too large, or not UTF-8
    """
    try:
        if path.stat().st_size > LARGEST:
            raise SettingsError(f"{path}: {path.stat().st_size} bytes: not a graph")
        return path.read_text("utf-8-sig")
    except OSError as exc:
        raise SettingsError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{path}: not UTF-8 text: byte {exc.start}") from exc


def read_json(path: Path) -> Any:
    """What a JSON file holds; duplicate keys and NaN are errors.

    Raises
    ------
    SettingsError : as for `read_text`; or not JSON
    """
    try:
        return json.loads(read_text(path), object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        raise SettingsError(f"{path}:{exc.lineno}:{exc.colno}: not JSON: {exc.msg.lower()}") from exc
    except (ValueError, RecursionError) as exc:
        raise SettingsError(f"{path}: not JSON that can be used: {exc}") from exc


def read_yaml(path: Path) -> Any:
    """What a YAML 1.2 file holds, in plain types.

    Raises
    ------
    SettingsError : as for `read_text`; or not YAML
    """
    try:
        return YAML(typ="safe", pure=True).load(read_text(path))
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise SettingsError(f"{path}{at}: not YAML: {exc.problem or exc.context}") from exc
    except (YAMLError, ValueError, RecursionError) as exc:
        raise SettingsError(f"{path}: not YAML: {exc}") from exc


def modelled(model: type[Model], value: Any, path: Path) -> Model:
    """A file's content as a model.

    Raises
    ------
    SettingsError : it does not fit; the first three faults are named by their place in the file
    """
    try:
        return model.model_validate(value)
    except ValidationError as exc:
        faults = [f"{_dotted(e['loc'])}: {e['msg'][:1].lower()}{e['msg'][1:]}" for e in exc.errors()]
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise SettingsError(f"{path}: {'; '.join(faults[:3])}{more}") from exc


def _dotted(place: tuple[int | str, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.lstrip(".") or "the file"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number a server takes")
