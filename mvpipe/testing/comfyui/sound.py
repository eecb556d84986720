"""Sound the server reads, cuts and makes up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np

from mvpipe.testing.comfyui.values import LATENT_RATE, LATENT_SAMPLES, NodeFailed, Sound

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.values import Samples


def load(path: Path) -> Sound:
    """A sound file as LoadAudio gives it.

    Raises
    ------
    NodeFailed : not there, or nothing that can be decoded
    """
    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                raise NodeFailed("ValueError", "No audio stream found in the file.")
            stream = container.streams.audio[0]
            rate = stream.rate
            resampler = av.AudioResampler(format="fltp", layout=stream.layout, rate=rate)
            pieces = [
                piece.to_ndarray()
                for frame in container.decode(stream)
                for piece in resampler.resample(frame)
            ]
    except av.error.FFmpegError as exc:
        number = {"FileNotFoundError": "[Errno 2] No such file or directory"}.get(
            type(exc).__name__, "[Errno 1094995529] Invalid data found when processing input"
        )
        raise NodeFailed(f"av.error.{type(exc).__name__}", f"{number}: '{path}'") from exc
    samples = np.concatenate(pieces, axis=1).astype(np.float32)
    return Sound(samples=samples, rate=rate, digest=hashlib.sha256(path.read_bytes()).hexdigest())


def stereo(sound: Sound, rate: int = LATENT_RATE) -> Samples:
    """Two channels at `rate`: float32, shape (2, n); other rates are resampled linearly."""
    samples = sound.samples[:2] if len(sound.samples) > 1 else np.repeat(sound.samples, 2, axis=0)
    if sound.rate == rate:
        return samples
    count = round(samples.shape[1] * rate / sound.rate)
    at = np.arange(count) * (sound.rate / rate)
    channels = [np.interp(at, np.arange(samples.shape[1]), channel) for channel in samples]
    return np.asarray(channels, np.float32)


def encoded(sound: Sound) -> Sound:
    """What the audio VAE keeps: 32 kHz stereo, cropped at both ends to whole latents (h3.md 0.6)."""
    samples = stereo(sound)
    spare = samples.shape[1] % LATENT_SAMPLES
    start = spare // 2
    return Sound(
        samples=samples[:, start : samples.shape[1] - (spare - start)], rate=LATENT_RATE, digest=sound.digest
    )


def fitted(sound: Sound, latents: int, *, tail: str = "") -> Sound:
    """Sound of exactly so many latents: cut, or followed by silence or by sound made from `tail`."""
    wanted = latents * LATENT_SAMPLES
    samples = sound.samples[:, :wanted]
    missing = wanted - samples.shape[1]
    if missing:
        more = made(tail, missing).samples if tail else np.zeros((2, missing), np.float32)
        samples = np.concatenate([samples, more], axis=1)
    return Sound(samples=samples, rate=sound.rate, digest=sound.digest)


def made(look: str, count: int) -> Sound:
    """Sound that the model makes by itself: noise that swells and falls, decided by `look`."""
    rng = np.random.default_rng(int(look[:16] or "0", 16))
    swell = np.interp(np.arange(count), np.linspace(0, count, 12), rng.random(12))
    noise = rng.standard_normal(count)
    smooth = np.convolve(noise, np.ones(16) / 16, mode="same")
    samples = np.repeat((0.5 * swell * smooth)[None].astype(np.float32), 2, axis=0)
    return Sound(samples=samples, rate=LATENT_RATE, digest=look)


def levels(sound: Sound | None, frames: int, rate: float) -> list[float]:
    """Loudness of each picture frame's stretch of sound, 0 to 1."""
    if sound is None or not sound.samples.size:
        return [0.0] * frames
    mono = np.nan_to_num(np.abs(sound.samples).mean(axis=0))
    edges = (np.arange(frames + 1) * (sound.rate / rate)).astype(int).clip(0, len(mono))
    sums = np.concatenate([[0.0], np.cumsum(mono, dtype=np.float64)])
    means = (sums[edges[1:]] - sums[edges[:-1]]) / np.maximum(1, edges[1:] - edges[:-1])
    return [float(level) for level in means / max(1e-6, float(means.max()))]
