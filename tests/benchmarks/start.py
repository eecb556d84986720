"""How long `mvpipe --help` takes, next to a bare Python in the same run."""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 9


def main() -> None:
    """Print the best of several starts."""
    for name, argv in (
        ("python -c pass", ["-c", "pass"]),
        ("mvpipe --version", ["-m", "mvpipe", "--version"]),
        ("mvpipe --help", ["-m", "mvpipe", "--help"]),
    ):
        times = [_once([sys.executable, *argv]) for _ in range(ROUNDS)]
        print(f"{name:<18} best {min(times):.3f} s, median {sorted(times)[ROUNDS // 2]:.3f} s")


def _once(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
