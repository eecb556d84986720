"""Reference films and voices, made by ffmpeg's own sources."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from mvpipe.render.backend import Asset
from mvpipe.render.comfyui.vocal import wav_bytes
from mvpipe.tools import ffmpeg, process


def filmed(
    path: Path,
    *,
    seconds: float = 3,
    size: str = "320x192",
    rate: int = 24,
    turned: int = 0,
    shape: str = "1",
    colour: str = "",
) -> Asset:
    """A film with a tone; `turned` is how a telephone was held, in degrees."""
    source = f"color={colour}" if colour else "testsrc2"
    picture = f"{source}{':' if colour else '='}size={size}:rate={rate}:duration={seconds}"
    upright = path.with_name(f"upright-{path.name}") if turned else path
    make = ["-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", f"sine=frequency=300:duration={seconds}"]
    code = [
        "-vf",
        f"setsar={shape}",
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-pix_fmt",
        "yuv420p",
        "-c:a",
        "aac",
    ]
    process.run(ffmpeg.quiet(*make, *code, ffmpeg.file(upright)))
    if turned:
        turn = ["-y", "-display_rotation", str(turned), "-i", ffmpeg.file(upright), "-c", "copy"]
        process.run(ffmpeg.quiet(*turn, ffmpeg.file(path)))
    return asset(path)


def voiced(path: Path, *, seconds: float = 3, level: float = 0.4, rate: int = 44_100) -> Asset:
    """A recording of a hum."""
    at = np.arange(round(seconds * rate)) / rate
    hum = level * np.sin(2 * np.pi * 220 * at) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at))
    path.write_bytes(wav_bytes(hum[:, None].astype(np.float32), rate))
    return asset(path)


def asset(path: Path) -> Asset:
    """A file with its digest."""
    return Asset(path=path, digest=hashlib.sha256(path.read_bytes()).hexdigest())
