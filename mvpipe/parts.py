"""The sections of a song as its maker would name them, each beginning on a planned cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mvpipe.film import SungLine
from mvpipe.plan import Plan, Planned
from mvpipe.storyboard.deal import SINGS_FROM

Shots = tuple[Planned, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A section of the song with a name.

    Parameters
    ----------
    name : what it is called
    shots : those planned in it, at least one
    """

    name: str
    shots: Shots


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A group of shots and what is heard in it: the label of its music, its words, whether anybody sings."""

    shots: Shots
    label: str
    words: frozenset[str]

    @property
    def sung(self) -> bool:
        frames = sum(len(planned.shot.cut) for planned in self.shots)
        share = sum(planned.shot.voice * len(planned.shot.cut) for planned in self.shots) / frames
        return share >= SINGS_FROM / 2


def named(plan: Plan) -> list[Named]:
    """The sections of a planned song, named by what comes back: words first, music else."""
    (label, first), *rest = _grouped(plan)
    groups = [*((label, piece) for piece in _voice_begins(first)), *rest]
    label, last = groups[-1]
    groups = [*groups[:-1], *((label, piece) for piece in _voice_ends(last))]
    found = [_Heard(shots=shots, label=label, words=_words(shots, plan.lines)) for label, shots in groups]
    names = _numbered([_kind(at, found) for at in range(len(found))])
    return [Named(name=name, shots=one.shots) for name, one in zip(names, found, strict=True)]


def _grouped(plan: Plan) -> list[tuple[str, Shots]]:
    """The shots, parted at the cut nearest to where each part begins, with the part's label."""
    starts = [float(one.shot.cut.start / one.shot.cut.rate) for one in plan.planned]
    labels: dict[int, str] = {0: plan.parts[0].label if plan.parts else ""}
    for part in plan.parts:
        away = [abs(start - part.start) for start in starts]
        labels.setdefault(away.index(min(away)), part.label)
    edges = [*sorted(labels), len(starts)]
    return [(labels[a], plan.planned[a:b]) for a, b in pairwise(edges)]


def _voice_begins(group: Shots) -> list[Shots]:
    """The group, parted where somebody begins to sing: what comes before is the intro."""
    sung = [at for at, one in enumerate(group) if one.shot.voice >= SINGS_FROM]
    return [group[: sung[0]], group[sung[0] :]] if sung and sung[0] else [group]


def _voice_ends(group: Shots) -> list[Shots]:
    """The group, parted behind the last shot in which somebody sings."""
    sung = [at + 1 for at, one in enumerate(group) if one.shot.voice >= SINGS_FROM]
    return [group[: sung[-1]], group[sung[-1] :]] if sung and sung[-1] < len(group) else [group]


def _words(group: Shots, lines: Sequence[SungLine]) -> frozenset[str]:
    """The different lines that begin in a group."""
    first, last = group[0].shot.cut, group[-1].shot.cut
    start, stop = first.start / first.rate, last.stop / last.rate
    return frozenset(line.text.casefold() for line in lines if start <= line.start < stop)


def _kind(at: int, found: Sequence[_Heard]) -> str:
    """What musicians would call a section."""
    here, others = found[at], [one for other, one in enumerate(found) if other != at]
    if not any(one.sung for one in found):
        return "part"
    if not here.sung:
        before, after = found[:at], found[at + 1 :]
        if not any(one.sung for one in before):
            return "intro"
        return "break" if any(one.sung for one in after) else "ending"
    if any(one.words for one in found):
        again = here.words & frozenset().union(*(one.words for one in others))
        return "chorus" if here.words and len(again) * 2 > len(here.words) else "verse"
    return _by_music(here, found)


def _by_music(here: _Heard, found: Sequence[_Heard]) -> str:
    """Of the music that comes back, what is sung first is the verse and what comes next the chorus."""
    counted = Counter(one.label for one in found if one.sung)
    back = list(dict.fromkeys(one.label for one in found if one.sung and counted[one.label] > 1))
    if len(back) < 2:
        return "verse" if back else "part"
    if here.label in back:
        return "chorus" if here.label == back[1] else "verse"
    choruses = [at for at, one in enumerate(found) if one.label == back[1]]
    return "bridge" if found.index(here) > choruses[0] else "verse"


def _numbered(kinds: Sequence[str]) -> Iterator[str]:
    """Names that differ: a second chorus is `chorus 2`."""
    total, seen = Counter(kinds), Counter[str]()
    for kind in kinds:
        seen[kind] += 1
        alone = total[kind] == 1 or (kind == "chorus" and seen[kind] == 1)
        yield kind if alone else f"{kind} {seen[kind]}"
