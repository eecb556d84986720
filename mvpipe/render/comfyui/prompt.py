"""The prompt of a shot, in the six sections of H3's Ref2VA grammar (open_h3_ir 0.4.1, prompts/ref-en.txt).

Composed from the film's look, the cast, the place, the framing and the shot's own words, which are kept as
they were given, in whatever language. The sound is always named and always `fully_copy`, both sound sections
are always written, and nobody's words are guessed: the mouth follows the voice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mvpipe.errors import StoryboardError
from mvpipe.film import ShotKind
from mvpipe.render.backend import Setup
from mvpipe.render.comfyui.bank import References
from mvpipe.render.comfyui.script import HIDES, Script, Seen, Sounding, script, where
from mvpipe.render.comfyui.wording import LONGEST, faults, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt, and what the user should know of it."""

    text: str
    notes: tuple[str, ...] = ()


def compose(setup: Setup, bank: References, sound: Sounding, *, lyrics: str = "") -> Prompt:
    """The prompt of a shot.

    Parameters
    ----------
    bank : what is wired, numbered
    sound : what is wired as the first audio; with NONE, nothing is
    lyrics : language of the card's lyric if it may be said in the prompt, such as `English`; else empty

    Raises
    ------
    StoryboardError : the card's words hold something of the prompt's own grammar, or are too many
    """
    told = script(setup, bank, sound, lyrics)
    parts = {
        "subject_definitions": _definitions(told),
        "summary": [_summary(told)],
        "retention_analysis": _retention(told),
        "detailed_description": _description(told),
        "overall_soundscape": [_soundscape(told)],
        "non_diegetic_music": [_music(told)],
    }
    text = "\n\n".join("\n".join([f"{name}:", *(lines or ["N/A"])]) for name, lines in parts.items())
    if len(text) > LONGEST:
        raise StoryboardError(
            f"{where(setup)}: prompt: {len(text)} characters with everything, at most {LONGEST}",
            hint="shorten the shot's words, the look, or what its cast and place are",
        )
    if wrong := faults(text, **bank.wired(sound is not Sounding.NONE)):
        raise ValueError(f"shot {setup.shot.number}: composed a wrong prompt: {wrong}")
    return Prompt(text=text, notes=(*bank.notes, *_notes(setup, told, lyrics)))


def _definitions(told: Script) -> list[str]:
    people = [one for one in told.people if one.label]
    lines = [f"{one.label} is {one.name}, {one.shown}: {one.description}." for one in people]
    if (place := told.place) and place.label:
        lines.append(f"{place.label} is the place {place.shown}: {place.description}.")
    if told.sound is not Sounding.NONE:
        lines.append(f"<Audio 1> is {_audio(told)}.")
    return lines + [f"{one.voiced} is the voice-timbre reference for {one.heard}." for one in told.voiced]


def _audio(told: Script) -> str:
    if told.sound is Sounding.SILENCE:
        return "a track of silence"
    if told.sound is Sounding.ACCOMPANIMENT:
        return "the accompaniment of a song, instruments without any voice"
    if not told.singers:
        return "the singing voice of a song, which nobody in the picture produces"
    owners = [one.heard if one.label else f"{one.heard}, {one.description}" for one in told.singers]
    together = ", singing together" if len(owners) > 1 else ""
    return f"the isolated singing voice of {listed(owners)}{together}"


def _summary(told: Script) -> str:
    locked = told.sound is not Sounding.NONE
    tasks = ["reference generation"] * bool(told.labelled or not locked) + ["audio reuse"] * locked
    tasks += ["audio reference"] * bool(told.voiced)
    where = f" in {told.place.label}" if told.place and told.place.label else ""
    return f"[{' + '.join(tasks)}] One shot of a music video{where}: {_gist(told, locked)}."


def _gist(told: Script, locked: bool) -> str:
    silent = [one.called for one in told.people if not one.speaker]
    if told.singers:
        who, verb = listed([one.called for one in told.singers]), _form(told.singers, "sings", "sing")
        others = f", while {listed(silent)} {_form(silent, 'does', 'do')} not sing" if silent else ""
        return f"{who} {verb} a passage of a song, driven by <Audio 1>{others}"
    shown = f"it shows {listed(silent)}, and " if silent else ""
    return f"{shown}nobody sings in it" + ("; <Audio 1> is its whole sound" if locked else "")


def _form(people: Sequence[object], one: str, many: str) -> str:
    return one if len(people) == 1 else many


def _retention(told: Script) -> list[str]:
    lines = [
        f"{one.label} (appears in [Shot 1]): fully_preserved - {_kept(one, told)}." for one in told.labelled
    ]
    if told.sound is not Sounding.NONE:
        lines.append(
            "<Audio 1>: fully_copy - unchanged from end to end, it is the complete final audio track."
        )
    return lines + [
        f"{one.voiced}: reference - the timbre of the voice of {one.called} alone; none of its words is said."
        for one in told.voiced
    ]


def _kept(one: Seen, told: Script) -> str:
    what = "space, materials and colours" if one is told.place else "face, hair, build and clothes"
    return f"{what} stay as in {one.like}"


def _description(told: Script) -> list[str]:
    style = "The target video is one continuous shot of a music video, without a cut."
    people = [f"{one.called} is {f'{one.name}, ' * bool(one.label)}{one.description}." for one in told.people]
    place = f"{told.place.label}, {told.place.description}" if told.place and told.place.label else ""
    parts = [
        f"Framing: {told.framing}." if told.framing else "",
        f"The place is {place or told.place.description}." if told.place else "",
        *people,
        told.action,
        told.camera,
        *_mouths(told),
    ]
    return [
        " ".join(filter(None, [style, f"Its look: {told.look}." if told.look else ""])),
        f"[Shot 1] {' '.join(filter(None, parts))}",
    ]


def _mouths(told: Script) -> Iterator[str]:
    """Who sings and how it is seen; who does not, and keeps the mouth shut."""
    if not told.singers:
        if told.sound is Sounding.VOICE:
            yield "The singing of <Audio 1> is heard, and nobody in the picture produces it."
        yield "Nobody speaks, sings or mouths words; every mouth that is seen stays closed."
        return
    who, verb = listed([one.heard for one in told.singers]), _form(told.singers, "sings", "sing")
    yield f"{who} {verb} the passage of <Audio 1> in the picture{f', {told.said}' if told.said else '.'}"
    yield (
        "Lips, jaw, cheeks and breath follow its syllables, held notes and rests from the first frame to the "
        "last, and the mouth is closed while the voice is silent."
    )
    shown = "As far as this framing shows it, the" if HIDES.search(told.framing) else "The"
    yield (
        f"{shown} face is turned to the camera, between front and three-quarter, lit so that the lips can be "
        "read; no hand, hair, prop or microphone covers the mouth."
    )
    if others := [one.called for one in told.people if not one.speaker]:
        yield f"{listed(others)} {_form(others, 'listens', 'listen')} with closed lips."


def _soundscape(told: Script) -> str:
    return {
        Sounding.VOICE: "Nothing is heard but the voice of <Audio 1>: no ambience, no other voice.",
        Sounding.SILENCE: "Silence, as in <Audio 1>: no ambience, no voice.",
        Sounding.ACCOMPANIMENT: "No ambience and no voice.",
        Sounding.NONE: "Quiet ambience of the place, without any voice.",
    }[told.sound]


def _music(told: Script) -> str:
    if told.sound is Sounding.ACCOMPANIMENT:
        return "<Audio 1> is reused unchanged as the complete music that only the audience hears."
    if told.sound is Sounding.VOICE and not told.singers:
        return "The singing of <Audio 1> is reused unchanged, and only the audience hears it."
    return "N/A"


def _notes(setup: Setup, told: Script, lyrics: str) -> Iterator[str]:
    """What a director would want to know before the night."""
    shot, card = f"shot {setup.shot.number}", setup.shot.card
    if card.kind is ShotKind.PERFORMANCE:
        if setup.shot.voice == 0:
            yield f"{shot}: a performance where nobody is heard: mouths stay closed"
        elif not told.singers:
            yield f"{shot}: a performance whose cast does not sing: the voice stays outside the picture"
    if told.singers and (found := HIDES.search(told.framing)):
        yield f"{shot}: framing: {found[0]}: the mouth may not be seen, and then its sync cannot be judged"
    if card.lyric and lyrics and not told.said:
        yield f"{shot}: lyric: not said: nobody sings it in this shot"
    if told.sound is Sounding.NONE:
        yield f"{shot}: not locked: the model makes its own sound, and mouths may follow it"
