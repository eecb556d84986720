"""Looking into a take that was fetched: its frames counted, its sound decoded and held against the voice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mvpipe.clock import FILM_RATE
from mvpipe.errors import MediaError
from mvpipe.film import Slate
from mvpipe.render.comfyui import silent
from mvpipe.render.comfyui.likeness import Heard
from mvpipe.render.comfyui.order import Made
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.silent import Asked, Got
from mvpipe.render.comfyui.vocal import VOCAL_RATE, silent_window, vocal_samples
from mvpipe.tools import picture, sound

SCALES = {"u8": 2**7, "s16": 2**15, "s32": 2**31, "s64": 2**63, "f32": 1, "f64": 1}
TYPES = {"u8": "u1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "f32": "<f4", "f64": "<f8"}


def hear(path: Path) -> Heard:
    """The first sound stream of a file, decoded whole, at its own rate.

    Raises
    ------
    MediaError : there is none, or it cannot be decoded
    """
    facts = sound.probe(path)
    raw = b"".join(sound.decode(path, facts.sample_format))
    samples = np.frombuffer(raw, TYPES[facts.sample_format]).astype(np.float32).reshape(-1, facts.channels)
    centred = samples - 128 if facts.sample_format == "u8" else samples
    return Heard(samples=centred / np.float32(SCALES[facts.sample_format]), sample_rate=facts.sample_rate)


def hear_voice(path: Path, frames: int) -> Heard:
    """The sound that is sent with a shot of so many frames.

    Raises
    ------
    MediaError : it is not as the audio VAE takes it whole: it would be cropped, and the mouth be early
    """
    heard, wanted = hear(path), vocal_samples(frames)
    samples, channels = heard.samples.shape
    if (samples, channels, heard.sample_rate) != (wanted, 2, VOCAL_RATE):
        raise MediaError(
            f"{path.name}: {samples} samples, {channels} channels at {heard.sample_rate} Hz, "
            f"where H3 takes {wanted}, 2 channels at {VOCAL_RATE} Hz for {frames} frames"
        )
    return heard


def sent(slate: Slate, assets: Mapping[str, Path]) -> Heard | None:
    """The sound that goes with a slate; None where its take is not locked to any.

    Raises
    ------
    MediaError : as for `hear_voice`
    """
    if slate.graph["sound"] == Sounding.SILENCE:
        return Heard(samples=silent_window(slate.frames), sample_rate=VOCAL_RATE)
    return hear_voice(assets["vocals"], slate.frames) if "vocals" in slate.inputs else None


def faults(slate: Slate, path: Path, voice: Heard | None, made: Made, steps: int) -> list[str]:
    """What is wrong with a take, in words.

    Parameters
    ----------
    voice : what was sent
    """
    asked = Asked(
        frames=slate.frames,
        size=slate.size,
        rate=FILM_RATE,
        steps=steps,
        voice=voice,
        locked=slate.graph["lock"] == "exact",
    )
    try:
        heard = hear(path) if picture.facts(path).sounds else None
        frames = len(picture.times(path))
    except MediaError as exc:
        return [f"cannot be decoded: {exc}"]
    got = Got(frames=frames, sound=heard, sampled=made.sampled, seconds=made.seconds)
    return silent.faults(asked, got)
