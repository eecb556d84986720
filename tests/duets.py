"""Songs for two singers, who take turns by the phrase, and a recording of each of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from mvpipe.sound.timbre import Timbre, timbre
from tests.songbook import KINDS, RATE, Kind, band, clipped, compose, separated
from tests.synth import Stereo, SynthSong, Truth, pieces
from tests.synth_sound import Sound, room, sing

FORM = (("verse", 8), ("chorus", 8))
ALONE_S = 20.0


@dataclass(frozen=True, slots=True)
class Singer:
    """Somebody: the lowest note (MIDI), and where the formants lie, 1 as written."""

    note: int
    tract: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Duet:
    """A song, which of the two sings each phrase, and each of them alone in another song."""

    song: SynthSong
    who: tuple[int, ...]
    alone: tuple[Stereo, ...]


def duet(seed: int, singers: Sequence[Singer], *, kind: Kind = KINDS[0], seconds: float = 40.0) -> Duet:
    """The same seed and singers give the same samples."""
    rng = np.random.default_rng(seed)
    truth = compose(rng, replace(kind, form=FORM), seconds)
    truth = replace(truth, breaths=())
    who = tuple(int(one) for one in rng.integers(0, len(singers), len(truth.phrases)))
    n = round(seconds * RATE)
    dry = sum((_part(rng, truth, who, at, one, n) for at, one in enumerate(singers)), np.zeros(n))
    vocals, played = room(rng, dry, RATE, kind.reverb), band(rng, truth, n, kind)
    scale = 0.89 / np.abs(vocals + played).max()
    voice, rest = clipped(vocals * scale, played * scale)
    song = SynthSong(
        mix=voice + rest,
        vocals=voice,
        accompaniment=rest,
        separated=separated(voice, rest, seed),
        sample_rate=RATE,
        truth=truth,
    )
    return Duet(song=song, who=who, alone=tuple(alone(seed + 5 + at, one) for at, one in enumerate(singers)))


def alone(seed: int, singer: Singer, seconds: float = ALONE_S) -> Stereo:
    """Somebody in another song, in a small room, without a band."""
    rng = np.random.default_rng(seed)
    truth = compose(rng, replace(KINDS[0], form=FORM), seconds)
    dry = sing(rng, truth, round(seconds * RATE), RATE, base=singer.note, tract=singer.tract)
    return room(rng, dry, RATE, 0.03).astype(np.float32)


def _part(rng: Generator, truth: Truth, who: Sequence[int], at: int, singer: Singer, n: int) -> Sound:
    """The phrases of one of them."""
    own = [number for number, one in enumerate(who) if one == at]
    syllables = tuple(replace(s, phrase=own.index(s.phrase)) for s in truth.syllables if who[s.phrase] == at)
    part = replace(truth, phrases=tuple(truth.phrases[number] for number in own), syllables=syllables)
    return sing(rng, part, n, RATE, base=singer.note, tract=singer.tract)


def sounds_like(sound: Stereo) -> Timbre:
    return timbre(pieces(sound), RATE)
