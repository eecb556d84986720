"""The plan: the value `prep` ends in, and all that `shoot` is built from. Written to `plan.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mvpipe.clock import Span
from mvpipe.errors import PlanError
from mvpipe.film import Boundary, BoundaryKind, Card, Shot, ShotKind, Song

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A shot, and why it is cut as it is.

    Parameters
    ----------
    shot : the shot
    why : why it starts here, in words
    runner_up : the best other place for its first frame, and what it would cost; or empty
    in_voice : whether its first frame falls into singing
    seconds : what one take of it is predicted to need
    """

    shot: Shot
    why: str
    runner_up: str = ""
    in_voice: bool = False
    seconds: float = 0.0


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
    """

    title: str
    song: Song
    separator: str
    rate: Fraction
    planned: tuple[Planned, ...]
    notes: tuple[str, ...] = ()

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
        """Cuts that fall into singing."""
        return sum(planned.in_voice for planned in self.planned)

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
            "rate": str(self.rate),
            "frames": self.frames,
            "cuts_inside_words": self.cuts_inside_words,
            "predicted_seconds": round(self.seconds, 1),
            "notes": list(self.notes),
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
        "why": planned.why,
        "runner_up": planned.runner_up,
        "predicted_seconds": round(planned.seconds, 2),
        "section": shot.card.section,
        "prompt": shot.card.prompt,
        "cast": list(shot.card.cast),
        "place": shot.card.place,
        "framing": shot.card.framing,
        "lyric": shot.card.lyric,
        "origin": shot.card.origin,
    }


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
        seconds=value["predicted_seconds"],
    )
