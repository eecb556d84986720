"""The vocal of a window, cut so that the audio VAE takes it whole: 32 kHz, stereo, 800 samples a latent.

ComfyUI's wrapper of the VAE crops what is not a multiple of 800 samples in the middle: a slice of
124 frames cut to 5.1667 s loses its first 266 samples and is a latent short: the mouth is 8 ms early for
the whole shot. A slice of exactly `vocal_samples(frames)` is not cropped (h3.md 0.6, run with the
real class).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError

Samples = NDArray[np.float32]

VOCAL_RATE = 32_000
"""Hz of the audio VAE; it takes two channels."""

LATENT_SAMPLES = 800
"""Samples of one audio latent: 40 latents a second."""

MARGIN = 2_048
"""Samples, at the rate asked for, that are resampled and thrown away at both ends: the resampler's filter
reaches at most some hundred."""

FINE_RATE = 96_000
"""A rate on which every film frame (at 24 a second) and every sample at 32 kHz begins on a sample."""

Read = Callable[[int, int], Samples]
"""Samples [start, stop) of the vocal at the song's rate, counted from the song's first: float32, shape (n,)
or (n, channels); before the song and behind it, zeros."""

Resample = Callable[[Samples, int, int], Samples]
"""A sound, its rate, the wanted rate -> the sound at that rate, in place: sample 0 stays where it is."""


def vocal_latents(frames: int) -> int:
    """Audio latents of a shot: round(frames / 24 * 40), which never lies half-way between two."""
    return (10 * frames + 3) // 6


def vocal_samples(frames: int) -> int:
    """Samples at 32 kHz that the audio VAE takes whole for a shot of so many frames."""
    return vocal_latents(frames) * LATENT_SAMPLES


def vocal_window(read: Read, start_frame: int, frames: int, sample_rate: int, resample: Resample) -> Samples:
    """The vocal of a window, by the song's own clock: sample k is heard at start_frame/24 + k/32000 seconds.

    Parameters
    ----------
    read : the vocal, with its real neighbours around the window
    start_frame : the window's first frame, at 24 a second
    frames : its length, 17k+5
    sample_rate : of what `read` gives, in Hz
    resample : changes rates; outside this package, which knows no resampler

    Returns
    -------
    float32, shape (`vocal_samples(frames)`, 2)

    Raises
    ------
    MediaError : the vocal is not finite
    """
    count, start = vocal_samples(frames), Fraction(start_frame, 24)
    if sample_rate == VOCAL_RATE and (start * VOCAL_RATE).denominator == 1:
        found = _read(read, int(start * VOCAL_RATE), count)
    elif _can_meet(start, sample_rate, VOCAL_RATE):
        found = _resampled(read, start, count, sample_rate, VOCAL_RATE, resample)
    else:
        fine = _finely(read, sample_rate, resample)
        found = _resampled(fine, start, count, FINE_RATE, VOCAL_RATE, resample)
    if not np.isfinite(found).all():
        raise MediaError(f"vocal: frames {start_frame}..{start_frame + frames}: samples that are not finite")
    return np.ascontiguousarray(found, np.float32)


def silent_window(frames: int) -> Samples:
    """Silence as long as a vocal: float32, shape (`vocal_samples(frames)`, 2)."""
    return np.zeros((vocal_samples(frames), 2), np.float32)


def padded(read: Read, samples: int) -> Read:
    """A reader that gives zeros outside the song, from one that may only be asked for what is inside."""

    def whole(start: int, stop: int) -> Samples:
        first, last = min(max(start, 0), samples), min(max(stop, 0), samples)
        inside = np.asarray(read(first, last) if last > first else read(0, 1)[:0], np.float32)
        ends = ((first - start if last > first else stop - start, stop - last if last > first else 0),)
        return np.pad(inside, (*ends, *((0, 0),) * (inside.ndim - 1)))

    return whole


def wav_bytes(sound: Samples, sample_rate: int = VOCAL_RATE) -> bytes:
    """A sound as a float WAV file, the same bytes every time.

    Parameters
    ----------
    sound : float32, shape (n, channels)
    """
    channels = sound.shape[1]
    body = np.ascontiguousarray(sound, "<f4").tobytes()
    form = struct.pack("<HHIIHH", 3, channels, sample_rate, sample_rate * channels * 4, channels * 4, 32)
    fact = struct.pack("<I", len(sound))
    parts = b"WAVE" + _part(b"fmt ", form) + _part(b"fact", fact) + _part(b"data", body)
    return _part(b"RIFF", parts)


def _part(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body


def _can_meet(start: Fraction, sample_rate: int, to_rate: int) -> bool:
    """Whether some sample of the song lies a whole number of wanted samples before the window."""
    return _meeting(start, sample_rate, to_rate) is not None


def _meeting(start: Fraction, sample_rate: int, to_rate: int) -> tuple[int, int] | None:
    """(song sample, wanted samples from it to the window's first), at least `MARGIN` ahead of the window."""
    for ahead in range(MARGIN, MARGIN + to_rate // gcd(sample_rate, to_rate)):
        place = (start - Fraction(ahead, to_rate)) * sample_rate
        if place.denominator == 1:
            return int(place), ahead
    return None


def _resampled(
    read: Read, start: Fraction, count: int, sample_rate: int, to_rate: int, resample: Resample
) -> Samples:
    """`count` samples at another rate from a moment on: cut with neighbours, resampled, margins dropped."""
    met = _meeting(start, sample_rate, to_rate)
    assert met is not None, "96 kHz meets every rate and every frame"
    first, ahead = met
    source = _read(read, first, ceil((ahead + count + MARGIN) * sample_rate / to_rate))
    return resample(source, sample_rate, to_rate)[ahead : ahead + count]


def _finely(read: Read, sample_rate: int, resample: Resample) -> Read:
    """The vocal at 96 kHz, for rates at which a film frame may begin between two samples of both clocks."""

    def fine(start: int, stop: int) -> Samples:
        return _resampled(read, Fraction(start, FINE_RATE), stop - start, sample_rate, FINE_RATE, resample)

    return fine


def _read(read: Read, start: int, count: int) -> Samples:
    """Two channels; one is doubled, more than two are averaged."""
    found = np.asarray(read(start, start + count), np.float32)
    if len(found) != count:
        raise ValueError(f"samples {start}..{start + count} asked for, {len(found)} given")
    sound = found[:, None] if found.ndim == 1 else found
    return sound if sound.shape[1] == 2 else np.repeat(sound.mean(1, keepdims=True, dtype=np.float32), 2, 1)
