"""Nodes that read files: weights by name, pictures by their first bytes, sound whole."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import sound as sounds
from mvpipe.testing.comfyui.validate import locate
from mvpipe.testing.comfyui.values import Made, Model, NodeFailed, Picture, Still, Video

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.execute import Run

Values = dict[str, Any]

SIGNATURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"BM")


def load_unet(run: Run, node_id: str, values: Values) -> Made:
    """Weights of the model, whatever the loader's class and input are called."""
    file = next(one for one in values.values() if isinstance(one, str))
    run.load(file)
    return Made(outputs=(Model(facts={"unet": file}),))


def load_lora(run: Run, node_id: str, values: Values) -> Made:
    """A LoRA laid over the model; strength 0 lays none."""
    model: Model = values["model"]
    strength = float(values["strength_model"])
    loras = ((*model.loras, (values["lora_name"], strength)),) if strength else (model.loras,)
    return Made(outputs=(replace(model, loras=loras[0]), values.get("clip")))


def load_file(run: Run, node_id: str, values: Values) -> Made:
    """Text encoders and VAEs: by name alone."""
    file = next(one for one in values.values() if isinstance(one, str))
    return Made(outputs=(file,))


def load_image(run: Run, node_id: str, values: Values) -> Made:
    """A picture file; only its first bytes are looked at."""
    path = locate(run.comfy.settings, values["image"])
    assert path is not None
    try:
        content = path.read_bytes()
    except FileNotFoundError as exc:
        raise NodeFailed("FileNotFoundError", f"[Errno 2] No such file or directory: '{path}'") from exc
    if not content.startswith(SIGNATURES):
        if run.comfy.settings.modern:
            message = f"[Errno 1094995529] Invalid data found when processing input: '{path}'"
            raise NodeFailed("av.error.InvalidDataError", message)
        raise NodeFailed("PIL.UnidentifiedImageError", f"cannot identify image file '{path}'")
    wide, high = (int.from_bytes(content[at : at + 4]) for at in (16, 20))  # a PNG's first chunk
    pixels = wide * high if content.startswith(SIGNATURES[0]) else 0
    still = Still(digest=hashlib.sha256(content).hexdigest(), pixels=pixels)
    return Made(outputs=(still, still.digest))


def load_audio(run: Run, node_id: str, values: Values) -> Made:
    """A sound file, decoded whole."""
    path = locate(run.comfy.settings, values["audio"])
    assert path is not None
    return Made(outputs=(sounds.load(path),))


def load_video(run: Run, node_id: str, values: Values) -> Made:
    """A video file as a reference: by its bytes and its header, its pictures are not decoded."""
    import av

    path = locate(run.comfy.settings, values["file"])
    assert path is not None
    look = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        with av.open(str(path)) as container:
            film = container.streams.video[0]
            picture = Picture(width=film.width, height=film.height, frames=film.frames, look=look)
    except (av.error.FFmpegError, IndexError) as exc:
        raise NodeFailed("av.error.InvalidDataError", f"Invalid data found: '{path}'") from exc
    return Made(outputs=(Video(picture=picture, rate=Fraction(24)),))


def video_components(run: Run, node_id: str, values: Values) -> Made:
    """A video taken apart."""
    video: Video = values["video"]
    return Made(outputs=(video.picture, video.sound, float(video.rate), 8, "sRGB"))
