"""The few colours of a shot, by what the words say of the hour and the light, else by a digest."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from mvpipe.render.animatic.words import Colour, by_word, heard


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Colours that go together.

    Parameters
    ----------
    ink : lines, deep shadow, and the ground of the lettering
    deep, mid, glow : from the shadows to the light of the place
    accent : of neon, rim light and rules
    air : what the light multiplies the figures with
    """

    ink: Colour
    deep: Colour
    mid: Colour
    glow: Colour
    accent: Colour
    air: Colour


#            ink           deep            mid              glow             accent           air
_COLOURS = {
  "neon": ((15, 12, 30), (38, 24, 78), (112, 44, 128), (238, 96, 160), (255, 84, 128), (238, 226, 255)),
  "night": ((10, 15, 28), (18, 38, 68), (44, 86, 124), (166, 200, 222), (112, 204, 255), (216, 228, 250)),
  "dusk": ((26, 18, 38), (66, 48, 92), (186, 94, 98), (250, 178, 112), (255, 158, 84), (255, 236, 224)),
  "dawn": ((32, 34, 54), (92, 104, 148), (206, 162, 172), (253, 224, 190), (255, 142, 116), (255, 244, 238)),
  "day": ((24, 34, 46), (74, 118, 146), (150, 190, 204), (244, 238, 216), (248, 128, 72), (255, 252, 246)),
  "ember": ((28, 15, 16), (72, 30, 32), (156, 70, 48), (250, 186, 104), (255, 122, 62), (255, 234, 214)),
  "winter": ((22, 30, 42), (74, 96, 122), (150, 172, 190), (234, 240, 244), (96, 178, 226), (240, 246, 255)),
  "moss": ((14, 24, 22), (26, 58, 52), (70, 116, 88), (216, 222, 158), (238, 196, 92), (244, 250, 232)),
}  # fmt: skip

PALETTES = {
    name: Palette(ink=ink, deep=deep, mid=mid, glow=glow, accent=accent, air=air)
    for name, (ink, deep, mid, glow, accent, air) in _COLOURS.items()
}

_WORDS = by_word(
    {
        "neon": "neon club disco cyberpunk arcade karaoke signs",
        "night": "night midnight moon moonlit moonlight stars dark blue",
        "dusk": "dusk sunset evening twilight golden-hour golden autumn desert",
        "dawn": "dawn sunrise morning pastel spring pink",
        "day": "day noon daylight afternoon sunny bright summer",
        "ember": "fire candle candles candlelight warm bar cellar lamp fireplace stage sepia",
        "winter": "snow winter ice frost cold grey gray fog foggy mist",
        "moss": "forest wood woods garden green jungle meadow park trees",
    }
)


def palette_of(texts: list[str], otherwise: str) -> Palette:
    """The palette of the first text that names an hour or a light; else one by the digest of `otherwise`."""
    for text in texts:
        for word in heard(text):
            if word in _WORDS:
                return PALETTES[_WORDS[word]]
    names = sorted(PALETTES)
    return PALETTES[names[sha256(otherwise.encode()).digest()[0] % len(names)]]
