"""What every 10 ms of a sound is made of: streamed, so that an hour takes no more room than a minute.

An analysis step is a hop. Hop `i` describes the sound around `i` hundredths of a second, whatever the
sample rate: its window is centred on the nearest sample, so nothing drifts and nothing is resampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Blocks = Iterable[NDArray[np.float32]]
"""Sound in pieces: float32, shape (n, channels) or (n,), any n."""

HOPS = 100
"""Hops a second: a cut is looked for at 10 ms (design 4)."""

HOP = Fraction(1, HOPS)
"""Seconds between two hops."""

WINDOW_S = 0.032
"""Length of a hop's window. At half its height a Hann window is half as wide: 16 ms, so that an 80 ms
closure still shows as one, and 31 Hz between bins still tell one chord from another."""

VOICE_HZ = (300.0, 1500.0)
"""Corners of the curve through which a voice is measured. Vowels lie between them; breaths and hiss lie
above, a bass that leaked below. Against a flat 150-5000 Hz at -24 dB it finds 100 instead of 77 of 100 gaps
and 94 instead of 45 of 100 starts of phrases on songs with breaths (tests.synth), 85 instead of 68 gaps on
sung text; a steeper curve finds more false gaps in a bad stem."""

SILENCE_DB = -200.0
"""The level of nothing at all: far below what 24 bit hold (-146 dB), in the softest master too."""

ONSET_BANDS, ONSET_LAG, ONSET_UNDER_DB = 40, 2, 67.0
"""Bands in which a rise over `ONSET_LAG` hops counts, and how far below the loudest hop yet it does not."""

LEAST = np.float32(1e-30)
"""Power of which a logarithm can still be taken."""

FLUX_BANDS, FLUX_LAG, FLUX_UNDER_DB = (4, 28), 5, 57.0
"""Bands (about 150 Hz to 4 kHz) whose change over 50 ms tells a held vowel from anything else, and how far
below the voice's loudest hop yet it does not. At 45 dB a twelfth of all consonants is held, at 65 half of the
long vowels is not (tuning half, three songs). Against a fixed -75 dB re full scale the bands of a song
mastered at -34 dB lay still, and half as much again of it was held."""

AIR_HZ = (2000.0, 8000.0)
"""Between these a breath is louder than the room it ends in."""

TONE_BINS, TONE_HOPS = 64, 5
"""The lowest bins (to 2 kHz), averaged over 50 ms: enough to see a chord change."""

COLOUR_HOPS = 50
"""Half a second: the step in which the sound's colour is kept, to find sections."""

_BATCH_S = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Texture:
    """What the mix is made of.

    Parameters
    ----------
    samples : length of the sound
    level : float32 (n,), dB re full scale as a voice is measured, one per hop
    air : float32 (n,), dB re full scale between 2 and 8 kHz
    peak : float32 (n,), largest magnitude within each hop
    onset : float32 (n,), mean rise in dB over all bands
    tone : float32 (n / TONE_HOPS, bins), magnitudes of the lowest bins
    colour : float32 (n / COLOUR_HOPS, ONSET_BANDS), dB in bands from low to high
    """

    samples: int
    level: Floats
    air: Floats
    peak: Floats
    onset: Floats
    tone: Floats
    colour: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Stem:
    """What a separated voice is made of.

    Parameters
    ----------
    samples : length of the sound
    level : float32 (n,), dB re full scale as a voice is measured, one per hop
    air : float32 (n,), dB re full scale between 2 and 8 kHz, where breaths and hiss are
    flux : float32 (n,), mean change in dB over the bands of the vowels since 50 ms ago
    """

    samples: int
    level: Floats
    air: Floats
    flux: Floats


def stem_texture(sound: Blocks, sample_rate: int) -> Stem:
    """What a separated voice is made of, hop by hop."""
    reader, vowels, air = Reader(sound, sample_rate), _vowels(sample_rate), _air(sample_rate)
    colours = _Colours(_bands(sample_rate)[:, slice(*FLUX_BANDS)], FLUX_LAG, FLUX_UNDER_DB)
    levels, airs, fluxes = ([np.zeros(0, np.float32)] for _ in range(3))
    for power, _ in reader:
        colour, before = colours.of(power)
        levels.append(_decibels(power @ vowels))
        airs.append(_decibels(power @ air))
        fluxes.append(np.abs(colour - before).mean(axis=1))
    level, high, flux = (np.concatenate(parts) for parts in (levels, airs, fluxes))
    return Stem(samples=reader.samples, level=level, air=high, flux=flux)


def texture(sound: Blocks, sample_rate: int) -> Texture:
    """What the mix is made of, hop by hop."""
    reader, vowels, air = Reader(sound, sample_rate), _vowels(sample_rate), _air(sample_rate)
    colours = _Colours(_bands(sample_rate), ONSET_LAG, ONSET_UNDER_DB)
    levels, airs, peaks, onsets = [], [], [], []
    tones, means = _Pool(TONE_HOPS), _Pool(COLOUR_HOPS)
    for power, peak in reader:
        colour, before = colours.of(power)
        levels.append(_decibels(power @ vowels))
        airs.append(_decibels(power @ air))
        peaks.append(peak)
        onsets.append(np.maximum(colour - before, 0).mean(axis=1))
        tones.add(np.sqrt(power[:, 1 : TONE_BINS + 1]))
        means.add(colour)
    return Texture(
        samples=reader.samples,
        level=np.concatenate(levels),
        air=np.concatenate(airs),
        peak=np.concatenate(peaks),
        onset=np.concatenate(onsets),
        tone=tones.all(),
        colour=means.all(),
    )


class Reader:
    """Power spectra of a sound, batch by batch: (power float32 (m, bins), peak float32 (m,)).

    Power is the mean over the channels, so that a voice in opposite phase left and right does not vanish.
    """

    def __init__(self, sound: Blocks, sample_rate: int) -> None:
        self.samples = 0
        self._sound = sound
        self._rate = sample_rate
        self._window = 2 * round(WINDOW_S * sample_rate / 2)
        self._size = _size(sample_rate)
        shape = np.hanning(self._window + 1)[:-1]
        self._shape = (shape * np.sqrt(2 / (self._size * np.square(shape).sum()))).astype(np.float32)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        first, given, held = 0, 0, None
        for block, last in self._batches():
            held = block if held is None else np.concatenate([held, block])
            end = self.samples if last else first + len(held) - self._window
            count = max(end * HOPS // self._rate + 1 - given, 0) if end >= 0 else 0
            at = (np.arange(given, given + count) * self._rate * 2 + HOPS) // (2 * HOPS) - first
            if count:
                yield self._measure(held, at)
            given += count
            keep = max((given * self._rate * 2 + HOPS) // (2 * HOPS) - first, 0)
            held, first = held[keep:], first + min(keep, len(held))

    def _batches(self) -> Iterator[tuple[Floats, bool]]:
        """The sound between two half windows of silence, so many samples at a time whatever the blocks are.

        Sums over batches of other lengths would round otherwise.
        """
        parts: list[Floats] = []
        wanted, channels = _BATCH_S * self._rate, 1
        room = wanted
        for block in self._sound:
            columns = block if block.ndim == 2 else block[:, None]
            if not self.samples and len(columns):
                channels = columns.shape[1]
                parts.append(np.zeros((self._window // 2, channels), np.float32))
            self.samples += len(columns)
            while len(columns):
                parts.append(columns[:room])
                columns, room = columns[room:], room - len(parts[-1])
                if not room:
                    yield np.concatenate(parts), False
                    parts, room = [], wanted
        yield np.concatenate([*parts, np.zeros((self._window, channels), np.float32)]), True

    def _measure(self, held: Floats, at: NDArray[np.int64]) -> tuple[Floats, Floats]:
        peak = np.zeros(len(at), np.float32)
        power = np.zeros((len(at), self._size // 2 + 1), np.float32)
        half = self._rate // (2 * HOPS)
        inner = slice(self._window // 2 - half, self._window // 2 + half + 1)
        rows = at[:, None] + np.arange(self._window)
        for channel in held.T:
            sound = channel[rows]
            peak = np.maximum(peak, np.abs(sound[:, inner]).max(axis=1))
            spectrum = np.fft.rfft(sound * self._shape, self._size)
            power += np.square(spectrum.real) + np.square(spectrum.imag)
        return power / np.float32(held.shape[1]), peak


class _Colours:
    """The bands of a sound in dB, and what they were `lag` hops before, batch by batch.

    Nothing is lower than `under_db` below the loudest hop yet, so that a song's gain changes nothing; nor was
    anything different before the first hop.
    """

    def __init__(self, bands: Floats, lag: int, under_db: float) -> None:
        self._bands, self._lag = bands, lag
        self._least, self._under = LEAST, np.float32(10 ** (-under_db / 10))
        self._behind: Floats | None = None

    def of(self, power: Floats) -> tuple[Floats, Floats]:
        """The next hops, and those before them: dB, both float32 (m, bands)."""
        rows = power @ self._bands
        self._least = max(self._least, self._under * power.sum(axis=1).max())
        behind = np.repeat(rows[:1], self._lag, axis=0) if self._behind is None else self._behind
        both = np.concatenate([behind, rows])
        self._behind = both[-self._lag :]
        colour = np.asarray(10 * np.log10(np.maximum(both, self._least)), np.float32)
        return colour[self._lag :], colour[: len(rows)]


class _Pool:
    """Means over a fixed number of rows, of rows that come in batches; a rest at the end is a mean too."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._parts: list[Floats] = []
        self._rest: Floats | None = None

    def add(self, rows: Floats) -> None:
        held = rows if self._rest is None else np.concatenate([self._rest, rows])
        whole = len(held) // self._rows * self._rows
        self._parts.append(held[:whole].reshape(-1, self._rows, held.shape[1]).mean(axis=1))
        self._rest = held[whole:]

    def all(self) -> Floats:
        assert self._rest is not None
        last = [self._rest.mean(axis=0, keepdims=True)] if len(self._rest) else []
        return np.concatenate([*self._parts, *last])


def _decibels(power: Floats) -> Floats:
    return np.asarray(10 * np.log10(np.maximum(power, np.float32(10 ** (SILENCE_DB / 10)))), np.float32)


def _size(sample_rate: int) -> int:
    """Length of the Fourier transform: a window, up to a product of 2, 3 and 5, three times as fast."""
    size = 2 * round(WINDOW_S * sample_rate / 2)
    while not _smooth(size):
        size += 2
    return size


def _smooth(number: int) -> bool:
    for factor in (2, 3, 5):
        while number % factor == 0:
            number //= factor
    return number == 1


def frequencies(sample_rate: int) -> NDArray[np.float64]:
    """Hz of each bin of a power spectrum."""
    return np.asarray(np.fft.rfftfreq(_size(sample_rate), 1 / sample_rate), np.float64)


def _vowels(sample_rate: int) -> Floats:
    """Weights of the bins when a voice is measured, at most 1."""
    low, high = np.square(frequencies(sample_rate)[:, None] / VOICE_HZ).T
    return np.asarray(low / (1 + low) / (1 + high), np.float32)


def _air(sample_rate: int) -> Floats:
    """1 for the bins of a breath."""
    hz = frequencies(sample_rate)
    return np.asarray((hz >= AIR_HZ[0]) & (hz < AIR_HZ[1]), np.float32)


def _bands(sample_rate: int) -> Floats:
    """Weights that gather bins into bands, evenly spaced in pitch above 300 Hz: (bins, ONSET_BANDS)."""
    hz = frequencies(sample_rate)
    place = np.arcsinh(hz / 300)
    top = np.arcsinh(min(10_000, sample_rate / 2) / 300)
    band = (place / top * ONSET_BANDS).astype(int)
    return np.asarray(band[:, None] == np.arange(ONSET_BANDS), np.float32)
