"""Nights in which everything goes wrong at random: faults by dice, mvpipe killed, the server killed.

A line a night: what struck, how often who was killed, and what must be 0 in every one: shots without their
own take, takes with other pictures or sound than in a calm night, work done twice, and charges by the
server's own log (others' work touched, jobs left behind).

`python -m tests.benchmarks nights [ROUNDS] [FIRST_SEED]`
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mvpipe.errors import MvpipeError
from mvpipe.testing.comfyui.catalogue import CATALOGUE
from mvpipe.testing.standin import Standin, standin
from tests.whole import night
from tests.whole.night import Calm
from tests.whole.studio import Studio

ROUNDS = 20
RATES = (0.01, 0.03, 0.06)
KINDS = [name for name, kind in CATALOGUE.items() if kind.mends] + [*night.BETTER]
HEAD = "seed  server  faults kinds  killed  deaths  lost  other  twice  charges     s  cpu s"


@dataclass
class Night:
    """What is done to one night."""

    calm: Calm
    studio: Studio
    server: Standin
    rng: random.Random
    dice: Callable[[], None]
    kills: int = 0
    restarts: int = 0
    ended: str = ""

    def go(self) -> None:
        """Kill and be killed, then finish in peace."""
        with self._deaths():
            for _ in range(self.rng.randint(0, 4)):
                with night.shooting(self.studio, self.server.url) as child:
                    self._until_it_renders(child)
                    time.sleep(self.rng.uniform(0.0, 2.0))
                self.kills += 1
            self._finish()

    def _until_it_renders(self, child: subprocess.Popen[bytes]) -> None:
        posts = len(self.server.requests("/prompt", "POST"))
        while child.poll() is None and len(self.server.requests("/prompt", "POST")) == posts:
            time.sleep(0.1)

    def _finish(self) -> None:
        try:
            night.finish(self.studio, self.server.url)
        except MvpipeError as exc:
            self.ended = str(exc)

    @contextmanager
    def _deaths(self) -> Iterator[None]:
        over = threading.Event()
        pauses = [self.rng.uniform(1.0, 6.0) for _ in range(self.rng.randint(0, 3))]

        def die() -> None:
            for pause in pauses:
                if over.wait(pause):
                    return
                self.server.restart()
                self.dice()  # which a new process does not have
                self.restarts += 1

        thread = threading.Thread(target=die)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def play(calm: Calm, folder: Path, seed: int) -> str:
    """One night, as a line of the table; what is wrong with it follows on lines of its own."""
    rng = random.Random(seed)
    version, rate = rng.choice(["0.33.0", "0.38.0"]), rng.choice(RATES)
    flags = ("--step-seconds", str(rng.choice([4e3, 4e4])), "--no-previews")
    began, cost = time.monotonic(), _cpu()
    with standin(folder / "server", version=version, speed=1000, flags=flags, revive_s=0.3) as server:
        roll = partial(server.dice, seed, rate, *KINDS)
        roll()
        studio = night.copy_of(calm, folder / "film")
        one = Night(calm, studio, server, rng, roll)
        one.go()
        server.put_dice_away()
        strikes = [line["name"] for line in server.log("fault")]
        seen = night.seen(studio)
        lost = sum(key != wanted for key, wanted in zip(seen, calm.first, strict=True))
        other = [key for key in night.other_bytes(studio, calm) if key in seen]
        gone = sum(name in ("view-gone", "file-damaged") for name in strikes)
        again, charges = max(0, night.twice(server) - gone), night.charges(server, calm)
        line = (
            f"{seed:4}  {version:6}  {len(strikes):6} {len(set(strikes)):5}  {one.kills:6}  "
            f"{server.deaths + one.restarts:6}  {lost:4}  {len(other):5}  {again:5}  {len(charges):7}  "
            f"{time.monotonic() - began:4.0f}  {_cpu() - cost:5.0f}"
        )
    return "\n      ".join([line, *charges, *filter(None, [one.ended])])


def _cpu() -> float:
    """CPU seconds of this process and of those that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Print the table."""
    given = [int(text) for text in sys.argv[1:]]
    rounds, first = [*given, *(ROUNDS, 1)[len(given) :]]
    with tempfile.TemporaryDirectory() as scratch:
        calm = night.calm_night(Path(scratch))
        print(HEAD, flush=True)
        for seed in range(first, first + rounds):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                print(play(calm, Path(folder), seed), flush=True)


if __name__ == "__main__":
    main()
