"""Changes to a storyboard's text that touch what they change and nothing else.

No writer of YAML keeps a file as its maker left it: the best round-trip library still moves comments, wraps
long texts anew and spaces lists its own way. So a change cuts and sews by the positions the parser gives, and
is believed only when the result reads as the old values with exactly this change (`changed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from mvpipe.errors import StoryboardError
from mvpipe.storyboard import writing
from mvpipe.storyboard.change import Change, Drop, Insert, Put, applied, may_vanish, plain, read_tree
from mvpipe.storyboard.load import Loaded, parse
from mvpipe.storyboard.problems import FieldPath, dotted
from mvpipe.storyboard.scalars import one_spelling

BY_HAND = "change it by hand: mvpipe lint says whether it still reads"


def changed(loaded: Loaded, text: str, changes: Sequence[Change]) -> str:
    """The text with the changes made, each proved: the new text says what was said, and the change.

    Parameters
    ----------
    loaded : the storyboard as it reads now
    text : its text
    changes : made one after the other

    Raises
    ------
    StoryboardError : the result would not be a storyboard, or the place cannot be changed safely
    """
    pending, tree = list(changes), read_tree(text)
    said = plain(tree)
    while pending:
        surgeon = _Surgeon(text, loaded.path, tree)
        now = surgeon.together(pending) or pending[:1]
        pending = pending[len(now) :]
        text = surgeon.replaced(now) if len(now) > 1 else surgeon.made(now[0])
        for change in now:
            said = applied(said, change)
        tree = read_tree(text)
        if plain(tree) != said:
            raise _by_hand(loaded.path, now[0].path, "stands in a way that mvpipe cannot change safely")
    parse(text, loaded.path)
    return text


def _by_hand(path: Path, field: FieldPath, why: str) -> StoryboardError:
    return StoryboardError(f"{path}: {dotted(field)}: {why}", hint=BY_HAND)


class _Surgeon:
    """Makes one change in one text."""

    def __init__(self, text: str, path: Path, tree: Any) -> None:
        self.text = text
        self.path = path
        self.root = tree
        self.end = "\r\n" if "\r\n" in text else "\n"

    def made(self, change: Change) -> str:
        """The text with the change made."""
        node, rest = self._down(change.path)
        if isinstance(change, Drop):
            return self._dropped(change.path)
        if not rest and isinstance(change, Put):
            return self.replaced([change])
        if not rest or (isinstance(change, Insert) and len(rest) == 1):
            return self._inserted(change)
        value: Any = change.value
        for step in reversed(rest[1:]):
            value = [value] if isinstance(step, int) else {step: value}
        if isinstance(node, ScalarNode):  # a key with nothing behind it
            return self._filled(node, change.path, {rest[0]: value} if isinstance(rest[0], str) else [value])
        return self._added(node, str(rest[0]), value)

    def _down(self, path: FieldPath) -> tuple[Any, FieldPath]:
        """The deepest node of a path that is there, and what of the path is not."""
        node = self.root
        for at, step in enumerate(path):
            child = self._child(node, step)
            if child is None:
                return node, path[at:]
            node = child
        return node, ()

    def _child(self, node: Any, step: str | int) -> Any:
        if isinstance(node, SequenceNode) and isinstance(step, int):
            return node.value[step] if step < len(node.value) else None
        if isinstance(node, MappingNode):
            return next((item for key, item in node.value if one_spelling(key.value) == step), None)
        return None

    def together(self, changes: Sequence[Change]) -> list[Change]:
        """The first changes, as many as put a text in the place of one: of a long film there are many."""
        found: list[Change] = []
        seen: set[int] = set()
        for change in changes:
            node, rest = self._down(change.path)
            if not isinstance(change, Put) or rest or not isinstance(node, ScalarNode) or id(node) in seen:
                break
            seen.add(id(node))
            found.append(change)
        return found

    def replaced(self, changes: Sequence[Change]) -> str:
        """The text with values in the place of others; from the end, so that no place moves."""
        text, places = self.text, []
        for change in changes:
            assert isinstance(change, Put)
            node, _ = self._down(change.path)
            start, stop = self._extent(node)
            places.append((start, stop, self._written(change.value, node, start)))
        for start, stop, written in sorted(places, reverse=True):
            text = text[:start] + written + text[stop:]
        return text

    def _written(self, value: Any, node: Any, start: int) -> str:
        """A value in the manner of the one it replaces."""
        if not isinstance(value, str):
            return writing.flow(value)
        if isinstance(node, ScalarNode) and node.style in (">", "|"):
            indent = self._indent_of_block(node)
            if block := writing.folded(value, indent):
                return block.replace("\n", self.end) + self.end
            return writing.scalar(value) + self.end
        if isinstance(node, ScalarNode) and node.style in ("'", '"'):
            return writing.quoted(value)
        return writing.scalar(value, flow=self._in_flow(start))

    def _indent_of_block(self, node: Any) -> int:
        """Columns a folded text stands in: those of its own first line."""
        body = self.text[node.start_mark.index : node.end_mark.index].splitlines()[1:]
        first = next((line for line in body if line.strip()), "")
        return len(first) - len(first.lstrip()) or node.start_mark.column + 2

    def _in_flow(self, at: int) -> bool:
        """Whether a position lies inside { } or [ ]."""
        node, inside = self.root, False
        while not isinstance(node, ScalarNode):
            inside = inside or bool(node.flow_style)
            children = [one for pair in node.value for one in (pair if isinstance(pair, tuple) else (pair,))]
            under = (one for one in children if one.start_mark.index <= at <= one.end_mark.index)
            following = next(under, None)
            if following is None:
                break
            node = following
        return inside

    def _extent(self, node: Any) -> tuple[int, int]:
        """Where a value stands: of a block, without the blank lines and comments behind it."""
        start, stop = node.start_mark.index, node.end_mark.index
        if isinstance(node, ScalarNode) and node.style in (">", "|"):
            return start, self._end_of_block(node)
        if not isinstance(node, ScalarNode) and not node.flow_style:
            last = node.value[-1][1] if isinstance(node, MappingNode) else node.value[-1]
            return start, self._extent(last)[1]
        return start, stop

    def _end_of_block(self, node: Any) -> int:
        """Behind the last line of a folded text; comments below it are not part of it."""
        indent = self._indent_of_block(node)
        at = self.text.index("\n", node.start_mark.index) + 1
        end = at
        for line in self.text[at:].splitlines(keepends=True):
            if line.strip() and len(line) - len(line.lstrip(" ")) < indent:
                break
            at += len(line)
            end = at if line.strip() else end
        return end

    def _filled(self, node: Any, path: FieldPath, value: Any) -> str:
        """The text with something behind a key that has nothing behind it."""
        key = self._key(path[: len(path) - len(self._down(path)[1])])
        colon = self.text.index(":", key.end_mark.index) + 1
        return f"{self.text[:colon]} {writing.flow(value)}{self.text[colon:]}"

    def _key(self, path: FieldPath) -> Any:
        node, _ = self._down(path[:-1])
        return next(key for key, _ in node.value if one_spelling(key.value) == path[-1])

    def _added(self, node: Any, key: str, value: Any) -> str:
        """The text with a new key at the end of a mapping."""
        if node.flow_style:
            return self._into_brackets(node, f"{writing.key(key)}: {writing.flow(value)}")
        indent = node.value[0][0].start_mark.column
        return self._below(self._extent(node)[1], "\n".join(writing.lines({key: value}, indent)))

    def _into_brackets(self, node: Any, written: str, before: int | None = None) -> str:
        if before is not None:
            return f"{self.text[:before]}{written}, {self.text[before:]}"
        last = node.value[-1] if node.value else None
        if last is None:
            at = node.start_mark.index + 1
            return self.text[:at] + written + self.text[at:]
        tail = last[1] if isinstance(last, tuple) else last
        at = tail.end_mark.index
        return f"{self.text[:at]}, {written}{self.text[at:]}"

    def _below(self, at: int, lines: str) -> str:
        """The text with lines put below the line in which a position lies."""
        if at and self.text[at - 1] == "\n":
            cut = at
        else:
            newline = self.text.find("\n", at)
            cut = len(self.text) if newline < 0 else newline + 1
        head = self.text[:cut]
        head += "" if head.endswith("\n") or not head else self.end
        return head + lines.replace("\n", self.end) + self.end + self.text[cut:]

    def _inserted(self, change: Change) -> str:
        """The text with an item in a list."""
        assert not isinstance(change, Drop)
        around, _ = self._down(change.path[:-1])
        at = change.path[-1]
        if not isinstance(around, SequenceNode) or not isinstance(at, int):
            raise _by_hand(self.path, change.path, "not a list")
        following = around.value[at] if at < len(around.value) else None
        if around.flow_style:
            before = following.start_mark.index if following else None
            return self._into_brackets(around, writing.flow(change.value), before)
        dash = self._dash(around.value[0])
        item = self._item(change.value, dash)
        if following is None:
            return self._below(self._extent(around)[1], item)
        line = self.text.rfind("\n", 0, following.start_mark.index) + 1
        return self.text[:line] + item.replace("\n", self.end) + self.end + self.text[line:]

    def _dash(self, item: Any) -> int:
        """The column of the dash before an item."""
        line = self.text.rfind("\n", 0, item.start_mark.index) + 1
        return self.text.index("-", line) - line

    def _item(self, value: Any, dash: int) -> str:
        if not isinstance(value, Mapping):
            return f"{' ' * dash}- {writing.value(value, dash + 2)}"
        return "\n".join(writing.listed(value, dash))

    def _dropped(self, path: FieldPath) -> str:
        around, rest = self._down(path[:-1])
        node = None if rest else self._child(around, path[-1])
        if node is None:
            raise _by_hand(self.path, path, "is not there")
        entries = around.value
        at = next(i for i, one in enumerate(entries) if (one[1] if isinstance(one, tuple) else one) is node)
        head = entries[at][0] if isinstance(around, MappingNode) else node
        if len(entries) == 1 and len(path) > 1:
            return self._dropped(path[:-1]) if may_vanish(path[:-1]) else self._emptied(around)
        if around.flow_style:
            return self._out_of_brackets(entries, at, head, node)
        start = self.text.rfind("\n", 0, head.start_mark.index) + 1
        stop = self._extent(node)[1]
        if self.text[stop - 1 : stop] != "\n":
            newline = self.text.find("\n", stop)
            stop = len(self.text) if newline < 0 else newline + 1
        if self.text[start : head.start_mark.index].strip(" -"):
            raise _by_hand(self.path, path, "shares its line with something else")
        if isinstance(around, MappingNode) and self.text[start : head.start_mark.index].strip():
            return self._first_of_item(entries, at, start, head, stop)
        return self.text[:start] + self.text[stop:]

    def _first_of_item(self, entries: Any, at: int, start: int, head: Any, stop: int) -> str:
        """The first key of a list's item goes: the dash stays, before the next key."""
        following = entries[at + 1][0].start_mark.index
        return self.text[: head.start_mark.index] + self.text[following:]

    def _emptied(self, around: Any) -> str:
        start, stop = self._extent(around)
        empty = "[]" if isinstance(around, SequenceNode) else "{}"
        if not around.flow_style:
            raise StoryboardError(f"{self.path}: the last of a list cannot be taken out here", hint=BY_HAND)
        return self.text[:start] + empty + self.text[stop:]

    def _out_of_brackets(self, entries: Any, at: int, head: Any, node: Any) -> str:
        if at + 1 < len(entries):
            following = entries[at + 1]
            stop = (following[0] if isinstance(following, tuple) else following).start_mark.index
            return self.text[: head.start_mark.index] + self.text[stop:]
        before = entries[at - 1]
        start = (before[1] if isinstance(before, tuple) else before).end_mark.index
        return self.text[:start] + self.text[node.end_mark.index :]
