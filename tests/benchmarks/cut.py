"""Our cuts against five others, on 32 songs whose words are known: gaps, words cut, places, form, speed.

`python -m tests.benchmarks cut [--half HALF] [--again N] [--kinds N[-M]] [--stems STEM,...] [--cache FOLDER]
[--each] [--times] [--excerpt]`

Half of the songs are for tuning and half are held out; both are printed. A half holds little more than 100
cuts, so `--again N` tunes on more: the tuning half, and N times its kinds with other seeds. With `--kinds` it
runs in pieces of the book (numbers from 1). A stem `15` is the true one with the band 15 dB below itself in
it; in `uneven` it is 12 dB down, 3 dB more or less by moment and pitch; `spleeter` is what Spleeter's nets
really make of the mix, where their wheel is installed: kept in `--cache`, if that is given. A cut counts as
inside a word when it is more than 40 ms from both its ends. Times are CPU seconds of this process.
`--excerpt` cuts the real song that Spleeter's wheel carries, and holds it against marks made by eye
(`tests/excerpt.py`).
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.signal import istft, stft

from mvpipe.sound import read
from mvpipe.sound.cut import cut
from mvpipe.sound.hearing import Hearing
from mvpipe.sound.listen import listen
from mvpipe.sound.resample import length_at, resample
from mvpipe.sound.separate import NET_RATE
from mvpipe.sound.spectrum import HOPS, stem_texture
from mvpipe.sound.spleeter import Spleeter
from tests import excerpt
from tests.benchmarks import _baselines as other
from tests.benchmarks import _measure as measure
from tests.songbook import KINDS, Entry, entries, made
from tests.sound.hearings import hear
from tests.sound.mixes import voice
from tests.sound.quality import sdr
from tests.synth import SynthSong, pieces

HALVES = {"tuning": False, "held-out": True}
STEMS = "true,separated,15,uneven,10"
SECONDS = 48.0
Method = Callable[[Hearing], other.Frames]


def main() -> None:
    """Print the tables."""
    asked = _arguments()
    for half in [asked.half] if asked.half else HALVES:
        times = 1 if HALVES[half] else 1 + asked.again
        books = [entries(held_out=HALVES[half], again=again) for again in range(times)]
        chosen = [book[k] for book in books for k in asked.kinds]
        print(f"\n{half}: {len(chosen)} songs")
        table = Table(asked.stems, each=asked.each, cache=asked.cache)
        for entry in chosen:
            table.add(entry)
        table.show()
    if asked.excerpt:
        _print_excerpt()
    if asked.times:
        print(f"\n{'song':<10}{'plan, CPU s':>12}{'shots':>8}{'times a 4-minute song':>24}")
        _print_times(listen_to(made(entries(held_out=True)[0]), "true"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--again", type=int, default=0, help="tune on so many more halves")
    parser.add_argument("--kinds", default=f"1-{len(KINDS)}", type=_numbers, help="such as 3 or 1-8")
    parser.add_argument("--stems", default=STEMS, type=lambda text: text.split(","))
    parser.add_argument("--cache", type=Path, help="folder for what Spleeter separated")
    parser.add_argument("--excerpt", action="store_true", help="and the real excerpt")
    parser.add_argument("--each", action="store_true", help="a line for every song too")
    parser.add_argument("--times", action="store_true", help="and how long planning takes")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first) - 1, int(last or first)))


def methods(stem: str) -> Iterator[tuple[str, Method]]:
    """Every way to cut, by name; the others only need one stem."""
    if stem in ("true", "separated"):
        for method in (other.equal, other.beats, other.bars, other.structure, other.published):
            yield method.__name__, method
    yield "ours", ours


def ours(hearing: Hearing) -> other.Frames:
    return [shot.cut.start for shot in cut(hearing, frames=other.frames_of(hearing)).shots[1:]]


def stem_of(song: SynthSong, stem: str, cache: Path | None = None) -> NDArray[np.float32]:
    """The true voice, one of the separated ones, or the true one with the band so many dB down in it."""
    if stem == "spleeter":
        return _kept(song, cache) if cache else by_spleeter(song)
    if stem == "uneven":
        return song.vocals + uneven(song.accompaniment)
    if stem in ("true", "separated"):
        return song.vocals if stem == "true" else song.separated
    leaky: NDArray[np.float32] = song.vocals + np.float32(10 ** (-float(stem) / 20)) * song.accompaniment
    return leaky


def uneven(band: NDArray[np.float32]) -> NDArray[np.float32]:
    """The band 12 dB down, and 3 dB more or less (1 sigma) over 0.3 s and 170 Hz: real leaks are not even."""
    rng, out = np.random.default_rng(len(band)), []
    for channel in band.T:
        _, _, spectrum = stft(channel, nperseg=1024)
        wobble = gaussian_filter(rng.standard_normal(spectrum.shape), (8, 6))
        gain = 10 ** ((3 * wobble / wobble.std() - 12) / 20)
        out.append(istft(spectrum * gain, nperseg=1024)[1][: len(channel)])
    return np.stack(out, axis=1).astype(np.float32)


def by_spleeter(song: SynthSong) -> NDArray[np.float32]:
    """The voice as Spleeter separates it from the mix, at the song's own rate: float32, shape (n, 2).

    Raises
    ------
    WeightsMissing : its wheel is not installed
    """
    mix = _at(song.mix, song.sample_rate, NET_RATE, length_at(len(song.mix), song.sample_rate, NET_RATE))
    return _at(voice(Spleeter(device="cpu"), mix), NET_RATE, song.sample_rate, len(song.mix))


def _kept(song: SynthSong, cache: Path) -> NDArray[np.float32]:
    """What Spleeter separated, from the folder where it is there already."""
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"{sha256(song.mix.tobytes()).hexdigest()[:24]}.npy"
    if not path.exists():
        np.save(path, by_spleeter(song).astype(np.float16))
    stem: NDArray[np.float32] = np.load(path).astype(np.float32)
    return stem


def _at(sound: NDArray[np.float32], rate: int, other: int, samples: int) -> NDArray[np.float32]:
    blocks = resample(pieces(sound), rate, other, samples=samples, channels=sound.shape[1])
    return np.concatenate(list(blocks))


def listen_to(song: SynthSong, stem: str) -> Hearing:
    """What is heard in a song with a stem."""
    return hear(song, stem_of(song, stem))


class Table:
    """What was measured on a half of the book."""

    def __init__(self, stems: list[str], *, each: bool, cache: Path | None) -> None:
        self.stems, self.each, self.cache = stems, each, cache
        self.gaps: dict[str, measure.Gaps] = defaultdict(measure.Gaps)
        self.cuts: dict[tuple[str, str], measure.Cuts] = defaultdict(measure.Cuts)
        self.form: dict[str, measure.Forms] = defaultdict(measure.Forms)
        self.sdr: list[float] = []
        self.listening = [0.0, 0.0]

    def add(self, entry: Entry) -> None:
        """Measure one song."""
        song = made(entry, SECONDS)
        best = measure.best_places(stem_texture(pieces(song.vocals), song.sample_rate).level, song.truth)
        if not entry.kind.a_cappella:
            self.sdr.append(sdr(song.vocals, song.separated))
        for stem in self.stems:
            sound = stem_of(song, stem, self.cache)
            began = time.process_time()
            hearing = hear(song, sound)
            self.listening[0] += time.process_time() - began
            self.listening[1] += song.seconds
            frames = other.frames_of(hearing)
            found = measure.gaps(hearing, song.truth)
            self.gaps[stem].merge(found)
            for name, method in methods(stem):
                plan = measure.cuts(song.truth, method(hearing), frames, best)
                self.cuts[stem, name].merge(plan)
            self.form[stem].merge(measure.form(hearing, song.truth, entry.kind.bar))
            if self.each:
                print(_row(f"  {entry.kind.name} {entry.kind.language}, {stem}", found, plan), flush=True)

    def show(self) -> None:
        """Print it."""
        print(f"separated: {np.mean(self.sdr):.1f} dB signal to distortion (mean)" if self.sdr else "")
        print(f"{'gaps between phrases':<40}{'recall':>8}{'precision':>10}{'starts':>8}{'ends':>8}")
        for stem, found in self.gaps.items():
            shares = (found.recall, found.precision, found.starts, found.ends)
            print(
                f"{stem:<40}{shares[0].share:>8.1%}{shares[1].share:>10.1%}"
                + "".join(f"{s.share:>8.1%}" for s in shares[2:])
            )
        print(f"{'cuts':<40}{'cuts':>6}{'in words':>10}{'at best':>9}{'on bars':>9}{'not 5-8 s':>11}")
        for (stem, name), plan in self.cuts.items():
            print(
                f"{name + ', ' + stem:<40}{plan.in_word.of:>6}{plan.in_word.share:>10.1%}"
                f"{plan.best.share:>9.1%}"
                f"{plan.on_bar.share:>9.0%}{plan.out_of_range.share:>11.0%}"
            )
        print(
            f"{'form':<40}{'recall':>8}{'precision':>10}{'pairs R':>9}{'pairs P':>9}{'metre':>8}{'bars':>7}"
        )
        for stem, form in self.form.items():
            print(
                f"{stem:<40}{form.recall.share:>8.0%}{form.precision.share:>10.0%}{form.pair_recall.share:>9.0%}"
                f"{form.pair_precision.share:>9.0%}{form.metre.share:>8.0%}{form.bars.share:>7.0%}"
            )
        print(f"listening: {self.listening[1] / self.listening[0]:.0f} times real time on one core")


def _row(name: str, found: measure.Gaps, plan: measure.Cuts) -> str:
    return (
        f"{name:<40}R {found.recall.share:.2f} P {found.precision.share:.2f} starts {found.starts.share:.2f} "
        f"ends {found.ends.share:.2f}  in words {plan.in_word.good}/{plan.in_word.of} "
        f"best {plan.best.share:.2f}"
    )


def _print_excerpt() -> None:
    song, _ = read.measure(excerpt.path())
    mix = np.concatenate(list(read.blocks(song)))
    stem = voice(Spleeter(device="cpu"), mix)
    heard = listen(pieces(mix), pieces(stem), sample_rate=song.sample_rate)
    lines = " ".join(f"{a:.2f}-{b:.2f}" for a, b in excerpt.LINES)
    found = " ".join(f"{a:.2f}-{b:.2f}" for a, b in (heard.phrases / HOPS).tolist())
    print(f"\nthe real excerpt, separated by Spleeter: lines by eye {lines}; heard {found}")
    best = measure.best_places(stem_texture(pieces(stem), song.sample_rate).level, excerpt.TRUTH)
    for name, method in methods("true"):
        frames = method(heard)
        plan = measure.cuts(excerpt.TRUTH, frames, other.frames_of(heard), best)
        at = " ".join(f"{frame / 24:.2f}" for frame in frames)
        print(
            f"{name:<12}cut at {at:<12}inside what is sung {plan.in_word.good} of {plan.in_word.of}, ", end=""
        )
        print(f"at a best place {plan.best.good} of {plan.best.of}")


def _print_times(hearing: Hearing) -> None:
    base = 0.0
    for minutes in (4, 60):
        long = played(hearing, round(minutes * 60 / float(hearing.seconds)))
        took = min(_cpu(long) for _ in range(3))
        base = base or took
        shots = len(cut(long, frames=other.frames_of(long)).shots)
        print(f"{minutes:>3} min{took:>15.3f}{shots:>8}{took / base:>24.1f}")


def _cpu(hearing: Hearing) -> float:
    began = time.process_time()
    cut(hearing, frames=other.frames_of(hearing))
    return time.process_time() - began


def played(hearing: Hearing, times: int) -> Hearing:
    """The hearing of the song played so many times on end."""
    span = hearing.hops
    shift = np.arange(times)[:, None] * span
    return replace(
        hearing,
        samples=span * times * hearing.sample_rate // HOPS,
        phrases=(hearing.phrases + shift[:, :, None]).reshape(-1, 2),
        held=(hearing.held + shift[:, :, None]).reshape(-1, 2),
        breaths=(hearing.breaths + shift[:, :, None]).reshape(-1, 2),
        voice_db=np.tile(hearing.voice_db, times),
        effort=np.tile(hearing.effort, times),
        peak=np.tile(hearing.peak, times),
        beats=(hearing.beats + shift).ravel(),
        bars=(hearing.bars + shift).ravel(),
        sections=(hearing.sections + shift).ravel(),
        labels=np.zeros(len(hearing.sections) * times + 1, np.int64),
    )
