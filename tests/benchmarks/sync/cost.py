"""CPU seconds and memory of one check of an 8 s shot at 1344x768, each in a process of its own."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterable
from pathlib import Path

from mvpipe.gate.look import look
from mvpipe.gate.sync import judge_sync
from mvpipe.sound import wav
from mvpipe.tools import process
from tests.gate.faces_synth import SAMPLE_RATE, Part, make

GOALS = {"mouth": (4.0, 500.0), "syncnet": (20.0, 500.0)}
"""CPU seconds and MB (10^6 bytes) of the issue: of one face; a second one costs its share of time again."""


def table(folder: Path) -> Iterable[str]:
    """Make the shots, check each twice, say what it took."""
    yield f"{'8 s at 1344x768, one whole process':40} {'CPU s':>8} {'goal':>6} {'MB':>6} {'goal':>6}"
    for heads in (1, 2):
        clip = _clip(folder / f"cost-{heads}.mp4", heads)
        for method, (seconds, memory) in GOALS.items():
            said = process.run([sys.executable, "-m", "tests.benchmarks.sync.cost", str(clip), method])
            cost = json.loads(said)
            name = f"{method}, {heads} face{'s' if heads > 1 else ''}"
            name += ", random weights" if method == "syncnet" else ""
            asked = f"{seconds:6.0f}" if heads == 1 else f"{'-':>6}"
            yield f"{name:40} {cost['cpu_s']:8.1f} {asked} {cost['mb']:6.0f} {memory:6.0f}"


def _clip(clip: Path, heads: int) -> Path:
    beside = clip.with_suffix(".wav")
    if not beside.exists():
        voice = make(Part(seed=5, size=(1344, 768), seconds=8, heads=heads), clip)
        wav.write(beside, [voice[:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(voice))
    return clip


def main(clip: str, method: str) -> None:
    """One check, in this process; SyncNet's time does not depend on its weights."""
    network = None
    if method == "syncnet":
        from mvpipe.gate.syncnet import SyncNet

        network = SyncNet().requires_grad_(False).eval()
    voice = wav.read(Path(clip).with_suffix(".wav"), mono=True)
    verdict = judge_sync(look(Path(clip), network=network).seen, voice, SAMPLE_RATE, network=network)
    used = resource.getrusage(resource.RUSAGE_SELF)
    scale = 1 if sys.platform == "darwin" else 1024
    cpu, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss * scale / 1e6
    print(json.dumps({"cpu_s": cpu, "mb": megabytes, "verdict": str(verdict.outcome)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
