"""`python -m tests.benchmarks NAME [ARGUMENT...]`: a benchmark of this folder, by the name of its module."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """What can be run."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))


def main(argv: list[str]) -> int:
    """Run it, with the arguments that are left; without such a name, say which there are."""
    if not argv or argv[0] not in names():
        print(
            f"usage: python -m tests.benchmarks NAME [ARGUMENT...]\nnames: {' '.join(names())}",
            file=sys.stderr,
        )
        return 2
    sys.argv = [f"{sys.argv[0]} {argv[0]}", *argv[1:]]
    import_module(f"tests.benchmarks.{argv[0]}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
