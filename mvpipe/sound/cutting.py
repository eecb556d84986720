"""The cutter's words: what it may do, what the editor decided, and the plan it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from mvpipe.clock import Span
from mvpipe.film import LONGEST_WINDOW, Boundary, window_length
from mvpipe.sound.costs import UNIT

LEAST_HANDLES = 2
"""Frames before and after that a shot longer than the longest window less its handles may be left with."""

HANDLES = 8
"""Frames wanted before and after what is seen: a third of a second; an 8 s shot then fits 209 frames."""

PriceOf = Callable[[int], float]
"""Predicted seconds to render a window of so many frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How long what is seen may be.

    Parameters
    ----------
    shortest, longest : seconds that are wanted
    least : seconds down to which a shot may go at a small price
    brief, most : seconds down and up to which one may go to spare a word
    handles : frames wanted before and after
    thrift : how many times its usual weight the predicted render time has
    """

    shortest: Fraction = Fraction(5)
    longest: Fraction = Fraction(8)
    least: Fraction = Fraction(9, 2)
    brief: Fraction = Fraction(5, 2)
    most: Fraction = Fraction(15)
    handles: int = HANDLES
    thrift: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        order = [self.brief, self.least, self.shortest, self.longest, self.most]
        if order != sorted(order) or self.brief <= 0 or self.handles < 0 or self.thrift < 0:
            raise ValueError(f"lengths out of order: {', '.join(map(str, order))}")

    @property
    def limit(self) -> int:
        """The most frames a shot can show: the longest window, all but used up."""
        return LONGEST_WINDOW - 2 * min(LEAST_HANDLES, self.handles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What the editor has decided, in frames of the film.

    Parameters
    ----------
    keep : a cut must fall here
    avoid : no cut may fall in these
    at : moved by hand: shot number -> the frame it starts at; all other shots stay as they are
    """

    keep: tuple[int, ...] = ()
    avoid: tuple[Span, ...] = ()
    at: Mapping[int, int] = field(default_factory=dict)


def at_most(seconds: int, *, thrift: int = 1) -> Lengths:
    """The lengths that are wanted, with shots of at most so many seconds, 5 or more."""
    usual = Lengths()
    return Lengths(
        longest=min(usual.longest, Fraction(seconds)), most=Fraction(seconds), thrift=Fraction(thrift)
    )


NO_PINS = Pins()

WANTED = Lengths()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a shot and the cut before it cost, in millionths of a unit; see `costs`."""

    voice: int = 0
    boundary: int = 0
    length: int = 0
    render: int = 0
    sameness: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.voice + self.boundary + self.length + self.render + self.sameness

    def __str__(self) -> str:
        """In words, the parts that are not nothing."""
        named = {
            "voice": self.voice,
            "boundary": self.boundary,
            "length": self.length,
            "render": self.render,
            "same length": self.sameness,
        }
        return ", ".join(f"{name} {price / UNIT:.4g}" for name, price in named.items() if price) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerUp:
    """The second best place for a cut.

    Parameters
    ----------
    frame : where
    boundary : what speaks for it
    more : millionths by which the best plan through it costs more
    """

    frame: int
    boundary: Boundary
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedShot:
    """One shot of the plan and the cut it starts with.

    Parameters
    ----------
    number : from 1
    cut : frames that are seen
    window : frames that are rendered
    boundary : where and why it starts; None for the first
    pinned : `keep` or `at` if the editor decided, else empty
    inside : the cut falls inside a sung phrase, more than 40 ms from its edges; where the words there are
        known, inside a word
    harm : what the cut goes through, in words; empty where it is inside nothing
    voice : share of what is seen in which somebody sings, in [0, 1]
    cost : of the shot and its cut
    runner_up : None for the first shot, and where nothing else would do
    """

    number: int
    cut: Span
    window: Span
    boundary: Boundary | None
    pinned: str
    inside: bool
    harm: str
    voice: float
    cost: Cost
    runner_up: RunnerUp | None

    @property
    def why(self) -> str:
        """Why it starts where it does, in words."""
        if self.boundary is None:
            return "the film starts"
        name = self.boundary.kind.replace("_", " ")
        place = f"{name}, weight {self.boundary.weight:.2f}" + (f", inside {self.harm}" if self.harm else "")
        return {"keep": f"kept by the editor; {place}", "at": f"moved by hand; {place}"}.get(
            self.pinned, place
        )


@dataclass(frozen=True, slots=True)
class Cutting:
    """The shots of the film in order; what is seen covers it from the first frame to the last."""

    shots: tuple[PlannedShot, ...]

    @property
    def inside_voice(self) -> int:
        """How many cuts fall inside a sung phrase."""
        return sum(shot.inside for shot in self.shots)

    @property
    def price(self) -> int:
        """What the whole plan costs, in millionths."""
        return sum(shot.cost.total for shot in self.shots)

    @property
    def spans(self) -> tuple[Span, ...]:
        """What is seen."""
        return tuple(shot.cut for shot in self.shots)


def window(cut: Span, frames: int, handles: int = HANDLES) -> Span:
    """What is rendered of a shot: what is seen, the handles, and what rounds it up to a length H3 accepts.

    What is over is shared between head and tail. A shot that leaves no room for them in the longest window
    borrows from its handles. It lies inside the film where the film is long enough;
    else it starts with the film and ends after it.

    Parameters
    ----------
    cut : what is seen
    frames : length of the film
    handles : frames wanted before and after

    Raises
    ------
    ValueError : no window is long enough
    """
    length = window_length(min(len(cut) + 2 * handles, max(LONGEST_WINDOW, len(cut))))
    start = min(cut.start - (length - len(cut)) // 2, frames - length)
    return Span(max(start, 0), max(start, 0) + length, cut.rate)
