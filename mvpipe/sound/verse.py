"""How long words take to sing, told from how they are written: in any script, and roughly."""

from __future__ import annotations

import re
import unicodedata

_WHOLE = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]"
)
"""Kana, Han and Hangul: each is about a syllable, and may be a word."""

_VOWELS = re.compile(r"[aeiouyаеёиоуыэюяіїєαειουηω]+")
"""Runs of vowels in Latin, Cyrillic and Greek, without their accents."""

_ABUGIDA = "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "THAI", "GUJARATI", "KANNADA", "MALAYALAM", "KHMER"


def tokens(text: str) -> list[str]:
    """The words of a line; where no blanks part them, each sign is one. What nobody can sing is left out."""
    found: list[str] = []
    for word in text.split():
        parts = re.findall(rf"{_WHOLE.pattern}\W*|[^{_WHOLE.pattern[1:-1]}]+", word)
        found += [part for part in parts if any(char.isalnum() for char in part)]
    return found


def syllables(word: str) -> int:
    """About how many syllables a word has; at least one, if it has a letter or a digit; else none."""
    plain = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))
    letters = [char for char in plain if char.isalnum()]
    if not letters:
        return 0
    whole = len(_WHOLE.findall(unicodedata.normalize("NFC", word)))
    vowels = len(_VOWELS.findall(plain))
    if plain.endswith("e") and vowels > 1 and not plain.endswith(("le", "ee")):
        vowels -= 1
    if whole or vowels:
        return whole + vowels
    script = unicodedata.name(letters[0], "").split()[0]
    return max(len(letters) if script in _ABUGIDA else (len(letters) + 1) // 2, 1)


def weight(text: str) -> int:
    """About how many syllables a line has; 0 for one that nobody can sing."""
    return sum(syllables(token) for token in tokens(text))
