"""Songs whose every answer is known: who sings when, on which beat, and what the stems were.

`song(...)` composes, sings and plays a song from a seed with numpy and scipy alone. The voice is a pulse
train through formants, with consonants (closures, hiss, murmurs), vibrato, breaths and a room around it;
the band is kick, snare, hat, bass and chords. `vocals + accompaniment` is `mix`, to the last bit.

All times in a `Truth` are seconds from the first sample. A phrase or word begins with its first sound
and ends when the dry voice is released; the room rings on after that, and breaths are listed apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tests.synth_sound import CONSONANTS, play, room, sing

Mono = NDArray[np.float32]
"""float32, shape (n,), in [-1, 1]"""
Stereo = NDArray[np.float32]
"""float32, shape (n, 2), in [-1, 1]"""
Stretch = tuple[float, float]
"""(start, stop) in seconds"""

FORM = (("intro", 2), ("verse", 8), ("chorus", 8), ("verse", 8), ("break", 4), ("chorus", 8), ("bridge", 6))
SUNG = {"verse", "chorus", "bridge"}
SCALE = (0, 2, 3, 5, 7, 8, 10, 12)


@dataclass(frozen=True, slots=True)
class Syllable:
    """A consonant and the vowel after it: silent closure and all, it is sung in [start, stop)."""

    start: float
    vowel_at: float
    stop: float
    pitch: int
    vowel: str
    consonant: str
    word: int
    phrase: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What there is to hear; every time in seconds."""

    phrases: tuple[Stretch, ...]
    words: tuple[Stretch, ...]
    syllables: tuple[Syllable, ...]
    breaths: tuple[Stretch, ...]
    beats: tuple[float, ...]
    bars: tuple[float, ...]
    sections: tuple[tuple[str, float, float], ...]

    @property
    def gaps(self) -> tuple[Stretch, ...]:
        """Between one phrase and the next."""
        return tuple((a[1], b[0]) for a, b in zip(self.phrases, self.phrases[1:], strict=False))

    def inside_word(self, seconds: float, guard_s: float = 0.04) -> bool:
        """Whether a moment is sung: more than the guard away from both ends of a word."""
        return any(a + guard_s < seconds < b - guard_s for a, b in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthSong:
    """A song and what it is made of: `mix == vocals + accompaniment`; `separated` is the leaky voice."""

    mix: Stereo
    vocals: Stereo
    accompaniment: Stereo
    separated: Stereo
    sample_rate: int
    truth: Truth

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.mix) / self.sample_rate

    def write(self, folder: Path, *, times: int = 1, subtype: str = "FLOAT") -> Path:
        """`mix.wav`, `vocals.wav`, `accompaniment.wav`, `separated.wav`; the path of the mix.

        Parameters
        ----------
        times : how often the song is played on end, for long files
        """
        import soundfile

        folder.mkdir(parents=True, exist_ok=True)
        for name in ("mix", "vocals", "accompaniment", "separated"):
            with soundfile.SoundFile(
                folder / f"{name}.wav", "w", self.sample_rate, 2, subtype, format="WAV"
            ) as out:
                for _ in range(times):
                    out.write(getattr(self, name))
        return folder / "mix.wav"


def clicks(bpm: float, seconds: float, sr: int = 22_050) -> Mono:
    """A click on every beat, from the first sample on, and silence between."""
    y = np.zeros(round(seconds * sr), np.float32)
    at = np.round(np.arange(0, seconds, 60 / bpm) * sr).astype(int)
    y[at[at < len(y)]] = 1.0
    return y


def pieces(sound: NDArray[np.float32], size: int = 65_536, times: int = 1) -> Iterator[NDArray[np.float32]]:
    """The sound in blocks of `size` samples, shape (n, channels), played `times` times."""
    rows = sound if sound.ndim == 2 else sound[:, None]
    for _ in range(times):
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def song(
    seconds: float = 60.0,
    *,
    bpm: float = 100.0,
    seed: int = 1,
    metre: int = 4,
    gaps: tuple[float, ...] = (0.35, 0.6, 1.1, 0.5, 0.9),
    sample_rate: int = 44_100,
    vocal_db: float = 0.0,
    leakage_db: float | None = None,
    reverb: float = 0.12,
    voice: str = "high",
    breaths: bool = True,
    a_cappella: bool = False,
    instrumental: bool = False,
    beats: bool = True,
) -> SynthSong:
    """A song; the same arguments give the same samples.

    Parameters
    ----------
    metre : beats a bar
    gaps : silences between phrases in seconds, taken in turn
    vocal_db : the voice's level against the band, where both are heard
    leakage_db : how far below itself the band is heard in `separated`; None: not at all
    reverb : share of the voice that goes through the room, in [0, 1]
    voice : `high` or `low`
    beats : False: no drums or bass, chords swell in no metre, and the truth lists no beats
    """
    rng = np.random.default_rng(seed)
    truth = _compose(rng, seconds, bpm, metre, gaps, sung=not instrumental, breaths=breaths)
    n = round(seconds * sample_rate)
    dry = sing(rng, truth, n, sample_rate, base=57 if voice == "high" else 45)
    vocals = room(rng, dry, sample_rate, reverb)
    band = np.zeros((n, 2)) if a_cappella else play(rng, truth, n, sample_rate, steady=beats)
    vocals *= 10 ** (vocal_db / 20)
    scale = 0.89 / max(np.abs(vocals + band).max(), 1e-9)
    voice32, band32 = (vocals * scale).astype(np.float32), (band * scale).astype(np.float32)
    leak = np.float32(0 if leakage_db is None else 10 ** (-abs(leakage_db) / 20))
    if not beats:
        truth = Truth(**{**{f: getattr(truth, f) for f in truth.__slots__}, "beats": (), "bars": ()})
    return SynthSong(
        mix=voice32 + band32,
        vocals=voice32,
        accompaniment=band32,
        separated=voice32 + leak * band32,
        sample_rate=sample_rate,
        truth=truth,
    )


def _compose(
    rng: Generator,
    seconds: float,
    bpm: float,
    metre: int,
    gaps: tuple[float, ...],
    *,
    sung: bool,
    breaths: bool,
) -> Truth:
    beat = 60 / bpm
    sections, phrases, rests = [], [], cycle(gaps)
    start = 0.0
    for name, bars in cycle(FORM):
        if start >= seconds:
            break
        stop = start + bars * metre * beat
        sections.append((name, start, min(stop, seconds)))
        if name in SUNG and sung:
            line = 2 * metre * beat
            phrases += [(a, a + line - next(rests)) for a in np.arange(start, stop - beat, line).tolist()]
        start = stop
    syllables: list[Syllable] = []
    for a, b in phrases:
        if b < seconds - 0.2:
            _write_line(rng, a, b, beat, syllables)
    ends = _ends(syllables, "phrase")
    return Truth(
        phrases=ends,
        words=_ends(syllables, "word"),
        syllables=tuple(syllables),
        breaths=tuple((a - 0.3, a - 0.05) for a, _ in ends if a > 0.4 and breaths and rng.random() < 0.7),
        beats=tuple(np.arange(0, seconds, beat).tolist()),
        bars=tuple(np.arange(0, seconds, beat * metre).tolist()),
        sections=tuple(sections),
    )


def _write_line(rng: Generator, start: float, stop: float, beat: float, into: list[Syllable]) -> None:
    """One phrase: syllables on the half-beat grid, grouped into words, the last one held."""
    moments = [start]
    while moments[-1] < stop - 1.6 * beat:
        moments.append(moments[-1] + beat * float(rng.choice([0.5, 0.5, 1.0])))
    phrase, word, left, step = (into[-1].phrase + 1 if into else 0), (into[-1].word if into else -1), 0, 4
    kinds = list(CONSONANTS)
    for at in moments:
        if not left:
            word, left = word + 1, int(rng.integers(1, 4))
        left -= 1
        step = int(np.clip(step + rng.integers(-2, 3), 0, len(SCALE) - 1))
        kind = kinds[int(rng.integers(4))] if at > 0.2 else ""
        into.append(
            Syllable(
                start=at - CONSONANTS[kind],
                vowel_at=at,
                stop=stop,
                pitch=SCALE[step],
                vowel="aeiou"[int(rng.integers(5))],
                consonant=kind,
                word=word,
                phrase=phrase,
            )
        )
    first = len(into) - len(moments)
    for i in range(first, len(into) - 1):
        s = into[i]
        into[i] = Syllable(
            s.start, s.vowel_at, into[i + 1].start, s.pitch, s.vowel, s.consonant, s.word, phrase
        )


def _ends(syllables: list[Syllable], group: str) -> tuple[Stretch, ...]:
    spans: dict[int, Stretch] = {}
    for s in syllables:
        first = spans.get(getattr(s, group), (s.start, s.stop))[0]
        spans[getattr(s, group)] = (first, s.stop)
    return tuple(spans.values())
