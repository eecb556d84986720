"""What reading a long song costs: seconds and peak memory, measured in a process of its own.

`python -m tests.sound.cost [MINUTES]` prints it; the benchmarks call `reading`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np

_CHILD = """
import json, resource, sys, time
from pathlib import Path
from mvpipe.sound import read
from mvpipe.tools import process

def peak_mb(pid):
    # not ru_maxrss: Linux carries it through exec, so it shows the memory of whoever started the program
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peaks[0]) / 1024 if peaks else 0.0

ffmpeg_mb = 0.0
def watch(*_):
    global ffmpeg_mb
    ffmpeg_mb = max([ffmpeg_mb, *(peak_mb(child.pid) for child in list(process._running))])

path, step = Path(sys.argv[1]), sys.argv[2]
begun = time.perf_counter()
song, notes = read.measure(path, progress=watch)
if step == "blocks":
    begun = time.perf_counter()
    for piece in read.blocks(song, channels=2, sample_rate=48_000):
        watch()
wall = time.perf_counter() - begun
own, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({"samples": song.samples, "wall_s": wall, "own_mb": peak_mb("self"), "ffmpeg_mb": ffmpeg_mb,
                  "cpu_s": own.ru_utime + own.ru_stime + child.ru_utime + child.ru_stime}))
"""


class Cost(TypedDict):
    """Samples per channel, seconds (CPU: of the whole process), peak memory of the reader and its ffmpeg.

    Memory is in MB and measured on Linux only; elsewhere it is 0.
    """

    samples: int
    wall_s: float
    cpu_s: float
    own_mb: float
    ffmpeg_mb: float


def long_wav(path: Path, minutes: float) -> Path:
    """A 16-bit stereo WAV of noise at 44.1 kHz, written minute by minute."""
    samples = round(minutes * 60 * 44_100)
    size = samples * 4
    head = b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    head += b"".join(
        n.to_bytes(w, "little") for n, w in ((1, 2), (2, 2), (44_100, 4), (176_400, 4), (4, 2), (16, 2))
    )
    minute = np.random.default_rng(440).integers(-9000, 9000, (60 * 44_100, 2), np.int16).tobytes()
    with path.open("wb") as file:
        file.write(head + b"data" + size.to_bytes(4, "little"))
        for start in range(0, size, len(minute)):
            file.write(minute[: size - start])
    return path


def reading(path: Path, step: str = "measure") -> Cost:
    """The cost of `read.measure` on a file, or (`step` is `blocks`) of taking all its samples at 48 kHz."""
    argv = [sys.executable, "-c", _CHILD, str(path), step]
    cost: Cost = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    return cost


def main(minutes: float = 60) -> None:
    """Print the costs for a short and a long song."""
    with TemporaryDirectory() as folder:
        for length in (minutes / 30, minutes):
            path = long_wav(Path(folder) / "long.wav", length)
            for step in ("measure", "blocks"):
                cost = reading(path, step)
                print(f"{length:6.1f} min {step:8} " + "  ".join(f"{k} {v:.1f}" for k, v in cost.items()))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
