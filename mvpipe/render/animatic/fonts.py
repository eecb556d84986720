"""Which font draws a character: the bundled one, else the first of this computer's that has it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from mvpipe.render.animatic import pillow

REGULAR, BOLD, ITALIC = (
    Path(__file__).parent / "fonts" / f"FiraSansCondensed-{style}.ttf"
    for style in ("Regular", "SemiBold", "Italic")
)
"""Fira Sans Condensed, SIL Open Font License 1.1 (fonts/OFL.txt): Latin, Greek and Cyrillic."""


def folders() -> list[Path]:
    """Where Linux, macOS and Windows keep fonts, of those that are here."""
    home = Path.home()
    known = (
        Path("/usr/share/fonts"),
        Path("/usr/local/share/fonts"),
        home / ".local/share/fonts",
        home / ".fonts",
        Path("/System/Library/Fonts"),
        Path("/Library/Fonts"),
        home / "Library/Fonts",
        Path("C:/Windows/Fonts"),
        home / "AppData/Local/Microsoft/Windows/Fonts",
    )
    return [folder for folder in known if folder.is_dir()]


_FAMILIAR = (
    "notosanscjk", "sourcehansans", "pingfang", "hiragino", "msyh", "yugoth", "malgun",
    "applesdgothicneo", "wqy", "droidsansfallback", "notosans-regular", "notosansarabic",
    "notosanshebrew", "notosansthai", "notosansdevanagari", "arialuni", "arial", "segoeui",
    "dejavusans", "notoemoji", "seguisym", "symbola", "notosanssymbols",
)  # fmt: skip
"""File names that are tried first, in this order; the rest follow by name."""


def font_for(character: str, style: Path) -> Path | None:
    """The font that draws a character in the wanted style; None where nobody has it."""
    if character.isspace() or pillow.covers(style, character):
        return style
    return _elsewhere(character)


@lru_cache(maxsize=4096)
def _elsewhere(character: str) -> Path | None:
    return next((path for path in _installed() if pillow.covers(path, character)), None)


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    """The upright fonts of this computer, the familiar ones first."""
    found = {
        path
        for folder in folders()
        for path in folder.rglob("*")
        if path.suffix.lower() in (".ttf", ".ttc", ".otf") and not _slanted(path.stem.lower())
    }
    return tuple(sorted(found, key=lambda path: (_rank(path.stem.lower()), path.stem, str(path))))


def _slanted(stem: str) -> bool:
    return any(word in stem for word in ("italic", "oblique", "mono", "bold", "black", "light", "thin"))


def _rank(stem: str) -> int:
    return next((i for i, name in enumerate(_FAMILIAR) if stem.startswith(name)), len(_FAMILIAR))


def tidy(text: str) -> str:
    """One line of composed characters: white space becomes one space, what has no shape is left out."""
    shown = (
        " " if char.isspace() or unicodedata.category(char) == "Cc" else char
        for char in unicodedata.normalize("NFC", text)
        if unicodedata.category(char) not in ("Cf", "Cs", "Cn", "Co") and not "\ufe00" <= char <= "\ufe0f"
    )
    return " ".join("".join(shown).split())


def borrowed(texts: list[str]) -> dict[str, str]:
    """Fonts of this computer that the texts need: file name -> first 16 digits of its sha256."""
    paths = {font_for(char, REGULAR) for text in texts for char in tidy(text)} - {REGULAR, None}
    return {path.name: _digest(path) for path in sorted(paths, key=str) if path}


def missing(texts: list[str]) -> str:
    """The characters of the texts that no font here has, each once, in order."""
    seen = dict.fromkeys(char for text in texts for char in tidy(text))
    return "".join(char for char in seen if font_for(char, REGULAR) is None)


@lru_cache(maxsize=32)
def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:16]
