"""What a backend would have the person know of the shots of a plan, each thing said once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mvpipe.film import Shot
from mvpipe.production import Production
from mvpipe.render.backend import Backend, Notes

OF_SHOT = re.compile(r"shot (\d+): ", re.ASCII)


def shot_notes(production: Production, backend: Backend, shots: Iterable[Shot]) -> list[str]:
    """Every note, with the shots it is about; nothing is rendered and no sound is needed."""
    if not isinstance(backend, Notes):
        return []
    said: dict[str, list[int]] = {}
    for shot in shots:
        for note in backend.notes(production.silent(shot)):
            said.setdefault(bare(note), []).append(shot.number)
    return [f"{_shots(numbers)}: {note}" for note, numbers in said.items()]


def bare(note: str) -> str:
    """A note without the shot it is about."""
    return OF_SHOT.sub("", note, count=1)


def _shots(numbers: Sequence[int]) -> str:
    """`shot 3`, `shots 1, 4-6`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"shot {told}" if len(numbers) == 1 else f"shots {told}"
