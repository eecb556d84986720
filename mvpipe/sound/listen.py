"""Song and separated voice -> Hearing: all that is known about where a cut may fall."""

from __future__ import annotations

import numpy as np

from mvpipe.errors import MediaError
from mvpipe.sound.beats import Hops, pulse, sections
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.spectrum import HOPS, Blocks, Floats, texture, voice_level
from mvpipe.sound.voice import singing

ONSET_RISE, ONSET_APART = 4.0, 5
"""An onset rises at least four times as steeply as the song does on average, and is the steepest in 50 ms."""

SECTION_REACH = 150
"""A change of section is moved to the nearest bar or beat within 1.5 s: it is only known to half a second."""


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
    stem_db, samples = voice_level(voice, sample_rate)
    mix = texture(song, sample_rate)
    if not mix.samples or samples != mix.samples:
        raise MediaError(
            f"vocals: length: {samples} samples where the song has {mix.samples}",
            hint="the stem must be exactly as long as the song, from the same first sample",
        )
    heard, beat = singing(stem_db, mix.level), pulse(mix.onset, mix.tone)
    return Hearing(
        sample_rate=sample_rate,
        samples=samples,
        voice_db=stem_db,
        effort=heard.effort,
        peak=mix.peak,
        phrases=heard.phrases,
        onsets=_onsets(mix.onset),
        beats=beat.beats,
        bars=beat.bars,
        sections=_moved(sections(mix.colour), beat.bars if len(beat.bars) else beat.beats),
        beat_confidence=beat.confidence,
    )


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
    return np.unique(np.where(np.abs(nearest - moments) <= SECTION_REACH, nearest, moments))
