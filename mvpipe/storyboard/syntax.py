"""What a YAML parser means when it gives up, in a film-maker's words."""

from __future__ import annotations

import re
from typing import NamedTuple

_QUOTE = 'put the whole text in double quotes, as in prompt: "she says: come back"'
_INDENT = "keys of one thing begin in the same column; what belongs to a key stands further right"
_BRACKETS = 'every { needs its } and every [ its ]; inside them a text with : , [ ] { } needs "quotes"'


class _Rule(NamedTuple):
    """A parser's complaint (a pattern), what it means, what to do, and whether its start is the place."""

    complaint: str
    means: str
    hint: str = ""
    at_start: bool = False


_RULES = (
    _Rule(r"found character '\\t'", "a tab where only blanks may stand", "indent with blanks, not with tabs"),
    _Rule(
        r"mapping values are not allowed",
        'a ": " where none may stand',
        f"{_QUOTE}; or mend the indentation",
    ),
    _Rule(r"found character (.+) that cannot start", "a text cannot begin with {0}", _QUOTE),
    _Rule(
        r"unexpected end of stream",
        "a quote that is never closed",
        "close it, or leave both quotes away",
        True,
    ),
    _Rule(
        r"unexpected document separator",
        "a quote that is never closed",
        "close it, or leave both quotes away",
        True,
    ),
    _Rule(
        r"found unknown escape character (.+)",
        "\\ before {0} means nothing in double quotes",
        "use single quotes, or write \\\\",
    ),
    _Rule(
        r"expected escape sequence|beyond Unicode",
        "not a character's number",
        "use single quotes, or write \\\\",
    ),
    _Rule(
        r"sequence entries are not allowed",
        "a list that begins on its key's line",
        "begin each - on a line of its own, or write [a, b]",
    ),
    _Rule(r"could not find expected ':'", "a key without its colon", _INDENT, True),
    _Rule(
        r"expected <block end>, but found '(?:<scalar>|<alias>|\[|\{|<anchor>|<tag>)'",
        "more text behind what was complete",
        f"{_QUOTE}; inside '...' an apostrophe is written twice",
    ),
    _Rule(
        r"expected <block end>|expected '<document start>'",
        "does not line up with what stands above",
        _INDENT,
    ),
    _Rule(
        r"expected ',' or '([\]}])', but got '<stream end>'",
        "a bracket that is never closed",
        _BRACKETS,
        True,
    ),
    _Rule(r"expected ',' or '([\]}])'", "expected , or {0}", _BRACKETS),
    _Rule(r"expected the node content", "expected a value", _BRACKETS),
    _Rule(r"undefined tag handle|scanning a tag|parsing a tag", "a text cannot begin with !", _QUOTE),
    _Rule(r"scanning an alias", "a text cannot begin with *", _QUOTE),
    _Rule(r"scanning an anchor", "a text cannot begin with &", _QUOTE),
    _Rule(
        r"scanning a block scalar",
        "what follows | or > on its line is not understood",
        "begin the text on the next line",
    ),
    _Rule(
        r"directive|YAML document", "a line that begins with % is an order to the YAML reader", "take it out"
    ),
)


def explain(complaint: str) -> tuple[str, str, bool]:
    """What a complaint means, what to do about it, and whether the place is where the trouble began."""
    for rule in _RULES:
        if found := re.search(rule.complaint, complaint):
            return rule.means.format(*found.groups()), rule.hint, rule.at_start
    return f"not YAML ({complaint})", "", False
