"""Who and what is seen in each planned shot of a film that nobody has described yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mvpipe.film import ShotKind
from mvpipe.parts import Named
from mvpipe.plan import Planned
from mvpipe.storyboard.deal import SINGS_FROM
from mvpipe.storyboard.grammar import Sentence, role, sentence, together
from mvpipe.storyboard.styles import Style, recast, roles

if TYPE_CHECKING:
    from mvpipe.storyboard.described import Shot

SOMEBODY = "describe age, hair, face and clothes in words a stranger could draw from"

PICTURED = "exactly as in the picture"
"""Of whom there is a picture: words of anybody else would be a second truth about one face."""

Row = dict[str, Any]
"""A thing of the storyboard as it is to be written: key -> text, list or mapping."""


def people(given: Mapping[str, str], style: Style | None) -> dict[str, Row]:
    """The cast as it is to be written.

    Parameters
    ----------
    given : name -> picture, as the maker named them; a picture may be empty
    style : whose parts they take over, in order; without a style the first of them sings
    """
    models = style.board.cast if style else {}
    if not given:
        rows = {name: _person(member.description, sings=member.sings) for name, member in models.items()}
        return rows if style else {"singer": _person(SOMEBODY, sings=True)}
    taken = {new: old for old, new in roles(style.board, list(given)).items()} if style else {}
    found = {}
    for number, (name, picture) in enumerate(given.items()):
        model = models.get(taken.get(name, ""))
        sings = model.sings if model else number == 0
        description = PICTURED if picture else model.description if model else SOMEBODY
        found[name] = _person(description, sings=sings, picture=picture)
    return found


def _person(description: str, *, sings: bool, picture: str = "") -> Row:
    row: Row = {"is": description}
    row |= {"pictures": [picture]} if picture else {}
    return row | ({"sings": True} if sings else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Describing:
    """Describes the shots of every part.

    Parameters
    ----------
    cast : as `people` found it
    style : whose shots are lent, each once; the grammar fills the rest
    wanted : names that must be seen somewhere
    """

    cast: Mapping[str, Row]
    style: Style | None = None
    wanted: Sequence[str] = ()
    _sung: Counter[str] = field(default_factory=Counter[str])

    @property
    def singers(self) -> list[str]:
        """Names of those who sing, unless it is a style in which nobody is seen singing."""
        if self.style and not self.style.sings:
            return []
        return [name for name, row in self.cast.items() if row.get("sings")]

    def shots(self, found: Sequence[Named]) -> list[list[Row]]:
        """The described shots of each part, one a planned cut, and at the end who found no room before."""
        again: Counter[str] = Counter()
        rows = []
        for part in found:
            rows.append(list(self._part(part, again[role(part.name)])))
            again[role(part.name)] += 1
        rows[-1] += self._unseen(rows)
        return rows

    def _part(self, part: Named, again: int) -> Iterator[Row]:
        turns: Counter[ShotKind] = Counter()
        for planned in part.shots:
            kind = self._kind(planned)
            yield self._shot(part, kind, turns[kind], again)
            turns[kind] += 1

    def _kind(self, planned: Planned) -> ShotKind:
        heard = planned.shot.voice >= SINGS_FROM
        return ShotKind.PERFORMANCE if heard and self.singers else ShotKind.B_ROLL

    def _shot(self, part: Named, kind: ShotKind, turn: int, again: int) -> Row:
        who = self._next_singer() if kind is ShotKind.PERFORMANCE else []
        lent = self.style.shots(part.name, kind) if self.style and not again else ()
        if self.style and turn < len(lent):
            return self._lent(self.style, lent[turn], who)
        places = list(self.style.board.places) if self.style else []
        place = places[(turn + again) % len(places)] if places else ""
        about = Sentence(
            kind=kind,
            section=part.name,
            turn=turn,
            again=again,
            who=together(who),
            where=f"the {place}" if place else "",
        )
        return _row(kind, prompt=sentence(about), cast=who, place=place)

    def _next_singer(self) -> list[str]:
        """One singer a shot; they take turns."""
        least = min(self.singers, key=lambda name: self._sung[name])
        self._sung[least] += 1
        return [least]

    def _lent(self, style: Style, shot: Shot, who: list[str]) -> Row:
        """A shot of the style with this film's people in it."""
        given = roles(style.board, list(self.cast))
        seen = who or [given[name] for name in shot.cast if name in given]
        if who:
            given |= {name: who[0] for name in shot.cast if style.board.cast[name].sings}
        prompt = recast(shot.prompt, given)
        return _row(shot.kind, prompt=prompt, cast=seen, place=shot.place or "", framing=shot.framing)

    def _unseen(self, rows: Sequence[list[Row]]) -> list[Row]:
        """Who must be seen and is not yet goes into b-roll, else into a shot of their own."""
        seen = {name for part in rows for row in part for name in row.get("cast", ())}
        free = [row for part in rows for row in part if "kind" in row and "cast" not in row]
        more = []
        for name in (name for name in self.wanted if name not in seen):
            if free:
                row = free.pop(len(free) // 2)
                row["cast"] = [name]
            else:
                more.append(
                    _row(ShotKind.B_ROLL, prompt=f"{together([name])} looks on", cast=[name], place="")
                )
        return more


def _row(kind: ShotKind, *, prompt: str, cast: list[str], place: str, framing: str = "") -> Row:
    row: Row = {"kind": kind.value} if kind is ShotKind.B_ROLL else {}
    row["prompt"] = prompt
    rest = {"cast": cast, "place": place, "framing": framing}
    return row | {key: value for key, value in rest.items() if value}
