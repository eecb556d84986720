"""Voices that say something at random, with the times of every sound.

Formants that sing or talk and the singer of the example are in the repository; espeak-ng reads lines where
its library is installed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy.signal import resample_poly

from tests.gate.faces_synth import SAMPLE_RATE, Floats, Phone, Speaker, speak

SHAPES = {  # of the example's singer, and of espeak-ng: mouth opening, mouth width
    "i": (0.28, 0.95), "I": (0.35, 0.85), "E": (0.60, 0.75), "ae": (0.85, 0.70), "A": (1.00, 0.55),
    "O": (0.60, 0.22), "U": (0.30, 0.10), "u": (0.22, 0.05), "V": (0.75, 0.50), "3": (0.45, 0.40),
    "@": (0.45, 0.50), "m": (0.00, 0.45), "n": (0.22, 0.55), "N": (0.30, 0.55), "l": (0.30, 0.55),
    "r": (0.25, 0.30), "w": (0.10, 0.02), "v": (0.08, 0.50), "D": (0.15, 0.55), "z": (0.18, 0.65),
    "s": (0.18, 0.70), "S": (0.25, 0.20), "f": (0.08, 0.50), "h": (0.45, 0.50), "b": (0.00, 0.45),
    "p": (0.00, 0.45), "d": (0.22, 0.55), "t": (0.20, 0.55), "k": (0.30, 0.50), "g": (0.32, 0.50),
    "a": (1.00, 0.55), "e": (0.55, 0.75), "o": (0.55, 0.22), "0": (0.70, 0.40), "T": (0.15, 0.55),
    "j": (0.28, 0.80), "y": (0.25, 0.05), "Z": (0.25, 0.20), "_": (0.05, 0.50),
}  # fmt: skip
OTHER = (0.25, 0.55)

SYLLABLES = (
    "m O r", "n I N", "l aI", "t", "h A r", "b ae d", "s u", "w E", "f O l", "r V n", "D @", "m i",
    "v A", "d r i m", "b E l", "S aI n", "w O z", "n @", "l u", "t E n",
)  # fmt: skip
"""What the example's singer is given; `t` and `aI` are put right in `_syllable`."""

LINES = (
    "The boats came in before the storm and nobody asked them why.",
    "My mother kept a map of every road she never took.",
    "We will be home by seven, bring bread and something warm to wear.",
    "People often remember the music but hardly ever the words.",
    "Five more miles and the water begins, so move before the bridge is gone.",
    "I left the window open for a bird that was not mine.",
    "Maybe tomorrow, maybe Monday, but probably never at all.",
    "Our lamp burned blue above the harbour while the fog rolled over us.",
)
TONGUES = ("en-us", "en-gb", "de", "fr", "es", "it")


def voices() -> dict[str, Speaker]:
    """Name -> what speaks with it here."""
    found: dict[str, Speaker] = {
        "sung formants": partial(speak, sings=True),
        "spoken formants": partial(speak, sings=False),
        "sung, the example's singer": sung,
    }
    if _espeak() is not None:
        found["spoken, espeak-ng"] = spoken
    return found


def sung(rng: np.random.Generator, seconds: float) -> tuple[Floats, list[Phone]]:
    """The example's singer with a tune of random steps, held notes and breaths."""
    singer: Any = import_module("examples.singer")
    beat, pitch, at, notes = 60 / rng.uniform(84, 128), 66, float(rng.uniform(0.72, 0.9)), []
    while at < seconds - 0.5:
        for _ in range(int(rng.integers(3, 9))):
            length = beat * float(rng.choice([0.5, 0.5, 1, 1, 1.5, 2]))
            if at + length > seconds - 0.1:
                break
            pitch = int(np.clip(pitch + rng.integers(-3, 4), 60, 74))
            sounds = _syllable(str(rng.choice(SYLLABLES)))
            notes.append(singer.Note(at, at + 0.96 * length, pitch, sounds, float(rng.uniform(0.6, 1))))
            at += length
        at += beat * float(rng.choice([0.5, 1, 2]))
    sound = singer.sing(notes, seconds, seed=int(rng.integers(1 << 30)))
    sound = resample_poly(sound, 1, singer.RATE // SAMPLE_RATE)
    return sound[: int(seconds * SAMPLE_RATE)], _sung_phones(singer, notes, seconds)


def _syllable(sounds: str) -> str:
    return {"t": "t u"}.get(sounds, sounds.replace("aI", "A I"))


class _Listener:
    """Stands where the singer's score is, and hears which sound is held when."""

    def __init__(self) -> None:
        self.held: list[tuple[float, float, Any]] = []

    def speak(self, start: float, stop: float, phone: Any, force: float) -> None:
        self.held.append((start, stop, phone))


def _sung_phones(singer: Any, notes: list[Any], seconds: float) -> list[Phone]:
    listener, out = _Listener(), list[Phone]()
    last = singer.Note(seconds + 1, seconds + 2, 60, "@")
    for note, following in zip(notes, [*notes[1:], last], strict=True):
        singer._sing_note(listener, note, following)
    names = {id(phone): name for name, phone in singer.PHONES.items()}
    named = [(start, stop, names[id(phone)]) for start, stop, phone in listener.held]
    for k, (start, stop, name) in enumerate(named):
        sound = name.split()[0]
        if "closure" in name:  # the burst behind it says where the mouth is closed
            sound = named[k + 1][2].split()[0]
        if not out or start - out[-1].stop > 0.25:
            out.append(Phone(start - 0.18, start, 0.25, 0.5))
        out.append(Phone(start, max(stop, start + 0.01), *SHAPES[sound]))
    return out


def spoken(rng: np.random.Generator, seconds: float) -> tuple[Floats, list[Phone]]:
    """espeak-ng reads lines until the time is over."""
    sound, phones, at = list[Floats](), list[Phone](), 0
    while at < seconds * SAMPLE_RATE:
        said, rate, heard = _say(rng)
        silence = np.zeros(int(rng.uniform(0.15, 0.5) * SAMPLE_RATE))
        start = (at + len(silence)) / SAMPLE_RATE
        ends = [*(when for when, _ in heard[1:]), len(said) / rate]
        for (when, name), end in zip(heard, ends, strict=True):
            shape = SHAPES.get(name[:1], SHAPES["_"] if not name[:1].isalnum() else OTHER)
            if end > when:
                phones.append(Phone(start + when, start + end, *shape))
        moments = np.arange(int(len(said) / rate * SAMPLE_RATE)) / SAMPLE_RATE * rate
        sound += [silence, np.interp(moments, np.arange(len(said)), said)]
        at += len(silence) + len(moments)
    whole = np.concatenate(sound)[: int(seconds * SAMPLE_RATE)]
    return whole, [phone for phone in phones if phone.start < seconds]


class _Event(ctypes.Structure):
    """espeak_EVENT of espeak-ng's speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int), ("identifier", ctypes.c_uint), ("text", ctypes.c_int),
        ("length", ctypes.c_int), ("milliseconds", ctypes.c_int), ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p), ("name", ctypes.c_char * 8),
    )  # fmt: skip


_HEARD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))
PHONEME, RETRIEVAL, EVENTS, RATE, PITCH = 7, 1, 1, 1, 3
"""Of the same header: an event, an output, an option, two parameters."""


@cache
def _espeak() -> tuple[Any, int] | None:
    """The library and its sample rate."""
    name = ctypes.util.find_library("espeak-ng")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    return library, int(library.espeak_Initialize(RETRIEVAL, 0, None, EVENTS))


def _say(rng: np.random.Generator) -> tuple[Floats, int, list[tuple[float, str]]]:
    """A line: its sound, sample rate, and (seconds, name) of each phoneme."""
    engine = _espeak()
    assert engine is not None
    library, rate = engine
    sound, heard = list[Floats](), list[tuple[float, str]]()

    def hear(samples: Any, count: int, events: Any) -> int:
        if samples and count > 0:
            sound.append(np.ctypeslib.as_array(samples, (count,)) / 32768)
        k = 0
        while events[k].type:
            if events[k].type == PHONEME:
                heard.append((events[k].milliseconds / 1000, events[k].name.decode("utf-8", "replace")))
            k += 1
        return 0

    keep = _HEARD(hear)
    library.espeak_SetSynthCallback(keep)
    library.espeak_SetVoiceByName(str(rng.choice(TONGUES)).encode())
    library.espeak_SetParameter(RATE, int(rng.integers(125, 185)), 0)
    library.espeak_SetParameter(PITCH, int(rng.integers(30, 70)), 0)
    line = str(rng.choice(LINES)).encode() + b"\0"
    library.espeak_Synth(line, len(line), 0, 1, 0, 1, None, None)
    library.espeak_Synchronize()
    return np.concatenate(sound), rate, heard
