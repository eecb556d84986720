"""Drawn faces that talk or sing with an offset that is known exactly, and their voice.

The mouth is driven by the phonemes, not by how loud they are: an estimator that looks at loudness is held
against something it did not make. Picture k shows the mouth of the instant `k / rate - late + LEAD`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Samples = NDArray[np.float32]
Image = NDArray[np.uint8]

SAMPLE_RATE = 24_000
CONTROL = 200
"""Steps a second of the synthesiser."""

LEAD = 0.075
"""Seconds the articulation runs ahead: the mouth then leads the voice by 57 ms, as on a natural H3 clip."""

INERTIA = 0.035
"""Seconds, the spread of a jaw's movement around its targets."""

VOWELS = {  # three formants in Hz; mouth opening, mouth width
    "a": ((800, 1250, 2550), 1.00, 0.55), "e": ((520, 1850, 2500), 0.55, 0.75),
    "i": ((300, 2250, 3000), 0.28, 0.95), "o": ((480, 880, 2500), 0.58, 0.22),
    "u": ((330, 780, 2350), 0.25, 0.05), "@": ((560, 1450, 2500), 0.45, 0.50),
}  # fmt: skip
CONSONANTS = {  # seconds, voiced, noise; mouth opening, mouth width
    "m": (0.08, 0.25, 0, 0.00, 0.45), "b": (0.06, 0.06, 0, 0.00, 0.45), "p": (0.09, 0, 0, 0.00, 0.45),
    "f": (0.10, 0, 0.10, 0.08, 0.50), "s": (0.11, 0, 0.25, 0.18, 0.70), "t": (0.07, 0, 0.12, 0.20, 0.55),
    "n": (0.07, 0.25, 0, 0.22, 0.55), "l": (0.07, 0.40, 0, 0.30, 0.55), "k": (0.08, 0, 0.10, 0.30, 0.50),
    "w": (0.07, 0.35, 0.0, 0.10, 0.02), "": (0.0, 0.0, 0.0, 0.30, 0.50),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is made.

    Parameters
    ----------
    seed : of everything
    seconds, rate, size : of the picture
    sings : or talks
    late : seconds by which the picture is late; any fraction
    mouth : `talk`, `closed`, `frozen`, or `other`: it says something else
    noise : sigma of the picture's grain, 0 to 255
    motion : how much the head moves, 0 to 1
    gain : how far the mouth opens
    bleed : of a band left in the voice, over the voice (RMS)
    heads : faces in the picture; the second one says something else
    covered : `none`, `mic`, `half` or `all` of the mouth
    head : height of a head over the picture's
    """

    seed: int
    seconds: float = 6.0
    rate: int = 24
    size: tuple[int, int] = (480, 272)
    sings: bool = True
    late: float = 0.0
    mouth: str = "talk"
    noise: float = 3.0
    motion: float = 0.4
    gain: float = 1.0
    bleed: float = 0.0
    heads: int = 1
    covered: str = "none"
    head: float = 1.2
    crf: int = 23


@dataclass(frozen=True, slots=True)
class Phone:
    """What the mouth does from `start` to `stop` (seconds)."""

    start: float
    stop: float
    opening: float
    width: float


Speaker = Callable[[np.random.Generator, float], tuple[Floats, list[Phone]]]
"""Says something at random for so many seconds, at `SAMPLE_RATE`."""

Sitter = Callable[[float, float, float, str], Image]
"""Shows a head by opening, width, blink and what covers it: BGR and alpha, `HEAD` pixels a side."""


def make(part: Part, path: Path, speaker: Speaker | None = None, sitters: Sequence[Sitter] = ()) -> Samples:
    """Write the clip; its voice is float32, mono, at `SAMPLE_RATE`.

    Parameters
    ----------
    speaker : whose voice; formants that sing or talk where none is given
    sitters : whose heads, one for each; drawn ones where none are given
    """
    long = max(part.seconds, 4.0)  # enough to say something
    speaker = speaker or partial(speak, sings=part.sings)
    voice, phones = speaker(np.random.default_rng(part.seed), long)
    _, other = speaker(np.random.default_rng(part.seed + 7919), long)
    rng = np.random.default_rng(part.seed + 1)
    moments = np.arange(round(part.seconds * part.rate)) / part.rate - part.late + LEAD
    mouths = [mouth_at(other if part.mouth == "other" else phones, moments), mouth_at(other, moments)]
    opening, width = mouths[0]
    if part.mouth in ("closed", "frozen"):
        opening, width = np.full_like(opening, 0.45 * (part.mouth == "frozen")), np.full_like(width, 0.5)
    mouths[0] = np.clip(part.gain * opening + 0.03 * rng.standard_normal(len(opening)), 0, 1), width
    shoot(part, rng, mouths[: part.heads], path, sitters)
    return hear(part, rng, voice[: int(part.seconds * SAMPLE_RATE)])


def hear(part: Part, rng: np.random.Generator, voice: Floats) -> Samples:
    """The voice with what a separator leaves of the band."""
    t = np.arange(len(voice)) / SAMPLE_RATE
    band = 0.5 * np.exp(-((2.1 * t) % 1) * 9) * rng.standard_normal(len(t))
    band += sum(np.sin(2 * np.pi * f * t) for f in (110, 165, 220, 277)) / 4
    voice = voice + part.bleed * band * voice.std() / band.std()
    return np.asarray(0.9 * voice / np.abs(voice).max(), np.float32)


def speak(rng: np.random.Generator, seconds: float, sings: bool) -> tuple[Floats, list[Phone]]:
    """A voice of random syllables, and what the mouth does."""
    steps = int(seconds * CONTROL) + 1
    pitch, voiced, noise = np.full(steps, 140.0), np.zeros(steps), np.zeros(steps)
    formants = np.tile([560.0, 1450.0, 2500.0], (steps, 1))
    phones: list[Phone] = []
    for start, length, hertz in _rhythm(rng, seconds, sings):
        tongue, murmur, hiss, narrow, round_ = CONSONANTS[str(rng.choice(list(CONSONANTS)))]
        shape, wide, spread = VOWELS[str(rng.choice(list(VOWELS)))]
        tongue = min(tongue, 0.45 * length)
        if not phones or start - phones[-1].stop > 0.25:  # breath: the mouth opens before the phrase
            phones.append(Phone(start - 0.18, start, 0.25, 0.5))
        a, b, e = (int(x * CONTROL) for x in (start, start + tongue, start + length))
        wave = 0.012 * np.sin(2 * np.pi * 5.5 * np.arange(e - a) / CONTROL)
        pitch[a:e] = hertz * (1 + (wave if sings else -0.15 * np.linspace(0, 1, e - a)))
        voiced[a:b], noise[a:b] = murmur, hiss
        voiced[b:e] = rng.uniform(0.55, 1) * np.linspace(1, 0.75, e - b)
        if not sings or rng.random() < 0.4:
            voiced[max(b, e - 6) : e] *= 0.3
        formants[a:e] = shape
        if tongue:
            phones.append(Phone(start, start + tongue, narrow, round_))
        effort = rng.uniform(0.75, 1.1)
        phones.append(Phone(start + tongue, start + length, min(1.0, wide * effort), spread))
    return _sound(rng, seconds, pitch, _blur(voiced, 2), _blur(noise, 2), _blur(formants, 4)), phones


def _rhythm(rng: np.random.Generator, seconds: float, sings: bool) -> list[tuple[float, float, float]]:
    """(start, length, Hz) of syllables in phrases."""
    out: list[tuple[float, float, float]] = []
    t, note = float(rng.uniform(0.15, 0.5)), int(rng.integers(0, 8))
    beat = 60 / rng.uniform(84, 128)
    scale = (0, 2, 4, 5, 7, 9, 11, 12)
    while t < seconds - 0.3:
        for _ in range(int(rng.integers(4, 9))):
            if sings:
                length = beat * float(rng.choice([0.5, 0.5, 0.5, 1, 1, 1.5, 2])) * rng.uniform(0.94, 1.06)
                note = int(np.clip(note + rng.integers(-2, 3), 0, 7))
                hertz = 196 * 2 ** (scale[note] / 12)
            else:
                length, hertz = float(rng.uniform(0.14, 0.30)), float(rng.uniform(105, 150))
            if t + length > seconds - 0.1:
                return out
            out.append((t, length, hertz))
            t += length
        t += beat * float(rng.choice([0.5, 1, 2])) if sings else float(rng.uniform(0.2, 0.6))
    return out


def _sound(
    rng: np.random.Generator, seconds: float, pitch: Floats, voiced: Floats, noise: Floats, formants: Floats
) -> Floats:
    """Harmonics under three resonances, and hiss."""
    at = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    steps = np.arange(len(pitch)) / CONTROL
    phase = 2 * np.pi * np.cumsum(np.interp(at, steps, pitch)) / SAMPLE_RATE
    out = np.zeros(len(at))
    wide, loud = np.array([90.0, 120, 180]) ** 2, np.array([1, 0.55, 0.28])
    for k in range(1, 31):
        tone = (k * pitch)[:, None]
        level = (loud * wide / ((tone - formants) ** 2 + wide)).sum(1) + 0.02
        level *= k**-0.35 * (tone[:, 0] < 7000) * voiced
        if level.any():
            out += np.interp(at, steps, level) * np.sin(k * phase)
    out /= np.sqrt((out[np.abs(out) > 1e-4] ** 2).mean()) * 4
    hiss = np.diff(rng.standard_normal(len(at)), prepend=0)
    return np.asarray(out + 0.35 * np.interp(at, steps, noise) * hiss)


def _blur(values: Floats, sigma: int) -> Floats:
    bell = np.exp(-0.5 * (np.arange(-4 * sigma, 4 * sigma + 1) / sigma) ** 2)
    bell /= bell.sum()
    columns = values.reshape(len(values), -1).T
    soft = [np.convolve(np.pad(c, 4 * sigma, mode="edge"), bell, "valid") for c in columns]
    return np.stack(soft, 1).reshape(values.shape)


def mouth_at(phones: list[Phone], moments: Floats) -> tuple[Floats, Floats]:
    """Opening and width of the mouth, each 0 to 1, with the inertia of a jaw."""
    fine = np.arange(-2, phones[-1].stop + 2, 0.002)
    opening, width = np.full(len(fine), 0.05), np.full(len(fine), 0.5)
    for phone in phones:
        inside = (fine >= phone.start) & (fine < phone.stop)
        opening[inside], width[inside] = phone.opening, phone.width
    soft = (_blur(v, round(INERTIA / 0.002)) for v in (opening, width))
    opening, width = (np.interp(moments, fine, v) for v in soft)
    return opening, width


def shoot(
    part: Part,
    rng: np.random.Generator,
    mouths: list[tuple[Floats, Floats]],
    path: Path,
    sitters: Sequence[Sitter] = (),
) -> None:
    """Draw and encode."""
    frames = len(mouths[0][0])
    sway = [[_drift(rng, frames / part.rate, frames) for _ in range(3)] for _ in mouths]
    skins = [np.array([150.0, 190, 232]) - 14 * k for k in range(len(mouths))]
    sitters = sitters or [partial(_head, skin) for skin in skins]
    blinks = np.exp(-0.5 * (((np.arange(frames) / part.rate + part.seed % 3) % 2.7 - 1.3) / 0.06) ** 2)
    wide, high = part.size
    backdrop = np.linspace((70, 60, 60), (120, 95, 75), high)[:, None].repeat(wide, 1)
    grain = rng.standard_normal((high, wide, 1))
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", part.rate, options={"crf": str(part.crf), "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = wide, high, "yuv420p"
        for k in range(frames):
            image = backdrop.astype(np.uint8)
            for h, (opening, width) in enumerate(mouths):
                head = sitters[h](opening[k], width[k], blinks[k], part.covered)
                x = wide * (0.5 if len(mouths) == 1 else (0.27, 0.73)[h])
                dx, dy, turn = (part.motion * s[k] for s in sway[h])
                scale = part.head * high / HEAD / (1 if len(mouths) == 1 else 1.3)
                _paste(image, head, (x + 0.05 * wide * dx, high * (0.5 + 0.05 * dy)), scale, 6 * turn)
            noisy = image + part.noise * np.roll(grain, int(rng.integers(0, grain.size)))
            shown = av.VideoFrame.from_ndarray(np.clip(noisy, 0, 255).astype(np.uint8), format="bgr24")
            out.mux(stream.encode(shown))
        out.mux(stream.encode(None))


def _drift(rng: np.random.Generator, seconds: float, frames: int) -> Floats:
    t = np.linspace(0, seconds, frames)
    return np.asarray(sum(np.sin(2 * np.pi * t / p + rng.uniform(0, 6.3)) for p in (2.3, 3.7, 5.9)) / 3)


HEAD = 400
"""Pixels of the square a head is drawn in."""

HAIR = (45, 40, 60, 255)


def _shade() -> Floats:
    y, x = np.mgrid[0:HEAD, 0:HEAD] - HEAD / 2
    return np.asarray(1 - 0.25 * np.clip(np.hypot((x + 20) / 100, (y - 5) / 125), 0, 1.2) ** 2)


@cache
def _still(skin: tuple[float, ...]) -> tuple[Image, Image]:
    """What of a head does not move, in BGR and alpha, and its skin as lit."""
    c, line = HEAD // 2, cv2.LINE_AA
    image = np.zeros((HEAD, HEAD, 4), np.uint8)
    lit = np.clip(np.array([*skin, 255.0]) * np.dstack([_shade()] * 3 + [np.ones((HEAD, HEAD))]), 0, 255)
    cv2.ellipse(image, (c, HEAD), (150, 75), 0, 0, 360, (110, 70, 60, 255), -1, line)
    cv2.rectangle(image, (c - 35, c + 60), (c + 35, HEAD - 60), (*(0.86 * v for v in skin), 255), -1)
    cv2.ellipse(image, (c, c - 35), (118, 133), 0, 0, 360, HAIR, -1, line)
    _lay(image, lit, (89, 112), (180, 360), slice(0, HEAD))
    cv2.ellipse(image, (c, c - 95), (90, 40), 0, 180, 360, HAIR, -1, line)
    return image, lit.astype(np.uint8)


def _lay(image: Image, lit: Floats | Image, axes: tuple[int, int], arc: tuple[int, int], rows: slice) -> None:
    """Half a face of lit skin."""
    mask = np.zeros((HEAD, HEAD), np.uint8)
    cv2.ellipse(mask, (HEAD // 2, HEAD // 2 + 2), axes, 0, *arc, 255, -1, cv2.LINE_AA)
    part = mask[rows, :, None] / np.float32(255)
    image[rows] = np.asarray(image[rows] * (1 - part) + lit[rows] * part, np.uint8)


def _head(skin: Floats, opening: float, width: float, blink: float, covered: str) -> Image:
    """A head in a square of BGR and alpha."""
    c, line = HEAD // 2, cv2.LINE_AA
    still, lit = _still(tuple(float(v) for v in skin))
    image = still.copy()
    _lay(image, lit, (89, 116 + round(11 * opening)), (0, 180), slice(c, c + 132))
    for side in (-1, 1):
        eye = (c + 36 * side, c - 22)
        cv2.ellipse(
            image, eye, (18, max(1, round(9 * (1 - blink)))), 0, 0, 360, (244, 244, 244, 255), -1, line
        )
        if blink < 0.6:
            cv2.circle(image, eye, 8, (90, 70, 40, 255), -1, line)
            cv2.circle(image, eye, 4, (15, 12, 10, 255), -1, line)
        cv2.ellipse(image, (eye[0], eye[1] - 1), (19, 11), 0, 190, 350, (50, 40, 40, 255), 2, line)
        cv2.ellipse(image, (eye[0], eye[1] - 20), (23, 8), 0, 200, 340, HAIR, 4, line)
        cv2.ellipse(image, (c + 6 * side, c + 24), (4, 2), 0, 0, 360, (*(0.45 * skin), 255.0), -1, line)
    cv2.ellipse(image, (c, c + 20), (15, 9), 0, 10, 170, (*(0.72 * skin), 255.0), 2, line)
    cv2.line(image, (c - 9, c - 15), (c - 12, c + 17), (*(0.86 * skin), 255.0), 3, line)
    _mouth(image, (c, c + 60), opening, width)
    cover(image, (c, c + 60), covered)
    return image


def cover(image: Image, mouth: tuple[int, int], with_: str) -> None:
    """Hold a microphone before a mouth, or a card before half or all of it."""
    x, y = mouth
    if with_ == "mic":
        cv2.circle(image, (x + 12, y + 32), 24, (40, 40, 42, 255), -1, cv2.LINE_AA)
    elif with_ == "half":
        cv2.rectangle(image, (x, y - 30), (x + 80, y + 55), (120, 90, 60, 255), -1)
    elif with_ == "all":
        cv2.rectangle(image, (x - 80, y - 45), (x + 80, y + 55), (120, 90, 60, 255), -1)


def _mouth(image: Image, at: tuple[int, int], opening: float, width: float) -> None:
    """Lips, the dark between them, teeth; heights are fractions of a pixel (16ths)."""
    half, gap = 22 + 17 * width, 1 + 26 * opening
    middle = (at[0] * 16, round((at[1] + gap / 2) * 16))

    def oval(rx: float, ry: float, colour: tuple[int, ...]) -> None:
        axes = (round(rx * 16), max(1, round(ry * 16)))
        cv2.ellipse(image, middle, axes, 0, 0, 360, colour, -1, cv2.LINE_AA, 4)

    oval(half + 5, gap / 2 + 7.5, (88, 80, 178, 255))
    oval(half, gap / 2, (35, 22, 60, 255))
    if gap > 7:
        teeth = np.zeros(image.shape[:2], np.uint8)
        axes = (round((half - 2) * 16), round((gap / 2 - 1) * 16))
        cv2.ellipse(teeth, middle, axes, 0, 0, 360, 255, -1, cv2.LINE_8, 4)
        teeth[at[1] + round(min(6, gap / 3)) :] = 0
        image[teeth > 0] = (235, 238, 240, 255)


def _paste(image: Image, head: Image, at: tuple[float, float], scale: float, degrees: float) -> None:
    matrix = np.asarray(cv2.getRotationMatrix2D((HEAD / 2, HEAD / 2), degrees, scale), np.float64)
    matrix[:, 2] += np.array(at) - HEAD / 2
    size = (image.shape[1], image.shape[0])
    smaller = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    laid = cv2.warpAffine(head, matrix, size, flags=smaller)
    alpha = laid[..., 3:] / np.float32(255)
    image[:] = np.asarray(image * (1 - alpha) + laid[..., :3] * alpha, np.uint8)
