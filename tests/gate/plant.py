"""Plant a fault into a take that is good: what the gate must catch, each under the check that names it.

Of a clip of any backend a copy is written, of the same size, rate and length unless that is the fault; what
sound it has goes with it, unless that is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mvpipe.tools import process
from mvpipe.tools.ffmpeg import file, quiet

Frames = NDArray[np.uint8]
"""RGB, shape (n, height, width, 3)."""


def _middle(frames: Frames, length: int, what: Callable[[Frames], Frames]) -> Frames:
    """Something else for so many frames from the middle on."""
    out, at = frames.copy(), len(frames) // 2
    out[at : at + length] = what(frames[at : at + length])
    return out


def _nearer(frames: Frames) -> Frames:
    """The same from nearer and aside, as H3 cuts inside a shot."""
    high, wide = frames.shape[1:3]
    large = ndimage.zoom(frames[:, : high // 2, : wide // 2], (1, 2, 2, 1), order=1)
    return np.asarray(large[:, :high, :wide], np.uint8)


def _noise(frames: Frames) -> Frames:
    """What an autoencoder makes of a latent that is noise: cells of 16 pixels in 1344, and finer."""
    rng = np.random.default_rng(440)
    out, cell = np.empty_like(frames), max(2, frames.shape[2] // 84)
    for k, frame in enumerate(frames):
        cells = rng.normal(0, 60, (frame.shape[0] // cell + 1, frame.shape[1] // cell + 1, 3))
        coarse = ndimage.zoom(cells, (cell, cell, 1), order=1)[: frame.shape[0], : frame.shape[1]]
        out[k] = np.clip(128 + coarse + rng.normal(0, 25, frame.shape), 0, 255)
    return out


PICTURES: dict[str, Callable[[Frames], Frames]] = {
    "black": lambda f: f * 0,
    "plain": lambda f: f * 0 + 128,
    "noise": _noise,
    "frozen": lambda f: np.concatenate([f[:20], np.repeat(f[20:21], len(f) - 20, axis=0)]),
    "frozen tail": lambda f: np.concatenate([f[:-40], np.repeat(f[-40:-39], 40, axis=0)]),
    "flash": lambda f: _middle(f, 1, lambda one: one[:, ::-1]),
    "white flash": lambda f: _middle(f, 2, lambda one: one * 0 + 250),
    "cut in the shot": lambda f: _middle(f, len(f), _nearer),
    "frame count": lambda f: f[:-12],
    "size": lambda f: f[:, : f.shape[1] // 4 * 2, : f.shape[2] // 4 * 2],
}
"""Name -> what becomes of the pictures."""

SOUNDS: dict[str, str] = {
    "none": "",
    "silent": "anullsrc=r=32000:cl=stereo",
    "noise": "anoisesrc=r=32000:a=0.2:seed=4",
    "tone": "sine=r=32000:f=220",
    "constant": "aevalsrc=0.3|0.3:s=32000",
    "another": "aevalsrc=0.4*sin(880*t)*max(0\\,sin(9*t))|0.4*sin(880*t)*max(0\\,sin(9*t)):s=32000",
    "not finite": "aevalsrc=0.4*sin(880*t)/not(between(t\\,2\\,2.1)):s=32000",
    "clipped": "[1:a]volume=26dB,aformat=sample_fmts=s16",
}
"""Name -> the lavfi source that takes the place of the sound, or what becomes of the sound."""


def plant(fault: str, take: Path, into: Path) -> Path:
    """Write a copy of a take with a fault in its pictures, or (`sound: ...`) in its sound.

    Parameters
    ----------
    fault : a name of `PICTURES`, or `sound: ` and one of `SOUNDS`, or `rate`
    """
    if fault.startswith("sound: "):
        return _other_sound(SOUNDS[fault.removeprefix("sound: ")], take, into)
    with av.open(str(take)) as box:
        stream = box.streams.video[0]
        rate = stream.average_rate or 24
        frames = np.stack([frame.to_ndarray(format="rgb24") for frame in box.decode(stream)])
    whole: Frames = np.asarray(frames, np.uint8)
    made = whole if fault == "rate" else np.asarray(PICTURES[fault](whole), np.uint8)
    silent = into.with_name(f"{into.stem}-silent.mp4")
    _write(made, int(rate) + (fault == "rate"), silent)
    sound = ["-i", file(take), "-map", "0:v", "-map", "1:a?", "-c", "copy"]
    process.run(quiet("-i", file(silent), *sound, "-y", file(into)))
    silent.unlink()
    return into


def _write(frames: Frames, rate: int, into: Path) -> None:
    with av.open(str(into), "w") as out:
        stream = out.add_stream("libx264", rate, options={"crf": "18", "preset": "veryfast"})
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            out.mux(stream.encode(picture))
        out.mux(stream.encode(None))


def _other_sound(source: str, take: Path, into: Path) -> Path:
    with av.open(str(take)) as box:
        seconds = float((box.duration or 0) / 1e6)
    given = ["-i", file(take)] if source.startswith("[1:a]") else ["-f", "lavfi", "-i", source]
    made = ["-map", "1:a", "-t", f"{seconds:.3f}"]
    if source.startswith("[1:a]"):
        made = ["-filter_complex", f"{source}[made]", "-map", "[made]"]
    # AAC holds no number that is none
    made += ["-c:a", "pcm_f32le" if "/not(" in source else "aac"]
    chosen = ["-map", "0:v", *(made if source else []), "-c:v", "copy"]
    process.run(quiet("-i", file(take), *(given if source else []), *chosen, "-y", file(into)))
    return into
