"""Demucs' networks: their files read without running what is in them, and one stretch of sound separated.

Demucs itself reads a `.th` as an open pickle, which runs whatever it holds, and imports the class that a
safetensors file names. Here a file may hold tensors, numbers and one of two classes, or is refused.
demucs and torch are imported here, so import this module late.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from demucs.apply import BagOfModels, TensorChunk, apply_model
from demucs.hdemucs import HDemucs
from demucs.hf import load_safetensors_model
from demucs.htdemucs import HTDemucs
from demucs.states import load_model
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from mvpipe.errors import ToolError
from mvpipe.sound import checksum
from mvpipe.sound.bag import VOICE, Bag, Member

CLASSES = {"demucs.htdemucs.HTDemucs": HTDemucs, "demucs.hdemucs.HDemucs": HDemucs}
"""What a file may ask to be built."""

# demucs ships py.typed, but few types
_stretch: Any = TensorChunk
_build: Any = load_model

OVERLAP = 0.25
"""Share of a segment that is heard again in the next: Demucs' own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """A bag of models on the device it runs on.

    Parameters
    ----------
    models : all of one rate and one segment
    shares : of each in the estimate, > 0
    segment, stride : samples they hear at once, and from one stretch to the next
    """

    models: tuple[Any, ...]
    shares: tuple[float, ...]
    segment: int
    stride: int
    device: torch.device

    def voice_only(self, sound: NDArray[np.float32], start: int) -> NDArray[np.float32]:
        """The voice in one segment.

        Parameters
        ----------
        sound : float32, shape (2, n): the segment, half a segment or more before it, and what follows
            it up to the end of the song or of the segment
        start : where in it the segment starts

        Returns
        -------
        float32, shape (2, m), m <= segment
        """
        # Demucs fills up a short last segment with what comes before it, so it must see that, too
        chunk = _stretch(torch.from_numpy(sound)[None], start, self.segment)
        total = sum(self.shares)
        estimate = None
        for model, share in zip(self.models, self.shares, strict=True):
            parts = apply_model(model, chunk, shifts=0, split=False, device=self.device)
            part = parts[0, VOICE] * (share / total)
            estimate = part if estimate is None else estimate + part
        assert estimate is not None
        out: NDArray[np.float32] = estimate.cpu().numpy()
        return out


def load(bag: Bag, device: torch.device, *, sample_rate: int) -> Net:
    """The bag's models, ready.

    Raises
    ------
    ToolError : a file that is damaged or holds more than weights; models that do not fit mvpipe
    """
    models = [_model(member) for member in bag.members]
    kinds = {(m.samplerate, m.audio_channels, tuple(m.sources)) for m in models}
    rate, channels, parts = kinds.pop()
    if kinds or (rate, channels, *parts[VOICE : VOICE + 1]) != (sample_rate, 2, "vocals"):
        raise ToolError(
            f"{bag.name}: not a model for mvpipe: {channels} channels at {rate} Hz, {', '.join(parts)}; "
            f"want 2 at {sample_rate}, the voice as number {VOICE + 1}, in every model of the bag"
        )
    for model in BagOfModels(models, segment=bag.segment).models:  # it sets their segments
        model.to(device).eval()
    segments = {int(model.samplerate * model.segment) for model in models}
    if len(segments) != 1:
        raise ToolError(f"{bag.name}: not a bag for mvpipe: segments of {sorted(segments)} samples")
    segment = segments.pop()
    return Net(
        models=tuple(models),
        shares=tuple(member.share for member in bag.members),
        segment=segment,
        stride=int((1 - OVERLAP) * segment),
        device=device,
    )


def _model(member: Member) -> Any:
    path = member.path
    checksum.verify(path)
    try:
        model = _from_safetensors(path) if path.suffix == ".safetensors" else _from_pickle(path)
    except (SafetensorError, UnpicklingError, KeyError, TypeError, ValueError, RuntimeError, EOFError) as exc:
        raise ToolError(
            f"{path}: not a Demucs model that can be read safely: {_first_line(exc)}",
            hint="use the .safetensors file of the model, or fetch it again",
        ) from exc
    return model


def _from_safetensors(path: Path) -> Any:
    with safe_open(str(path), framework="pt") as file:
        about = file.metadata() or {}
    if about.get("klass") not in CLASSES:
        raise ValueError(f"it wants to be a {about.get('klass', 'nothing')}")
    if "structure" in about:
        raise ValueError("its weights are packed for diffq")
    return load_safetensors_model(path)


def _from_pickle(path: Path) -> Any:
    with torch.serialization.safe_globals([*CLASSES.values(), Fraction]):
        package = torch.load(path, map_location="cpu", weights_only=True)
    if package["klass"] not in CLASSES.values():
        raise ValueError(f"it wants to be a {package['klass']}")
    return _build(package)


def _first_line(exc: Exception) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0]
