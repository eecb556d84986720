"""What one look at a take costs: `python -m tests.benchmarks looking [CLIP]`.

Without a clip, one is drawn: a singer, 8 s at 1344x768, without sound. Every row is a process of
its own, so that its memory is its own: CPU seconds and the largest resident size, libraries and all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.gate.faces_synth import Part, make

ROWS = {
    "decode": "from mvpipe.tools.frames import read; read(path)",
    "sight": "from mvpipe.gate.look import look; look(path, faces=False)",
    "sight and sound": "from mvpipe.gate.look import look; look(path, faces=False, sound=True)",
    "sight, sound and faces": "from mvpipe.gate.look import look; look(path, sound=True)",
}
BUDGET = {"sight, sound and faces": (4.0, 500)}
"""CPU seconds and megabytes that the issue allows."""

PROGRAM = """\
import json, resource, sys, time
from pathlib import Path
path = Path(sys.argv[1])
import numpy, cv2, av
begin = time.process_time()
{row}
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.process_time() - begin + used.ru_utime + used.ru_stime,
                  resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def main() -> None:
    """Make a clip, look at it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clip", nargs="?", type=Path, help="a take; without, one is drawn")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        clip = asked.clip or Path(folder) / "take.mp4"
        if not asked.clip:
            make(Part(seed=1, seconds=8, size=(1344, 768)), clip)
        print(f"{'':>24} {'CPU s':>7} {'MB':>6}")
        for name, row in ROWS.items():
            cpu, size = _measured(row, clip)
            allowed = BUDGET.get(name)
            within = f"   of {allowed[0]:.0f} and {allowed[1]}" if allowed else ""
            print(f"{name:>24} {cpu:7.2f} {size:6.0f}{within}")


def _measured(row: str, clip: Path) -> tuple[float, float]:
    argv = [sys.executable, "-c", PROGRAM.format(row=row), str(clip)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    cpu, size = json.loads(done.stdout)
    return cpu, size


if __name__ == "__main__":
    main()
