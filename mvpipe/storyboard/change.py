"""What may be changed in a storyboard, and what its text says, as plain values, before and after."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode, SequenceNode

from mvpipe.storyboard.problems import FieldPath
from mvpipe.storyboard.scalars import one_spelling


@dataclass(frozen=True, slots=True)
class Put:
    """A value is put in place: of a key that may be new, or of an item that is there.

    Parameters
    ----------
    path : where; the mapping or list around it is made where it is missing
    value : text, a list or a mapping of such
    """

    path: FieldPath
    value: Any


@dataclass(frozen=True, slots=True)
class Insert:
    """An item is put into a list, before the one of this index, or behind the last."""

    path: FieldPath
    value: Any


@dataclass(frozen=True, slots=True)
class Drop:
    """A key or an item is taken out."""

    path: FieldPath


Change = Put | Insert | Drop


def values(text: str) -> Any:
    """What a text says, as dicts, lists and texts: aliases and merges written out."""
    return plain(read_tree(text))


def read_tree(text: str) -> Any:
    """The nodes of a text, each with where it stands in it."""
    # the reader counts these as line breaks, editors do not; a blank keeps every position
    return YAML(typ="safe", pure=True).compose(re.sub("[\x85\u2028\u2029]", " ", text))


def plain(node: Any) -> Any:
    """What a node says, as dicts, lists and texts."""
    if isinstance(node, ScalarNode):
        # the reader strips texts; of a block the line end behind it is no part
        text = node.value.strip() if node.style in (">", "|") else node.value
        return text if node.style or text else None
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.value]
    own = {one_spelling(key.value): plain(item) for key, item in node.value if key.value != "<<"}
    merged = [plain(item) for key, item in node.value if key.value == "<<"]
    taken = [one for item in merged for one in (item if isinstance(item, list) else [item])]
    return {key: value for one in reversed(taken) for key, value in one.items()} | own


def applied(found: Any, change: Change) -> Any:
    """The values with a change made."""
    root = deepcopy(found)
    if isinstance(change, Drop):
        return _without(root, change.path)
    here: Any = root
    for step, following in zip(change.path, change.path[1:], strict=False):
        if isinstance(step, str) and here.get(step) is None:
            here[step] = [] if isinstance(following, int) else {}
        here = here[step]
    last: Any = change.path[-1]
    if isinstance(change, Insert):
        here.insert(last, _texts(change.value))
    else:
        here[last] = _texts(change.value)
    return root


def _without(root: Any, path: FieldPath) -> Any:
    """The values without one, and without what would be left empty around it."""
    around = root
    for step in path[:-1]:
        around = around[step]
    del around[path[-1]]
    return root if around or not may_vanish(path[:-1]) else _without(root, path[:-1])


def may_vanish(path: FieldPath) -> bool:
    """Whether what stands here may go with the last thing in it."""
    return path[:1] == ("cuts",)


def _texts(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _texts(item) for key, item in value.items()}
        case list() | tuple():
            return [_texts(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
