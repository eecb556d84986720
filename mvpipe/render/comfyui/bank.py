"""Which references a shot is made from: those of its cast in the card's order, then of its place.

Every shot of a cast member uses the same files, never anything of another shot. Where there are more than the
graph takes, everybody keeps their first, then their second, and so on; what does not fit is named in a note,
never left out silently.

Pictures, videos and sounds are numbered each by itself, and what is present counts, not the slot (h3.md 0.3).
Videos are wired without their sound: a soundtrack is numbered before all other sounds, and the song's voice
would no longer be <Audio 1>.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mvpipe.errors import StoryboardError
from mvpipe.render.backend import Asset, CastMember, Place, Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many references a graph takes.

    MiniMaxH3ReferenceToVideo takes 9 pictures, 3 videos and 3 sounds at most, of which one is the song's
    (core33:comfy_extras/nodes_minimax_h3.py).
    """

    pictures: int = 9
    videos: int = 3
    voices: int = 2


MOST = Room()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A file with its number in the prompt.

    Parameters
    ----------
    number : N of <Picture N>, <Video N> or <Audio N>, from 1
    role : of the slate's input: `picture:mira/0`, `place:street/0`, `video:mira/0`, `voice:mira`
    asset : the file
    """

    number: int
    role: str
    asset: Asset


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Numbers of what shows somebody or some place."""

    pictures: tuple[int, ...] = ()
    videos: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The references of one shot.

    Parameters
    ----------
    pictures, videos, voices : in the order they are wired; each file once
    cast : what shows each cast member, by name; two may share one
    place : what shows the place
    notes : what was left out, in words
    """

    pictures: tuple[Reference, ...]
    cast: Mapping[str, Shown]
    place: Shown = Shown()
    videos: tuple[Reference, ...] = ()
    voices: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Reference, ...]:
        """Every file, in the order of the kinds."""
        return (*self.pictures, *self.videos, *self.voices)

    def wired(self, sound: bool) -> dict[str, int]:
        """How many tags of each kind there must be, with the song's sound or without."""
        audios = len(self.voices) + sound
        return {"pictures": len(self.pictures), "videos": len(self.videos), "audios": audios}


@dataclass(frozen=True, slots=True)
class _Wish:
    owner: str
    role: str
    asset: Asset


Rows = Sequence[Sequence[_Wish]]
"""What each of the cast wishes for, in the card's order, and last the place."""


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The files of one kind that are kept: digest -> number."""

    rows: Rows
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def references(self) -> tuple[Reference, ...]:
        first = {wish.asset.digest: wish for row in reversed(self.rows) for wish in reversed(row)}
        found = ((number, first[digest]) for digest, number in self.numbers.items())
        return tuple(Reference(number=number, role=one.role, asset=one.asset) for number, one in found)

    def of(self, at: int) -> tuple[int, ...]:
        """The numbers of one row."""
        found = {self.numbers[w.asset.digest] for w in self.rows[at] if w.asset.digest in self.numbers}
        return tuple(sorted(found))

    def left_out(self) -> Iterator[tuple[str, list[str]]]:
        for row in self.rows:
            if names := [wish.asset.path.name for wish in row if wish.asset.digest not in self.numbers]:
                yield row[0].owner, names


def references(setup: Setup, room: Room = MOST, *, voices: bool = False) -> References:
    """The references a shot uses, numbered.

    Parameters
    ----------
    room : how many the graph takes; never more than `MOST` are used
    voices : whether recordings of the voices of those who sing are sent as well; they are <Audio 2> and on,
        behind the song's own

    Raises
    ------
    StoryboardError : somebody who is pinned would be left without anything that shows them
    """
    owners: tuple[CastMember | Place, ...] = (*setup.cast, setup.place) if setup.place else setup.cast
    pictures = _shelf([_wishes(one) for one in owners], min(room.pictures, MOST.pictures))
    videos = _shelf([_video_wishes(one) for one in owners], min(room.videos, MOST.videos))
    sung = [_voice_wish(one) for one in setup.cast if voices and one.sings]
    voiced = _shelf(sung, min(room.voices, MOST.voices), first=2)
    shown = [Shown(pictures=pictures.of(at), videos=videos.of(at)) for at in range(len(owners))]
    _nobody_forgotten(setup, shown, room)
    return References(
        pictures=pictures.references,
        videos=videos.references,
        voices=voiced.references,
        cast={one.name: found for one, found in zip(setup.cast, shown, strict=False)},
        place=shown[-1] if setup.place else Shown(),
        notes=(
            *_left_out(setup, pictures, "pictures", room.pictures),
            *_left_out(setup, videos, "videos", room.videos),
            *_left_out(setup, voiced, "voices beside the song's", room.voices),
        ),
    )


def _wishes(owner: CastMember | Place) -> list[_Wish]:
    kind = "picture" if isinstance(owner, CastMember) else "place"
    return [_Wish(owner.name, f"{kind}:{owner.name}/{i}", asset) for i, asset in enumerate(owner.pictures)]


def _video_wishes(owner: CastMember | Place) -> list[_Wish]:
    kind = "video" if isinstance(owner, CastMember) else "place-video"
    return [_Wish(owner.name, f"{kind}:{owner.name}/{i}", asset) for i, asset in enumerate(owner.videos)]


def _voice_wish(member: CastMember) -> list[_Wish]:
    return [_Wish(member.name, voice_role(member), member.voice)] if member.voice else []


def voice_role(member: CastMember) -> str:
    """The role of the recording of somebody's voice."""
    return f"voice:{member.name}"


def _shelf(rows: Rows, most: int, *, first: int = 1) -> _Shelf:
    """What is kept: everybody's first before anybody's second; numbered in the order of the rows."""
    kept: dict[str, None] = {}
    for turn in range(max((len(row) for row in rows), default=0)):
        for row in rows:
            if turn < len(row) and len(kept) < most:
                kept[row[turn].asset.digest] = None
    ordered = dict.fromkeys(wish.asset.digest for row in rows for wish in row if wish.asset.digest in kept)
    return _Shelf(rows, {digest: number for number, digest in enumerate(ordered, first)})


def _nobody_forgotten(setup: Setup, shown: Sequence[Shown], room: Room) -> None:
    for member, found in zip(setup.cast, shown, strict=False):
        if (member.pictures or member.videos) and found == Shown():
            what, most = ("picture", room.pictures) if member.pictures else ("video", room.videos)
            where = setup.shot.card.origin or f"shot {setup.shot.number}"
            raise StoryboardError(
                f"{where}: cast: no room for a {what} of {member.name}: the graph takes {most}",
                hint=f"name fewer people in this shot, or choose a graph that takes more {what}s",
            )


def _left_out(setup: Setup, shelf: _Shelf, kind: str, most: int) -> Iterator[str]:
    for owner, left in shelf.left_out():
        names = ", ".join(left)
        yield f"shot {setup.shot.number}: the graph takes {most} {kind}: left out of {owner}'s: {names}"
