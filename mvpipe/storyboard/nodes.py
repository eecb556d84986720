"""YAML as a tree of texts that know where they stand.

Nothing is typed here: `1:30`, `on`, `no`, `null` and `0o7` stay what was written. The tree is built from
ruamel's events rather than by its constructors, so that no tag can make an object, duplicate keys are
seen, and depth and size are bounded before they cost anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from mvpipe.storyboard.files import place
from mvpipe.storyboard.problems import FieldPath, Mark, Note, Problem, dotted, fail
from mvpipe.storyboard.scalars import one_spelling, show
from mvpipe.storyboard.syntax import explain

DEEPEST = 32
"""Levels of nesting; a storyboard needs seven."""

MOST_NODES = 50_000
"""Values once every alias is written out; five hundred shots need about six thousand."""

_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "map", "seq"))
"""The tags of YAML's core schema: they say what the schema decides anyway."""


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar; `bare` if it stood without quotes and `|` or `>`."""

    mark: Mark
    text: str
    bare: bool
    size: int = 1


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    mark: Mark
    items: tuple[Node, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Entries:
    """Keys with their values, in order; a merge (`<<`) is already written out."""

    mark: Mark
    entries: tuple[tuple[Text, Node], ...]
    size: int


Node = Text | Items | Entries


def compose(text: str, path: Path) -> tuple[Node, list[Note], list[Problem]]:
    """The tree of a YAML text, what is odd about it, and what is wrong with it short of its syntax.

    Raises
    ------
    StoryboardError : the text is empty, more than one document, no YAML, or too deep or too large
    """
    composer = _Composer(text)
    try:
        tree = composer.document()
    except _Stop as exc:
        raise fail(path, [*composer.problems, exc.problem]) from exc
    except MarkedYAMLError as exc:
        raise fail(path, [*composer.problems, composer.complaint(exc)]) from exc
    except ReaderError as exc:
        mark = Mark(*map(int, place(text[: exc.position]).split(":")))
        problem = composer.problem(mark, f"a character YAML does not allow: U+{exc.character:04X}", _UNSEEN)
        raise fail(path, [problem]) from exc
    except (ValueError, OverflowError) as exc:
        # chr() in ruamel, for an escape such as "\UFFFFFFFF"
        means, hint, _ = explain("beyond Unicode")
        raise fail(path, [composer.problem(composer.last, means, hint)]) from exc
    notes = [Note(f"{path}:{mark.line}:{mark.column}: {where}", said) for mark, where, said in composer.notes]
    return tree, notes, composer.problems


class _Stop(Exception):
    """Composing cannot go on."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


class _Composer:
    def __init__(self, text: str) -> None:
        # no line breaks in YAML 1.2 nor in editors, but ruamel counts them; a blank keeps every column
        text = re.sub("[\x85\u2028\u2029]", " ", text)
        self.lines = re.split(r"\r\n|[\r\n]", text)
        self.events: Iterator[Any] = YAML(typ="safe", pure=True).parse(text)
        self.anchors: dict[str, Node | None] = {}
        self.problems: list[Problem] = []
        self.notes: list[tuple[Mark, str, str]] = []
        self.here: FieldPath = ()
        self.last = Mark(1, 1)
        self.count = 0

    def problem(self, mark: Mark, text: str, hint: str = "") -> Problem:
        return Problem(mark=mark, field=dotted(self.here) or "storyboard", text=text, hint=hint)

    def complaint(self, exc: MarkedYAMLError) -> Problem:
        means, hint, at_start = explain(f"{exc.context or ''}: {exc.problem or ''}")
        at = (at_start and exc.context_mark) or exc.problem_mark or exc.context_mark
        mark = Mark(at.line + 1, at.column + 1) if at else self.last
        line = self.lines[mark.line - 1].strip() if mark.line <= len(self.lines) else "the end of the file"
        return self.problem(mark, f"{means}: {show(line)}", hint)

    def next(self) -> Any:
        event = next(self.events)
        if not isinstance(event, MappingEndEvent | SequenceEndEvent):
            self.last = Mark(event.start_mark.line + 1, event.start_mark.column + 1)
        return event

    def document(self) -> Node:
        """The one document of the text."""
        root: Node | None = None
        while not isinstance(event := self.next(), StreamEndEvent):
            if not isinstance(event, DocumentStartEvent):
                continue
            if root is not None:
                self.here = ()
                raise _Stop(self.problem(self.last, "a second document begins: found ---", "one film a file"))
            root = self.node(self.next(), ())
        if root is None or (isinstance(root, Text) and root.bare and not root.text):
            raise _Stop(self.problem(Mark(1, 1), "empty: found no text", _BEGIN))
        return root

    def node(self, event: Any, path: FieldPath) -> Node:
        self.here, mark = path, self.last
        self.count += 1
        if self.count > MOST_NODES:
            raise _Stop(self.problem(mark, f"too large: more than {MOST_NODES} values"))
        if isinstance(event, AliasEvent):
            return self.alias(event.anchor, mark)
        if len(path) > DEEPEST:
            self.here = path[:1]
            raise _Stop(self.problem(mark, f"nested too deeply: more than {DEEPEST} levels"))
        if event.tag is not None and event.tag not in _TAGS and event.tag != "!":
            self.problems.append(
                self.problem(mark, f"a tag that means nothing here: {show(_tag(event.tag))}",
                    "tags are not used in storyboards; a text that begins with ! needs quotes")
            )  # fmt: skip
        if event.anchor:
            self.anchors[event.anchor] = None
        found = self.collected(event, path, mark)
        if event.anchor:
            self.anchors[event.anchor] = found
        return found

    def collected(self, event: Any, path: FieldPath, mark: Mark) -> Node:
        if isinstance(event, ScalarEvent):
            bare = event.style is None
            if bare:
                self.look_behind(event.end_mark)
            return Text(mark, event.value, bare)
        if isinstance(event, SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(child := self.next(), SequenceEndEvent):
                items.append(self.node(child, (*path, len(items))))
            return Items(mark, tuple(items), self.sized(items, mark))
        return self.entries(path, mark)

    def look_behind(self, end: Any) -> None:
        """Note what looks like the rest of a text and is a comment: `prompt: the room #3`."""
        rest = self.lines[end.line][end.column :] if end.line < len(self.lines) else ""
        if found := re.match(r"[ \t]+(#[^\s#!-].*)", rest):
            mark = Mark(end.line + 1, end.column + 1 + found.start(1))
            said = f"a comment, not part of the text: {show(found[1])}; quote the text if it belongs to it"
            self.notes.append((mark, dotted(self.here) or "storyboard", said))

    def alias(self, anchor: str, mark: Mark) -> Node:
        found = self.anchors.get(anchor)
        if found is None:
            inside = anchor in self.anchors
            what = "an alias inside what it repeats" if inside else "an alias of nothing"
            problem = self.problem(mark, f"{what}: {show('*' + anchor)}", _ALIAS)
            if inside:
                raise _Stop(problem)
            self.problems.append(problem)
            return Text(mark, f"*{anchor}", bare=False)
        return replace(found, mark=mark)

    def entries(self, path: FieldPath, mark: Mark) -> Entries:
        own: dict[str, tuple[Text, Node]] = {}
        merged: dict[str, tuple[Text, Node]] = {}
        while not isinstance(event := self.next(), MappingEndEvent):
            key = self.key(event, path)
            self.here = (*path, key.text)
            value = self.node(self.next(), (*path, key.text))
            if key.bare and key.text == "<<":
                for entry in self.merged(value, path):
                    merged.setdefault(one_spelling(entry[0].text), entry)
            elif (first := own.setdefault(one_spelling(key.text), (key, value))) and first[0] is not key:
                self.here = (*path, key.text)
                self.problems.append(
                    self.problem(
                        key.mark, f"a key given twice: first in line {first[0].mark.line}", "keep one"
                    )
                )
        entries = tuple((merged | own).values())
        return Entries(mark, entries, self.sized([value for _, value in entries], mark))

    def key(self, event: Any, path: FieldPath) -> Text:
        if not isinstance(event, ScalarEvent | AliasEvent):
            kind = "a list" if isinstance(event, SequenceStartEvent) else "keys and values"
            self.here = path
            raise _Stop(self.problem(self.last, f"a key is a text: found {kind}", _BRACES))
        found = self.node(event, path)
        if not isinstance(found, Text):
            self.here = path
            raise _Stop(self.problem(found.mark, f"a key is a text: found {_kind(found)}", _BRACES))
        return found

    def merged(self, value: Node, path: FieldPath) -> tuple[tuple[Text, Node], ...]:
        sources = value.items if isinstance(value, Items) else (value,)
        found: list[tuple[Text, Node]] = []
        for source in sources:
            if isinstance(source, Entries):
                found += source.entries
            else:
                self.here = (*path, "<<")
                self.problems.append(
                    self.problem(source.mark, f"<< takes in keys and values: found {_kind(source)}")
                )
        return tuple(found)

    def sized(self, children: Sequence[Node], mark: Mark) -> int:
        size = 1 + sum(child.size for child in children)
        if size > MOST_NODES:
            raise _Stop(self.problem(mark, f"too large: more than {MOST_NODES} values, aliases written out"))
        return size


_BEGIN = "mvpipe init writes one to begin with"
_UNSEEN = "delete it, or type that word again: it cannot be seen in most editors"
_ALIAS = "a text that begins with * needs quotes"
_BRACES = "a text that begins with { or [ needs quotes"


def _tag(tag: str) -> str:
    return str(tag).replace("tag:yaml.org,2002:", "!!")


def _kind(node: Node) -> str:
    return {Text: "text", Items: "a list", Entries: "keys and values"}[type(node)]
