"""The sync gate on clips whose truth is known: `python -m tests.benchmarks.gate [--clips N] [CLIP]`.

Clips are drawn (see tests/gate/faces_synth.py); nothing was tuned on their seeds. The offset is partly drawn
into the picture and partly put into the voice, so every clip is judged at many offsets. A real clip with its
own sound, named last, is judged in windows as it is and 400 ms late. Beside the gate's estimator stands the
plainer one of the findings: height of the lips against 450-1200 Hz in decibel and 300-3500 Hz.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mvpipe.film import Outcome
from mvpipe.gate.mouth import HOPS, mouth_curves
from mvpipe.gate.offset import Performance, estimate
from mvpipe.gate.sync import Samples, Seen, judge_sync
from mvpipe.gate.tracks import Track, Watcher
from mvpipe.tools.encode import read_mono
from mvpipe.tools.frames import read
from tests.gate.faces_synth import SAMPLE_RATE, Part, make

LATES_MS = (0, 20, -20, 40, -40, 60, -60, 80, -80, 120, -120, 200, -200, 400, -400)
NEGATIVES = ("other", "closed", "frozen", "covered", "nobody", "two")
SIZE = (640, 360)


@dataclass(frozen=True, slots=True)
class Said:
    """Of a clip at an offset: what the gate says, and what the plainer estimator does."""

    outcome: Outcome
    p: float
    offset_ms: float
    control: bool
    plain_p: float
    plain_ms: float


def main() -> None:
    """Make clips, judge them, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--clips", type=int, default=200, help="two thirds sing or talk, the rest must not pass"
    )
    parser.add_argument("real", nargs="?", type=Path, help="a clip that talks, with its own sound")
    asked = parser.parse_args()
    rng = np.random.default_rng(20261130)
    with TemporaryDirectory() as folder:
        good = asked.clips * 2 // 3
        if good:
            _positives([_shoot(_good(rng, 2 * k + 1), Path(folder)) for k in range(good)])
            _negatives(rng, asked.clips - good, Path(folder))
    if asked.real:
        _real(asked.real)


def _good(rng: np.random.Generator, seed: int) -> Part:
    return Part(
        seed=seed,
        size=SIZE,
        seconds=float(rng.choice([5, 6, 7, 8])),
        rate=int(rng.choice([24, 24, 25, 30])),
        sings=bool(rng.random() < 0.6),
        late=float(rng.uniform(-0.02, 0.02)),
        noise=float(rng.uniform(2, 8)),
        motion=float(rng.uniform(0, 1)),
        gain=float(rng.uniform(0.6, 1)),
        bleed=float(rng.choice([0, 0, 0.1, 0.25])),
        covered=str(rng.choice(["none"] * 9 + ["mic"])),
        head=float(rng.uniform(0.6, 1.2)),
        crf=int(rng.integers(20, 31)),
    )


def _shoot(part: Part, folder: Path) -> tuple[Part, Seen, Samples]:
    path = folder / "clip.mp4"
    voice = make(part, path)
    return part, _look(path), voice


def _look(path: Path) -> Seen:
    watcher = Watcher()
    reading = read(path, show=watcher.see)
    return Seen.of(watcher, reading)


def _positives(clips: Sequence[tuple[Part, Seen, Samples]]) -> None:
    print(f"{len(clips)} clips that sing or talk, judged at each offset\n")
    print(f"{'ms late':>8} {'pass':>6} {'fail':>6} {'cannot':>7} {'plain pass':>11}")
    errors, plain_errors, controls = [], [], []
    for late in LATES_MS:
        said = [_judge(seen, _moved(voice, late / 1000 - part.late)) for part, seen, voice in clips]
        print(f"{late:8} {_shares(said)} {_plain(said):11.3f}")
        errors += [one.offset_ms - late for one in said]
        plain_errors += [one.plain_ms - late for one in said]
        controls += [one.control for one in said]
    for name, found in (("gate", errors), ("plain", plain_errors)):
        bias = np.median(found)
        off = np.abs(np.array(found) - bias)
        print(
            f"{name}: bias {bias:+.1f} ms; error after it: median {np.median(off):.1f}, "
            f"90th {np.percentile(off, 90):.1f}, within 20 {np.mean(off <= 20):.3f}, "
            f"within 40 {np.mean(off <= 40):.3f}, over 100 {np.mean(off > 100):.3f}"
        )
    print(f"control within a frame: {np.mean(controls):.3f}\n")


def _negatives(rng: np.random.Generator, count: int, folder: Path) -> None:
    print(f"{'must not pass':>14} {'n':>4} {'pass':>6} {'fail':>6} {'cannot':>7} {'plain pass':>11}")
    each = max(1, count // len(NEGATIVES))
    for kind in NEGATIVES:
        said = [_judge(*_bad(kind, _good(rng, 2 * k + 1001), folder)) for k in range(each)]
        print(f"{kind:>14} {len(said):4} {_shares(said)} {_plain(said):11.3f}")


def _bad(kind: str, part: Part, folder: Path) -> tuple[Seen, Samples]:
    """A clip and a voice that do not belong together; of two faces, both sing something else."""
    if kind == "nobody":
        _, seen, voice = _shoot(replace(part, head=0.02), folder)
    elif kind == "covered":
        _, seen, voice = _shoot(replace(part, covered="all"), folder)
    elif kind == "two":
        _, seen, voice = _shoot(replace(part, heads=2, mouth="other", head=1.2), folder)
    else:
        _, seen, voice = _shoot(replace(part, mouth=kind), folder)
    return seen, voice


def _moved(voice: Samples, late: float) -> Samples:
    """The voice for a picture that is to be so much later."""
    shift = round(late * SAMPLE_RATE)
    silence = np.zeros(abs(shift), np.float32)
    return np.concatenate([voice[shift:], silence] if shift > 0 else [silence, voice[: len(voice) + shift]])


def _judge(seen: Seen, voice: Samples, sample_rate: int = SAMPLE_RATE) -> Said:
    verdict = judge_sync(seen, voice, sample_rate)
    best = verdict.deciding
    if best is None:
        return Said(verdict.outcome, 1.0, 0.0, False, 1.0, 0.0)
    plain = estimate(_plain_curves(seen, seen.tracks[0], voice, sample_rate), surrogates=199)
    return Said(verdict.outcome, best.p or 1.0, best.offset_ms, best.control.ok, plain.p, plain.offset_ms)


def _plain_curves(seen: Seen, track: Track, voice: Samples, sample_rate: int) -> Performance:
    """The findings' curves (section 3)."""
    wide = int(0.04 * sample_rate)
    hops = len(voice) * HOPS // sample_rate + 1
    first = (np.arange(hops) * sample_rate // HOPS)[:, None]
    padded = np.pad(voice.astype(float), (wide // 2, 2 * wide))
    power = np.abs(np.fft.rfft(padded[first + np.arange(wide)] * np.hanning(wide), 4 * wide)) ** 2
    hertz = np.fft.rfftfreq(4 * wide, 1 / sample_rate)
    vowel, broad, heard = (
        power[:, (hertz >= a) & (hertz < b)].sum(1) for a, b in ((450, 1200), (300, 3500), (80, 7000))
    )
    loud = np.percentile(heard, 99) + 1e-12
    bands = [np.maximum(10 * np.log10(vowel / loud + 1e-12), -45), (broad / loud) ** 0.3]
    return Performance(mouth=mouth_curves(track, seen.times)[:1], voice=np.stack(bands))


def _shares(said: Sequence[Said]) -> str:
    shares = [np.mean([one.outcome is outcome for one in said]) for outcome in Outcome]
    return f"{shares[0]:6.3f} {shares[1]:6.3f} {shares[2]:7.3f}"


def _plain(said: Sequence[Said]) -> float:
    return float(np.mean([one.plain_p <= 0.05 and abs(one.plain_ms) < 60 for one in said]))


def _real(path: Path) -> None:
    seen, voice = _look(path), read_mono(path, SAMPLE_RATE)
    print(f"\nwindows of {path.name}, half a second apart")
    print(f"{'':>22} {'n':>4} {'pass':>6} {'fail':>6} {'cannot':>7} {'plain pass':>11} {'ms median':>10}")
    for seconds in (5, 6, 8):
        for late in (0.0, 0.4):
            said = [_judge(*window) for window in _windows(seen, voice, seconds, late)]
            middle = np.median([one.offset_ms for one in said])
            name = f"{seconds} s" + (", 400 ms late" if late else "")
            print(f"{name:>22} {len(said):4} {_shares(said)} {_plain(said):11.3f} {middle:10.1f}")


def _windows(seen: Seen, voice: Samples, seconds: int, late: float) -> Iterator[tuple[Seen, Samples]]:
    """Stretches of a clip; the voice of a late picture is that of a later moment."""
    rate = Fraction(len(seen.times) - 1) / seen.times[-1]
    length = int(seconds * rate)
    for first in range(0, len(seen.times) - length, int(rate / 2)):
        begin = int((first / rate + Fraction(late)) * SAMPLE_RATE)
        sound = voice[begin : begin + int(length / rate * SAMPLE_RATE)]
        if len(sound) < seconds * SAMPLE_RATE - SAMPLE_RATE // 24:
            return
        tracks = []
        for track in seen.tracks:
            inside = (track.frames >= first) & (track.frames < first + length)
            if inside.any():
                tracks.append(
                    Track(total=length, frames=track.frames[inside] - first, points=track.points[inside])
                )
        times = tuple(seen.times[k] - seen.times[first] for k in range(first, first + length))
        yield Seen(tracks=tuple(tracks), times=times), sound


if __name__ == "__main__":
    main()
