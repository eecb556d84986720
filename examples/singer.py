"""A small formant singer: notes with syllables in, one voice out.

The voiced part is a sum of harmonics, each as loud and as late as the vocal tract makes it; breath, hiss and
bursts are noise shaped in a short-time spectrum. Formants of the vowels are the women's means of Peterson and
Barney, "Control methods used in a study of the vowels", JASA 24 (1952); the consonants were set to taste.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.signal import istft, stft

RATE = 48_000
STEP = 240
"""Samples between control values: 5 ms."""

Samples = NDArray[np.float64]

WIDTHS = np.array([70.0, 100.0, 150.0, 250.0, 350.0, 500.0])
HIGHER = (4200.0, 5200.0, 7800.0)
"""Formants four to six, the same for every sound; the last keeps some air."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    """How one speech sound is made.

    Parameters
    ----------
    formants : the first three, Hz
    voice, breath, hiss : levels of the voiced part, of noise through the vocal tract, of noise past it
    band : (centre, width) of the hiss, Hz
    seconds : how long it lasts; a vowel lasts as long as its note
    muffled : closed lips or lowered velum: higher formants are damped
    """

    formants: tuple[float, float, float]
    voice: float = 1.0
    breath: float = 0.02
    hiss: float = 0.0
    band: tuple[float, float] = (6000.0, 2500.0)
    seconds: float = 0.0
    muffled: bool = False


def _vowel(*formants: float) -> Phone:
    first, second, third = formants
    return Phone(formants=(first, second, third))


def _closed(seconds: float, voice: float) -> Phone:
    return Phone(formants=(250, 1400, 2600), voice=voice, breath=0.0, seconds=seconds, muffled=True)


def _burst(centre: float, hiss: float, breath: float = 0.0) -> Phone:
    return Phone(
        formants=(400, 1700, 2700),
        voice=0,
        breath=breath,
        hiss=hiss,
        band=(centre, 0.4 * centre),
        seconds=0.02,
    )


PHONES: dict[str, Phone] = {
    "i": _vowel(310, 2790, 3310), "I": _vowel(430, 2480, 3070), "E": _vowel(610, 2330, 2990),
    "ae": _vowel(860, 2050, 2850), "A": _vowel(850, 1220, 2810), "O": _vowel(590, 920, 2710),
    "U": _vowel(470, 1160, 2680), "u": _vowel(370, 950, 2670), "V": _vowel(760, 1400, 2780),
    "3": _vowel(500, 1640, 2300), "@": _vowel(560, 1500, 2700),
    "m": Phone(formants=(280, 1050, 2300), voice=0.35, seconds=0.09, muffled=True),
    "n": Phone(formants=(290, 1650, 2700), voice=0.35, seconds=0.08, muffled=True),
    "N": Phone(formants=(290, 2200, 2750), voice=0.35, seconds=0.08, muffled=True),
    "l": Phone(formants=(370, 1150, 2900), voice=0.6, seconds=0.08),
    "r": Phone(formants=(370, 1250, 1700), voice=0.6, seconds=0.09),
    "w": Phone(formants=(330, 720, 2400), voice=0.5, seconds=0.09),
    "v": Phone(formants=(300, 1150, 2400), voice=0.35, hiss=0.03, seconds=0.07),
    "D": Phone(formants=(320, 1450, 2700), voice=0.4, hiss=0.03, seconds=0.05),
    "z": Phone(formants=(310, 1750, 2800), voice=0.25, hiss=0.16, band=(7500, 2500), seconds=0.08),
    "s": Phone(formants=(310, 1750, 2800), voice=0, hiss=0.34, band=(7800, 2600), seconds=0.13),
    "S": Phone(formants=(310, 1900, 2800), voice=0, hiss=0.34, band=(4300, 1800), seconds=0.12),
    "f": Phone(formants=(330, 1200, 2500), voice=0, hiss=0.13, band=(7000, 5000), seconds=0.11),
    "h": Phone(formants=(560, 1500, 2700), voice=0, breath=0.30, seconds=0.08),
    "voiced closure": _closed(0.05, 0.10), "closure": _closed(0.06, 0.0),
    "b burst": _burst(900, 0.3), "d burst": _burst(4200, 0.3), "t burst": _burst(5200, 0.5, 0.2),
}  # fmt: skip

STOPS = {"b": "voiced closure,b burst", "d": "voiced closure,d burst", "t": "closure,t burst"}


@dataclass(frozen=True, slots=True)
class Note:
    """A sung syllable: when (seconds), which pitch (MIDI), how loud, and its sounds, such as `m O r`."""

    start: float
    stop: float
    pitch: float
    sounds: str
    force: float = 0.8

    def phones(self) -> tuple[list[Phone], list[Phone], list[Phone]]:
        """What comes before the vowel, the vowel's targets, and what comes after it."""
        spelled = ",".join(STOPS.get(sound, sound) for sound in self.sounds.split()).split(",")
        phones = [PHONES[sound] for sound in spelled]
        vowels = [index for index, phone in enumerate(phones) if not phone.seconds]
        return phones[: vowels[0]], phones[vowels[0] : vowels[-1] + 1], phones[vowels[-1] + 1 :]


@dataclass(slots=True)
class Score:
    """The controls over time, one value per step: what the throat is asked to do."""

    formants: Samples
    pitch: Samples
    voice: Samples
    breath: Samples
    hiss: Samples
    band: Samples
    muffled: Samples

    @classmethod
    def blank(cls, steps: int) -> Score:
        """Silence."""
        formants = np.tile(np.array(PHONES["@"].formants), (steps, 1))
        band = np.tile(np.array([6000.0, 2500.0]), (steps, 1))
        return cls(
            formants, np.full(steps, 60.0), *(np.zeros(steps) for _ in range(3)), band, np.zeros(steps)
        )

    def speak(self, start: float, stop: float, phone: Phone, force: float) -> None:
        """Hold one sound from `start` to `stop`, and its place in the mouth until the next."""
        here = slice(_step(start), max(_step(stop), _step(start) + 1))
        self.formants[here.start :] = phone.formants
        self.voice[here] = phone.voice * force
        self.breath[here] = phone.breath * force
        self.hiss[here] = phone.hiss * force
        self.band[here] = phone.band
        self.muffled[here] = phone.muffled


def sing(notes: list[Note], seconds: float, *, seed: int) -> Samples:
    """One voice singing `notes`, float64, shape (n,); breaths are taken where there is room."""
    rng = np.random.default_rng(seed)
    score = Score.blank(_step(seconds))
    last = Note(seconds + 1, seconds + 2, notes[-1].pitch, "@")
    for note, following in pairwise([*notes, last]):
        _sing_note(score, note, following)
    _tune(score, notes, rng)
    for before, note in pairwise([Note(-9, -9, 60, "@"), *notes]):
        if note.start - before.stop > 0.9:
            _breathe(score, note.start - _length(note.phones()[0]) - 0.1)
    score.formants = np.exp(_smooth(np.log(score.formants), 10))
    score.voice, score.breath, score.muffled = (
        _smooth(x, 4) for x in (score.voice, score.breath, score.muffled)
    )
    return _voiced(score, rng) + _noise(score, rng)


def _sing_note(score: Score, note: Note, following: Note) -> None:
    onset, vowels, coda = note.phones()
    moment = note.start - _length(onset)
    for phone in onset:
        score.speak(moment, moment + phone.seconds, phone, note.force)
        moment += phone.seconds
    end = min(note.stop, following.start - _length(following.phones()[0])) - _length(coda)
    turn = note.start + 0.62 * (end - note.start)  # a diphthong stays on its first vowel
    ends = [turn, end] if len(vowels) == 2 else [end]
    for vowel, stop in zip(vowels, ends, strict=True):
        score.speak(moment, stop, vowel, note.force)
        moment = stop
    for phone in coda:
        score.speak(moment, moment + phone.seconds, phone, note.force)
        moment += phone.seconds


def _tune(score: Score, notes: list[Note], rng: np.random.Generator) -> None:
    """Pitch in semitones: steps made into glides, a scoop into each phrase, vibrato on what is held."""
    steps = len(score.pitch)
    held, previous = np.zeros(steps), -9.0
    for note in notes:
        from_step, to_step = _step(note.start - 0.09), _step(note.stop + 0.1)
        score.pitch[max(from_step, 0) :] = note.pitch
        if note.start - previous > 0.25:
            score.pitch[from_step : from_step + 22] -= 0.7
        length = max(to_step - from_step, 1)
        held[from_step:to_step] = np.clip((np.arange(length) * STEP / RATE - 0.35) / 0.4, 0, 1)[
            : steps - from_step
        ]
        previous = note.stop
    time = np.arange(steps) * STEP / RATE
    drift = _smooth(rng.normal(0, 1, steps), 60)
    vibrato = _smooth(held, 20) * np.sin(2 * np.pi * (5.4 * time + 0.4 * np.cumsum(drift) * STEP / RATE))
    score.pitch = _smooth(score.pitch, 18) + 0.32 * vibrato + 0.35 * drift
    score.voice *= 1 + 0.08 * vibrato


def _breathe(score: Score, stop: float) -> None:
    rise = np.hanning(2 * _step(0.38))
    rise = np.roll(rise, len(rise) // 6)[: _step(0.38)]
    here = slice(_step(stop) - len(rise), _step(stop))
    score.breath[here] = np.maximum(score.breath[here], 0.10 * rise)


def _tract(score: Score, hertz: Samples) -> NDArray[np.complex128]:
    """The vocal tract's response at `hertz`, shape (steps, bins): six resonances in a row."""
    answer = np.ones(np.broadcast_shapes((len(score.pitch), 1), hertz.shape), np.complex128)
    sung = 440 * 2 ** ((score.pitch - 69) / 12)
    for index, width in enumerate(WIDTHS):
        if index < 3:
            place = score.formants[:, index]
            if index == 0:
                place = np.maximum(place, 1.03 * sung)  # a singer opens the jaw with the pitch
        else:
            place = np.full(len(sung), HIGHER[index - 3])
        damping = width * (1 + 2.0 * score.muffled * (index > 0))
        square = (place**2)[:, None]
        answer *= square / (square - hertz**2 + 1j * hertz * damping[:, None])
    return answer


def _voiced(score: Score, rng: np.random.Generator) -> Samples:
    hertz = 440 * 2 ** ((score.pitch - 69) / 12)
    steps = np.arange(len(hertz)) * STEP
    clock = np.arange(len(hertz) * STEP)
    phase = 2 * np.pi * np.cumsum(np.interp(clock, steps, hertz)) / RATE
    harmonics = np.arange(1, int(12_000 / hertz.min()))
    tract = _tract(score, hertz[:, None] * harmonics)
    # louder singing closes the glottis faster: a flatter spectrum
    tilt = harmonics ** -(1.25 - 0.45 * np.clip(score.voice, 0, 1))[:, None]
    audible = hertz[:, None] * harmonics < 13_000
    level = np.abs(tract) * tilt * audible
    loudness = np.sqrt((level**2).sum(1))
    shimmer = 1 + 0.3 * _smooth(rng.normal(0, 1, len(hertz)), 8)
    gain = score.voice * shimmer * loudness**-0.6 * (1 - 0.3 * score.muffled)
    turn = np.unwrap(np.angle(tract), axis=0)
    sound = np.zeros(len(clock))
    for index in range(len(harmonics)):
        amplitude = np.interp(clock, steps, level[:, index] * gain)
        sound += amplitude * np.sin((index + 1) * phase + np.interp(clock, steps, turn[:, index]))
    return sound


def _noise(score: Score, rng: np.random.Generator) -> Samples:
    white = rng.normal(0, 1, len(score.pitch) * STEP)
    bins, _, spectrum = stft(white, RATE, nperseg=2 * STEP, noverlap=STEP)
    steps = min(spectrum.shape[1], len(score.pitch))
    tract = np.abs(_tract(score, bins[None, :]))[:steps]
    tract /= np.sqrt((tract**2).mean(1, keepdims=True))
    centre, width = score.band[:steps, :1], score.band[:steps, 1:]
    hiss = np.exp(-0.5 * ((bins - centre) / width) ** 2)
    shape = 1.2 * score.breath[:steps, None] * tract + score.hiss[:steps, None] * hiss
    spectrum[:, :steps] *= shape.T
    spectrum[:, steps:] = 0
    _, sound = istft(spectrum, RATE, nperseg=2 * STEP, noverlap=STEP)
    shaped = np.zeros(len(white))
    shaped[: min(len(sound), len(white))] = sound[: len(white)]
    return shaped


def _length(phones: list[Phone]) -> float:
    return sum(phone.seconds for phone in phones)


def _step(seconds: float) -> int:
    return max(round(seconds * RATE / STEP), 0)


def _smooth(values: Samples, steps: int) -> Samples:
    """`values` along time, averaged under a Hann window of `steps` steps."""
    window = np.hanning(steps + 2)[1:-1]
    window /= window.sum()
    padded = np.pad(values, [(steps, steps), *[(0, 0)] * (values.ndim - 1)], mode="edge")
    if values.ndim == 1:
        return np.convolve(padded, window, "same")[steps:-steps]
    return np.stack([np.convolve(column, window, "same")[steps:-steps] for column in padded.T], 1)
