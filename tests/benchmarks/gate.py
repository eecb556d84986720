"""The sync gate on clips whose truth is known: `python -m tests.benchmarks gate [--clip PATH]`.

258 clips are made, of voices that sing and talk, faces that are drawn, painted and photographed, offsets of
any fraction, noise, coding, motion, things before the mouth, a band in the voice; others must not pass. Each
is judged at many offsets, alone and with strangers' voices. `--clip` adds windows of a real clip with its own
sound, and a face out of it. Figures are tuned on the even half and reported on the odd one; the baseline is
the estimator of the findings, measured in the same run. Clips and answers are kept in a scratch folder, so
what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import gettempdir

from tests.benchmarks.sync import cost, tables
from tests.benchmarks.sync.measure import MADE, Book, Run, Spent
from tests.benchmarks.sync.recipes import SETS
from tests.benchmarks.sync.shelf import Shelf


def main() -> None:
    """Measure what is asked for, as far as the time allows, and print what is known."""
    asked = _parser().parse_args()
    shelf = Shelf(asked.folder, asked.clip)
    print("voices:", "; ".join(shelf.voices), "\nfaces:", "; ".join(shelf.faces), "\n")
    book = Book(asked.folder)
    run = Run(
        shelf=shelf,
        book=book,
        limit=asked.limit,
        until=time.monotonic() + 60 * asked.minutes,
        clip=asked.clip,
    )
    try:
        for name in asked.set or [*MADE, "real"]:
            run.measure(name)
    except Spent:
        print(f"{asked.minutes:g} minutes are over: run it again to go on\n")
    rows = list(book.said.values())
    for table in (tables.goals, tables.offsets, tables.kinds, tables.negatives):
        print("\n".join(table(rows)), end="\n\n")
    if asked.cost:
        print("\n".join(cost.table(asked.folder)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", action="append", choices=[*MADE, "real"], help="only these; may be repeated")
    parser.add_argument("--limit", type=int, default=max(SETS.values()), help="clips of each set, at most")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="after which it stops, to be gone on with"
    )
    parser.add_argument("--clip", type=Path, help="a real clip that talks, with its own sound")
    parser.add_argument("--cost", action="store_true", help="CPU seconds and memory as well")
    parser.add_argument(
        "--folder", type=Path, default=Path(gettempdir()) / "mvpipe-gate", help="scratch, 400 MB of it"
    )
    return parser


if __name__ == "__main__":
    main()
