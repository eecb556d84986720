"""The English words a description is searched for, and what each of them stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

Colour = tuple[int, int, int]


_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def by_word(groups: Mapping[str, str]) -> dict[str, str]:
    """Word -> the group it stands in, of groups written as words with spaces between."""
    return {word: name for name, words in groups.items() for word in words.split()}


def heard(text: str) -> Iterator[str]:
    """The words of a text in order, in lower case; hyphens stay."""
    return iter(_WORD.findall(text.lower()))


COLOURS: dict[str, Colour] = {
    "red": (196, 44, 48), "scarlet": (205, 36, 40), "crimson": (160, 24, 48), "burgundy": (110, 24, 44),
    "orange": (226, 118, 40), "rust": (166, 78, 40), "yellow": (236, 190, 62), "mustard": (204, 156, 44),
    "gold": (206, 164, 76), "golden": (214, 172, 90), "green": (58, 128, 82), "olive": (110, 114, 62),
    "emerald": (28, 128, 96), "teal": (34, 122, 130), "turquoise": (60, 170, 170), "blue": (52, 92, 168),
    "navy": (34, 46, 88), "denim": (70, 98, 142), "violet": (112, 72, 160), "purple": (104, 58, 140),
    "lilac": (176, 150, 206), "pink": (226, 128, 160), "magenta": (196, 50, 130), "white": (236, 234, 228),
    "cream": (232, 220, 194), "beige": (206, 186, 154), "camel": (184, 142, 92), "brown": (108, 74, 52),
    "tan": (190, 150, 108), "black": (38, 37, 44), "grey": (124, 126, 134), "gray": (124, 126, 134),
    "silver": (196, 200, 208), "charcoal": (62, 64, 72), "khaki": (160, 148, 104), "leather": (58, 48, 48),
}  # fmt: skip

HAIR_COLOURS: dict[str, Colour] = {
    "blond": (214, 176, 110), "blonde": (214, 176, 110), "fair": (220, 188, 128), "platinum": (232, 222, 200),
    "ginger": (186, 92, 42), "auburn": (122, 56, 36), "brunette": (78, 52, 40), "chestnut": (104, 62, 42),
    "brown": (84, 58, 44), "dark": (44, 36, 38), "black": (32, 30, 38), "red": (158, 58, 38),
    "copper": (176, 86, 48), "grey": (150, 152, 158), "gray": (150, 152, 158), "white": (228, 228, 230),
    "raven": (28, 28, 38), "redhead": (168, 66, 38), "redhaired": (168, 66, 38),
}  # fmt: skip

SKINS: tuple[Colour, ...] = (
    (244, 208, 184), (236, 190, 158), (222, 170, 132), (200, 144, 104), (164, 110, 78), (122, 80, 58),
)  # fmt: skip

SKIN_WORDS = {
    word: int(index)
    for word, index in by_word(
        {
            "0": "pale porcelain freckled freckles fair-skinned scandinavian irish",
            "1": "japanese korean chinese",
            "2": "olive-skinned persian",
            "3": "tanned latina latino mexican arab",
            "4": "brown-skinned indian",
            "5": "dark-skinned black-skinned african nigerian ghanaian",
        }
    ).items()
}
"""Words -> place in `SKINS`."""

CUTS = by_word(
    {
        "bob": "bob pageboy fringe bangs",
        "long": "long waist-length straight braid braids",
        "wavy": "wavy waves dreadlocks locs shaggy mullet",
        "curls": "curly curls",
        "afro": "afro",
        "bun": "bun topknot chignon ponytail",
        "crop": "short crop cropped pixie",
        "quiff": "quiff pompadour slicked undercut",
        "buzz": "buzz buzzcut shaved shaven",
        "bald": "bald",
        "mohawk": "mohawk mohican punk",
    }
)

GARMENTS = by_word(
    {
        "coat": "raincoat coat overcoat trenchcoat trench parka mac",
        "jacket": "jacket blazer bomber suit tuxedo leather",
        "shirt": "shirt blouse",
        "hoodie": "hoodie sweatshirt",
        "tee": "t-shirt tee vest",
        "dress": "dress gown top",
        "knit": "sweater jumper turtleneck cardigan pullover scarf",
    }
)

HATS = by_word({"beanie": "beanie cap", "hat": "hat fedora trilby"})

BEARDS = by_word(
    {"full": "beard bearded goatee", "stubble": "stubble unshaven", "moustache": "moustache mustache"}
) | {"clean-shaven": ""}

GLASSES = by_word({"dark": "sunglasses shades", "clear": "glasses spectacles bespectacled"})

HAIR_ALONE = frozenset({"blond", "blonde", "ginger", "auburn", "brunette", "platinum", "redhead"})
"""Colours that are said of hair without the word hair."""

HAIR_NOUNS = frozenset({"hair", "haired", *CUTS}) - {"long", "short", "straight"}

SEXES = by_word(
    {
        "m": "man boy he his guy gentleman father grandfather male king bearded",
        "f": "woman girl she her lady mother grandmother female queen",
    }
)

OLD = frozenset(
    {"old", "elderly", "aged", "sixty", "seventy", "eighty", "sixties", "seventies", "wrinkled"}
    | {"grandmother", "grandfather"}
)
