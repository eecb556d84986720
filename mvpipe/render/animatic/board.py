"""The board of a take: everything that is drawn, as plain values; the slate's graph, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from mvpipe.film import ShotKind
from mvpipe.render.animatic import camera, fonts
from mvpipe.render.animatic.options import read_options
from mvpipe.render.backend import CastMember, Place, Setup

MOST_FIGURES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody in the picture: a name, a description, whether they sing, and the role of their picture."""

    name: str
    description: str
    sings: bool
    picture: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Everything that is drawn in a take.

    Parameters
    ----------
    number, title, look, section, prompt, lyric, framing, kind, place : as on the shot's card
    place_description : what the place is
    place_picture : the role of its picture, or empty
    cast : who is in the picture; the first three are drawn in a performance, whoever sings in front
    start : the film's frame at which the take starts, for the timecode
    rate : pictures per second
    seen : the take's own frames [first, last) that are seen in the film
    camera : the move the prompt asks for, one of `camera.MOVES`; empty where the seed chooses
    mouth, offset_ms, fault, fault_takes : see `options.Options`
    fonts : what letters outside the bundled fonts are drawn with: file name -> digest
    """

    number: int
    title: str
    look: str
    section: str
    prompt: str
    lyric: str
    framing: str
    kind: str
    place: str
    place_description: str
    place_picture: str
    cast: tuple[Person, ...]
    start: int
    rate: str
    seen: tuple[int, int]
    camera: str
    mouth: str
    offset_ms: int
    fault: str
    fault_takes: int
    fonts: dict[str, str]

    @property
    def performance(self) -> bool:
        """Whether somebody sings in it."""
        return self.kind == ShotKind.PERFORMANCE

    @property
    def pictures_per_second(self) -> Fraction:
        """The rate as a number."""
        return Fraction(self.rate)

    def graph(self) -> dict[str, Any]:
        """As canonical JSON values."""
        values = asdict(self)
        return {**values, "cast": [dict(person) for person in values["cast"]], "seen": list(self.seen)}

    @classmethod
    def read(cls, graph: Mapping[str, Any]) -> Board:
        """The board of a slate's graph."""
        cast = tuple(Person(**person) for person in graph["cast"])
        first, last = graph["seen"]
        return cls(**{**graph, "cast": cast, "seen": (first, last), "fonts": dict(graph["fonts"])})


def board_of(setup: Setup) -> Board:
    """The board of a shot; the same for all its takes.

    Raises
    ------
    StoryboardError : an option the animatic does not know
    """
    shot, card, options = setup.shot, setup.shot.card, read_options(setup.options)
    texts = [setup.title, setup.look, card.section, card.prompt, card.lyric, *card.cast]
    return Board(
        number=shot.number,
        title=setup.title,
        look=setup.look,
        section=card.section,
        prompt=card.prompt,
        lyric=card.lyric,
        framing=card.framing,
        kind=str(card.kind),
        place=setup.place.name if setup.place else card.place,
        place_description=setup.place.description if setup.place else "",
        place_picture=_role("place", setup.place, shot.number),
        cast=tuple(
            Person(
                name=one.name,
                description=one.description,
                sings=one.sings,
                picture=_role("picture", one, shot.number),
            )
            for one in setup.cast
        ),
        start=shot.window.start,
        rate=str(shot.window.rate),
        seen=(shot.head, shot.head + len(shot.cut)),
        camera=camera.asked_move(f"{card.prompt} {card.framing}"),
        mouth=options.mouth,
        offset_ms=options.offset_ms,
        fault=options.fault_in(shot.number),
        fault_takes=options.fault_takes,
        fonts=fonts.borrowed(texts),
    )


def _role(kind: str, owner: CastMember | Place | None, number: int) -> str:
    """The role of the one picture that is used; the shots take turns where there are several."""
    if owner is None or not owner.pictures:
        return ""
    return f"{kind}:{owner.name}/{(number - 1) % len(owner.pictures)}"


def drawn(board: Board) -> tuple[Person, ...]:
    """Who is drawn as a figure, whoever sings first; the film's own nobody where the cast is empty."""
    if not board.performance:
        return ()
    if not board.cast:
        return (Person(name=board.title, description="", sings=True, picture=""),)
    first = next((person for person in board.cast if person.sings), board.cast[0])
    return (first, *(person for person in board.cast if person is not first))[:MOST_FIGURES]


def used_pictures(board: Board) -> tuple[str, ...]:
    """The roles of the pictures that the take shows."""
    if board.performance:
        shown = [board.place_picture, *(person.picture for person in drawn(board)[:2])]
    else:
        shown = [board.place_picture or next((p.picture for p in board.cast if p.picture), "")]
    return tuple(role for role in shown if role)
