"""SyncNet, re-stated: the official network's layers under the official names, so its weights load unchanged.

Chung and Zisserman, "Out of time: automated lip sync in the wild", 2016; code joonson/syncnet_python (MIT).
The weights may be used for research (Creative Commons Attribution); the user brings them. torch is imported
here, so import this module late.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.gate.mfcc import mfcc
from mvpipe.gate.pairs import Features

RATE = 25
"""Pictures a second."""

CROP = 224
"""Pixels of the square picture of a face."""

WINDOW = 5
"""Pictures that are seen at once."""

HEARD = 20
"""Rows of cepstra that are heard with them: 200 ms."""

SLICE = 6
"""Pictures that pass through the network together; of 6, 8 and 12, this needs the least memory (475, 503, 557
MiB of the whole process for 8 s at 1344x768) and no more time (11.5 CPU seconds)."""

SAMPLES = 640
"""Of 16 kHz sound, a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A file of weights as its makers published it."""

    name: str
    size: int
    sha256: str
    licence: str


OFFICIAL = Published(
    name="syncnet_v2.model",
    size=54_573_114,
    sha256="961e8696f888fce4f3f3a6c3d5b3267cf5b343100b238e79b2659bff2c605442",
    licence="for research, under Creative Commons Attribution (Oxford VGG); the network's code is MIT",
)
"""Size and digest agree in three public sources (findings-sync, section 1)."""


class SyncNet(nn.Module):
    """Two towers: five pictures of a face, or 200 ms of voice, become 1024 numbers each."""

    def __init__(self) -> None:
        super().__init__()
        self.netcnnaud = nn.Sequential(
            *_flat(1, 64, 3, pad=1), nn.MaxPool2d(1, 1),
            *_flat(64, 192, 3, pad=1), nn.MaxPool2d(3, (1, 2)),
            *_flat(192, 384, 3, pad=1), *_flat(384, 256, 3, pad=1), *_flat(256, 256, 3, pad=1),
            nn.MaxPool2d(3, 2),
            *_flat(256, 512, (5, 4), pad=0),
        )  # fmt: skip
        self.netfcaud = _head()
        self.netfclip = _head()
        self.netcnnlip = nn.Sequential(
            *_deep(3, 96, (5, 7, 7), step=2, pad=0), nn.MaxPool3d((1, 3, 3), (1, 2, 2)),
            *_deep(96, 256, (1, 5, 5), step=2, pad=1), nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            *_deep(256, 256, (1, 3, 3), step=1, pad=1), *_deep(256, 256, (1, 3, 3), step=1, pad=1),
            *_deep(256, 256, (1, 3, 3), step=1, pad=1), nn.MaxPool3d((1, 3, 3), (1, 2, 2)),
            *_deep(256, 512, (1, 6, 6), step=1, pad=0),
        )  # fmt: skip

    def hear(self, cepstra: Tensor) -> Tensor:
        """Voice, shape (n, 1, 13, 20) -> (n, 1024)."""
        return torch.as_tensor(self.netfcaud(self.netcnnaud(cepstra).flatten(1)))

    def see(self, pictures: Tensor) -> Tensor:
        """Pictures, BGR 0 to 255, shape (3, t, 224, 224), t > 4 -> (t - 4, 1024): one row a window.

        Only the first layer spans time, so a longer slice gives the rows of all windows in it at once.
        """
        tower: Tensor = self.netcnnlip(pictures[None])
        return torch.as_tensor(self.netfclip(tower[0, :, :, 0, 0].T))


def _flat(channels: int, out: int, kernel: int | tuple[int, int], *, pad: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(channels, out, kernel, padding=pad), nn.BatchNorm2d(out), nn.ReLU(inplace=True)


def _deep(
    channels: int, out: int, kernel: tuple[int, int, int], *, step: int, pad: int
) -> tuple[nn.Module, ...]:
    conv = nn.Conv3d(channels, out, kernel, stride=(1, step, step), padding=(0, pad, pad))
    return conv, nn.BatchNorm3d(out), nn.ReLU(inplace=True)


def _head() -> nn.Sequential:
    return nn.Sequential(nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 1024))


def load_weights(path: Path, *, size: int = OFFICIAL.size, sha256: str = OFFICIAL.sha256) -> SyncNet:
    """The network with a file's weights, ready to be used.

    Parameters
    ----------
    path : torch's file of a plain state dict, in the old format or the new
    size, sha256 : what the file must be; those of the official one

    Raises
    ------
    WeightsMissing : no such file
    ToolError : another file, or one that holds more than tensors, or the tensors of another network
    """
    _check(path, size, sha256)
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError) as exc:
        raise ToolError(
            f"{path}: weights: more than plain tensors, so not opened",
            hint="a pickled module runs code when it is read: use the published state dict",
        ) from exc
    return assemble(path, state)


def assemble(path: Path, state: Any) -> SyncNet:
    """The network with the weights of a state dict; batches counted in training may be missing."""
    network = SyncNet()
    if not isinstance(state, dict):
        raise ToolError(f"{path}: weights: a {type(state).__name__}, not a state dict")
    counted = {name for name in network.state_dict() if name.endswith("num_batches_tracked")}
    wanted = {k: tuple(v.shape) for k, v in network.state_dict().items() if k not in counted}
    found = {k: tuple(v.shape) for k, v in state.items() if k not in counted}
    if wanted != found:
        odd = sorted(k for k in wanted.keys() | found.keys() if wanted.get(k) != found.get(k))
        raise ToolError(f"{path}: weights: not SyncNet's: {len(odd)} entries differ, first {odd[0]}")
    network.load_state_dict(state, strict=False)
    return network.requires_grad_(False).eval()


def _check(path: Path, size: int, sha256: str) -> None:
    if not path.is_file():
        raise WeightsMissing(f"{path}: weights: no such file", hint="mvpipe models says where to get them")
    hint = f"the gate accepts only {OFFICIAL.name} as published"
    if path.stat().st_size != size:
        raise ToolError(f"{path}: weights: {path.stat().st_size} bytes, not {size}", hint=hint)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ToolError(f"{path}: weights: sha256 {found[:16]}..., not {sha256[:16]}...", hint=hint)


def windows(pictures: int, samples: int) -> int:
    """How many windows the official script compares."""
    return max(0, min(pictures, samples // SAMPLES) - WINDOW)


def see(network: SyncNet, pictures: NDArray[np.uint8]) -> Features:
    """What the face does in each window of five pictures.

    Parameters
    ----------
    pictures : uint8, BGR, shape (n, 224, 224, 3), n > 4, 25 a second

    Returns
    -------
    float32, shape (n - 4, 1024)
    """
    rows = []
    for first in range(0, len(pictures) - WINDOW + 1, SLICE - WINDOW + 1):
        part = np.ascontiguousarray(pictures[first : first + SLICE].transpose(3, 0, 1, 2), np.float32)
        with torch.inference_mode():
            rows.append(network.see(torch.from_numpy(part)).numpy())
    return np.concatenate(rows)


def hear(network: SyncNet, voice: NDArray[np.int16]) -> Features:
    """What the voice does beside each picture.

    Parameters
    ----------
    voice : int16, shape (n,), 16 kHz, starting with the first picture, n >= 3200

    Returns
    -------
    float32, shape (windows, 1024); row i spans 200 ms from picture i on
    """
    rows = np.lib.stride_tricks.sliding_window_view(mfcc(voice).astype(np.float32), HEARD, axis=0)[::4]
    stack = np.ascontiguousarray(rows[:, None])
    with torch.inference_mode():
        parts = [network.hear(torch.from_numpy(stack[k : k + 32])).numpy() for k in range(0, len(stack), 32)]
    return np.concatenate(parts)
