"""What a cut costs: every weight and price of the cutter, by name, each with where it comes from.

A cut's price is a whole number of millionths, so that the cheapest plan is the same on every machine. One
unit (`UNIT`) is the price of a cut in quiet that nothing speaks for. The prices keep the order in which
things matter: in one shot, the most a row can cost is more than all rows below it can together.

| price | per | from | to |
|---|---|---|---|
| `OUT_OF_RANGE` | shot that no rule allows | 10**6 units | and 0.01 a frame |
| `IN_WORD` | cut inside a word that the lyrics give a time | 20 | 20 |
| `IN_VOICE`, `IN_VOICE_LOUD`, `HELD_LOUD` | cut inside a sung phrase | 5 | 12 |
| `LONGER`, `BRIEF`, `BORROWED` | shot over 8 s, or under 4.5 s | 0.3 | 2.9 |
| 1 - weight | cut | 0 | 1 |
| `SHORT`, `SHORTER` | shot under 5 s | 0.03 | 0.1 |
| `RENDER` | shot, by its predicted render time | 0.012 | 0.02 |
| `SAME_LENGTH` | shot as long as the one before | 0 | 0.0002 |

So the order of harm, where no good boundary lies within 8 s: a shot a little longer or shorter; one longer
still, up to the longest window; handles that are borrowed from; a cut in a dip of the voice, which may lie
between two words; in a held vowel; in the middle of what is being said; inside a word that is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from mvpipe.film import BoundaryKind

UNIT = 1_000_000
"""Millionths in a unit."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and where it comes from."""

    value: float
    source: str


_SONGS = "measured on four synthetic songs with known words (114 gaps, 664 words)"
_OURS = "our choice; with a fifth more or less 8 to 11 of 273 cuts fall inside words, 9 as it is (16 stems)"

WEIGHT: dict[BoundaryKind, Figure] = {
    BoundaryKind.SILENCE: Figure(
        0.95, "edge of a long pause: nothing is cut, and a phrase begins or has ended"
    ),
    BoundaryKind.PHRASE_END: Figure(0.80, f"a pause of 180 ms; 0.1 more for one of a second. {_SONGS}"),
    BoundaryKind.BREATH: Figure(0.76, "as a phrase end, but the singer is heard breathing right after"),
    BoundaryKind.SECTION: Figure(0.94, "inside a pause, where the band changes what it plays"),
    BoundaryKind.BAR: Figure(0.90, f"inside a pause, on a bar: it chooses between equals. {_OURS}"),
    BoundaryKind.BEAT: Figure(0.82, f"inside a pause, on a beat: it chooses between equals. {_OURS}"),
    BoundaryKind.WORD_GAP: Figure(
        0.30, f"a closure under 180 ms: as often inside a word as between two. {_SONGS}"
    ),
    BoundaryKind.VALLEY: Figure(0.15, "a dip in a sung line"),
    BoundaryKind.FORCED: Figure(0.0, "nothing speaks for it"),
}
"""How good a cut at each kind of boundary is, in [0, 1]."""

IN_PAUSE = Figure(0.78, "anywhere inside a long pause: no word is cut, but nothing asks for a cut either")
"""The weight of a moment inside a long pause that has no evidence of its own."""

IN_QUIET = Figure(0.77, "between two phrases, within 3 dB of the quietest moment")
"""The weight of a moment that is nearly as good as the one boundary of its gap."""

IN_GAP = Figure(
    0.05,
    "nobody sings, but the voice rings on, draws breath, or was quieter a moment ago; worse than a shot of "
    "9 s. At 0.25, 1 of 150 cuts more is at no best place (tuning half and five more, true stems)",
)
"""The weight of any other moment between two phrases."""

LONG_PAUSE_BONUS = Figure(0.10, f"longer pauses are surer phrase ends. {_SONGS}")
"""Added to a phrase end's weight for a pause of a second, in proportion for less."""

SUPPORT: dict[BoundaryKind, Figure] = {
    BoundaryKind.SECTION: Figure(0.05, f"a change of section within 0.3 s. {_OURS}"),
    BoundaryKind.BAR: Figure(0.02, f"a bar within 80 ms. {_OURS}"),
    BoundaryKind.BEAT: Figure(0.01, f"a beat within 80 ms. {_OURS}"),
}
"""Added to a boundary's weight by evidence nearby, which never moves it; the strongest counts."""

IN_WORD = Figure(20, "a word that is known: worse than any cut in the voice, with all that can go with it")
IN_VOICE = Figure(5, "a cut in a sung line is worse than any boundary, length and price of one shot together")
IN_VOICE_LOUD = Figure(
    7, f"added in proportion to effort squared: a dip is better than a held note. {_SONGS}"
)
HELD_LOUD = Figure(3, "the most that is added in a held vowel: its mouth stays as it is, no sound is torn")
BETWEEN_WORDS = Figure(0.4, "between two words that are known, in a sung line: no word is cut, a breath is")
LONGER = Figure(0.3, "any shot over 8 s: its window costs more, and the eye waits for the next picture")
LONGER_SECOND = Figure(
    0.35, "added for each second over 8; 14.9 s, the longest, come to 2.7: less than a word"
)
BRIEF = Figure(0.4, "any shot under 4.5 s: the eye has just arrived, and half its window is thrown away")
BRIEF_SECOND = Figure(1.0, "added for each second under 4.5, down to 2.5 s")
BORROWED = Figure(0.015, "a frame that the handles lack: 12 of 16 at the most, 0.18")
SHORT = Figure(0.03, "any shot under 5 s: two-bar phrases at 100 bpm last 4.8 s, so it must stay cheap")
SHORTER = Figure(0.07, "added in proportion, full at 4.5 s")
RENDER = Figure(0.02, "the window of an 8 s shot, 209 frames; others in proportion to their predicted time")
SAME_LENGTH = Figure(0.0002, "less than one window step of 17 frames (0.0016): it only breaks ties")
OUT_OF_RANGE = Figure(1_000_000, "more than all else in a film of 24 h: only where no plan does without")
OUT_OF_RANGE_FRAME = Figure(0.01, "a frame further out")


def micro(figure: Figure, share: float = 1.0) -> int:
    """A share of a figure in millionths."""
    return round(figure.value * share * UNIT)
