"""Which references a shot is made from: the pictures of its cast in the card's order, then of its place.

Every shot of a cast member uses the same files, never the picture of another shot. Where there are more
pictures than the graph takes, everybody keeps their first, then their second, and so on; what does not fit
is named in a note, never left out silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mvpipe.errors import StoryboardError
from mvpipe.render.backend import Asset, CastMember, Place, Setup

MOST_PICTURES = 9
"""What MiniMaxH3ReferenceToVideo takes, beside 3 videos and 3 audios, of which mvpipe sends one audio
(core33:comfy_extras/nodes_minimax_h3.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A picture with its number in the prompt.

    Parameters
    ----------
    number : N of <Picture N>, from 1
    role : of the slate's input: `picture:mira/0`, `place:street/0`
    asset : the file
    """

    number: int
    role: str
    asset: Asset


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The pictures of one shot.

    Parameters
    ----------
    pictures : in the order they are wired; each file once
    cast : pictures of each cast member, by name; two may share one
    place : pictures of the place
    notes : what was left out, in words
    """

    pictures: tuple[Reference, ...]
    cast: dict[str, tuple[int, ...]]
    place: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wish:
    owner: str
    role: str
    asset: Asset


def references(setup: Setup, most: int = MOST_PICTURES) -> References:
    """The pictures a shot uses, numbered.

    Parameters
    ----------
    most : how many the graph takes; at most `MOST_PICTURES`

    Raises
    ------
    StoryboardError : a member of the cast would be left without any of their pictures
    """
    most = min(most, MOST_PICTURES)
    rows = [_wishes("picture", member) for member in setup.cast]
    scenery = [_wishes("place", setup.place)] if setup.place else []
    kept = _shared([*rows, *scenery], most)
    for member, row in zip(setup.cast, rows, strict=True):
        if row and not any(wish.asset.digest in kept for wish in row):
            where = setup.shot.card.origin or f"shot {setup.shot.number}"
            raise StoryboardError(
                f"{where}: cast: no room for a picture of {member.name}: the graph takes {most}",
                hint="name fewer people in this shot, or choose a graph that takes more pictures",
            )
    ordered = list(
        dict.fromkeys(w.asset.digest for row in [*rows, *scenery] for w in row if w.asset.digest in kept)
    )
    numbers = {digest: number for number, digest in enumerate(ordered, 1)}
    first = {wish.asset.digest: wish for row in reversed([*rows, *scenery]) for wish in reversed(row)}
    return References(
        pictures=tuple(
            Reference(number=numbers[digest], role=first[digest].role, asset=first[digest].asset)
            for digest in ordered
        ),
        cast={m.name: _numbers(row, numbers) for m, row in zip(setup.cast, rows, strict=True)},
        place=_numbers(scenery[0], numbers) if scenery else (),
        notes=tuple(_left_out(setup, [*rows, *scenery], kept, most)),
    )


def _wishes(kind: str, owner: CastMember | Place) -> list[_Wish]:
    return [_Wish(owner.name, f"{kind}:{owner.name}/{i}", asset) for i, asset in enumerate(owner.pictures)]


def _shared(rows: Sequence[Sequence[_Wish]], most: int) -> set[str]:
    """Digests that are kept: everybody's first picture before anybody's second."""
    kept: dict[str, None] = {}
    for turn in range(max((len(row) for row in rows), default=0)):
        for row in rows:
            if turn < len(row) and len(kept) < most:
                kept[row[turn].asset.digest] = None
    return set(kept)


def _numbers(row: Sequence[_Wish], numbers: dict[str, int]) -> tuple[int, ...]:
    return tuple(sorted({numbers[wish.asset.digest] for wish in row if wish.asset.digest in numbers}))


def _left_out(setup: Setup, rows: Sequence[Sequence[_Wish]], kept: set[str], most: int) -> Iterator[str]:
    for row in rows:
        if names := [wish.asset.path.name for wish in row if wish.asset.digest not in kept]:
            yield (
                f"shot {setup.shot.number}: the graph takes {most} pictures: left out of {row[0].owner}'s: "
                f"{', '.join(names)}"
            )
