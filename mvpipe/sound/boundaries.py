"""Hearing -> Boundaries: the moments at which a cut could fall, each where the voice is really quietest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mvpipe.clock import first_sample, snap_sample
from mvpipe.film import Boundary, BoundaryKind, Word
from mvpipe.sound.costs import (
    BETWEEN_WORDS,
    HELD_LOUD,
    IN_GAP,
    IN_PAUSE,
    IN_QUIET,
    IN_VOICE,
    IN_VOICE_LOUD,
    IN_WORD,
    LONG_PAUSE_BONUS,
    SUPPORT,
    UNIT,
    WEIGHT,
    micro,
)
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.known import known_words
from mvpipe.sound.spectrum import HOPS, Floats
from mvpipe.sound.voice import covered, gaps, runs

PAUSE_HOPS = 150
"""A gap of 1.5 s is a pause: its two edges are boundaries, and its inside is one zone, not many."""

BREATH_HOPS = 40
"""In a pause, the last 0.4 s before a phrase belong to the breath, heard or not."""

ROOM_HOPS = 12
"""A breath that is heard within 120 ms of the phrase before leaves no room for a cut, for the voice rings for
0.1 s: it is cut into. In a leaky stem it is heard up to 20 ms late."""

MARGIN_HOPS = 2
"""In a short gap with no breath in it, only the last 20 ms before the phrase are kept free of cuts: it begins
40 ms before its vowel already. Of the cuts on true stems 97 instead of 94 of 100 are at a best place then
(tuning half, both figures together: 108 cuts)."""

UNHEARD_HOPS, UNHEARD_DB, UNHEARD_ROOM_HOPS = 30, 3.0, 15
"""Where no breath is heard the last 0.3 s are kept free for one all the same, if 0.15 s are left before that
and are as quiet within 3 dB: a weak separator takes breaths for the band's. Of the cuts on Spleeter's stems
84 instead of 78 of 100 are at a best place then, elsewhere nothing changes (tuning half)."""

BREATHS_HEARD, INAUDIBLE_DB = 0.5, 30.0
"""A stem with breaths before less than half of the phrases is not believed to hold them in other gaps: the
last 0.3 s are kept free where a cut before them is 30 dB below what is sung, however quiet it is later. Just
before a drum Spleeter's stems are quietest, and there one breathes in; of their cuts 84 instead of 82 of 100
are at a best place then, elsewhere nothing changes (tuning half)."""

RING_HOPS = 60
"""After a phrase, the edge of a pause is looked for within 0.6 s."""

NEARLY_DB = 3.0
"""Within 3 dB of the quietest a cut is nearly as good."""

FLAT_DB = 1.0
"""Hops within 1 dB of the quietest are as quiet; the middle of the longest run of them is taken."""

NEAR_HOPS = {BoundaryKind.SECTION: 30, BoundaryKind.BAR: 8, BoundaryKind.BEAT: 8}
"""How near evidence must be to support a boundary: 0.3 s, 80 ms, 80 ms."""

VALLEY_DB, VALLEY_HOPS, VALLEY_REACH = 6.0, 12, 50
"""A valley is the quietest hop within 120 ms, and 6 dB below what is within half a second on both sides."""

DIPS = (BoundaryKind.WORD_GAP, BoundaryKind.VALLEY)
"""What may be between two words, though nobody knows."""

CLOSURE_HOPS = 3
"""A quiet run from 30 ms on inside a phrase is a closure: between two words, or inside one."""

GUARD_HOPS = 5
"""A cut is as loud as the loudest voice within 50 ms: less than a closure inside a word lasts, about."""

EDGE_HOPS = 4
"""A cut within 40 ms of a phrase's edge does not count as inside."""


def boundaries(hearing: Hearing) -> tuple[Boundary, ...]:
    """Moments at which a cut could fall, in order; the insides of pauses hold only what the band does there.

    Each lies where the voice is quietest (to 10 ms). Beats, bars and sections nearby raise its weight and
    never move it; inside pauses they stand for themselves.
    """
    found = [*_in_gaps(hearing), *_in_phrases(hearing)]
    best: dict[int, Boundary] = {}
    for boundary in found:
        held = best.get(boundary.sample)
        if held is None or held.weight < boundary.weight:
            best[boundary.sample] = boundary
    return tuple(best[sample] for sample in sorted(best))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is known of each frame as a place to cut.

    Parameters
    ----------
    rate, sample_rate : pictures per second, Hz
    boundary : frame -> the best boundary that snaps to it; frames without evidence are missing
    weight : float64 (frames + 1,), of a cut at each frame
    pause : bool (frames + 1,), inside a long pause
    sung : bool (frames + 1,), inside a phrase
    voice : int64 (frames + 1,), price in millionths of what is sung there; 0 where not inside
    inside : bool (frames + 1,), inside a phrase, or where words are known inside one, more than 40 ms from
        its edges
    held : bool (frames + 1,), in a held vowel
    dip : bool (frames + 1,), in a dip of the voice
    word : int64 (frames + 1,), which of `words` a frame is inside; -1 for none
    words : those that are known
    """

    rate: Fraction
    sample_rate: int
    boundary: dict[int, Boundary]
    weight: NDArray[np.float64]
    pause: NDArray[np.bool_]
    sung: NDArray[np.bool_]
    voice: NDArray[np.int64]
    inside: NDArray[np.bool_]
    held: NDArray[np.bool_]
    dip: NDArray[np.bool_]
    word: NDArray[np.int64]
    words: tuple[Word, ...]

    @property
    def price(self) -> NDArray[np.int64]:
        """Millionths a cut at each frame costs by itself."""
        return self.voice + np.rint((1 - self.weight) * UNIT).astype(np.int64)

    def harm(self, frame: int) -> str:
        """What a cut at a frame goes through; empty if nothing."""
        if not self.inside[frame]:
            return ""
        if self.word[frame] >= 0:
            return f'the word "{self.words[self.word[frame]].text}"'
        if self.dip[frame]:
            return "the voice, in a dip"
        return "the voice, in a held vowel" if self.held[frame] else "the voice"

    def at(self, frame: int) -> Boundary:
        """The boundary of a cut at a frame; where nothing marks it, what the moment lies in."""
        if frame in self.boundary:
            return self.boundary[frame]
        quiet = BoundaryKind.SILENCE if self.pause[frame] else BoundaryKind.PHRASE_END
        kind = BoundaryKind.FORCED if self.sung[frame] else quiet
        sample = first_sample(frame, self.sample_rate, self.rate)
        return Boundary(sample, kind, float(self.weight[frame]))


def marks(hearing: Hearing, *, frames: int, rate: Fraction, words: Sequence[Word] = ()) -> Marks:
    """What is known of each frame as a place to cut; every boundary is snapped once to the nearest frame.

    Parameters
    ----------
    words : those whose times are known, in order; between them a sung line may be cut
    """
    at = _hop_of_frame(frames, rate, hearing.hops)
    sung = covered(hearing.phrases, hearing.hops)
    core = hearing.phrases + np.array([EDGE_HOPS, -EDGE_HOPS])
    inside = covered(core[core[:, 0] < core[:, 1]], hearing.hops)
    pause = covered(np.array([z for z, _ in _pauses(hearing)], np.int64).reshape(-1, 2), hearing.hops)
    forced = WEIGHT[BoundaryKind.FORCED].value
    between = np.where(_quiet(hearing)[at], IN_QUIET.value, IN_GAP.value)
    weight = np.where(pause[at], IN_PAUSE.value, np.where(sung[at], forced, between))
    best: dict[int, Boundary] = {}
    known = known_words(words, hearing)
    for boundary in (*boundaries(hearing), *known.gaps):
        frame = snap_sample(boundary.sample, hearing.sample_rate, rate)
        if frame <= frames and (frame not in best or best[frame].weight < boundary.weight):
            best[frame] = boundary
            weight[frame] = boundary.weight
    loud = IN_VOICE_LOUD.value * np.square(_widest(hearing.effort, GUARD_HOPS)[at].astype(np.float64))
    held = covered(hearing.held, hearing.hops)[at]
    dip = np.array([f in best and best[f].kind in DIPS for f in range(frames + 1)])
    price = micro(IN_VOICE) + np.rint(np.where(held, np.minimum(loud, HELD_LOUD.value), loud) * UNIT)
    price = np.where(inside[at], price, 0)
    price = np.where(known.around[at] & sung[at], micro(BETWEEN_WORDS), price)
    word = known.inside[at]
    return Marks(
        rate=rate,
        sample_rate=hearing.sample_rate,
        boundary=best,
        weight=weight,
        pause=pause[at],
        sung=sung[at],
        voice=np.where(word >= 0, micro(IN_WORD), price).astype(np.int64),
        inside=np.where(known.around[at], word >= 0, inside[at]),
        held=held,
        dip=dip,
        word=word,
        words=tuple(words),
    )


def _hop_of_frame(frames: int, rate: Fraction, hops: int) -> NDArray[np.int64]:
    """The hop nearest to each frame's moment, 0 to `frames` inclusive."""
    step = HOPS / rate
    at = (2 * np.arange(frames + 1) * step.numerator + step.denominator) // (2 * step.denominator)
    return np.asarray(np.minimum(at, hops - 1), np.int64)


def _pauses(hearing: Hearing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Long gaps: the hops that are inside, apart from ringing and breath, and the gap itself."""
    for start, stop in gaps(hearing.phrases, hearing.hops).tolist():
        if stop - start >= PAUSE_HOPS or (start == 0 and stop == hearing.hops):
            head = 0 if start == 0 else RING_HOPS // 2
            tail = 0 if stop == hearing.hops else BREATH_HOPS
            yield (start + head, stop - tail), (start, stop)


def _in_gaps(hearing: Hearing) -> Iterator[Boundary]:
    zones, inaudible = {gap: zone for zone, gap in _pauses(hearing)}, _inaudible(hearing)
    for start, stop in gaps(hearing.phrases, hearing.hops).tolist():
        if (start, stop) in zones:
            yield from _of_pause(hearing, start, stop)
            yield from _of_band(hearing, *zones[start, stop])
        elif start > 0 and stop < hearing.hops:
            yield _of_gap(hearing, start, stop, inaudible)


def _of_gap(hearing: Hearing, start: int, stop: int, inaudible: float) -> Boundary:
    """The one boundary of a short gap: where it is quietest before the singer breathes in."""
    breath = _breath_in(hearing, start, stop)
    hop = start + _quietest(hearing.voice_db[start : _end(hearing, start, stop, breath, inaudible)])
    kind = BoundaryKind.PHRASE_END if breath is None else BoundaryKind.BREATH
    length = min((stop - start) / HOPS, 1.0)
    return _made(hearing, hop, kind, WEIGHT[kind].value + LONG_PAUSE_BONUS.value * length)


def _inaudible(hearing: Hearing) -> float:
    """The level in dB below which lower is no better, where breaths are not heard; -inf where they are."""
    if not len(hearing.phrases) or len(hearing.breaths) >= BREATHS_HEARD * len(hearing.phrases):
        return -np.inf
    sung = hearing.voice_db[covered(hearing.phrases, hearing.hops)]
    return float(np.percentile(sung, 80)) - INAUDIBLE_DB


def _end(hearing: Hearing, start: int, stop: int, breath: int | None, inaudible: float) -> int:
    """The hop up to which a cut may fall in a short gap."""
    if breath is not None:
        return breath
    last, early = stop - min(MARGIN_HOPS, (stop - start) // 2), stop - UNHEARD_HOPS
    if early - start < UNHEARD_ROOM_HOPS:
        return last
    level = hearing.voice_db[start:last]
    before = float(level[: early - start].min())
    return early if before <= max(float(level.min()) + UNHEARD_DB, inaudible) else last


def _quiet(hearing: Hearing) -> NDArray[np.bool_]:
    """Hops of short gaps that are about as quiet as the quietest, before the singer breathes in."""
    quiet, inaudible = np.zeros(hearing.hops, bool), _inaudible(hearing)
    for start, stop in gaps(hearing.phrases, hearing.hops).tolist():
        breath = _breath_in(hearing, start, stop)
        end = _end(hearing, start, stop, breath, inaudible)
        if stop - start < PAUSE_HOPS and end > start:
            level = hearing.voice_db[start:end]
            quiet[start:end] = level <= level.min() + NEARLY_DB
    return quiet


def _breath_in(hearing: Hearing, start: int, stop: int) -> int | None:
    """The hop at which the singer is heard breathing in; not where that fills the gap from its start."""
    at = hearing.breaths[:, 0]
    inside = at[(at >= start + ROOM_HOPS) & (at < stop)]
    return int(inside[0]) if len(inside) else None


def _of_pause(hearing: Hearing, start: int, stop: int) -> Iterator[Boundary]:
    """The edges of a pause: right after a phrase has rung out, right before the next takes breath."""
    weight = WEIGHT[BoundaryKind.SILENCE].value
    if start > 0:
        hop = start + _quietest(hearing.voice_db[start : start + RING_HOPS])
        yield _made(hearing, hop, BoundaryKind.SILENCE, weight)
    if stop < hearing.hops:
        first = max(stop - BREATH_HOPS - RING_HOPS, 0)
        hop = first + _quietest(hearing.voice_db[first : max(stop - BREATH_HOPS, first + 1)])
        yield _made(hearing, hop, BoundaryKind.SILENCE, weight)


def _of_band(hearing: Hearing, start: int, stop: int) -> Iterator[Boundary]:
    """What the band does inside a pause."""
    kinds = ((BoundaryKind.SECTION, hearing.sections), (BoundaryKind.BAR, hearing.bars))
    for kind, hops in (*kinds, (BoundaryKind.BEAT, hearing.beats)):
        for hop in hops[(hops >= start) & (hops < stop)].tolist():
            yield _made(hearing, hop, kind, WEIGHT[kind].value)


def _in_phrases(hearing: Hearing) -> Iterator[Boundary]:
    """Closures and dips inside sung lines."""
    level, sung = hearing.voice_db, covered(hearing.phrases, hearing.hops)
    begun = set(hearing.phrases[:, 0].tolist())  # what a phrase is led by is no closure
    for start, stop in runs(sung & (hearing.effort == 0)).tolist():
        if stop - start >= CLOSURE_HOPS and start not in begun:
            hop = start + _quietest(level[start:stop])
            yield _made(hearing, hop, BoundaryKind.WORD_GAP, WEIGHT[BoundaryKind.WORD_GAP].value)
    lowest = level <= -_widest(-level, VALLEY_HOPS)
    left, right = _loudest_beside(level, VALLEY_REACH)
    deep = np.minimum(left, right) - level >= VALLEY_DB
    for start, stop in runs(lowest & deep & sung & (hearing.effort > 0)).tolist():
        hop = (start + stop - 1) // 2
        yield _made(hearing, hop, BoundaryKind.VALLEY, WEIGHT[BoundaryKind.VALLEY].value)


def _made(hearing: Hearing, hop: int, kind: BoundaryKind, weight: float) -> Boundary:
    """The boundary at a hop, its weight raised by what lies near."""
    heard = {
        BoundaryKind.SECTION: hearing.sections,
        BoundaryKind.BAR: hearing.bars,
        BoundaryKind.BEAT: hearing.beats,
    }
    bonus = 0.0
    for other, hops in heard.items():
        i = int(np.searchsorted(hops, hop - NEAR_HOPS[other]))
        if other is not kind and i < len(hops) and hops[i] <= hop + NEAR_HOPS[other]:
            bonus = max(bonus, SUPPORT[other].value)
    return Boundary(hearing.sample(hop), kind, round(min(weight + bonus, 1.0), 4))


def _quietest(level: Floats) -> int:
    """The middle of the longest run of hops that are as quiet as the quietest."""
    quiet = runs(level <= level.min() + FLAT_DB)
    start, stop = quiet[np.argmax(quiet[:, 1] - quiet[:, 0])]
    return int(start + stop - 1) // 2


def _widest(values: Floats, reach: int) -> Floats:
    """The largest value within `reach` hops to both sides."""
    return _largest(np.pad(values, reach, mode="edge"), 2 * reach + 1)


def _loudest_beside(level: Floats, reach: int) -> tuple[Floats, Floats]:
    """The largest value within `reach` hops before each, and after it."""
    loud = _largest(np.pad(level, reach, mode="edge"), reach + 1)
    return loud[: len(level)], loud[reach:]


def _largest(values: Floats, width: int) -> Floats:
    """The largest of every `width` values on end, by doubling: (n - width + 1,)."""
    out, span = values, 1
    while span < width:
        step = min(span, width - span)
        out = np.maximum(out[:-step], out[step:])
        span += step
    return out
