"""What a cluster costs and carries: the store, an errand, a song, servers that only pretend, and a day of it.

python -m tests.benchmarks cluster             every table
python -m tests.benchmarks cluster soak [N]    N rounds in which workers and mvpipe are killed at random
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mvpipe.account import account
from mvpipe.build.graph import Graph, Node, Progress, Work
from mvpipe.build.journal import Journal
from mvpipe.build.key import Task
from mvpipe.build.places import Places
from mvpipe.build.run import run
from mvpipe.build.store import Store
from mvpipe.build.vault import Entry, Vault
from tests.amazon import amazon, new_bucket
from tests.play import Play, node
from tests.troupe import ROOT, Troupe, troupe, until

SHOTS, RETAKES = 60, 0.3
"""Of a song of five minutes; takes more than shots, by a gate that refuses every fourth."""

STAGES = ("take", "look", "promise", "lips")
"""Errands of a take; a shot has two more, its voice and the shot as it goes into the film."""

SONGS = 1000
TAKE_S = 300.0
"""Of a card with 24 GB, eight steps at 1344x768 (published: mvpipe.render.comfyui.times)."""

TAKE_MB, STEM_MB = 8.0, 110.0
PARCEL = bytes(40_000)
"""As large as what is sent for a shot of a film of 60."""

ERRANDS = 400
GPUS, FASTER = 40, 100.0


def main() -> None:
    """Print the tables, or the rounds of the soak."""
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:2] == ["soak"]:
            _soak(Path(folder), int(sys.argv[2]) if len(sys.argv) > 2 else 8)
            return
        stores = _stores(Path(folder))
        each = _errands(Path(folder))
        whole, written = _songs(Path(folder))
        _pretended(Path(folder))
        _day(stores, each, whole, written)


def _stores(folder: Path) -> dict[str, float]:
    """Entries a second into and out of a store, and how fast large files go."""
    print("a store, one process        put/s   get/s   MB/s in   MB/s out   CPU ms a put")
    found = {}
    with amazon() as environment:
        os.environ |= environment
        for name, url in (("a path", str(folder / "store")), ("S3-compatible", new_bucket())):
            many, put = 60, time.perf_counter()
            cost = time.process_time()
            vault = Vault(folder / f"{name} one", store=Store(url))
            keys = [vault.make(_task("small", k), _small).key for k in range(many)]
            cost, put = (time.process_time() - cost) / many, time.perf_counter() - put
            other, get = Vault(folder / f"{name} two", store=Store(url)), time.perf_counter()
            assert all(other.find(key) for key in keys)
            get, large = time.perf_counter() - get, time.perf_counter()
            made = vault.make(_task("large", 0), _large)
            into, out = time.perf_counter() - large, time.perf_counter()
            assert other.find(made.key)
            out = time.perf_counter() - out
            found[name] = many / put
            figures = f"{many / put:8.0f} {many / get:7.0f} {64 / into:9.0f} {64 / out:10.0f}"
            print(f"{name:<24} {figures} {1e3 * cost:14.1f}")
    return found


def _task(name: str, number: int) -> Task:
    return Task(name=name, version=1, params={"number": number})


def _small(folder: Path) -> Mapping[str, Any]:
    (folder / "one").write_bytes(os.urandom(2000))
    (folder / "two").write_bytes(os.urandom(2000))
    return {}


def _large(folder: Path) -> Mapping[str, Any]:
    (folder / "stem").write_bytes(os.urandom(64_000_000))
    return {}


def _errands(folder: Path) -> dict[str, float]:
    """CPU seconds an errand costs whom, and how many go through in a second of the clock."""
    with _staged(folder, "errands", h3=0, threads=8, many=2) as stage:
        play = Play(folder / "errands")
        before, began = _cpu(stage), time.perf_counter()
        nodes = [_light(f"errand {k}") for k in range(ERRANDS)]
        with play.cluster(stage.address) as cluster:
            lanes = {"cpu": Places(cluster)}
            made = run(Graph(nodes), play.vault, play.journal, lanes=lanes, hands=cluster)
        took, after = time.perf_counter() - began, _cpu(stage)
        assert len(made.entries) == ERRANDS
        bare = _bare(stage)
    each = {who: (after[who] - before[who]) / ERRANDS for who in after}
    print(f"\n{ERRANDS} errands that do nothing, two workers: {ERRANDS / took:.0f}/s on this machine's clock")
    print("  CPU ms each: " + ", ".join(f"{who} {1e3 * spent:.1f}" for who, spent in each.items()))
    print(f"  Dask alone, the same payload: scheduler {1e3 * bare:.1f}")
    return each


def _light(name: str) -> Node:
    task, ballast = Task(name="light", version=1, params={"name": name}), PARCEL

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        (folder / "dish").write_text(name)
        return {"bytes": len(ballast)}

    return Node(name=name, bind=lambda _: Work(task=task, make=make))


def _bare(stage: Troupe) -> float:
    """CPU seconds that the scheduler spends on a task of the same size."""
    from distributed import Client

    with Client(stage.address, set_as_default=False) as client:
        before = _cpu(stage)["scheduler"]
        client.gather([client.submit(len, PARCEL, key=f"bare-{k}", pure=False) for k in range(ERRANDS)])
        return (_cpu(stage)["scheduler"] - before) / ERRANDS


def _songs(folder: Path) -> tuple[float, float]:
    """MB of a process that has a song under way, and of its journal."""
    journal, vault = folder / "songs.db", Vault(folder / "songs")
    kept, grown = Journal(journal), list[float]()
    sizes = [_size(journal)]
    for number in range(4):
        tracemalloc.start()
        nodes = [*_song(number)]
        run(Graph(nodes), vault, kept, lanes={"cpu": 2, "render": 2})
        grown.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
        sizes.append(_size(journal))
    kept.close()
    written = (sizes[-1] - sizes[0]) / 4 / 1e6
    print(
        f"\na song of {SHOTS} shots, {len(nodes)} errands: {max(grown):.1f} MB of a client while under way,"
    )
    whole = _process_mb() + max(grown)
    print(f"  {written:.2f} MB of journal; the process that has it under way: {whole:.0f} MB")
    return whole, written


IMPORTS = """
import mvpipe.build.cluster, mvpipe.gate.judge, mvpipe.gate.look, mvpipe.pipeline, mvpipe.distant
print(__import__("resource").getrusage(__import__("resource").RUSAGE_SELF).ru_maxrss / 1000)
"""


def _process_mb() -> float:
    """MB of a process that renders, before it has a song."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], env=env, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _song(number: int) -> Iterator[Node]:
    """A song's graph, its work done in no time."""

    def one(name: str, *needs: str, lane: str = "cpu") -> Node:
        def bind(entries: Mapping[str, Entry]) -> Work:
            inputs = {need: entry.key for need, entry in entries.items()}
            params = {"name": name, "song": number, "slate": "x" * 2000}
            return Work(task=Task(name="work", version=1, inputs=inputs, params=params), make=make)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            return {"figures": [0.5] * 200}

        return Node(name=name, needs=needs, bind=bind, lane=lane)

    yield from (one("song"), one("vocals", "song"), one("hearing", "vocals"))
    for k in range(round(SHOTS * (1 + RETAKES))):
        before = f"voice {k % SHOTS}"
        if k < SHOTS:
            yield one(before, "hearing")
        for stage in STAGES:
            yield one(f"{stage} {k}", before, lane="render" if stage == "take" else "cpu")
            before = f"{stage} {k}"
    yield from (one(f"shot {k}", f"lips {k}") for k in range(SHOTS))
    yield one("reel", *(f"shot {k}" for k in range(SHOTS)))
    yield one("film", "reel")


def _pretended(folder: Path) -> None:
    """Servers that only wait, all faster than real ones: what share of their time they have nothing to do."""
    with _staged(folder, "pretended", h3=GPUS // 2, threads=GPUS // 2 + 2, many=2) as stage:
        play = Play(folder / "pretended")
        each, many = TAKE_S / FASTER, GPUS * 4
        nodes = [node(play, f"take {k}", lane="render", seconds=each) for k in range(many)]
        began = time.perf_counter()
        assert len(play.go(stage.address, *nodes).entries) == many
        took = time.perf_counter() - began
    idle = 1 - many * each / (took * GPUS)
    print(f"\n{GPUS} servers that pretend, {FASTER:.0f} times as fast as real: {many} takes of {each:.1f} s")
    print(
        f"  {many / took:.0f} end a second, {idle:.0%} idle: what {many / took * TAKE_S:.0f} real ones need"
    )


def _day(stores: Mapping[str, float], each: Mapping[str, float], whole: float, written: float) -> None:
    """What a thousand songs a day need, beside what one of each carries."""
    takes = SHOTS * (1 + RETAKES)
    errands, cards = takes * len(STAGES) + 2 * SHOTS + 5, SONGS * takes * TAKE_S / 86_400
    rate = SONGS * errands / 86_400
    stored = takes * TAKE_MB + STEM_MB + 2 * SHOTS * TAKE_MB
    print(f"\n{SONGS} songs a day need                         one of these carries   used")
    rows: list[tuple[str, float, float, str]] = [
        ("scheduler, errands/s", rate, 1 / each["scheduler"], "a core"),
        ("clients, errands/s", rate, 1 / each["client"], "a core"),
        ("store on a path, entries/s", rate, stores["a path"], "a writer"),
        ("S3-compatible store, entries/s", rate, stores["S3-compatible"], "a writer"),
        ("processes, one a song under way, GB", cards * whole / 1e3, 16.0, "16 GB"),
        ("journals, MB a day", SONGS * written, 100_000.0, "100 GB"),
    ]
    for what, needs, has, unit in rows:
        print(f"{what:<36} {needs:8.1f}   {has:10.0f} {unit:<9} {needs / has:6.1%}")
    print(
        f"cards that render (24 GB, {TAKE_S:.0f} s a take): {cards:.0f}, so as many songs under way at once"
    )
    print(
        f"stored: {stored / 1e3:.1f} GB a song, {SONGS * stored / 86_400:.0f} MB/s in, "
        f"{SONGS * stored / 1e6:.1f} TB a day"
    )


@contextmanager
def _staged(folder: Path, name: str, *, h3: int, threads: int, many: int) -> Iterator[Troupe]:
    (folder / name).mkdir()
    with troupe(folder / name) as stage:
        for k in range(many):
            stage.hire(f"w{k}", h3=h3, threads=threads)
        stage.wait_for(many)
        yield stage


def _cpu(stage: Troupe) -> dict[str, float]:
    """CPU seconds that each kind of process has used."""
    assert stage.scheduler
    return {
        "client": time.process_time(),
        "scheduler": _used(stage.scheduler.pid),
        "workers": sum(_used(member.process.pid) for member in stage.members.values()),
    }


def _used(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _size(journal: Path) -> int:
    return sum(path.stat().st_size for path in journal.parent.glob(f"{journal.name}*"))


CLIENT = """
import sys
from pathlib import Path
from tests.benchmarks.cluster import night
from tests.play import Play
play = Play(Path(sys.argv[2]))
play.go(sys.argv[1], *night(play))
"""


def night(play: Play, many: int = 12) -> list[Node]:
    """Takes, each looked at."""
    takes = [node(play, f"take {k}", lane="render", seconds=0.5) for k in range(many)]
    return takes + [node(play, f"look {k}", f"take {k}", seconds=0.1) for k in range(many)]


def _soak(folder: Path, rounds: int) -> None:
    print("seed   clients killed   workers killed   lost   begun twice  at most   unexplained ms        s")
    with _staged(folder, "soak", h3=1, threads=2, many=3) as stage:
        for seed in range(1, rounds + 1):
            print(_round(folder, stage, seed), flush=True)


def _round(folder: Path, stage: Troupe, seed: int) -> str:
    dice, place, began = random.Random(seed), folder / f"night {seed}", time.monotonic()
    place.mkdir()
    clients = workers = 0
    finished: set[str] = set()
    lost = 0
    for _ in range(dice.randint(1, 3)):
        argv, env = (
            [sys.executable, "-c", CLIENT, stage.address, str(place)],
            {**os.environ, "PYTHONPATH": str(ROOT)},
        )
        with subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL) as child:
            until(lambda: child.poll() is not None or (place / "ledger").exists())
            for _ in range(dice.randint(0, 2)):
                time.sleep(dice.uniform(0.2, 1.5))
                name = dice.choice(sorted(stage.members))
                stage.members[name].kill()
                stage.hire(name, h3=1)
                workers += 1
            time.sleep(dice.uniform(0.0, 2.0))
            clients += child.poll() is None
            child.send_signal(signal.SIGKILL)
        there = {path.stem for path in (place / "store" / "entries").rglob("*.json")}
        lost += len(finished - there)
        finished = there
    stage.wait_for(3)
    play = Play(place)
    made = play.go(stage.address, *night(play))
    lost += 24 - len(made.entries)
    twice = sum(many - 1 for many in play.made().values())
    unexplained, took = account(play.journal).unexplained, time.monotonic() - began
    return (
        f"{seed:4} {clients:16} {workers:16} {lost:6} {twice:13} {2 * workers:8} {unexplained:16} {took:8.0f}"
    )


if __name__ == "__main__":
    main()
