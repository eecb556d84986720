"""How the songs of `tests.synth` sound: the voice, the room around it, and the band."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.signal import butter, fftconvolve, iirpeak, lfilter, sosfilt

if TYPE_CHECKING:
    from tests.synth import Syllable, Truth

CHORDS = ((0, 3, 7), (8, 12, 15), (3, 7, 10), (10, 14, 17))
VOWELS = {
    "a": (700, 1220, 2600),
    "e": (530, 1840, 2480),
    "i": (290, 2290, 3010),
    "o": (570, 840, 2410),
    "u": (320, 870, 2240),
}
CONSONANTS = {"plosive": 0.09, "hiss": 0.1, "murmur": 0.06, "": 0.0}
"""How long each lasts before its vowel, in seconds; a plosive is silent but for its last 15 ms."""

Sound = NDArray[np.float64]


def sing(
    rng: Generator,
    truth: Truth,
    n: int,
    sr: int,
    *,
    base: int,
    manner: Mapping[int, str] = MappingProxyType({}),
    vibrato: float = 0.35,
    tract: float = 1.0,
) -> Sound:
    """The dry voice. `manner`: phrase -> `whisper` or `scream`; `vibrato` in semitones.

    `tract` moves the formants: 1.15 is a smaller head than 1, and another singer.
    """
    out = np.zeros(n)
    for number, (a, b) in enumerate(truth.phrases):
        line = [s for s in truth.syllables if s.phrase == number]
        how = manner.get(number, "")
        pulses = _pulses(rng, line, a, b, sr, base + 7 * (how == "scream"), vibrato)
        pulses = _mannered(rng, pulses, how)
        for s in line:
            _add(out, s.vowel_at, sr, _vowel(pulses, s, a, sr, tract))
            if s.consonant:
                _add(out, s.start, sr, _consonant(rng, s.consonant, pulses, sr))
    for a, b in truth.breaths:
        m = round((b - a) * sr)
        _add(out, a, sr, 0.025 * np.hanning(m) * _through(_band(900, 5000, sr), rng.standard_normal(m)))
    return out


def _mannered(rng: Generator, pulses: Sound, how: str) -> Sound:
    """The source of a voice that whispers (breath alone) or screams (torn, with breath in it)."""
    if not how:
        return pulses
    noise = rng.standard_normal(len(pulses)) * float(np.sqrt(np.mean(pulses**2)))
    if how == "whisper":
        return noise
    torn: Sound = np.tanh(2 * pulses / (float(np.sqrt(np.mean(pulses**2))) + 1e-9))
    return torn + 0.4 * noise / (float(np.abs(noise).max()) + 1e-9)


def _pulses(
    rng: Generator, line: list[Syllable], start: float, stop: float, sr: int, base: int, vibrato: float
) -> Sound:
    """The glottis through one phrase: a band-limited pulse train that glides, wavers and drifts."""
    t = np.arange(round((stop - start) * sr) + round(0.1 * sr)) / sr
    notes = np.array([s.pitch for s in line], float)
    at = np.array([max(s.vowel_at - start, 0.0) for s in line])
    index = np.searchsorted(at, t, side="right").clip(1) - 1
    glide = 1 - np.exp(-1 / (0.03 * sr))
    pitch = lfilter([glide], [1, glide - 1], notes[index] - notes[0]) + notes[0]
    age = t - at[index]
    pitch += vibrato * np.clip(age / 0.6, 0, 1) * np.sin(2 * np.pi * 5.6 * t + rng.uniform(0, 6))
    f0 = 440 * 2 ** ((base + pitch - 69) / 12)
    phase = 2 * np.pi * np.cumsum(f0) / sr
    count = int(min(sr * 0.45, 7000) / f0.max())
    half = np.sin(phase / 2)
    half[np.abs(half) < 1e-4] = 1e-4
    tilted: Sound = lfilter([0.12], [1, -0.88], np.sin((count + 0.5) * phase) / half - 1)
    return tilted


def _through(sos: Sound, sound: Sound) -> Sound:
    out: Sound = sosfilt(sos, sound)
    return out


def _vowel(pulses: Sound, s: Syllable, start: float, sr: int, tract: float) -> Sound:
    first = round((s.vowel_at - start) * sr)
    source = pulses[first : round((s.stop - start) * sr) + round(0.03 * sr)]
    sound: Sound = np.zeros(len(source))
    for (b, a), gain in zip(_formants(s.vowel, sr, tract), (1.0, 0.6, 0.35), strict=True):
        sound += gain * lfilter(b, a, source)
    rise, fall = round(0.018 * sr), round(0.045 * sr)
    shape: Sound = np.linspace(1, 0.75, len(sound))
    shape[:rise] *= np.linspace(0, 1, rise)[: len(sound)]
    shape[-fall:] *= np.linspace(1, 0, fall)[-len(sound) :]
    loudness = float(np.sqrt(np.mean(sound**2))) + 1e-9
    return 0.14 * shape * sound / loudness


def _consonant(rng: Generator, kind: str, pulses: Sound, sr: int) -> Sound:
    n = round(CONSONANTS[kind] * sr)
    if kind == "murmur":
        low = _through(_band(120, 400, sr), pulses[: 2 * n])[-n:]
        return 0.05 * np.hanning(len(low)) * low / (float(np.abs(low).max()) + 1e-9)
    noise = rng.standard_normal(n)
    if kind == "hiss":
        return 0.05 * np.hanning(n) * _through(_band(2500, 7500, sr), noise)
    burst = np.zeros(n)
    burst[-round(0.015 * sr) :] = np.linspace(1, 0.2, round(0.015 * sr))
    return 0.12 * burst * _through(_band(800, 5000, sr), noise)


@cache
def _formants(vowel: str, sr: int, tract: float) -> tuple[tuple[Sound, Sound], ...]:
    moved = (tract * f for f in VOWELS[vowel])
    return tuple(iirpeak(f, f / (70 + f / 25), fs=sr) for f in moved if f < sr * 0.45)


@cache
def _band(low: float, high: float, sr: int) -> Sound:
    sos: Sound = butter(2, [low, min(high, sr * 0.45)], "bandpass", fs=sr, output="sos")
    return sos


def room(rng: Generator, dry: Sound, sr: int, share: float) -> Sound:
    """The voice in the middle, and a second of decaying echo to both sides."""
    both = np.repeat(dry[:, None], 2, axis=1)
    t = np.arange(sr) / sr
    tail = rng.standard_normal((sr, 2)) * np.exp(-t / 0.16)[:, None] * (t > 0.02)[:, None]
    tail /= np.sqrt((tail**2).sum(axis=0))
    if not share or not dry.any():
        return both
    wet: Sound = both + share * fftconvolve(both, tail, axes=0)[: len(dry)]
    return wet


def play(rng: Generator, truth: Truth, n: int, sr: int, *, steady: bool) -> Sound:
    out = np.zeros((n, 2))
    if steady:
        _drum(rng, truth, out[:, 0], sr)
        out[:, 1] = out[:, 0]
    bars = [*truth.bars, n / sr]
    swell = rng.uniform(-0.8, 0.8, len(bars)) * (0 if steady else 1)
    for i, bar in enumerate(truth.bars):
        stop = bars[i + 1] + swell[i + 1]
        chord = _chord(CHORDS[i % 4], round(max(stop - bar, 0.5) * sr), sr, pluck=steady)
        loud = 0.16 if _section(truth, bar) == "chorus" else 0.1
        _add(out[:, 0], bar + swell[i], sr, loud * chord)
        _add(out[:, 1], bar + swell[i] + 0.004, sr, loud * chord)
    return out


def _drum(rng: Generator, truth: Truth, out: Sound, sr: int) -> None:
    kit, beat = _kit(sr), truth.beats[1] - truth.beats[0] if len(truth.beats) > 1 else 0.5
    downbeats = set(truth.bars)
    per_bar = round((truth.bars[1] - truth.bars[0]) / beat) if len(truth.bars) > 1 else 4
    for i, at in enumerate(truth.beats):
        accent = rng.uniform(0.9, 1.1)
        place = i % per_bar
        if _section(truth, at) != "intro" or place == 0:
            _add(out, at, sr, accent * kit["snare" if place % 2 else "kick"])
        if at in downbeats:
            _add(out, at, sr, 0.5 * kit["kick"])
        _add(out, at, sr, kit["hat"])
        _add(out, at + beat / 2, sr, 0.7 * kit["hat"])
        root = CHORDS[int(i // per_bar) % 4][0]
        _add(out, at, sr, _bass(root, round(0.9 * beat * sr), sr))


def _section(truth: Truth, at_s: float) -> str:
    return next((name for name, start, stop in truth.sections if start <= at_s + 1e-6 < stop), "")


@cache
def _kit(sr: int) -> dict[str, Sound]:
    rng = np.random.default_rng(440)
    t = np.arange(round(0.25 * sr)) / sr
    noise = rng.standard_normal(len(t))
    return {
        "kick": 0.5 * np.sin(2 * np.pi * (50 * t + 4 * (1 - np.exp(-t / 0.03)))) * np.exp(-t / 0.08),
        "snare": 0.22 * (0.6 * noise + np.sin(2 * np.pi * 190 * t)) * np.exp(-t / 0.06),
        "hat": 0.07 * np.diff(noise, prepend=0.0) * np.exp(-t / 0.025),
    }


def _tone(f: float, t: Sound, *, partials: int, tilt: float) -> Sound:
    out: Sound = np.zeros(len(t))
    for k in range(1, partials + 1):
        out += np.sin(2 * np.pi * f * k * t) / k**tilt
    return out


@lru_cache(64)
def _bass(root: int, n: int, sr: int) -> Sound:
    t = np.arange(n) / sr
    f = 55 * 2 ** (root / 12)
    tone = _tone(f, t, partials=5, tilt=1.5)
    return 0.16 * tone * np.exp(-t / 0.5) * np.minimum(1, (n / sr - t) / 0.02)


@lru_cache(64)
def _chord(notes: tuple[int, ...], n: int, sr: int, *, pluck: bool) -> Sound:
    t = np.arange(n) / sr
    tone: Sound = np.zeros(n)
    for note in notes:
        f = 220 * 2 ** (note / 12)
        tone += _tone(f, t, partials=6, tilt=1.6)
    rise = 0.01 if pluck else 0.5
    shape: Sound = np.minimum(np.minimum(1, t / rise), (n / sr - t) / min(rise * 4, n / sr / 2))
    fade: Sound = np.exp(-t / 1.5) if pluck else np.ones(n)
    return tone / len(notes) * np.clip(shape, 0, 1) * fade


def strike(
    out: Sound,
    at_s: float,
    sr: int,
    what: str,
    loud: float,
    chord: tuple[int, ...] = (0,),
    seconds: float = 1.0,
    *,
    pluck: bool = True,
) -> None:
    """One sound of the band into `out`: `kick`, `snare`, `hat`, `bass` or `chord`."""
    n = round(seconds * sr)
    if what == "chord":
        _add(out, at_s, sr, loud * _chord(chord, n, sr, pluck=pluck))
    elif what == "bass":
        _add(out, at_s, sr, loud * _bass(chord[0], n, sr))
    else:
        _add(out, at_s, sr, loud * _kit(sr)[what])


def _add(out: Sound, at_s: float, sr: int, sound: Sound) -> None:
    """`sound` into `out` at a moment; what falls outside is lost."""
    first = round(at_s * sr)
    head = max(-first, 0)
    part = sound[head : max(len(out) - first, 0)]
    out[first + head : first + head + len(part)] += part
