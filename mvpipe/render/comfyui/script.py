"""A shot in the words its prompt is made of: who is seen and by which label, who sings, and to what sound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from mvpipe.render.backend import Setup
from mvpipe.render.comfyui.bank import References, Shown, voice_role
from mvpipe.render.comfyui.wording import bare, listed, sentence, tidy

FRAMING = "medium close-up, front, at eye level"
"""Of a singing shot whose card leaves it open (design 6): the mouth must be seen to be judged."""

HIDES = re.compile(
    r"behind|\bback\b|profile|silhouette|over[- ]the[- ]shoulder|\bdetail\b|extreme wide|\bhands?\b|\bfeet\b"
    r"|straight down|top[- ]down|overhead|bird",
    re.IGNORECASE,
)
"""Framings that leave the mouth unseen, in the words of storyboards."""


CAMERA = re.compile(
    r"camera|kamera|c[aá]mara|caméra|камер|镜头|鏡頭|カメラ|카메라|dolly|crane|hand-?held|tracking|steadicam"
    r"|\b(?:pan|tilt|zoom|truck|arc)s?\b|push(?:es)?[- ]in|pulls?[- ](?:out|back)|pedestal|orbit|static"
    r"|locked[- ]off|\bPOV\b|point of view",
    re.IGNORECASE,
)
"""The director says what the camera does. Left open, H3 chooses, so it is said then: from the closed list of
moves in the grammar (open_h3_ir 0.4.1, validate.py rule P5)."""


BASIC_MARKS = str.maketrans("。．？！，、", "..?!,,")
"""Words in <d> have basic marks and end in . ? or ! (ref-en.txt 5.4)."""


class Sounding(StrEnum):
    """What a shot's locked sound is."""

    VOICE = "voice"
    SILENCE = "silence"
    ACCOMPANIMENT = "accompaniment"
    NONE = "none"


WITHOUT_VOICE = Sounding.SILENCE
"""What shots in which nobody sings are locked to, unless the storyboard says otherwise.

Frozen silence tells the model at every step that no voice is heard, so that mouths stay shut; left
unlocked, it makes up sound, and people who speak it; the accompaniment may set mouths and hands moving to
instruments. Reasoned from how the lock works, not measured with real weights.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Somebody or some place in the picture.

    Parameters
    ----------
    name, description : in the director's words
    label : `<Subject N>` where files pin it, else empty
    speaker : `(SN)` of whoever sings, else empty
    shown : what pins it, in words: `seen in <Picture 1> and <Picture 2>, and filmed in <Video 1>`
    like : the same without words: `<Picture 1>, <Picture 2> and <Video 1>`
    voiced : `<Audio N>` of a recording of their voice, else empty
    """

    name: str
    description: str
    label: str = ""
    speaker: str = ""
    shown: str = ""
    like: str = ""
    voiced: str = ""

    @property
    def called(self) -> str:
        """How it is referred to: by label, else by name."""
        return self.label or self.name

    @property
    def heard(self) -> str:
        """The same where it makes a sound: with the speaker's mark."""
        return f"{self.called} {self.speaker}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A shot in words.

    Parameters
    ----------
    people : who is seen, in the card's order
    place : where
    sound : what is heard
    look, framing, action : in the director's words; without a stop, but for the action
    said : the line that is sung, in its tag, or empty
    """

    people: tuple[Seen, ...]
    place: Seen | None
    sound: Sounding
    look: str
    framing: str
    action: str
    said: str

    @property
    def singers(self) -> list[Seen]:
        """Who sings in the picture."""
        return [one for one in self.people if one.speaker]

    @property
    def camera(self) -> str:
        """What the camera does where the director leaves it open, else empty."""
        if CAMERA.search(f"{self.look} {self.framing} {self.action}"):
            return ""
        move = "makes a Push In with small amplitude at slow speed" if self.singers else "holds a Static Shot"
        return f"The camera {move}."

    @property
    def voiced(self) -> list[Seen]:
        """Who sings and has a recording of their voice beside the song's."""
        return [one for one in self.singers if one.voiced]

    @property
    def labelled(self) -> list[Seen]:
        """Who and what has a label, in the labels' order."""
        return [one for one in (*self.people, *filter(None, [self.place])) if one.label]


def script(setup: Setup, bank: References, sound: Sounding, lyrics: str = "") -> Script:
    """A shot in words, from its card.

    Parameters
    ----------
    lyrics : language of the card's lyric if it may be said; else empty

    Raises
    ------
    StoryboardError : the card's words hold something of the prompt's own grammar
    """
    card, at = setup.shot.card, where(setup)
    people = tuple(_people(setup, bank, sound))
    sung = any(one.speaker for one in people)
    return Script(
        people=people,
        place=_place(setup, bank, sum(bool(one.label) for one in people)),
        sound=sound,
        look=bare(tidy(f"{at}: look", setup.look)),
        framing=bare(tidy(f"{at}: framing", card.framing)) or (FRAMING if sung else ""),
        action=sentence(tidy(f"{at}: prompt", card.prompt)),
        said=_said(f"{at}: lyric", card.lyric, lyrics) if sung else "",
    )


def where(setup: Setup) -> str:
    """The shot's place in the storyboard, for messages."""
    return setup.shot.card.origin or f"shot {setup.shot.number}"


def _people(setup: Setup, bank: References, sound: Sounding) -> Iterator[Seen]:
    labels = speakers = 0
    voiced = {one.role: f"<Audio {one.number}>" for one in bank.voices}
    for member in setup.cast:
        shown, like = _tags(bank.cast.get(member.name, Shown()))
        labels += bool(shown)
        sings = member.sings and sound is Sounding.VOICE
        speakers += sings
        yield Seen(
            name=_name(member.name),
            description=bare(tidy(f"{where(setup)}: cast {member.name}", member.description)),
            label=f"<Subject {labels}>" if shown else "",
            speaker=f"(S{speakers})" if sings else "",
            shown=shown,
            like=like,
            voiced=voiced.get(voice_role(member), ""),
        )


def _place(setup: Setup, bank: References, labels: int) -> Seen | None:
    if not setup.place:
        return None
    shown, like = _tags(bank.place)
    return Seen(
        name=_name(setup.place.name),
        description=bare(tidy(f"{where(setup)}: place {setup.place.name}", setup.place.description)),
        label=f"<Subject {labels + 1}>" if shown else "",
        shown=shown,
        like=like,
    )


def _tags(shown: Shown) -> tuple[str, str]:
    """What shows somebody, in words and without."""
    pictures = [f"<Picture {n}>" for n in shown.pictures]
    videos = [f"<Video {n}>" for n in shown.videos]
    told = ["seen in " * bool(pictures) + listed(pictures), "filmed in " * bool(videos) + listed(videos)]
    return ", and ".join(filter(None, told)), listed(pictures + videos)


def _name(key: str) -> str:
    """A name as it is said: `old_man` is Old Man."""
    words = key.replace("_", " ").split()
    return " ".join(word[0].upper() + word[1:] for word in words)


def _said(at: str, lyric: str, language: str) -> str:
    """The line that is sung, as H3 wants it; `#2` behind it only says which time."""
    words = re.sub(r"\s*#\d+$", "", tidy(at, lyric)).translate(BASIC_MARKS)
    if not (words and language):
        return ""
    return f"<d>[{language}] {words if words.endswith(('.', '?', '!')) else f'{bare(words)}.'}</d>"
