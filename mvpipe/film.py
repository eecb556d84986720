"""The nouns of the cutting room: frozen, only buildable valid, and without any I/O.

| word | what it is |
|---|---|
| Song | the finished mix as delivered; never altered; the clock of the film |
| Stem | one separated part of a Song, exactly as long as it |
| Curve | one analysis value per hop |
| Boundary | a moment a cut could fall |
| Card | what the storyboard says about a Shot |
| Shot | a numbered stretch of the film: what is seen (`cut`), and what is rendered (`window`) |
| Slate | everything that decides one take's bytes; its digest is the take's key |
| Take | a Slate and what came back, counted frame by frame |
| Verdict | what the gate measured on a Take |
| Slug | filler of exact length where a Take is missing |
| Timeline | the Shots in order, each with a Take or a Slug |
| Reel, Film | the conformed silent picture; the Reel with the Song laid under it once |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.clock import FILM_RATE, Span, frames_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTEST_WINDOW, LONGEST_WINDOW = 124, 362
"""Frames of the windows H3 was trained on (5.2 to 15.1 s at 24 fps); source: h3 node code and SPEC."""

WINDOW_STEP, WINDOW_BASE = 17, 5
"""H3 renders 17k+5 frames; other lengths are silently rounded up by its node."""


def window_length(frames: int) -> int:
    """The shortest length H3 accepts that holds `frames` frames.

    Raises
    ------
    ValueError : more than `LONGEST_WINDOW` frames, or none
    """
    if not 0 < frames <= LONGEST_WINDOW:
        raise ValueError(f"a window holds 1..{LONGEST_WINDOW} frames: {frames}")
    steps = -(-(max(frames, SHORTEST_WINDOW) - WINDOW_BASE) // WINDOW_STEP)
    return steps * WINDOW_STEP + WINDOW_BASE


@dataclass(frozen=True, slots=True, kw_only=True)
class Song:
    """The finished mix as the musician delivered it.

    Parameters
    ----------
    path : the file it was read from
    digest : sha256 (hex) of its decoded samples: interleaved, little-endian, in `sample_format`
    sample_rate : Hz
    samples : decoded samples per channel; counted, never taken from a header
    channels : 1 or more
    sample_format : what the decoder gives: u8, s16, s32, s64, f32 or f64
    """

    path: Path
    digest: str
    sample_rate: int
    samples: int
    channels: int
    sample_format: str

    def __post_init__(self) -> None:
        if self.samples <= 0 or self.sample_rate <= 0 or self.channels <= 0:
            raise ValueError(f"a song has samples: {self.samples} x {self.channels} at {self.sample_rate} Hz")

    @property
    def seconds(self) -> Fraction:
        """Its length in seconds."""
        return Fraction(self.samples, self.sample_rate)

    def frames(self, rate: Fraction = FILM_RATE) -> int:
        """Frames of the film that covers it."""
        return frames_in(self.samples, self.sample_rate, rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stem:
    """One separated part of a Song: float32 WAV (RF64 where large), as long as the Song, at its rate.

    Parameters
    ----------
    name : `vocals` or `accompaniment`
    path : the sound file
    sample_rate, samples : those of the Song
    channels : 1 or 2
    separator : what made it, for the report: `htdemucs`, `spleeter`, `given`
    """

    name: str
    path: Path
    sample_rate: int
    samples: int
    channels: int
    separator: str

    def __post_init__(self) -> None:
        if self.samples <= 0 or self.sample_rate <= 0 or self.channels not in (1, 2):
            raise ValueError(
                f"a stem is mono or stereo: {self.samples} x {self.channels} at {self.sample_rate} Hz"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One analysis value per hop.

    Parameters
    ----------
    values : float32, shape (n,)
    hop : seconds between values; value i describes the sound around `i * hop`
    """

    values: NDArray[np.float32]
    hop: Fraction

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.hop <= 0:
            raise ValueError(f"a curve has one value per hop: {self.values.shape} every {self.hop} s")

    def __len__(self) -> int:
        return len(self.values)


class BoundaryKind(StrEnum):
    """Why a cut could fall here."""

    SILENCE = "silence"
    PHRASE_END = "phrase_end"
    BREATH = "breath"
    VALLEY = "valley"
    SECTION = "section"
    BAR = "bar"
    BEAT = "beat"
    WORD_GAP = "word_gap"
    FORCED = "forced"


@dataclass(frozen=True, slots=True, order=True)
class Boundary:
    """A moment a cut could fall.

    Parameters
    ----------
    sample : position in the Song
    kind : the strongest evidence for it
    weight : how good a cut here is, in [0, 1]
    """

    sample: int
    kind: BoundaryKind
    weight: float

    def __post_init__(self) -> None:
        if self.sample < 0 or not 0 <= self.weight <= 1:
            raise ValueError(f"boundary outside its range: sample {self.sample}, weight {self.weight}")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or what a lyrics file stamps as one.

    Parameters
    ----------
    text : as written
    start : when it begins, in seconds of the song
    stop : when it ends; None where nobody says
    """

    text: str
    start: Fraction
    stop: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the lyrics, as written.

    Parameters
    ----------
    text : its words, on one line
    start : when it begins, in seconds of the song; None in a file without times
    stop : when it ends; None where the file does not say
    words : those the file stamps; empty where it stamps none
    """

    text: str
    start: Fraction | None = None
    stop: Fraction | None = None
    words: tuple[Word, ...] = ()


class Timing(StrEnum):
    """Where the times of a sung line come from."""

    GIVEN = "given"  # the lyrics file, held against the voice
    ALIGNED = "aligned"  # a network that knows the words
    GUESSED = "guessed"  # the lengths of lines and phrases alone


@dataclass(frozen=True, slots=True, kw_only=True)
class SungLine:
    """A line of the lyrics where it is sung.

    Parameters
    ----------
    text : its words
    start, stop : seconds of the song
    words : its words in order, each with its end; they lie in the line and do not overlap
    timing : where the times of the line come from
    word_timing : where those of its words come from
    sure : how far the times can be trusted, in [0, 1]; what was guessed is never above 0.5
    """

    text: str
    start: Fraction
    stop: Fraction
    words: tuple[Word, ...]
    timing: Timing
    word_timing: Timing
    sure: float

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.stop or not 0 <= self.sure <= 1:
            raise ValueError(f"line out of order: {self.text!r} {self.start} to {self.stop}, {self.sure}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SungBy:
    """A phrase, and who sings it by the sound of the voice.

    Parameters
    ----------
    start, stop : seconds of the song
    name : of the cast member; empty where it cannot be told
    likeliest : the one it is most like, told or not
    sure : how likely that is, in [0, 1]; 0 for a stranger to all of them
    """

    start: Fraction
    stop: Fraction
    name: str
    likeliest: str
    sure: float


class ShotKind(StrEnum):
    """Whether somebody sings in it."""

    PERFORMANCE = "performance"
    B_ROLL = "b-roll"


class Continuity(StrEnum):
    """How a Shot begins."""

    CUT = "cut"
    CHAIN = "chain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the storyboard says about a Shot.

    Parameters
    ----------
    prompt : what is seen, in the director's words
    kind : performance or b-roll
    cast : names of the cast members in the picture
    place : name of the place, or empty
    framing : close-up, wide, ...; or empty
    section : name of the section, or empty
    lyric : the line sung here, or empty
    without_voice : what is heard in it where nobody sings: `silence`, `accompaniment`, `none`, or empty for
        what holds for all
    continuity : a cut, or chained to the shot before, whose picture it goes on from
    origin : where it stands in the storyboard, `file:line`; not part of what decides a take
    """

    prompt: str
    kind: ShotKind = ShotKind.PERFORMANCE
    cast: tuple[str, ...] = ()
    place: str = ""
    framing: str = ""
    section: str = ""
    lyric: str = ""
    without_voice: str = ""
    continuity: Continuity = Continuity.CUT
    origin: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A numbered stretch of the film.

    Parameters
    ----------
    number : from 1, in film order
    cut : the frames that are seen
    window : the frames that are rendered; holds `cut`, its length is one H3 accepts. It lies inside the
        song where the song is long enough, else it starts with it and ends after it.
    card : what the storyboard says
    boundary : why the shot starts where it does; None for the first
    voice : share of `cut` in which somebody sings, in [0, 1]
    """

    number: int
    cut: Span
    window: Span
    card: Card
    boundary: Boundary | None = None
    voice: float = 0.0

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"shots are numbered from 1: {self.number}")
        if self.cut.rate != self.window.rate:
            raise ValueError(f"shot {self.number}: cut and window differ in rate")
        if not self.window.start <= self.cut.start < self.cut.stop <= self.window.stop:
            raise ValueError(f"shot {self.number}: the window {self.window} does not hold the cut {self.cut}")
        if window_length(len(self.window)) != len(self.window):
            raise ValueError(f"shot {self.number}: {len(self.window)} frames is not a length H3 renders")
        if not 0 <= self.voice <= 1:
            raise ValueError(f"shot {self.number}: voice share outside [0, 1]: {self.voice}")

    @property
    def head(self) -> int:
        """Frames rendered before the first that is seen."""
        return self.cut.start - self.window.start

    @property
    def tail(self) -> int:
        """Frames rendered after the last that is seen."""
        return self.window.stop - self.cut.stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Slate:
    """Everything that decides one take's bytes, written before the take.

    Parameters
    ----------
    shot : number of the shot it was first made for; not part of the key
    take : 1, 2, ...
    seed : derived from the storyboard's seed, the shot's cut and the take
    backend : the backend's name and version, such as `animatic/1`
    frames : length of the window
    size : (width, height) in pixels
    graph : the filled graph, as canonical JSON values; for the animatic its card
    inputs : role -> sha256 of each uploaded file (`vocals`, `picture:mira/0`, ...)
    """

    shot: int
    take: int
    seed: int
    backend: str
    frames: int
    size: tuple[int, int]
    graph: Mapping[str, Any]
    inputs: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.shot < 1 or self.take < 1 or self.frames < 1 or not 0 <= self.seed < 2**64:
            raise ValueError(
                f"shot {self.shot}, take {self.take}, {self.frames} frames, seed {self.seed}: out of range"
            )
        if min(self.size) < 16 or self.size[0] % 2 or self.size[1] % 2:
            raise ValueError(f"picture size must be even and at least 16: {self.size}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A Slate and what came back.

    Parameters
    ----------
    slate : what was asked for
    key : the slate's digest
    path : the clip
    digest : sha256 of the clip
    frames : decoded and counted
    rate : of the clip
    size : (width, height)
    """

    slate: Slate
    key: str
    path: Path
    digest: str
    frames: int
    rate: Fraction
    size: tuple[int, int]

    def __post_init__(self) -> None:
        _check_picture(self.frames, self.rate, self.size)


class Outcome(StrEnum):
    """What a Verdict says."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_JUDGE = "cannot judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the gate looked at.

    Parameters
    ----------
    check : its name, such as `black` or `frame count`
    outcome : what it says
    value : what was measured
    limit : what it was held against
    reason : one sentence in words, always written
    """

    check: str
    outcome: Outcome
    value: float | int | str
    limit: float | int | str
    reason: str

    def __post_init__(self) -> None:
        if not self.reason:
            raise ValueError(f"{self.check}: a finding says why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate measured on a Take: never empty, and only as good as its worst finding."""

    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        if not self.findings:
            raise ValueError("a verdict without findings judges nothing")

    @property
    def outcome(self) -> Outcome:
        """Fail if anything failed, else cannot judge if anything could not be judged, else pass."""
        outcomes = {finding.outcome for finding in self.findings}
        for worst in (Outcome.FAIL, Outcome.CANNOT_JUDGE):
            if worst in outcomes:
                return worst
        return Outcome.PASS

    @property
    def reason(self) -> str:
        """The findings that decided, in words; what two checks say alike is said once."""
        deciding = dict.fromkeys(f.reason for f in self.findings if f.outcome is self.outcome)
        return "; ".join(deciding) if self.outcome is not Outcome.PASS else "every check passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slug:
    """Filler of exact length where a Take is missing.

    Parameters
    ----------
    shot : the shot it stands for
    reason : why there is no take
    """

    shot: Shot
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A Shot with the Take that is seen in it.

    Parameters
    ----------
    shot : the shot
    take : the picked take
    slip : frames the picture is moved against the shot: the first seen frame is `shot.head + slip`
    """

    shot: Shot
    take: Take
    slip: int = 0

    def __post_init__(self) -> None:
        if self.take.frames < len(self.shot.window):
            raise ValueError(f"shot {self.shot.number}: take of {self.take.frames} frames is too short")
        if not -self.shot.head <= self.slip <= self.shot.tail:
            raise ValueError(f"shot {self.shot.number}: a slip of {self.slip} frames leaves the handles")

    @property
    def first(self) -> int:
        """The take's frame that is seen first."""
        return self.shot.head + self.slip


@dataclass(frozen=True, slots=True)
class Timeline:
    """The shots in order, each with a Take or a Slug; they tile [0, frames)."""

    items: tuple[Clip | Slug, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError("a timeline has at least one shot")
        cuts = [item.shot.cut for item in self.items]
        if cuts[0].start != 0:
            raise ValueError(f"the timeline starts at frame {cuts[0].start}, not 0")
        for before, after in pairwise(cuts):
            if not before.meets(after):
                raise ValueError(f"shots do not meet: {before} and {after}")

    @property
    def frames(self) -> int:
        """Length of the film."""
        return self.items[-1].shot.cut.stop

    @property
    def rate(self) -> Fraction:
        """Its picture rate."""
        return self.items[0].shot.cut.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Reel:
    """The conformed silent picture.

    Parameters
    ----------
    path : the file
    frames : counted
    rate, size : of the picture
    """

    path: Path
    frames: int
    rate: Fraction
    size: tuple[int, int]

    def __post_init__(self) -> None:
        _check_picture(self.frames, self.rate, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """The Reel with the Song laid under it once.

    Parameters
    ----------
    path : the file
    frames : counted
    song : sha256 of the song's decoded samples, as read back from the film; of a coded copy, empty
    """

    path: Path
    frames: int
    song: str

    def __post_init__(self) -> None:
        if self.frames < 1:
            raise ValueError(f"a film has at least one frame: {self.frames}")


def _check_picture(frames: int, rate: Fraction, size: tuple[int, int]) -> None:
    if frames < 1 or rate <= 0 or min(size) < 1:
        raise ValueError(f"a picture has frames, a rate and a size: {frames} of {size} at {rate}")
