"""Thirty-two songs whose words, phrases, breaths, bars and sections are known; half are held out.

Each pair of songs is one kind of music, made twice with other seeds, tempi and levels: the first is for
tuning, the second is held out. What is sung is sung by the formant voice of `tests.synth_sound`, or, where
espeak-ng is installed, put together from words that it speaks in six languages.

`made(entry)` gives a `SynthSong` whose `separated` is what a good separator leaves: a blurred ratio mask, and
a trace of the band. Its distortion is measured, not assumed (`benchmarks cut` prints it).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter
from scipy.signal import istft, stft

from tests.synth import Mono, Stereo, Stretch, Syllable, SynthSong, Truth
from tests.synth_sound import CONSONANTS, Sound, room, sing, strike

RATE = 22_050
SCALE = (0, 2, 3, 5, 7, 8, 10, 12)
POP = (("intro", 4), ("verse", 8), ("chorus", 8), ("verse", 8), ("chorus", 8), ("outro", 4))
CHORDS = {
    "verse": ((0, 3, 7), (8, 12, 15), (3, 7, 10), (10, 14, 17)),
    "chorus": ((5, 8, 12), (3, 7, 10), (10, 14, 17), (0, 3, 7)),
    "bridge": ((8, 12, 15), (7, 11, 14)),
    "": ((0, 3, 7), (5, 8, 12)),
}
SUNG = frozenset({"verse", "chorus", "bridge"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of music.

    Parameters
    ----------
    bar : beats in a bar
    strong : beats of a bar that the kick marks
    form : sections and their bars, in turn until the song ends
    line : bars in a line; gaps : silences after the lines in seconds, in turn; grid : beats of its notes
    manner : section -> `whisper` or `scream`
    language : a voice of espeak-ng, or empty for the formant singer
    drums : False for a song without a pulse
    """

    name: str
    bpm: float = 100.0
    bar: int = 4
    strong: tuple[int, ...] = (0, 2)
    form: tuple[tuple[str, int], ...] = POP
    line: float = 2
    gaps: tuple[float, ...] = (0.35, 0.6, 1.1, 0.5, 0.9)
    grid: tuple[float, ...] = (0.5, 0.5, 1.0)
    voice: int = 57
    vibrato: float = 0.35
    reverb: float = 0.12
    vocal_db: float = 0.0
    level_db: float = 0.0
    harmony: bool = False
    manner: Mapping[str, str] = field(default_factory=dict)
    language: str = ""
    drums: bool = True
    a_cappella: bool = False
    rubato: float = 0.0


KINDS = (
    Kind(name="pop"),
    Kind(name="slow ballad", bpm=68, line=1, grid=(0.5, 1.0, 1.5), reverb=0.3, vibrato=0.6),
    Kind(name="waltz", bpm=132, bar=3, strong=(0,), line=4, gaps=(0.5, 0.8, 0.3)),
    Kind(name="six eight", bpm=168, bar=6, strong=(0, 3), line=2, grid=(1.0, 2.0, 1.0, 3.0)),
    Kind(name="seven eight", bpm=210, bar=7, strong=(0, 2, 4), line=2, grid=(1.0, 1.0, 2.0)),
    Kind(name="rap", bpm=92, grid=(0.25, 0.25, 0.5), gaps=(0.22, 0.25, 0.4, 0.3), vibrato=0.0, voice=45),
    Kind(name="punk", bpm=168, line=4, gaps=(0.3, 0.4, 0.25), vocal_db=-4, manner={"chorus": "scream"}),
    Kind(name="whispered verse", bpm=84, line=2, voice=45, manner={"verse": "whisper"}, vocal_db=2),
    Kind(name="choir", bpm=96, harmony=True, reverb=0.25, gaps=(0.5, 0.9, 0.7)),
    Kind(name="cathedral", bpm=76, line=1, reverb=0.6, gaps=(0.8, 1.4, 1.0), vibrato=0.7),
    Kind(name="very quiet", bpm=104, level_db=-34, gaps=(0.3, 0.7, 0.45)),
    Kind(name="crushed loud", bpm=120, level_db=12, vocal_db=-2),
    Kind(
        name="half-time drop",
        bpm=140,
        form=(("intro", 4), ("verse", 8), ("drop", 8), ("verse", 8), ("drop", 8), ("chorus", 8)),
    ),
    Kind(name="no drums, rubato", bpm=80, drums=False, rubato=0.12, line=2, grid=(0.5, 1.0)),
    Kind(name="a cappella", bpm=90, a_cappella=True, drums=False, gaps=(0.4, 0.8, 0.6)),
    Kind(name="spoken", bpm=96, language="en-us", gaps=(0.35, 0.6, 0.45), vibrato=0.0),
)

LANGUAGES = {
    "en-us": "river night window harbour carry little yesterday again remember street silver falling",
    "de": "Regen Fenster Nacht wieder langsam Straße Himmel verloren immer gehen Augenblick Zeit",
    "fr": "lumière fenêtre encore demain la nuit rivière toujours silence regarder chemin",
    "es": "ventana corazón siempre noche camino mañana cantar silencio agua estrella lejos",
    "ja": "さくら よる まど かえりみち ひかり うみ そら ことば なみだ あした",
    "cmn": "月亮 窗户 回家 再见 大海 声音 夜晚 下雨 明天 星星",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A song of the book.

    Parameters
    ----------
    kind : what it is
    seed : makes it
    held_out : whether nothing may be tuned on it
    """

    kind: Kind
    seed: int
    held_out: bool


def entries(*, held_out: bool, again: int = 0) -> tuple[Entry, ...]:
    """One half of the book; `again` and again it is made with seeds that are in neither half."""
    out = []
    tongues = cycle(("en-us", "fr", "ja") if held_out else ("de", "es", "cmn"))
    for number, kind in enumerate(KINDS):
        seed = 10_000 * again + 1000 * held_out + number + 1
        rng = np.random.default_rng(seed)
        own = replace(
            kind,
            bpm=round(kind.bpm * float(rng.uniform(0.93, 1.07)), 1),
            voice=kind.voice + int(rng.integers(-2, 3)),
            vocal_db=kind.vocal_db + float(rng.uniform(-1.5, 1.5)),
            language=next(tongues) if kind.language else "",
        )
        out.append(Entry(own, seed, held_out))
    return tuple(out)


def made(entry: Entry, seconds: float = 64.0) -> SynthSong:
    """The song; the same entry gives the same samples."""
    kind, rng = entry.kind, np.random.default_rng(entry.seed)
    truth = compose(rng, kind, seconds)
    n = round(seconds * RATE)
    if kind.language and shutil.which("espeak-ng"):
        truth, dry = _spoken(rng, truth, n, kind.language)
    else:
        dry = _sung(rng, truth, n, kind)
    vocals = room(rng, dry, RATE, kind.reverb) * 10 ** (kind.vocal_db / 20)
    played = np.zeros((n, 2)) if kind.a_cappella else band(rng, truth, n, kind)
    scale = 0.89 / max(np.abs(vocals + played).max(), 1e-9) * 10 ** (kind.level_db / 20)
    voice, rest = clipped(vocals * scale, played * scale)
    return SynthSong(
        mix=voice + rest,
        vocals=voice,
        accompaniment=rest,
        separated=separated(voice, rest, entry.seed),
        sample_rate=RATE,
        truth=truth,
    )


def separated(voice: Stereo, band: Stereo, seed: int) -> Stereo:
    """What a separator leaves of the voice: a blurred, noisy ratio mask, and the band 26 dB down.

    Over the held-out half that is 12.6 dB of signal to distortion, cleaner than the 9 that htdemucs is said
    to reach (its README, MUSDB); the stems with 15 and 10 dB of the band in them are the worse cases.
    """
    rng = np.random.default_rng(seed)
    out = []
    for one, two in zip(voice.T, band.T, strict=True):
        _, _, v = stft(one, RATE, nperseg=1024)
        _, _, b = stft(two, RATE, nperseg=1024)
        power = uniform_filter(np.abs(v) ** 2, (5, 5)), uniform_filter(np.abs(b) ** 2, (5, 5))
        mask = power[0] / (power[0] + power[1] + 1e-12)
        mask = np.clip(mask + 0.1 * uniform_filter(rng.standard_normal(mask.shape), (3, 5)) * mask, 0, 1)
        _, sound = istft(mask * (v + b), RATE, nperseg=1024)
        out.append(sound[: len(one)] + 0.05 * two)
    return np.stack(out, axis=1).astype(np.float32)


def clipped(voice: Sound, rest: Sound) -> tuple[Stereo, Stereo]:
    """Both, turned down together where their sum is too loud, so that they still add up to the mix."""
    mix = np.abs(voice + rest)
    gain = np.minimum(1, 0.97 / np.maximum(mix, 1e-9)).min(axis=1, keepdims=True)
    return (voice * gain).astype(np.float32), (rest * gain).astype(np.float32)


def compose(rng: Generator, kind: Kind, seconds: float) -> Truth:
    """What is sung and played when."""
    beat = 60 / kind.bpm
    sections, phrases, bars, start, rests = [], [], [], 0.0, cycle(kind.gaps)
    beats: list[float] = []
    for name, count in cycle(kind.form):
        if start >= seconds - 4:
            break
        stop = start
        for _ in range(count):
            own = beat * (1 + float(rng.uniform(-kind.rubato, kind.rubato)))
            bars.append(stop)
            beats += [stop + k * own for k in range(kind.bar)]
            stop += kind.bar * own
        sections.append((name, start, min(stop, seconds)))
        if name in SUNG:
            line = kind.line * kind.bar * beat
            firsts = np.arange(start, stop - 0.6 * line, line).tolist()
            phrases += [(a, min(a + line, stop) - next(rests)) for a in firsts]
        start = stop
    syllables: list[Syllable] = []
    for a, b in phrases:
        if b < seconds - 0.3 and b - a > 0.5:
            _write_line(rng, kind, (a, b), beat, syllables)
    ends = _ends(syllables, "phrase")
    return Truth(
        phrases=ends,
        words=_ends(syllables, "word"),
        syllables=tuple(syllables),
        breaths=tuple((a - 0.3, a - 0.05) for a, _ in ends if a > 0.4 and rng.random() < 0.7),
        beats=tuple(b for b in beats if b < seconds) if kind.drums else (),
        bars=tuple(b for b in bars if b < seconds) if kind.drums else (),
        sections=tuple(s for s in sections if s[1] < seconds),
    )


def _write_line(rng: Generator, kind: Kind, ends: Stretch, beat: float, into: list[Syllable]) -> None:
    """One phrase: notes on the grid, grouped into words, the last one held."""
    start, stop = ends
    moments = [start]
    while (then := moments[-1] + beat * float(rng.choice(kind.grid))) < stop - max(0.5 * beat, 0.25):
        moments.append(then)
    phrase = into[-1].phrase + 1 if into else 0
    word, left, step = (into[-1].word if into else -1), 0, 4
    kinds = list(CONSONANTS)
    for at, then in zip(moments, [*moments[1:], stop], strict=True):
        if not left:
            word, left = word + 1, int(rng.integers(1, 4))
        left -= 1
        step = int(np.clip(step + rng.integers(-2, 3), 0, len(SCALE) - 1))
        sound = kinds[int(rng.integers(4))] if at > 0.2 else ""
        into.append(
            Syllable(
                start=at - CONSONANTS[sound],
                vowel_at=at,
                stop=then,
                pitch=SCALE[step],
                vowel="aeiou"[int(rng.integers(5))],
                consonant=sound,
                word=word,
                phrase=phrase,
            )
        )
    for i in range(len(into) - len(moments), len(into) - 1):
        into[i] = replace(into[i], stop=into[i + 1].start)


def _ends(syllables: list[Syllable], group: str) -> tuple[Stretch, ...]:
    spans: dict[int, Stretch] = {}
    for s in syllables:
        first = spans.get(getattr(s, group), (s.start, s.stop))[0]
        spans[getattr(s, group)] = (first, s.stop)
    return tuple(spans.values())


def _section(truth: Truth, at_s: float) -> str:
    return next((name for name, start, stop in truth.sections if start <= at_s + 1e-6 < stop), "")


def _sung(rng: Generator, truth: Truth, n: int, kind: Kind) -> Sound:
    manner = {
        number: how
        for number, (start, _) in enumerate(truth.phrases)
        if (how := kind.manner.get(_section(truth, start)))
    }
    dry = sing(rng, truth, n, RATE, base=kind.voice, manner=manner, vibrato=kind.vibrato)
    if not kind.harmony:
        return dry
    for interval in (-5, 4):
        other = sing(rng, replace(truth, breaths=()), n, RATE, base=kind.voice + interval, vibrato=0.2)
        dry = dry + 0.4 * np.roll(other, int(rng.integers(100, 500)))
    return dry


def band(rng: Generator, truth: Truth, n: int, kind: Kind) -> Sound:
    """Drums by the metre, a bass, and chords that belong to the section."""
    out = np.zeros(n)
    bars = [*_all_bars(truth, kind), n / RATE]
    for i, bar in enumerate(bars[:-1]):
        name = _section(truth, bar)
        chord = CHORDS.get(name, CHORDS[""])[i % len(CHORDS.get(name, CHORDS[""]))]
        loud = {"chorus": 0.17, "verse": 0.09, "drop": 0.2}.get(name, 0.11)
        strike(out, bar, RATE, "chord", loud, chord, bars[i + 1] - bar, pluck=kind.drums and name != "bridge")
        strike(out, bar, RATE, "bass", 1.0, chord, 0.9 * (bars[i + 1] - bar))
    if kind.drums:
        for i, at in enumerate(truth.beats):
            _beat(rng, out, truth, at, i % kind.bar, kind)
    return np.stack([out, np.roll(out, 40)], axis=1)


def _all_bars(truth: Truth, kind: Kind) -> list[float]:
    if truth.bars:
        return list(truth.bars)
    last = truth.sections[-1][2]
    return np.arange(0, last, kind.bar * 60 / kind.bpm).tolist()


def _beat(rng: Generator, out: Sound, truth: Truth, at: float, place: int, kind: Kind) -> None:
    name, beat = _section(truth, at), 60 / kind.bpm
    loud = float(rng.uniform(0.9, 1.1))
    if name == "intro" and place:
        return
    slow = name == "drop"
    if place in kind.strong and not (slow and place):
        strike(out, at, RATE, "kick", loud * (1.5 if place == 0 else 1))
    elif not slow or place == kind.bar // 2:
        strike(out, at, RATE, "snare", loud * (0.4 if name == "verse" else 1))
    strike(out, at, RATE, "hat", 1.0)
    if beat > 0.4:
        strike(out, at + beat / 2, RATE, "hat", 0.7)


def _spoken(rng: Generator, truth: Truth, n: int, language: str) -> tuple[Truth, Sound]:
    """The song's lines, said: words that espeak-ng speaks, one after the other from each line's start."""
    words = _vocabulary(language)
    out, spans, phrases, syllables = np.zeros(n), [], [], []
    for number, (start, stop) in enumerate(truth.phrases):
        at = start
        while True:
            sound = words[int(rng.integers(len(words)))]
            long = len(sound) / RATE
            if at + long > stop:
                break
            first = round(at * RATE)
            out[first : first + len(sound)] += sound
            spans.append((at, at + long))
            syllables.append(Syllable(at, at, at + long, 0, "a", "", len(spans) - 1, number))
            at += long + float(rng.choice([0.0, 0.02, 0.05]))
        if spans and spans[-1][1] > start:
            phrases.append((start, spans[-1][1]))
    return replace(
        truth, phrases=tuple(phrases), words=tuple(spans), syllables=tuple(syllables), breaths=()
    ), out


@cache
def _vocabulary(language: str) -> tuple[Mono, ...]:
    """Each word of a language as espeak-ng says it, without the silence around it, float32 at `RATE`."""
    import soundfile

    said = []
    with tempfile.TemporaryDirectory() as folder:
        for word in LANGUAGES[language].split():
            path = Path(folder) / "word.wav"
            argv = ["espeak-ng", "-v", language, "-s", "130", "-w", str(path), word]
            subprocess.run(argv, check=True, capture_output=True)
            sound, rate = soundfile.read(path, dtype="float32")
            assert rate == RATE
            said.append(_trimmed(sound))
    return tuple(said)


def _trimmed(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    loud = np.flatnonzero(np.abs(sound) > 0.01 * np.abs(sound).max())
    kept = sound[loud[0] : loud[-1] + 1]
    return np.asarray(0.35 * kept / np.abs(kept).max(), np.float32)
