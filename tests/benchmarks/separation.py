"""What mvpipe's separation costs around Demucs' own run on the same audio, and what Spleeter costs.

The network has htdemucs' real size and random weights (none can be had offline; time does not depend on
their values). Rounds of the two alternate, so that a machine that slows down slows both.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mvpipe.sound import read, separate, weights
from mvpipe.sound.demucs_model import Demucs
from mvpipe.sound.spleeter import Spleeter
from tests import synth
from tests.sound import tiny


def main(seconds: int = 30, rounds: int = 3) -> None:
    """Print CPU seconds of both, round by round, and the overhead of the medians."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks separation")
    parser.add_argument("--seconds", type=int, default=seconds)
    parser.add_argument("--rounds", type=int, default=rounds)
    asked, _ = parser.parse_known_args()
    import torch
    from demucs import api

    torch.set_num_threads(1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = synth.song(asked.seconds, seed=1)
        song, _ = read.measure(made.write(folder / "song"))
        _model(folder)
        theirs: Any = api.Separator(model="htdemucs", repo=folder, device="cpu", shifts=0)
        ours = Demucs(bag=weights.require("htdemucs", cache=folder, repo=folder), device="cpu")
        mix = torch.from_numpy(made.mix.T.copy())

        def run(separator: separate.Separator) -> None:
            separate.separate(song, folder / "v.wav", separator=separator, progress=lambda *_: None)

        rows = [
            (_cpu(lambda: theirs.separate_tensor(mix, made.sample_rate)), _cpu(lambda: run(ours)))
            for _ in range(asked.rounds)
        ]
        for own, whole in rows:
            print(f"demucs' own run {own:7.2f} CPU s   mvpipe, decode and write included {whole:7.2f} CPU s")
        own, whole = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"median overhead {whole / own - 1:+.1%} on {asked.seconds} s of song (wanted: at most +2 %)")
        cost = _cpu(lambda: run(Spleeter(device="cpu")))
        print(f"spleeter        {cost:7.2f} CPU s, {asked.seconds / cost:.1f} times real time")


def _model(folder: Path) -> None:
    """htdemucs as published, but for its weights: 42 million parameters."""
    import torch
    from demucs.htdemucs import HTDemucs

    torch.manual_seed(440)
    net = HTDemucs(
        tiny.SOURCES, channels=48, growth=2, nfft=4096, depth=4, bottom_channels=512, t_layers=5,
        t_heads=8, dconv_mode=3, dconv_comp=8, dconv_depth=2, segment=Fraction(39, 5),
    ).eval()  # fmt: skip
    tiny.save_th(net, folder, "aaaa")
    tiny.save_safetensors(net, folder, "aaaa")
    tiny.bag(folder, "htdemucs", "aaaa")


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
