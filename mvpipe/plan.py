"""The plan: the value `prep` ends in, and all that `shoot` is built from. Written to `plan.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mvpipe.chain import chains
from mvpipe.clock import Span
from mvpipe.errors import PlanError
from mvpipe.film import (
    Boundary,
    BoundaryKind,
    Card,
    Continuity,
    Shot,
    ShotKind,
    Song,
    SungBy,
    SungLine,
    Timing,
    Word,
)

FORMAT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of the song, as heard.

    Parameters
    ----------
    start, stop : seconds
    label : `A`, `B`, ...: the same for the same music
    time : 1 where it is heard first, then 2, ...
    voice : share of it in which somebody sings, in [0, 1]
    """

    start: float
    stop: float
    label: str
    time: int
    voice: float


def voice_from(separator: str) -> str:
    """Where the voice comes from, in words that follow *voice:*."""
    return "your own stem" if separator == "given" else separator


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A shot, and why it is cut as it is.

    Parameters
    ----------
    shot : the shot
    why : why it starts here, in words
    runner_up : the best other place for its first frame, and what it would cost; or empty
    in_voice : whether its first frame falls into a word, or, where words are not known, into singing
    harm : what its first frame falls into, in words; or empty
    seconds : what one take of it is predicted to need
    sings : names of those who are seen to sing in it
    """

    shot: Shot
    why: str
    runner_up: str = ""
    in_voice: bool = False
    harm: str = ""
    seconds: float = 0.0
    sings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A song, cut into shots.

    Parameters
    ----------
    title : of the film
    song : the song
    separator : what made the stem, such as `htdemucs`
    rate : of the picture
    planned : the shots in order; they tile the film
    notes : what the person should know: fallbacks taken, sections placed, oddities of the song
    parts : the sections of the song as heard; they tile it
    metre : counts to a bar; 0 where no bars are heard
    phrases : seconds from and to which somebody sings
    lines : the lyrics where they are sung, in order
    sung_by : who sings each phrase, where the storyboard asks the voice
    words_known : whether cuts were kept out of words whose times are known
    bank : every pinned picture, as it is sent
    vocals : key of the vault's entry that holds the stem
    """

    title: str
    song: Song
    separator: str
    rate: Fraction
    planned: tuple[Planned, ...]
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    metre: int = 0
    phrases: tuple[tuple[float, float], ...] = ()
    lines: tuple[SungLine, ...] = ()
    sung_by: tuple[SungBy, ...] = ()
    words_known: bool = False
    bank: tuple[Mapping[str, Any], ...] = ()
    vocals: str = ""

    @property
    def shots(self) -> tuple[Shot, ...]:
        """The shots in order."""
        return tuple(planned.shot for planned in self.planned)

    @property
    def frames(self) -> int:
        """Length of the film."""
        return self.planned[-1].shot.cut.stop

    @property
    def cuts_inside_words(self) -> int:
        """Cuts that fall into a word, or, where words are not known, into singing."""
        return sum(planned.in_voice for planned in self.planned)

    @property
    def singers(self) -> frozenset[str]:
        """Names of all who are seen to sing."""
        return frozenset(name for planned in self.planned for name in planned.sings)

    @property
    def seconds(self) -> float:
        """What one take of every shot is predicted to need, one after the other."""
        return sum(planned.seconds for planned in self.planned)

    def as_json(self) -> dict[str, Any]:
        """The plan for scripts and for `plan.json`."""
        song = self.song
        return {
            "plan": FORMAT,
            "title": self.title,
            "song": {
                "path": str(song.path),
                "digest": song.digest,
                "samples": song.samples,
                "sample_rate": song.sample_rate,
                "channels": song.channels,
                "sample_format": song.sample_format,
            },
            "separator": self.separator,
            "vocals": self.vocals,
            "rate": str(self.rate),
            "frames": self.frames,
            "cuts_inside_words": self.cuts_inside_words,
            "predicted_seconds": round(self.seconds, 1),
            "notes": list(self.notes),
            "metre": self.metre,
            "phrases": [list(phrase) for phrase in self.phrases],
            "sung_by": [_sung_by_json(one) for one in self.sung_by],
            "sections": [asdict(part) for part in self.parts],
            "words_known": self.words_known,
            "lines": [_line_json(line) for line in self.lines],
            "bank": list(self.bank),
            "chains": [list(chain) for chain in chains(self.shots)],
            "shots": [_shot_json(planned) for planned in self.planned],
        }


def load_plan(path: Path) -> Plan:
    """The plan in a `plan.json`.

    Raises
    ------
    PlanError : there is none, or it is not one
    """
    try:
        return _plan(json.loads(path.read_text("utf-8")))
    except FileNotFoundError as exc:
        raise PlanError(f"{path}: no plan yet", hint="mvpipe plan SONG STORYBOARD makes it") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise PlanError(f"{path}: not a plan: {exc}", hint="plan again: mvpipe plan SONG STORYBOARD") from exc


def _shot_json(planned: Planned) -> dict[str, Any]:
    shot = planned.shot
    return {
        "number": shot.number,
        "cut": {"start": shot.cut.start, "stop": shot.cut.stop},
        "window": {"start": shot.window.start, "stop": shot.window.stop},
        "kind": shot.card.kind.value,
        "boundary": shot.boundary
        and {
            "kind": shot.boundary.kind.value,
            "weight": round(shot.boundary.weight, 4),
            "sample": shot.boundary.sample,
        },
        "voice": round(shot.voice, 4),
        "in_voice": planned.in_voice,
        "harm": planned.harm,
        "why": planned.why,
        "runner_up": planned.runner_up,
        "predicted_seconds": round(planned.seconds, 2),
        "section": shot.card.section,
        "prompt": shot.card.prompt,
        "cast": list(shot.card.cast),
        "sings": list(planned.sings),
        "place": shot.card.place,
        "framing": shot.card.framing,
        "lyric": shot.card.lyric,
        "without_voice": shot.card.without_voice,
        "continuity": shot.card.continuity.value,
        "origin": shot.card.origin,
    }


def _line_json(line: SungLine) -> dict[str, Any]:
    return {
        "text": line.text,
        "start": _ms(line.start),
        "stop": _ms(line.stop),
        "timing": line.timing.value,
        "word_timing": line.word_timing.value,
        "sure": line.sure,
        "words": [
            {"text": word.text, "start": _ms(word.start), "stop": _ms(word.stop or word.start)}
            for word in line.words
        ],
    }


def _sung_by_json(one: SungBy) -> dict[str, Any]:
    return asdict(one) | {"start": _ms(one.start), "stop": _ms(one.stop)}


def _sung_by(value: Mapping[str, Any]) -> SungBy:
    return SungBy(**{**value, "start": _exact(value["start"]), "stop": _exact(value["stop"])})


def _ms(seconds: Fraction) -> float:
    return round(float(seconds), 3)


def _line(value: Mapping[str, Any]) -> SungLine:
    words = tuple(Word(w["text"], _exact(w["start"]), _exact(w["stop"])) for w in value["words"])
    return SungLine(
        text=value["text"],
        start=_exact(value["start"]),
        stop=_exact(value["stop"]),
        words=words,
        timing=Timing(value["timing"]),
        word_timing=Timing(value["word_timing"]),
        sure=value["sure"],
    )


def _exact(seconds: float) -> Fraction:
    return Fraction(round(seconds * 1000), 1000)


def _plan(value: Mapping[str, Any]) -> Plan:
    if value["plan"] != FORMAT:
        raise ValueError(f"format {value['plan']}, this mvpipe reads {FORMAT}")
    rate = Fraction(value["rate"])
    song = {**value["song"], "path": Path(value["song"]["path"])}
    return Plan(
        title=value["title"],
        song=Song(**song),
        separator=value["separator"],
        rate=rate,
        planned=tuple(_planned(shot, rate) for shot in value["shots"]),
        notes=tuple(value["notes"]),
        bank=tuple(value.get("bank", ())),
        vocals=value.get("vocals", ""),
        parts=tuple(Part(**part) for part in value["sections"]),
        metre=value["metre"],
        phrases=tuple((start, stop) for start, stop in value["phrases"]),
        lines=tuple(map(_line, value["lines"])),
        sung_by=tuple(map(_sung_by, value.get("sung_by", ()))),
        words_known=value["words_known"],
    )


def _planned(value: Mapping[str, Any], rate: Fraction) -> Planned:
    boundary = value["boundary"]
    card = Card(
        prompt=value["prompt"],
        kind=ShotKind(value["kind"]),
        cast=tuple(value["cast"]),
        place=value["place"],
        framing=value["framing"],
        section=value["section"],
        lyric=value["lyric"],
        without_voice=value.get("without_voice", ""),
        continuity=Continuity(value.get("continuity", Continuity.CUT)),
        origin=value["origin"],
    )
    shot = Shot(
        number=value["number"],
        cut=Span(value["cut"]["start"], value["cut"]["stop"], rate),
        window=Span(value["window"]["start"], value["window"]["stop"], rate),
        card=card,
        boundary=boundary
        and Boundary(
            sample=boundary["sample"], kind=BoundaryKind(boundary["kind"]), weight=boundary["weight"]
        ),
        voice=value["voice"],
    )
    return Planned(
        shot=shot,
        why=value["why"],
        runner_up=value["runner_up"],
        in_voice=value["in_voice"],
        harm=value["harm"],
        seconds=value["predicted_seconds"],
        sings=tuple(value.get("sings", ())),
    )
