"""What conforming, joining, laying and proving cost, next to the best plain ffmpeg command for the same film.

Both make the same film in the same run: the same x264 settings, the same frames, the same song. Plain
ffmpeg is one command with a concat filter; it counts nothing and proves nothing.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from mvpipe import film
from mvpipe.gate.look import look
from mvpipe.reel.assemble import assemble
from mvpipe.reel.conform import conform, conform_argv
from mvpipe.reel.mux import lay, phone
from mvpipe.reel.proof import prove
from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet
from tests.reel import indexed, songs

SIZES = ((1344, 768), (672, 384))
SHOTS, WINDOW, HEAD, SEEN = 4, 192, 12, 156
RATE = Fraction(24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds by the clock and of the processors, and the memory this process grew to."""

    wall: float
    cpu: float
    peak_mib: int


def cost(work: Callable[[], object]) -> Cost:
    """What calling `work` costs, programs it starts included."""
    before, start = _cpu(), time.perf_counter()
    work()
    return Cost(wall=time.perf_counter() - start, cpu=_cpu() - before, peak_mib=_peak_mib())


def main() -> None:
    """Print the table."""
    print(f"{'':60} {'wall s':>8} {'CPU s':>8} {'x real':>8} {'vs plain':>9} {'peak MiB':>9}")
    with TemporaryDirectory() as folder:
        for size in SIZES:
            _films(Path(folder), size)
        for seconds in (240, 3600):
            _long(Path(folder), seconds)


def _films(folder: Path, size: tuple[int, int]) -> None:
    """Takes to a master: ours, and plain ffmpeg's."""
    takes = [_take(folder / f"take{k}.mp4", k, size) for k in range(SHOTS)]
    clips = [indexed.clip(take, start=HEAD, frames=SEEN) for take in takes]
    seconds = SHOTS * SEEN / 24
    song = songs.song(songs.write(folder / "song.wav", seconds=seconds - 0.01))
    parts = [(folder / f"mezzanine{k}.mp4", SEEN) for k in range(SHOTS)]
    name = f"{SHOTS} shots, {seconds:.0f} s, {size[0]}x{size[1]}"
    plain = _best(lambda: process.run(_plain_argv(takes, song, folder / "plain.mkv", size)))
    _line(f"{name}: plain ffmpeg, concat filter", plain, seconds)
    reel = folder / "reel.mp4"

    def conform_all() -> None:
        for clip, (path, _) in zip(clips, parts, strict=True):
            conform(clip, path, size=size)

    def finish() -> None:
        lay(assemble(parts, RATE, reel), song, folder / "film.mkv", title="benchmark")

    conformed, finished = _best(conform_all), _best(finish)
    both = Cost(
        wall=conformed.wall + finished.wall,
        cpu=conformed.cpu + finished.cpu,
        peak_mib=max(conformed.peak_mib, finished.peak_mib),
    )
    _line(f"{name}: conform + assemble + lay", both, seconds, plain)
    _line(f"{name}: of that, conform", conformed, seconds)
    _line(f"{name}: prove, every frame decoded", cost(lambda: prove(folder / "film.mkv", song)), seconds)
    _line(f"{name}: look at one take", cost(lambda: look(takes[0], faces=False)), WINDOW / 24)


def _long(folder: Path, seconds: int) -> None:
    """Copying only: mezzanines of the last size again and again, with a song as long."""
    count = -(-seconds * 24 // (SHOTS * SEEN))
    parts = [(folder / f"mezzanine{k}.mp4", SEEN) for k in range(SHOTS)] * count
    length = count * SHOTS * SEEN / 24
    song = songs.song(_noise(folder / "long.wav", length - 0.01))
    reel, name = folder / "long.mp4", f"{len(parts)} shots, {length:.0f} s"
    listed = folder / "list"
    listed.write_text("ffconcat version 1.0\n" + "".join(f"file {p.name}\nduration 6.5\n" for p, _ in parts))
    copied = ["-f", "concat", "-safe", "0", "-i", file(listed), "-i", file(song.path), "-c:v", "copy"]
    plain = cost(lambda: process.run(quiet(*copied, "-c:a", "flac", "-y", file(folder / "plain.mkv"))))
    _line(f"{name}: plain ffmpeg, concat demuxer, copy", plain, length)
    (folder / "plain.mkv").unlink()
    made: list[film.Reel] = []
    joined = cost(lambda: made.append(assemble(parts, RATE, reel)))
    laid = cost(lambda: lay(made[0], song, folder / "film.mkv", title="benchmark"))
    both = Cost(
        wall=joined.wall + laid.wall, cpu=joined.cpu + laid.cpu, peak_mib=max(joined.peak_mib, laid.peak_mib)
    )
    _line(f"{name}: assemble + lay", both, length, plain)
    _line(f"{name}: of that, assemble", joined, length)
    _line(
        f"{name}: phone, AAC once", cost(lambda: phone(made[0], song, folder / "film.mp4", title="b")), length
    )
    if seconds < 600:
        _line(f"{name}: prove", cost(lambda: prove(folder / "film.mkv", song)), length)


def _take(path: Path, shot: int, size: tuple[int, int]) -> Path:
    """A picture that moves everywhere under grain, tagged as ours are: 4 Mbit/s at 672x384."""
    tags = "range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709"
    grain = f"noise=alls=4:allf=t:all_seed={shot + 1},format=yuv420p,setparams={tags}"
    source = f"testsrc2=s={size[0]}x{size[1]}:r=24,{grain}"
    coding = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18"]
    process.run(
        quiet("-f", "lavfi", "-i", source, "-frames:v", str(WINDOW), *coding, "-f", "mp4", "-y", file(path))
    )
    return path


def _noise(path: Path, seconds: float) -> Path:
    source = f"anoisesrc=r=44100:a=0.3:seed=1:d={seconds:.6f},aformat=channel_layouts=stereo"
    process.run(quiet("-f", "lavfi", "-i", source, "-c:a", "pcm_s16le", "-y", file(path)))
    return path


def _plain_argv(takes: Sequence[Path], song: film.Song, into: Path, size: tuple[int, int]) -> list[str]:
    """One command: each take trimmed by frame number, all joined by the concat filter, coded as we code."""
    ours = conform_argv(takes[0], into, first=HEAD, frames=SEEN, rate=RATE, size=size)
    coding = ours[ours.index("-bf") :]
    coding = [part for part in coding[:-2] if part not in ("-progress", "pipe:1", "-xerror")]
    chains = [
        f"[{k}:V:0]trim=start_frame={HEAD}:end_frame={HEAD + SEEN},setpts=PTS-STARTPTS[v{k}]"
        for k in range(len(takes))
    ]
    joined = "".join(f"[v{k}]" for k in range(len(takes))) + f"concat=n={len(takes)}[v]"
    sources = [part for take in takes for part in ("-i", file(take))]
    maps = ["-map", "[v]", "-map", f"{len(takes)}:a:0", "-c:a", "flac"]
    graph = ";".join([*chains, joined])
    return quiet(*sources, "-i", file(song.path), "-filter_complex", graph, *maps, *coding, "-y", file(into))


def _best(work: Callable[[], object], times: int = 2) -> Cost:
    """The cheapest of a few runs: what disturbs a measurement only ever adds to it."""
    costs = [cost(work) for _ in range(times)]
    return Cost(
        wall=min(c.wall for c in costs),
        cpu=min(c.cpu for c in costs),
        peak_mib=max(c.peak_mib for c in costs),
    )


def _line(name: str, spent: Cost, seconds: float, plain: Cost | None = None) -> None:
    ratio = f"{spent.wall / plain.wall:4.2f}/{spent.cpu / plain.cpu:4.2f}" if plain else ""
    print(
        f"{name:60} {spent.wall:8.2f} {spent.cpu:8.2f} {seconds / spent.wall:8.1f} {ratio:>9} "
        f"{spent.peak_mib:9}",
        flush=True,
    )


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mib() -> int:
    """Of this process since the last call, where Linux lets the mark be reset; else since its start."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        peak = next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")
    return peak


if __name__ == "__main__":
    main()
