"""What only shows when the storyboard meets the song's length, and what is odd but stops nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath

from mvpipe.clock import format_time
from mvpipe.film import ShotKind
from mvpipe.storyboard.described import CastMember, Place, Section, Shot
from mvpipe.storyboard.load import Loaded
from mvpipe.storyboard.problems import FieldPath, Note, Problem

CLOSEST_CUTS = Fraction(1)
"""Seconds between two pinned cuts; a shorter shot is a slip of the pen far more often than a wish."""

MOST = {"pictures": 9, "videos": 3}
"""References that H3's reference node takes in one shot (its schema: ref_images x0..9, ref_videos x0..3)."""

MOST_VOICES = 2
"""Voices beside the song's own (ref_audios x0..3)."""


def check(loaded: Loaded, seconds: Fraction | None = None, *, closest: Fraction = CLOSEST_CUTS) -> None:
    """Refuse what cannot be filmed to a song of this length.

    Parameters
    ----------
    loaded : the storyboard
    seconds : the song's length; None where it is not known yet, and then only order is checked
    closest : seconds two pinned cuts must lie apart

    Raises
    ------
    StoryboardError : with every problem found
    """
    problems = [*_bank(loaded), *_sections(loaded), *_shots(loaded), *_voices(loaded)]
    problems += [*_pins(loaded, closest), *_avoids(loaded)]
    if seconds is not None:
        problems += _outside(loaded, seconds)
    if problems:
        raise loaded.fail(*problems)


def _bank(loaded: Loaded) -> Iterator[Problem]:
    for path, one in _described(loaded):
        for kind, most in MOST.items():
            if beyond := getattr(one, kind)[most:]:
                text = f"{most + len(beyond)} {kind}: H3 takes {most} in one shot"
                yield loaded.problem((*path, kind), text, f"drop {', '.join(beyond)}")


def _described(loaded: Loaded) -> Iterator[tuple[FieldPath, CastMember | Place]]:
    """The cast and the places, each with where it stands."""
    for group in ("cast", "places"):
        for name, one in getattr(loaded.storyboard, group).items():
            yield (group, name), one


def _sections(loaded: Loaded) -> Iterator[Problem]:
    given = [(at, s.start) for at, s in enumerate(loaded.storyboard.sections) if s.start is not None]
    for (before, earlier), (at, start) in pairwise(given):
        if start <= earlier:
            name = loaded.storyboard.sections[before].name
            text = f"begins no later than {name} before it, at {format_time(earlier)}: {format_time(start)}"
            yield loaded.problem(("sections", at, "start"), text, "sections stand in the order of the song")


def _shots(loaded: Loaded) -> Iterator[Problem]:
    sections = loaded.storyboard.sections
    singers = {name for name, member in loaded.storyboard.cast.items() if member.sings}
    start: Fraction | None = None
    for at, section in enumerate(sections):
        following = (later.start for later in sections[at + 1 :] if later.start is not None)
        stop = next(following, None)
        start = start if section.start is None else section.start
        for number, shot in enumerate(section.shots):
            here: FieldPath = ("sections", at, "shots", number)
            if shot.at is not None and not _within(shot.at, start, stop):
                text = f"outside its section, {_from_to(start, stop)}: {format_time(shot.at)}"
                yield loaded.problem((*here, "at"), text)
            if shot.at is not None and shot.bar is not None:
                text = f"tied twice, to {format_time(shot.at)} and to bar {shot.bar}"
                yield loaded.problem((*here, "bar"), text, "keep one of at: and bar:")
            if shot.kind is ShotKind.PERFORMANCE and shot.cast and not singers & set(shot.cast):
                text = f"nobody in this performance sings: {', '.join(shot.cast)}"
                yield loaded.problem(
                    (*here, "cast"), text, "give one of them sings: true, or make it kind: b-roll"
                )


def _voices(loaded: Loaded) -> Iterator[Problem]:
    """Singers who cannot be told by voice, where that is asked for."""
    if loaded.storyboard.sound.singers == "named":
        return
    singing = [name for name, member in loaded.storyboard.cast.items() if member.sings]
    if len(singing) < 2:
        text = f"by-voice: nobody to tell apart: {len(singing)} of the cast sings"
        yield loaded.problem(("sound", "singers"), text, "leave it out, or give sings: true to the others")
    for name in singing:
        if loaded.storyboard.cast[name].voice is None:
            hint = "give voice: a recording of them alone, or leave sound: singers: out"
            yield loaded.problem(("cast", name), f"{name} sings, and who sings is to be told by voice", hint)


def _within(moment: Fraction, start: Fraction | None, stop: Fraction | None) -> bool:
    return (start is None or start <= moment) and (stop is None or moment < stop)


def _from_to(start: Fraction | None, stop: Fraction | None) -> str:
    return f"{format_time(start or 0)} to {'the end' if stop is None else format_time(stop)}"


def _all_pins(loaded: Loaded) -> list[tuple[Fraction, FieldPath]]:
    cuts = loaded.storyboard.cuts
    kept: list[tuple[Fraction, FieldPath]] = [(t, ("cuts", "keep", n)) for n, t in enumerate(cuts.keep)]
    moved: list[tuple[Fraction, FieldPath]] = [(t, ("cuts", "at", str(n))) for n, t in cuts.at.items()]
    return sorted(kept + moved, key=lambda pin: pin[0])


def _pins(loaded: Loaded, closest: Fraction) -> Iterator[Problem]:
    for (before, _), (moment, path) in pairwise(_all_pins(loaded)):
        if moment - before < closest:
            text = (
                f"closer than {float(closest):g} s to the cut at {format_time(before)}: {format_time(moment)}"
            )
            yield loaded.problem(path, text, "take one of them out")
    for moment, path in _all_pins(loaded):
        for span in loaded.avoid:
            if span.start <= moment < span.stop:
                text = f"inside a stretch to avoid, {_from_to(*span)}: {format_time(moment)}"
                yield loaded.problem(path, text, "move the cut or shorten the stretch")
    moves = sorted(loaded.storyboard.cuts.at.items())
    for (earlier, before), (number, moment) in pairwise(moves):
        if moment <= before:
            text = f"shot {number} would begin before shot {earlier}: {format_time(moment)}"
            yield loaded.problem(("cuts", "at", str(number)), text)


def _avoids(loaded: Loaded) -> Iterator[Problem]:
    spans = sorted((span, at) for at, span in enumerate(loaded.storyboard.cuts.avoid))
    for (before, _), (span, at) in pairwise(spans):
        if span.start < before.stop:
            text = f"overlaps the stretch {_from_to(*before)}: {_from_to(*span)}"
            yield loaded.problem(("cuts", "avoid", at), text, "write them as one")


def _outside(loaded: Loaded, seconds: Fraction) -> Iterator[Problem]:
    end = f"outside the song of {format_time(seconds)}"
    for path, moment in _moments(loaded):
        if moment >= seconds:
            yield loaded.problem(path, f"{end}: {format_time(moment)}")
    for moment, path in _all_pins(loaded):
        if not 0 < moment < seconds:
            hint = "the film begins and ends there anyway" if moment in (0, seconds) else ""
            yield loaded.problem(path, f"{end}: {format_time(moment)}", hint)
    for at, span in enumerate(loaded.storyboard.cuts.avoid):
        if span.start >= seconds:
            yield loaded.problem(("cuts", "avoid", at), f"{end}: {_from_to(*span)}")


def _moments(loaded: Loaded) -> Iterator[tuple[FieldPath, Fraction]]:
    for at, section in enumerate(loaded.storyboard.sections):
        if section.start is not None:
            yield ("sections", at, "start"), section.start
        for number, shot in enumerate(section.shots):
            if shot.at is not None:
                yield ("sections", at, "shots", number, "at"), shot.at


def lint(loaded: Loaded) -> list[Note]:
    """What is odd but stops nothing, in the order of the file."""
    found = [*_lint_sections(loaded), *_lint_cast(loaded), *_lint_files(loaded)]
    found.sort(key=lambda item: loaded.marks.value(item[0]))
    return [*loaded.notes, *(loaded.note(path, text) for path, text in found)]


Oddity = tuple[FieldPath, str]


def _lint_sections(loaded: Loaded) -> Iterator[Oddity]:
    sections = loaded.storyboard.sections
    if not any(section.shots for section in sections):
        yield ("sections",), "no shots are described: all are made from look and cast"
        return
    for at, section in enumerate(sections):
        if not section.shots:
            yield ("sections", at), f"{section.name} describes no shots: they are made from look and cast"
        yield from _lint_shots(at, section)


def _lint_shots(at: int, section: Section) -> Iterator[Oddity]:
    for number, shot in enumerate(section.shots):
        here: FieldPath = ("sections", at, "shots", number)
        if not shot.prompt:
            yield (*here, "prompt"), "empty: only look, cast and place say what is seen"
        if shot.kind is ShotKind.PERFORMANCE and not shot.cast:
            yield here, "a performance without cast: nobody is named who sings"
        if repeated := sorted({name for name in shot.cast if shot.cast.count(name) > 1}):
            yield (*here, "cast"), f"named more than once: {', '.join(repeated)}"


def _lint_cast(loaded: Loaded) -> Iterator[Oddity]:
    storyboard = loaded.storyboard
    shots = [shot for section in storyboard.sections for shot in section.shots]
    seen = {name for shot in shots for name in shot.cast}
    visited = {shot.place for shot in shots}
    for name in storyboard.cast:
        if shots and name not in seen:
            yield ("cast", name), "seen in no shot"
    for name in storyboard.places:
        if shots and name not in visited:
            yield ("places", name), "seen in no shot"
    yield from _lint_repeated(loaded)
    if storyboard.cast and not any(member.sings for member in storyboard.cast.values()):
        yield ("cast",), "nobody sings: give sings: true to whoever does"
    if storyboard.render.backend == "comfyui":
        yield from _lint_references(shots, loaded)


def _lint_repeated(loaded: Loaded) -> Iterator[Oddity]:
    for path, one in _described(loaded):
        for kind in MOST:
            files: tuple[str, ...] = getattr(one, kind)
            if repeated := sorted({name for name in files if files.count(name) > 1}):
                yield (*path, kind), f"named more than once: {', '.join(repeated)}"


def _lint_references(shots: list[Shot], loaded: Loaded) -> Iterator[Oddity]:
    """What H3 would have to invent, or could not take in."""
    for path, one in _described(loaded):
        if not one.pictures and not one.videos:
            yield path, "no pictures: H3 invents the look anew in every shot"
    for at, section in enumerate(loaded.storyboard.sections):
        for number, shot in enumerate(section.shots):
            yield from ((("sections", at, "shots", number), text) for text in _crowded(shot, loaded))


def _crowded(shot: Shot, loaded: Loaded) -> Iterator[str]:
    """References of a shot that H3 does not take together."""
    storyboard = loaded.storyboard
    cast = [storyboard.cast[name] for name in shot.cast]
    seen: list[CastMember | Place] = [*cast, *([storyboard.places[shot.place]] if shot.place else [])]
    for kind, most in MOST.items():
        if (count := sum(len(getattr(one, kind)) for one in seen)) > most:
            yield f"{count} {kind} together: H3 takes {most} in one shot"
    voices = {member.voice for member in cast if member.sings and member.voice}
    if storyboard.render.send_voices and len(voices) > MOST_VOICES:
        yield f"{len(voices)} voices together: H3 takes {MOST_VOICES} beside the song's"


def _lint_files(loaded: Loaded) -> Iterator[Oddity]:
    storyboard = loaded.storyboard
    named: list[tuple[FieldPath, str | None]] = [
        (("lyrics",), storyboard.lyrics),
        (("sound", "vocals"), storyboard.sound.vocals),
    ]
    for path, one in _described(loaded):
        for kind in MOST:
            named += (((*path, kind, at), file) for at, file in enumerate(getattr(one, kind)))
    named += ((("cast", name, "voice"), member.voice) for name, member in storyboard.cast.items())
    for path, file in named:
        if file and (PurePosixPath(file).is_absolute() or PureWindowsPath(file).is_absolute()):
            yield path, "an absolute path: the storyboard works on this computer alone"
