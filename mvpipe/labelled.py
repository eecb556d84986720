"""Clips on disk and the voices that go with them: a wav beside each, or one vocal for a project's takes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.vault import Vault
from mvpipe.errors import MediaError, PlanError, SettingsError
from mvpipe.production import STEM

if TYPE_CHECKING:
    from mvpipe.gate.pairs import Features
    from mvpipe.gate.sync import Samples
    from mvpipe.gate.syncnet import SyncNet

FILMS = (".mp4", ".mov", ".mkv", ".webm")
SOUNDS = (".wav", ".flac", ".aiff", ".aif")

TAKE = re.compile(r"shot-(\d+)")
"""The folder of a shot's takes in a project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A clip and where its voice lies.

    Parameters
    ----------
    vocal : a sound file
    start : seconds of it at which the clip begins
    """

    clip: Path
    vocal: Path
    start: Fraction


def clips_in(places: Sequence[Path]) -> list[Path]:
    """The clips that are named, and those in the folders that are named, each once.

    Raises
    ------
    MediaError : there is no such file, or no clip in a folder
    """
    found: dict[Path, None] = {}
    for place in places:
        if place.is_dir():
            inside = sorted(path for path in place.rglob("*") if path.suffix.lower() in FILMS)
            if not inside:
                raise MediaError(f"{place}: no clips in this folder", hint=f"looked for {', '.join(FILMS)}")
            found |= dict.fromkeys(inside)
        elif place.is_file():
            found[place] = None
        else:
            raise MediaError(f"{place}: no such file")
    return [*found]


def pair(clip: Path, vocal: Path | None) -> Pair:
    """The voice of a clip: the sound file of its name beside it, else the vocal that is given for all.

    A take in a project's folder begins in the song's vocal where its window does, and needs none to be given.

    Raises
    ------
    SettingsError : there is none of them
    """
    beside = [clip.with_suffix(suffix) for suffix in SOUNDS if clip.with_suffix(suffix).is_file()]
    if beside:
        return Pair(clip=clip, vocal=beside[0], start=Fraction(0))
    vocal = vocal or planned_vocal(clip)
    if vocal is None:
        raise SettingsError(
            f"{clip}: no voice beside it",
            hint=f"put {clip.stem}.wav beside it, or name the song's vocal: --vocal FILE",
        )
    return Pair(clip=clip, vocal=vocal, start=planned_start(clip) or Fraction(0))


def placed(clip: Path, vocal: Path | None, start: Fraction | None) -> Pair:
    """A clip in the vocal that is named, or of a project's take in its song's.

    Raises
    ------
    SettingsError : none is named, and the clip is no take of a project
    """
    found = vocal or planned_vocal(clip)
    if found is None:
        raise SettingsError(
            f"{clip}: no vocal: not a take in a project's folder",
            hint="name the isolated vocal: --vocal FILE",
        )
    return Pair(clip=clip, vocal=found, start=start or Fraction(0))


def planned_start(clip: Path) -> Fraction | None:
    """When a project's take begins in the song, in seconds, as its plan says; None of other clips.

    Raises
    ------
    PlanError : the plan does not know the shot
    """
    told, number = _plan_of(clip)
    for one in told.get("shots", ()):
        if one["number"] == number:
            return Fraction(one["window"]["start"]) / Fraction(told["rate"])
    if not told:
        return None
    raise PlanError(f"{clip}: shot {number}: not in its plan", hint="cuts have moved since it was made")


def planned_vocal(clip: Path) -> Path | None:
    """The vocal of the song that a project's take belongs to, as its plan says; None of other clips."""
    told, _ = _plan_of(clip)
    if not (key := told.get("vocals")):
        return None
    found = Vault(_project_of(clip) / "vault").find(key, repair=False)
    return found.path(STEM) if found else None


def project_of(clips: Sequence[Path]) -> Path | None:
    """The folder of the one project that all of some clips are takes of; None where there is no such one."""
    projects = {_project_of(clip) if _plan_of(clip)[0] else None for clip in clips}
    return projects.pop() if len(projects) == 1 else None


def _project_of(clip: Path) -> Path:
    return clip.absolute().parent.parent.parent  # the takes of a project may be links into its vault


def _plan_of(clip: Path) -> tuple[Mapping[str, Any], int]:
    """The plan that a project's take belongs to, and the number of its shot; of other clips nothing."""
    shot, plan = TAKE.fullmatch(clip.absolute().parent.name), _project_of(clip) / "plan.json"
    if shot is None or not plan.is_file():
        return {}, 0
    return json.loads(plan.read_text(encoding="utf-8")), int(shot[1])


def title_of(clip: Path) -> str:
    """What a clip is called in a picture: of a project's take, its shot and number."""
    shot = TAKE.fullmatch(clip.absolute().parent.name)
    return f"shot {int(shot[1])}, {clip.stem.replace('-', ' ')}" if shot else clip.name


def read_voice(one: Pair) -> tuple[Samples, int]:
    """The voice from where the clip begins, mono, and its sample rate.

    Raises
    ------
    MediaError : the file cannot be read
    SettingsError : it ends before
    """
    from mvpipe.sound import wav

    shape = wav.shape(one.vocal)
    first = int(one.start * shape.sample_rate)
    if first >= shape.samples:
        raise SettingsError(
            f"{one.vocal}: ends before {float(one.start):.2f} s, where {one.clip.name} begins",
            hint="name the vocal of the whole song, and when the clip begins in it",
        )
    return wav.read(one.vocal, first, mono=True), shape.sample_rate


def sung_elsewhere(one: Pair, seconds: float, many: int, network: SyncNet) -> list[Features]:
    """What SyncNet hears where the vocal is sung elsewhere, for as long as the clip: a fit to it is chance.

    Parameters
    ----------
    many : that a floor needs; nothing is heard where the vocal has fewer

    Raises
    ------
    MediaError : the file cannot be read
    """
    from mvpipe.gate.ear import Ear
    from mvpipe.sound import wav

    ear = Ear(network, wav.read(one.vocal, mono=True), wav.shape(one.vocal).sample_rate)
    begin = float(one.start)
    return [*ear.elsewhere((begin, begin + seconds), many=many).values()]
