"""Our cuts against cuts at equal lengths, on beats and on bars: how many fall inside a word, and how fast.

Every method sees the same synthesised songs, whose words are known. A cut counts as inside a word when it is
more than 40 ms from both its ends. Times are CPU seconds of this process, all taken in one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.sound.cut import cut
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.listen import listen
from mvpipe.sound.spectrum import HOPS
from mvpipe.sound.tiling import Steps, tile_cheapest
from tests.synth import SynthSong, pieces, song

SECONDS, RATE = 96.0, 22_050

SONGS: tuple[dict[str, Any], ...] = (
    {"seed": 1, "bpm": 100.0},
    {"seed": 2, "bpm": 84.0, "voice": "low"},
    {"seed": 3, "bpm": 128.0, "vocal_db": -4.0},
    {"seed": 4, "bpm": 100.0, "metre": 3},
    {"seed": 5, "bpm": 112.0, "gaps": (0.25, 0.3, 0.7)},
)
"""What the table is made of. The lines of the last last 4.3 s: no shot of 4.5 to 8 s holds one or two."""

LEAKS = (None, 20.0, 15.0, 10.0)
"""dB by which the band is below itself in the stems we cut on; None is the true stem."""

Cuts = Sequence[int]
"""Frames."""
Method = Callable[[Hearing], Cuts]


def main() -> None:
    """Print both tables."""
    songs = {leak: [_made(kw, leak) for kw in SONGS] for leak in LEAKS}
    print(f"{'method':<34}{'cuts':>6}{'inside words':>14}{'on a bar':>10}{'shots not 5-8 s':>17}")
    for name, leak, method in _methods():
        _print_row(name, [(made, method(hearing)) for made, hearing in songs[leak]])
    print(f"\n{'song':<10}{'plan, CPU s':>12}{'shots':>8}{'times a 4-minute song':>24}")
    _print_times(songs[None][1][1])


def _methods() -> Iterator[tuple[str, float | None, Method]]:
    yield "equal, 6.5 s", None, lambda h: list(range(156, _frames(h), 156))
    yield "beats only", None, lambda h: _nearest(h.beats, _frames(h))
    yield "bars only", None, lambda h: _nearest(h.bars, _frames(h))
    yield "ours, the mix for a stem", None, lambda h: _ours(_of_mix[id(h)])
    for leak in LEAKS:
        yield f"ours, {'true stem' if leak is None else f'band at -{leak:.0f} dB in it'}", leak, _ours


_of_mix: dict[int, Hearing] = {}


def _made(kw: dict[str, Any], leak: float | None) -> tuple[SynthSong, Hearing]:
    made = song(SECONDS, sample_rate=RATE, leakage_db=leak, **kw)
    hearing = listen(pieces(made.mix), pieces(made.separated), sample_rate=RATE)
    if leak is None:
        _of_mix[id(hearing)] = listen(pieces(made.mix), pieces(made.mix), sample_rate=RATE)
    return made, hearing


def _frames(hearing: Hearing) -> int:
    return round(hearing.seconds * 24)


def _ours(hearing: Hearing) -> Cuts:
    return [shot.cut.start for shot in cut(hearing, frames=_frames(hearing)).shots[1:]]


def _nearest(hops: NDArray[np.int64], frames: int) -> Cuts:
    """The cheapest tiling in 5 to 8 s of which every cut costs its distance to the nearest of these."""
    at = hops * 24 / HOPS
    price = np.abs(np.arange(frames + 1)[:, None] - at).min(axis=1)
    any_length = np.zeros(73, np.int64)
    steps = Steps(first=120, price=any_length, group=any_length, same=0)
    tiling = tile_cheapest(np.rint(100 * price).astype(np.int64) + 1, steps)
    return tiling.cuts if tiling else ()


def _print_row(name: str, plans: list[tuple[SynthSong, Cuts]]) -> None:
    total = sum(len(cuts) for _, cuts in plans)
    words = sum(made.truth.inside_word(c / 24) for made, cuts in plans for c in cuts)
    bars = sum(min(abs(c / 24 - b) for b in made.truth.bars) < 0.1 for made, cuts in plans for c in cuts)
    lengths = np.concatenate([np.diff([0, *cuts, round(made.seconds * 24)]) for made, cuts in plans])
    out = np.mean((lengths < 120) | (lengths > 192))
    print(f"{name:<34}{total:>6}{words / total:>13.1%} {bars / total:>9.0%}{out:>17.0%}")


def _print_times(hearing: Hearing) -> None:
    base = 0.0
    for minutes in (4, 60):
        long = _played(hearing, round(minutes * 60 / float(hearing.seconds)))
        took = min(_cpu(long) for _ in range(3))
        base = base or took
        shots = len(cut(long, frames=_frames(long)).shots)
        print(f"{minutes:>3} min{took:>15.3f}{shots:>8}{took / base:>24.1f}")


def _cpu(hearing: Hearing) -> float:
    began = time.process_time()
    cut(hearing, frames=_frames(hearing))
    return time.process_time() - began


def _played(hearing: Hearing, times: int) -> Hearing:
    """The hearing of the song played so many times on end."""
    span = hearing.hops
    shift = np.arange(times)[:, None] * span
    return replace(
        hearing,
        samples=span * times * hearing.sample_rate // HOPS,
        phrases=(hearing.phrases + shift[:, :, None]).reshape(-1, 2),
        voice_db=np.tile(hearing.voice_db, times),
        effort=np.tile(hearing.effort, times),
        peak=np.tile(hearing.peak, times),
        beats=(hearing.beats + shift).ravel(),
        bars=(hearing.bars + shift).ravel(),
        sections=(hearing.sections + shift).ravel(),
    )
