"""Who sings, told by a recording of each: duets of two synthesized singers, by how unlike their heads are.

`python -m tests.benchmarks singers [--songs N]`

A pair at 18 % has formants that lie 18 % apart, as a man's and a woman's do; at 0 % it is one singer under
two names, of whom nothing may be told. Four kinds of music each, 40 s, the recordings 20 s of another song.
The figures in `mvpipe.sound.singers` were found on other seeds. CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np

from mvpipe.sound.singers import Singers, tell
from tests.benchmarks._measure import Count
from tests.duets import Singer, duet, sounds_like
from tests.songbook import KINDS

APART = (18, 10, 5, 0)
MUSIC = (0, 1, 3, 9)
"""Of the songbook: pop, slow ballad, six eight, cathedral."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks singers")
    parser.add_argument("--songs", type=int, default=2, help="of each kind of music, for each distance")
    asked = parser.parse_args()
    told: dict[tuple[int, str], Count] = defaultdict(Count)
    right: dict[tuple[int, str], Count] = defaultdict(Count)
    alike: dict[int, Count] = defaultdict(Count)
    began = time.process_time()
    for apart in APART:
        for number in range(asked.songs * len(MUSIC)):
            _measure(apart, number, told, right, alike)
    print(f"{'formants apart':<16}{'stem':<12}{'told':>12}{'of them right':>16}{'pairs refused':>16}")
    for (apart, stem), count in told.items():
        good = right[apart, stem]
        print(
            f"{apart:>12} %   {stem:<12}{count.good:>6} of {count.of:<4}{good.good:>7} of {good.of:<4}"
            f"{alike[apart].good:>10} of {alike[apart].of}"
        )
    print(f"{time.process_time() - began:.0f} CPU s, making the songs included")


def _measure(
    apart: int,
    number: int,
    told: dict[tuple[int, str], Count],
    right: dict[tuple[int, str], Count],
    alike: dict[int, Count],
) -> None:
    kind = KINDS[MUSIC[number % len(MUSIC)]]
    singers = (Singer(57, 1.0), Singer(57, 1 + apart / 100))
    made = duet(50_000 + 100 * apart + number, singers, kind=kind)
    known = Singers({name: sounds_like(sound) for name, sound in zip("ab", made.alone, strict=True)})
    phrases = np.rint(np.array(made.song.truth.phrases) * 100).astype(np.int64)
    leaky = made.song.vocals + np.float32(10**-0.5) * made.song.accompaniment
    alike[apart].add(bool(known.alike), 1)
    for stem, sound in (("true", made.song.vocals), ("separated", made.song.separated), ("10", leaky)):
        sung = tell(known, sounds_like(sound), phrases)
        named = [(one.name, "ab"[who]) for one, who in zip(sung, made.who, strict=True) if one.name]
        told[apart, stem].add(len(named), len(sung))
        right[apart, stem].add(sum(name == true for name, true in named), len(named))
