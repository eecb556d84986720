"""Reference voices as they are uploaded: as the audio VAE takes them whole, named by their source.

The name comes from the digest of the director's own file, as with pictures; `VERSION` is raised when the
samples would differ, and stands in it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from mvpipe.errors import MediaError, StoryboardError, ToolError
from mvpipe.render.comfyui.ends import FOLDER
from mvpipe.render.comfyui.vocal import LATENT_SAMPLES, VOCAL_RATE, Samples, wav_bytes
from mvpipe.tools import encode

VERSION = 1

LEAST_S, MOST_S = 2, 15
"""Seconds of a reference sound (h3.md 4: the hosted service; the open weights name no limit)."""


def upload_name(digest: str) -> str:
    """The name of an uploaded voice.

    Parameters
    ----------
    digest : sha256 (hex) of the director's file
    """
    return f"{FOLDER}/{digest}-voice-v{VERSION}.wav"


@lru_cache(maxsize=16)
def voice(path: Path, digest: str) -> Samples:
    """A recorded voice as it is sent: float32, shape (n, 2) at 32 kHz, n whole latents, at most 15 s.

    Parameters
    ----------
    digest : sha256 (hex) of the file

    Raises
    ------
    StoryboardError : missing, no sound, damaged, too short, silent, or not finite
    """
    from mvpipe.tools import sound
    from mvpipe.tools.audible import QUIET

    try:
        sound.probe(path)
        mono = encode.read_mono(path, VOCAL_RATE, seconds=MOST_S)
    except (MediaError, ToolError) as exc:
        raise StoryboardError(f"{path}: voice: {str(exc).removeprefix(f'{path.name}: ')}") from exc
    whole = mono[: len(mono) // LATENT_SAMPLES * LATENT_SAMPLES]
    if len(whole) < LEAST_S * VOCAL_RATE:
        raise StoryboardError(
            f"{path}: voice: {len(whole) / VOCAL_RATE:.1f} s: H3 takes references of {LEAST_S} to {MOST_S} s",
            hint="a longer recording",
        )
    if not np.isfinite(whole).all():
        raise StoryboardError(f"{path}: voice: samples that are not finite", hint="save it again")
    if np.abs(whole).max() < QUIET:
        raise StoryboardError(
            f"{path}: voice: silent for its first {len(whole) / VOCAL_RATE:.0f} s",
            hint="cut it so that it begins with the voice",
        )
    return np.repeat(whole[:, None], 2, axis=1)


def sent(path: Path, digest: str) -> bytes:
    """The voice as it is sent, a WAV file; as `voice`."""
    return wav_bytes(voice(path, digest))
