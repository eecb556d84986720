"""The clip a run leaves behind: a small real H.264 file whose picture is decided by its look.

The picture is a field in two colours with a few blocks, one of them moving, and a bar as high as the voice
is loud. Other seeds, prompts, LoRAs or references give other colours and places; nothing is beautiful.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np

from mvpipe.testing.comfyui import sound as sounds
from mvpipe.testing.comfyui.values import NodeFailed, Picture, Sound, Video

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from numpy.typing import NDArray

    Plane = NDArray[np.uint8]

BLOCKS = 5


def write(path: Path, video: Video, *, shrink: int = 1, metadata: dict[str, str]) -> None:
    """Write a clip, spoilt as its picture is.

    Raises
    ------
    NodeFailed : the encoder refused, as it does for NaN
    """
    spoils = dict(video.picture.spoils)
    try:
        with av.open(str(path), "w", options={"movflags": "use_metadata_tags"}) as container:
            container.metadata.update(metadata)
            heard = None if "sound-missing" in spoils else _spoilt(video, spoils)
            _write(container, video, heard, shrink, spoils)
    except av.error.FFmpegError as exc:
        said = str(exc).replace("[Errno 22] ", "").partition(";")[0]
        if "sound-nan" in spoils:
            said += "; last error log: [aac] Input contains (near) NaN/+-Inf"
        raise NodeFailed(f"av.error.{type(exc).__name__}", said) from exc


def write_sound(path: Path, heard: Sound) -> None:
    """Write sound alone, as FLAC of 16 bits."""
    samples = np.nan_to_num(sounds.stereo(heard, heard.rate)).clip(-1, 1)
    packed = np.ascontiguousarray((samples * 32767).astype(np.int16).T).reshape(1, -1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("flac", rate=heard.rate, layout="stereo")
        frame = av.AudioFrame.from_ndarray(packed, format="s16", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = heard.rate, 0, Fraction(1, heard.rate)
        container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _write(
    container: OutputContainer, video: Video, heard: Sound | None, shrink: int, spoils: dict[str, Any]
) -> None:
    picture = video.picture
    stream = container.add_stream("libx264", rate=video.rate)
    stream.width, stream.height = (
        max(16, side // shrink // 2 * 2) for side in (picture.width, picture.height)
    )
    stream.pix_fmt = "yuv420p"
    stream.options = {"preset": "ultrafast", "crf": "26", "threads": "1"}
    voice = _voice(container, heard, stored_raw="sound-nan-stored" in spoils) if heard else None
    for place, plane in enumerate(_planes(picture, stream.width, stream.height, video, spoils)):
        frame = av.VideoFrame.from_ndarray(plane, format="yuv420p")
        frame.pts = place
        container.mux(stream.encode(frame))
    container.mux(stream.encode())
    if voice and heard:
        _write_sound(container, voice, heard)


def _voice(container: OutputContainer, heard: Sound, *, stored_raw: bool) -> AudioStream:
    if stored_raw:
        return container.add_stream("pcm_f32le", rate=heard.rate, layout="stereo")
    return container.add_stream("aac", rate=heard.rate, layout="stereo")


def _write_sound(container: OutputContainer, voice: AudioStream, heard: Sound) -> None:
    if voice.codec_context.name == "pcm_f32le":
        packed = np.ascontiguousarray(heard.samples.T).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(packed, format="flt", layout="stereo")
    else:
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(heard.samples), format="fltp", layout="stereo"
        )
    frame.sample_rate, frame.pts, frame.time_base = heard.rate, 0, Fraction(1, heard.rate)
    container.mux(voice.encode(frame))
    container.mux(voice.encode())


def _spoilt(video: Video, spoils: dict[str, Any]) -> Sound | None:
    """The sound as it is muxed: two channels, as long as the picture, spoilt as ordered."""
    if video.sound is None:
        return None
    rate = video.sound.rate
    wanted = int(video.picture.frames * rate / video.rate)
    samples = sounds.stereo(video.sound, rate)[:, :wanted].copy()
    if "sound-silent" in spoils:
        samples[:] = 0.0
    if "sound-constant" in spoils:
        samples[:] = spoils["sound-constant"]["level"]
    if "sound-short" in spoils:
        samples = samples[:, : samples.shape[1] // 2]
    if "sound-nan" in spoils or "sound-nan-stored" in spoils:
        samples[:, samples.shape[1] // 2 :] = np.nan
    return Sound(samples=samples, rate=rate, digest=video.sound.digest)


def _planes(
    picture: Picture, width: int, height: int, video: Video, spoils: dict[str, Any]
) -> Iterator[Plane]:
    """Frames as one array of luma and both halves of chroma: uint8, shape (height * 3 / 2, width)."""
    frames = spoils["frames-short"]["frames"] if "frames-short" in spoils else picture.frames
    base = _black(width, height) if "black" in spoils else _still(picture.look, width, height)
    if "shimmer" in spoils:
        base = _shimmering(base, spoils["shimmer"])
    levels = sounds.levels(video.sound, frames, float(video.rate))
    still = "black" in spoils or "frozen" in spoils
    side, pace = max(2, height // 6), int(picture.look[2:4] or "0", 16) % 5 + 3
    for place in range(frames):
        plane = base.copy()
        if not still:
            # to and fro: a block that jumped back would be a cut inside the shot
            room = max(1, width - side)
            left = room - abs(place * pace % (2 * room) - room)
            plane[height // 3 : height // 3 + side, left : left + side] = 235 - place % 2 * 20
            bar = int(levels[place] * height / 4)
            plane[height - bar : height, width // 2 - side // 2 : width // 2 + side // 2] = 16
        yield plane


def _shimmering(plane: Plane, figures: dict[str, Any]) -> Plane:
    """A frame with what is left to chance in a run: patches of 16 pixels, a little lighter or darker."""
    rng = np.random.default_rng(list(figures["run"].encode()))
    patches = rng.integers(-figures["level"], figures["level"] + 1, [-(-side // 16) for side in plane.shape])
    noise = np.kron(patches, np.ones((16, 16), np.int16))[: plane.shape[0], : plane.shape[1]]
    return (plane + noise).clip(0, 255).astype(np.uint8)


def _black(width: int, height: int) -> Plane:
    plane = np.full((height * 3 // 2, width), 128, np.uint8)
    plane[:height] = 16
    return plane


def _still(look: str, width: int, height: int) -> Plane:
    rng = np.random.default_rng(int(look[:16] or "0", 16))
    plane = np.empty((height * 3 // 2, width), np.uint8)
    plane[:height] = np.linspace(float(rng.integers(40, 200)), float(rng.integers(40, 200)), height).astype(
        np.uint8
    )[:, None]
    for top, left, level in zip(
        rng.integers(0, height - 1, BLOCKS),
        rng.integers(0, width - 1, BLOCKS),
        rng.integers(30, 220, BLOCKS),
        strict=True,
    ):
        plane[top : min(height, top + height // 4), left : left + width // 5] = level
    chroma = plane[height:].reshape(2, -1)
    chroma[0], chroma[1] = rng.integers(60, 196, 2)
    return plane
