"""What a director says about one shot of the film, as changes of what the storyboard describes.

A described shot may be dealt more than once. What is said about one shot of the film then changes that one
alone: the section is written out, a description a cut, with the framings it already had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mvpipe.cutting import Heard
from mvpipe.errors import SettingsError
from mvpipe.film import Card, ShotKind
from mvpipe.storyboard.change import Change, Drop, Insert, Put
from mvpipe.storyboard.described import Shot
from mvpipe.storyboard.load import Loaded
from mvpipe.storyboard.problems import FieldPath
from mvpipe.storyboard.styles import recast
from mvpipe.storyboard.variety import Source

Fields = Mapping[str, Any]
"""Fields of a described shot -> their new values; None takes a field out."""


def dress(
    loaded: Loaded, heard: Heard, wanted: Mapping[int, Fields], *, everywhere: bool = False
) -> list[Change]:
    """The changes that give shots of the film new fields.

    Parameters
    ----------
    loaded : the storyboard
    heard : its plan
    wanted : number of a shot -> its new fields
    everywhere : also where the same description comes round again

    Raises
    ------
    SettingsError : nobody has described the shot, and it lies in no section that could
    """
    changes: list[Change] = []
    if everywhere:
        by_path = {_path(_described(heard, number)): fields for number, fields in wanted.items()}
        return [change for path, fields in by_path.items() for change in _put(path, fields)]
    by_section: dict[int, dict[int, Fields]] = {}
    for number, fields in wanted.items():
        by_section.setdefault(_home(heard, number), {})[number] = fields
    for section, told in by_section.items():
        changes += _section(loaded, heard, section, told)
    return changes


def _described(heard: Heard, number: int) -> Source:
    source = heard.sources[number - 1]
    if source.shot is None:
        raise SettingsError(
            f"shot {number}: nobody has described it: it was made from look and cast",
            hint="without --everywhere it gets a description of its own",
        )
    return source


def _home(heard: Heard, number: int) -> int:
    section = heard.sources[number - 1].section
    if section is None:
        raise SettingsError(
            f"shot {number}: lies in no section of the storyboard",
            hint="give the first section start: 0, or let mvpipe init write the sections",
        )
    return section


def _section(loaded: Loaded, heard: Heard, section: int, told: Mapping[int, Fields]) -> list[Change]:
    """The changes in one section: in place where a description is used once, else it is written out."""
    mine = [at + 1 for at, source in enumerate(heard.sources) if source.section == section]
    first: dict[int, int] = {}
    for number in mine:
        shot = heard.sources[number - 1].shot
        if shot is not None:
            first.setdefault(shot, number)
    shared = any(_uses(heard, heard.sources[number - 1]) > 1 for number in told)
    changes: list[Change] = []
    for number, fields in told.items():
        source = heard.sources[number - 1]
        if source.shot is not None and first[source.shot] == number:
            changes += _put(_path(source), fields)
    if shared or any(heard.sources[number - 1].shot is None for number in told):
        changes += _written_out(loaded, heard, section, [n for n in mine if n not in first.values()], told)
    return changes


def _uses(heard: Heard, source: Source) -> int:
    return heard.sources.count(source)


def _written_out(
    loaded: Loaded, heard: Heard, section: int, again: Sequence[int], told: Mapping[int, Fields]
) -> list[Change]:
    """A description of its own for every shot of the film that had none, or shared one."""
    room = len(loaded.storyboard.sections[section].shots)
    rows = [_row(heard.plan.shots[number - 1].card) | dict(told.get(number, {})) for number in again]
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    path: FieldPath = ("sections", section, "shots")
    if not room:
        return [Put(path, rows)]
    return [Insert((*path, room + at), row) for at, row in enumerate(rows)]


def _row(card: Card) -> dict[str, Any]:
    """A card as somebody would have described it."""
    row: dict[str, Any] = {"kind": card.kind.value} if card.kind is ShotKind.B_ROLL else {}
    rest = {
        "prompt": card.prompt,
        "cast": list(card.cast),
        "place": card.place,
        "framing": card.framing,
        "without_voice": card.without_voice,
    }
    return row | {key: value for key, value in rest.items() if value}


def _path(source: Source) -> FieldPath:
    assert source.section is not None
    assert source.shot is not None
    return ("sections", source.section, "shots", source.shot)


def _put(path: FieldPath, fields: Fields) -> list[Change]:
    return [
        Drop((*path, key)) if value is None else Put((*path, key), value) for key, value in fields.items()
    ]


def muted(heard: Heard, number: int) -> Fields:
    """The fields of a shot in which nobody sings any more.

    Raises
    ------
    SettingsError : nobody does
    """
    if heard.plan.shots[number - 1].card.kind is ShotKind.B_ROLL:
        raise SettingsError(f"mute: shot {number}: nobody sings in it already")
    return {"kind": ShotKind.B_ROLL.value}


def unmuted(heard: Heard, number: int) -> Fields:
    """The fields of a shot in which somebody sings.

    Raises
    ------
    SettingsError : somebody does already
    """
    if heard.plan.shots[number - 1].card.kind is ShotKind.PERFORMANCE:
        raise SettingsError(f"unmute: shot {number}: it is a performance already")
    return {"kind": None}


def swapped(loaded: Loaded, heard: Heard, old: str, new: str, only: Sequence[int]) -> list[Change]:
    """Another one takes somebody's place: in the cast of shots, and by name in their prompts.

    Parameters
    ----------
    only : numbers of the shots; empty for every shot described

    Raises
    ------
    SettingsError : one of the two is not in the cast, or `old` is in none of these shots
    """
    for name in (old, new):
        if name not in loaded.storyboard.cast:
            known = ", ".join(loaded.storyboard.cast) or "nobody"
            raise SettingsError(f"swap: not in the cast: {name}", hint=f"the cast has {known}")
    if only:
        cards = {number: heard.plan.shots[number - 1].card for number in only}
        told = {n: _recast(card.cast, card.prompt, old, new) for n, card in cards.items() if old in card.cast}
        changes = dress(loaded, heard, told)
    else:
        changes = [change for path, shot in _all(loaded) if old in shot.cast
                   for change in _put(path, _recast(shot.cast, shot.prompt, old, new))]  # fmt: skip
    if not changes:
        raise SettingsError(f"swap: {old}: seen in none of these shots")
    return changes


def _all(loaded: Loaded) -> list[tuple[FieldPath, Shot]]:
    return [
        (("sections", section, "shots", at), shot)
        for section, part in enumerate(loaded.storyboard.sections)
        for at, shot in enumerate(part.shots)
    ]


def _recast(cast: Sequence[str], prompt: str, old: str, new: str) -> Fields:
    names = list(dict.fromkeys(new if name == old else name for name in cast))
    said = recast(prompt, {old: new})
    return {"cast": names} | ({"prompt": said} if said != prompt else {})
