"""How fast the animatic makes takes, encode included, next to a still card with a running timecode.

The baseline is what plain ffmpeg does in the same run: one picture looped, the timecode drawn by `drawtext`,
the same encoder settings; it has no camera, no figure and no mouth. "On two cores" is what two cores
would give if they did nothing else: 2 over the processor seconds a second of film costs.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from mvpipe.film import Slate
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.animatic.fonts import REGULAR
from mvpipe.render.animatic.portrait import draw_place
from mvpipe.render.backend import Asset
from mvpipe.tools import encode, ffmpeg, process
from tests.render.animatic import stage

SIZES = ((672, 384), (1344, 768))
FRAMES = 192
PROMPT = "she sings in the rain"
FRAMINGS = ("close-up", "medium close-up", "medium", "close-up", "medium close-up", "wide")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock and of the processors, for so many seconds of film."""

    wall: float
    cpu: float
    film: float


def main() -> None:
    """Print the table."""
    print(f"{'':52} {'fps':>7} {'x real':>7} {'CPU s/s':>8} {'x real on two cores':>20}")
    with TemporaryDirectory() as folder:
        voice = stage.sing(Path(folder) / "voice.wav", frames=FRAMES).asset
        for size in SIZES:
            _rows(Path(folder), voice, size)
    peak = resource.getrusage(_SELF).ru_maxrss // 1024
    print(f"peak memory of this process, {Animatic().slots} takes at once and every drawing kept: {peak} MiB")


_SELF, _CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN


def _rows(folder: Path, voice: Asset, size: tuple[int, int]) -> None:
    label = f"{size[0]}x{size[1]}"
    seconds = FRAMES / 24
    takes = [_take(folder, voice, size, n, framing) for n, framing in enumerate(FRAMINGS)]
    _line(f"{label}: the first take of a character", _cost(takes[0], seconds))
    _line(f"{label}: the same, its drawings at hand", _cost(takes[0], seconds))
    slots = Animatic().slots
    with ThreadPoolExecutor(slots) as pool:
        every = _cost(lambda: list(pool.map(lambda take: take(), takes)), seconds * len(takes))
    _line(f"{label}: {len(takes)} takes of four framings, {slots} at once", every)
    _line(f"{label}: b-roll", _cost(_take(folder, voice, size, 9, "", kind="b-roll"), seconds))
    plain = _plain_argv(folder, voice, size)
    _line(f"{label}: plain ffmpeg, a looped card and drawtext", _cost(lambda: process.run(plain), seconds))
    alone = _cost(lambda: _frames_alone(folder, voice, size), seconds)
    _line(f"{label}: frames alone, nothing encoded", alone)


def _take(
    folder: Path, voice: Asset, size: tuple[int, int], number: int, framing: str, kind: str = "performance"
) -> Callable[[], None]:
    slate, paths = _slate(voice, size, number, framing, kind)

    def make() -> None:
        Animatic().render(slate, paths, folder / f"{number}.mp4", lambda done, of: None)

    return make


def _slate(
    voice: Asset, size: tuple[int, int], number: int, framing: str, kind: str
) -> tuple[Slate, dict[str, Path]]:
    given = stage.setup(
        voice,
        frames=FRAMES,
        size=size,
        framing=framing,
        prompt="she sings in the rain",
        kind=kind,
        number=number + 1,
    )
    slate = Animatic().slate(given, take=1, seed=number)
    return slate, {role: asset.path for role, asset in Animatic().assets(given).items()}


def _frames_alone(folder: Path, voice: Asset, size: tuple[int, int]) -> None:
    from mvpipe.render.animatic import compose
    from mvpipe.render.animatic.voice import SAMPLE_RATE

    slate, paths = _slate(voice, size, 0, "close-up", "performance")
    shooting = compose.prepare(slate, encode.read_mono(paths["vocals"], SAMPLE_RATE), {})
    assert sum(1 for _ in compose.frames(shooting)) == FRAMES


def _plain_argv(folder: Path, voice: Asset, size: tuple[int, int]) -> list[str]:
    card, font = folder / "card.png", folder / "font.ttf"
    card.write_bytes(draw_place("street", "neon signs in the rain", size))
    font.write_bytes(REGULAR.read_bytes())
    clock = "timecode='00\\:00\\:10\\:00':rate=24"
    text = f"drawtext=fontfile={font}:{clock}:fontsize=h/20:fontcolor=white:x=w*0.8:y=h*0.9"
    argv = encode.take_argv(folder / "plain.mp4", size=size, rate=Fraction(24), sound=voice.path, comment="")
    raw = argv.index("rawvideo") - 1
    sound = argv.index("-i", argv.index("pipe:0"))
    picture = ["-loop", "1", "-framerate", "24", "-t", str(FRAMES / 24), "-i", ffmpeg.file(card), "-vf", text]
    inputs, filters = picture[:-2], picture[-2:]
    return [*argv[:raw], *inputs, *argv[sound : sound + 2], *filters, *argv[sound + 2 :]]


def _cost(work: Callable[[], object], film: float) -> Cost:
    before, start = _cpu(), time.perf_counter()
    work()
    return Cost(wall=time.perf_counter() - start, cpu=_cpu() - before, film=film)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (_SELF, _CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _line(what: str, cost: Cost) -> None:
    print(
        f"{what:52} {cost.film * 24 / cost.wall:7.0f} {cost.film / cost.wall:7.1f}"
        f" {cost.cpu / cost.film:8.3f} {2 * cost.film / cost.cpu:20.1f}"
    )


if __name__ == "__main__":
    main()
