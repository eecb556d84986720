"""CPU seconds and memory of one check of an 8 s shot at 1344x768, each in a process of its own.

What SyncNet hears of a song elsewhere is heard once for all its shots, so it is measured by itself.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mvpipe.gate.look import look
from mvpipe.gate.pairs import RATE
from mvpipe.gate.sync import judge_sync
from mvpipe.sound import wav
from mvpipe.tools import process
from tests.gate.faces_synth import SAMPLE_RATE, Part, make

GOALS = {"mouth": (4.0, 500.0), "syncnet": (20.0, 500.0)}
"""CPU seconds and MB (10^6 bytes) of the issue."""

SONG_S = 60
"""Seconds of song that are heard."""


def table(folder: Path) -> Iterable[str]:
    """Make the shots, check each twice, say what it took."""
    yield f"{'8 s at 1344x768, one whole process':40} {'CPU s':>8} {'goal':>6} {'MB':>6} {'goal':>6}"
    for heads in (1, 2):
        clip = _clip(folder / f"cost-{heads}.mp4", heads)
        for method, (seconds, memory) in GOALS.items():
            name = f"{method}, {heads} face{'s' if heads > 1 else ''}"
            name += ", random weights" if method == "syncnet" else ""
            yield _row(name, clip, method, f"{seconds:.0f}", f"{memory:.0f}")
    yield _row("a minute of song, heard by SyncNet", clip, "song", "-", "-")


def _row(name: str, clip: Path, method: str, seconds: str, memory: str) -> str:
    said = process.run([sys.executable, "-m", "tests.benchmarks.sync.cost", str(clip), method])
    cost = json.loads(said)
    return f"{name:40} {cost['cpu_s']:8.1f} {seconds:>6} {cost['mb']:6.0f} {memory:>6}"


def _clip(clip: Path, heads: int) -> Path:
    beside = clip.with_suffix(".wav")
    if not beside.exists():
        voice = make(Part(seed=5, size=(1344, 768), seconds=8, heads=heads), clip)
        wav.write(beside, [voice[:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice))
    return clip


def main(clip: str, method: str) -> None:
    """One check, or a song heard, in this process; SyncNet's time does not depend on its weights."""
    voice = wav.read(Path(clip).with_suffix(".wav"), mono=True)
    if method == "mouth":
        judge_sync(look(Path(clip)).seen, voice, SAMPLE_RATE)
    else:
        from mvpipe.gate.ear import Ear
        from mvpipe.gate.syncnet import SyncNet

        network = SyncNet().requires_grad_(False).eval()
        if method == "syncnet":
            judge_sync(look(Path(clip), network=network).seen, voice, SAMPLE_RATE, network=network)
        else:
            Ear(network, np.resize(voice, SONG_S * SAMPLE_RATE), SAMPLE_RATE).hear(0, SONG_S * RATE)
    used = resource.getrusage(resource.RUSAGE_SELF)
    scale = 1 if sys.platform == "darwin" else 1024
    cpu, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss * scale / 1e6
    print(json.dumps({"cpu_s": cpu, "mb": megabytes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
