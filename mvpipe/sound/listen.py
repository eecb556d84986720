"""Song and separated voice -> Hearing: all that is known about where a cut may fall."""

from __future__ import annotations

import numpy as np

from mvpipe.errors import MediaError
from mvpipe.sound.beats import Hops, pulse
from mvpipe.sound.form import form
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.notes import breaths, held
from mvpipe.sound.spectrum import HOPS, Blocks, Floats, Stem, Texture, stem_texture, texture
from mvpipe.sound.voice import singing

ONSET_RISE, ONSET_APART = 4.0, 5
"""An onset rises at least four times as steeply as the song does on average, and is the steepest in 50 ms."""

SECTION_REACH = 150
"""A change of section is moved to the nearest bar or beat within 1.5 s: it is only known to half a second."""

HIDDEN_DB, HIDDEN_HOPS = 25.0, 3
"""A stem is not believed further than 25 dB below the loudest that the mix is within 30 ms. Where a drum
hits, a separator takes the voice out with it, and a word that begins there looks quieter than the gap before.
With Spleeter's real stems 1 instead of 10 of 61 cuts falls inside a word; on true stems nothing is lost
(tuning half of `benchmarks cut`, the first 9 songs; 20 to 27 dB and 50 ms give 1 or 2)."""


def listen(song: Blocks, voice: Blocks, *, sample_rate: int) -> Hearing:
    """What is heard in a song.

    Both sounds are read once, from the first to the last block; memory grows by 2 kB a second.

    Parameters
    ----------
    song, voice : the mix and its separated voice, in blocks: float32, shape (n, channels), any n
    sample_rate : Hz, of both

    Raises
    ------
    MediaError : there is no sound, or the two are not equally long
    """
    stem = stem_texture(voice, sample_rate)
    return hear(texture(song, sample_rate), stem, sample_rate=sample_rate)


def hear(mix: Texture, stem: Stem, *, sample_rate: int) -> Hearing:
    """What is heard in a song, from what it and its separated voice are made of.

    Raises
    ------
    MediaError : there is no sound, or the two are not equally long
    """
    if not mix.samples or stem.samples != mix.samples:
        raise MediaError(
            f"vocals: length: {stem.samples} samples where the song has {mix.samples}",
            hint="the stem must be exactly as long as the song, from the same first sample",
        )
    heard, beat = singing(stem.level, mix.level), pulse(mix.onset, mix.tone)
    parts = form(mix.colour, mix.tone, heard.effort)
    return Hearing(
        sample_rate=sample_rate,
        samples=stem.samples,
        voice_db=np.maximum(stem.level, _largest(mix.level) - np.float32(HIDDEN_DB)),
        effort=heard.effort,
        peak=mix.peak,
        phrases=heard.phrases,
        held=held(stem, heard),
        breaths=breaths(stem, mix.air, heard.phrases),
        onsets=_onsets(mix.onset),
        beats=beat.beats,
        bars=beat.bars,
        sections=_moved(parts.changes, beat.bars if len(beat.bars) else beat.beats),
        labels=parts.labels,
        beat_confidence=beat.confidence,
        metre=beat.metre,
    )


def _largest(level: Floats) -> Floats:
    """The loudest within `HIDDEN_HOPS` of each hop."""
    wide = np.pad(level, HIDDEN_HOPS, mode="edge")
    loudest: Floats = np.lib.stride_tricks.sliding_window_view(wide, 2 * HIDDEN_HOPS + 1).max(axis=1)
    return loudest


def _onsets(onset: Floats) -> Hops:
    """Hops at which something new begins to sound."""
    wide = np.pad(onset, ONSET_APART, constant_values=-1)
    highest = np.lib.stride_tricks.sliding_window_view(wide, 2 * ONSET_APART + 1).max(axis=1)
    least = max(ONSET_RISE * float(onset.mean()), 1 / HOPS)
    return np.flatnonzero((onset == highest) & (onset > least)).astype(np.int64)


def _moved(moments: Hops, to: Hops) -> Hops:
    """The moments, each moved to the nearest of `to` that is within reach."""
    if not len(to) or not len(moments):
        return moments
    nearest = to[np.abs(moments[:, None] - to).argmin(axis=1)]
    return np.where(np.abs(nearest - moments) <= SECTION_REACH, nearest, moments)
