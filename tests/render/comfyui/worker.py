"""A process that renders some orders, two at a time, and may be killed at any moment.

`python -m tests.render.comfyui.worker URL FOLDER NAME...`
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from mvpipe.errors import BackendError
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.client import Client
from tests.render.comfyui.rig import QUICK, order

ATTEMPTS = 8


def render(client: Client, folder: Path, name: str) -> None:
    """One film, tried again as build/run.py does."""
    into = folder / f"{name}.mp4"
    if into.exists():
        return
    for attempt in range(ATTEMPTS):
        try:
            scratch = into.with_suffix(".new")
            client.make(order(folder / "assets", name, seed_of(name)), scratch, lambda done, of: None)
            scratch.rename(into)
            return
        except BackendError as exc:
            if not exc.retryable or attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.2)


def seed_of(name: str) -> int:
    """The seed of an order: the number in its name."""
    return int(name.rpartition("-")[2])


def main() -> None:
    url, folder, *names = sys.argv[1:]
    stubborn = replace(QUICK, frees=9, deaths=9, losses=30)  # the dice may meet a job more than once
    client = Client(address(url), Path(folder) / "records", stubborn)
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(render, client, Path(folder), name) for name in names]:
            done.result()


if __name__ == "__main__":
    main()
