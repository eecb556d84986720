"""Looking into a take that was fetched: its frames counted, its sound decoded and held against the voice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mvpipe.clock import FILM_RATE
from mvpipe.errors import MediaError
from mvpipe.film import Slate
from mvpipe.render.comfyui import silent
from mvpipe.render.comfyui.order import Made
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.silent import Asked, Got
from mvpipe.render.comfyui.slating import SOUND_ROLES
from mvpipe.render.comfyui.vocal import VOCAL_RATE, silent_window, vocal_samples
from mvpipe.tools import picture
from mvpipe.tools.heard import Heard, hear


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
    role = SOUND_ROLES.get(Sounding(slate.graph["sound"]))
    return hear_voice(assets[role], slate.frames) if role else None


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
