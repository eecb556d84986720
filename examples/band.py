"""The band: each function plays one sound at its place in a stereo track, float64, shape (n, 2)."""

from __future__ import annotations

import numpy as np
from scipy.signal import butter, fftconvolve, sosfilt

from singer import RATE, Samples


def silence(seconds: float) -> Samples:
    """An empty stereo track."""
    return np.zeros((round(seconds * RATE), 2))


def lay(track: Samples, sound: Samples, start: float, *, level: float = 1.0, pan: float = 0.0) -> None:
    """Add a mono or stereo sound to a track at `start` seconds; pan from -1 (left) to 1 (right)."""
    angle = (pan + 1) * np.pi / 4
    stereo = (
        sound if sound.ndim == 2 else sound[:, None] * np.array([np.cos(angle), np.sin(angle)]) * np.sqrt(2)
    )
    first = round(start * RATE)
    room = track[first : first + len(stereo)]
    room += level * stereo[: len(room)]


def hertz(pitch: float) -> float:
    """The frequency of a MIDI pitch."""
    return float(440 * 2 ** ((pitch - 69) / 12))


def _time(seconds: float) -> Samples:
    return np.arange(round(seconds * RATE)) / RATE


def _fade(sound: Samples, attack: float, release: float) -> Samples:
    rise, fall = round(attack * RATE), round(release * RATE)
    sound.T[..., :rise] *= np.sin(np.linspace(0, np.pi / 2, rise)) ** 2
    sound.T[..., -fall:] *= np.cos(np.linspace(0, np.pi / 2, fall)) ** 2
    return sound


def passed(sound: Samples, kind: str, cutoff: float | list[float], order: int = 2) -> Samples:
    """The sound through a Butterworth filter: `lowpass`, `highpass` or `bandpass`."""
    filtered: Samples = sosfilt(butter(order, cutoff, kind, fs=RATE, output="sos"), sound, axis=0)
    return filtered


def keys(pitch: float, seconds: float, force: float) -> Samples:
    """An electric piano: two detuned frequency-modulated tones and a tine that dies away."""
    time, tone = _time(seconds), 2 * np.pi * hertz(pitch)
    decay = np.exp(-time / (0.9 + 60 / pitch))
    body = np.sin(tone * time + 1.6 * force * np.exp(-time / 0.5) * np.sin(tone * time))
    tine = 0.25 * force * np.exp(-time / 0.12) * np.sin(tone * time + 0.9 * np.sin(14 * tone * time))
    shake = 1 + 0.18 * np.stack([np.sin(2 * np.pi * 4.6 * time), -np.sin(2 * np.pi * 4.6 * time)], 1)
    return _fade(((body + tine) * decay * force)[:, None] * shake, 0.002, 0.12)


def pad(pitches: list[int], seconds: float, brightness: float) -> Samples:
    """Slow strings: detuned saws left and right, opened and closed by a filter."""
    time, sound = _time(seconds), silence(seconds)
    for pitch in pitches:
        for side, cents in ((0, -7), (1, 6), (0, 3), (1, -4)):
            turns = hertz(pitch + cents / 100) * time + 0.37 * pitch + 0.21 * cents
            for harmonic in range(1, 13):
                tilt = np.exp(-harmonic / (2 + 5 * brightness))
                sound[:, side] += tilt / harmonic * np.sin(2 * np.pi * harmonic * turns)
    return _fade(sound / len(pitches), 0.35, 0.5)


def bass(pitch: float, seconds: float, force: float) -> Samples:
    """A round electric bass with a finger's click."""
    time, tone = _time(seconds), 2 * np.pi * hertz(pitch)
    body = np.sin(tone * time) + 0.45 * np.exp(-time / 0.4) * np.sin(2 * tone * time)
    body += 0.2 * np.exp(-time / 0.15) * np.sin(3 * tone * time)
    return _fade(np.tanh(1.3 * force * body * np.exp(-time / 1.6)), 0.006, 0.05)


def kick(force: float) -> Samples:
    """A drum whose pitch falls from 150 to 48 Hz."""
    time = _time(0.34)
    turns = 48 * time + 102 * 0.028 * (1 - np.exp(-time / 0.028))
    click = 0.25 * np.exp(-time / 0.003) * np.sin(2 * np.pi * 1800 * time)
    return _fade(force * (np.sin(2 * np.pi * turns) * np.exp(-time / 0.13) + click), 0.001, 0.03)


def snare(force: float, rng: np.random.Generator) -> Samples:
    """A head at 190 Hz and the wires under it."""
    time = _time(0.26)
    head = np.sin(2 * np.pi * 190 * time) * np.exp(-time / 0.05)
    wires = passed(rng.normal(0, 1, len(time)), "bandpass", [1400, 9500]) * np.exp(-time / 0.085)
    return _fade(force * (0.55 * head + 0.6 * wires), 0.001, 0.03)


def rim(force: float) -> Samples:
    """A stick on the rim."""
    time = _time(0.07)
    return force * (np.sin(2 * np.pi * 1710 * time) + np.sin(2 * np.pi * 650 * time)) * np.exp(-time / 0.011)


def hat(force: float, rng: np.random.Generator, ring: float = 0.035) -> Samples:
    """A cymbal, closed or (with a longer ring) open."""
    time = _time(min(6 * ring, 0.9))
    return force * passed(rng.normal(0, 1, len(time)), "highpass", 7200, 4) * np.exp(-time / ring)


def bell(pitch: float, force: float) -> Samples:
    """A glass bell; its partials are not harmonic."""
    time = _time(2.2)
    partials = ((1, 1.0, 0.9), (2.76, 0.35, 0.4), (5.4, 0.15, 0.2))
    tone = 2 * np.pi * hertz(pitch)
    return _fade(
        force
        * sum(level * np.sin(tone * ratio * time) * np.exp(-time / ring) for ratio, level, ring in partials),
        0.002,
        0.2,
    )


def swell(seconds: float, rng: np.random.Generator) -> Samples:
    """A cymbal that grows into the next bar."""
    time = _time(seconds)
    return passed(rng.normal(0, 1, (len(time), 2)), "highpass", 5200) * ((time / seconds) ** 3)[:, None]


def room(sound: Samples, *, seconds: float, dark: float, rng: np.random.Generator) -> Samples:
    """The sound in a hall: decaying noise, `seconds` to fall by 60 dB, nothing above `dark` Hz."""
    time = _time(1.3 * seconds)
    tail = rng.normal(0, 1, (len(time), 2)) * np.exp(-6.9 * time / seconds)[:, None]
    tail = passed(passed(tail, "lowpass", dark), "highpass", 220)
    tail = np.vstack([np.zeros((round(0.018 * RATE), 2)), tail])  # the walls are some metres away
    tail /= np.sqrt((tail**2).sum(0))
    stereo = sound if sound.ndim == 2 else np.stack([sound, sound], 1)
    wet: Samples = fftconvolve(stereo, tail, axes=0)[: len(stereo)]
    return wet
