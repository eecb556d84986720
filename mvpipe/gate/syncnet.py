"""SyncNet, re-stated: the official network's layers under the official names, so its weights load unchanged.

Chung and Zisserman, "Out of time: automated lip sync in the wild", 2016; code joonson/syncnet_python (MIT).
The weights may be used for research (Creative Commons Attribution); the user brings them. torch is imported
here, so import this module late.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import batch_norm, conv2d, max_pool2d

from mvpipe.errors import ToolError
from mvpipe.gate import weights
from mvpipe.gate.mfcc import mfcc
from mvpipe.gate.pairs import Features

CROP = 224
"""Pixels of the square picture of a face."""

WINDOW = 5
"""Pictures that are seen at once."""

HEARD = 20
"""Rows of cepstra that are heard with them: 200 ms."""

SLICE = 6
"""Pictures that pass through the network together: two windows are as fast as four (24 ms each, one alone 29)
and need 25 MB less: 460 MB of the whole process for 8 s at 1344x768."""

SAMPLES = 640
"""Of 16 kHz sound, a picture."""


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
        # the planes of a pixel side by side, as oneDNN multiplies them fastest; names and shapes stay
        for layer in (*self.netcnnaud, *self.netcnnlip):
            if isinstance(layer, nn.Conv2d | nn.Conv3d):
                order = torch.channels_last if isinstance(layer, nn.Conv2d) else torch.channels_last_3d
                layer.weight.data = layer.weight.data.contiguous(memory_format=order)

    def hear(self, cepstra: Tensor) -> Tensor:
        """Voice, shape (n, 1, 13, 20) -> (n, 1024)."""
        return torch.as_tensor(self.netfcaud(self.netcnnaud(cepstra).flatten(1)))

    def see(self, windows: Tensor) -> Tensor:
        """Pictures, BGR 0 to 255, five to a window, shape (n, 15, 224, 224) -> (n, 1024).

        Only the first layer spans time, and it spans all five pictures: so a window is one picture of fifteen
        planes (b of all five first), each layer is flat, and it takes two thirds of the time.
        """
        for layer in self.netcnnlip:
            windows = _flatly(layer, windows)
        return torch.as_tensor(self.netfclip(windows.flatten(1)))


def _flatly(layer: nn.Module, x: Tensor) -> Tensor:
    """What a layer over (time, height, width) does where there is no time left, or all of it."""
    if isinstance(layer, nn.Conv3d):
        weight = layer.weight.flatten(1, 2)
        return conv2d(x, weight, layer.bias, _across(layer.stride), _across(layer.padding))
    if isinstance(layer, nn.BatchNorm3d):
        mean, variance = layer.running_mean, layer.running_var
        return batch_norm(x, mean, variance, layer.weight, layer.bias, eps=layer.eps)
    if isinstance(layer, nn.MaxPool3d):
        return max_pool2d(x, _across(layer.kernel_size), _across(layer.stride), _across(layer.padding))
    return torch.as_tensor(layer(x))


def _across(sides: Any) -> tuple[int, int]:
    """Of (time, height, width) the last two; a number stands for all."""
    return (sides, sides) if isinstance(sides, int) else sides[-2:]


def _flat(channels: int, out: int, kernel: int | tuple[int, int], *, pad: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(channels, out, kernel, padding=pad), nn.BatchNorm2d(out), nn.ReLU(inplace=True)


def _deep(
    channels: int, out: int, kernel: tuple[int, int, int], *, step: int, pad: int
) -> tuple[nn.Module, ...]:
    conv = nn.Conv3d(channels, out, kernel, stride=(1, step, step), padding=(0, pad, pad))
    return conv, nn.BatchNorm3d(out), nn.ReLU(inplace=True)


def _head() -> nn.Sequential:
    return nn.Sequential(nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 1024))


def load_weights(path: Path, *, size: int | None = None, sha256: str | None = None) -> SyncNet:
    """The network with a file's weights, ready to be used.

    Parameters
    ----------
    path : torch's file of a plain state dict, in the old format or the new
    size, sha256 : what the file must be; those of the official one unless given

    Raises
    ------
    WeightsMissing : no such file
    ToolError : another file, or one that holds more than tensors, or the tensors of another network
    """
    weights.check(path, size=size, sha256=sha256)
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


def windows(pictures: int, samples: int) -> int:
    """How many windows the official script compares."""
    return max(0, min(pictures, samples // SAMPLES) - WINDOW)


def see(network: SyncNet, pictures: Iterable[NDArray[np.uint8]]) -> Features:
    """What the face does in each window of five pictures.

    Parameters
    ----------
    pictures : n > 4, uint8, BGR, shape (224, 224, 3), 25 a second; `SLICE` of them are held at once

    Returns
    -------
    float32, shape (n - 4, 1024)
    """
    coming, rows = iter(pictures), []
    held = list(islice(coming, WINDOW - 1))
    while fresh := list(islice(coming, SLICE - WINDOW + 1)):
        held += fresh
        windows = np.lib.stride_tricks.sliding_window_view(np.stack(held), WINDOW, axis=0)
        planes = windows.reshape(len(fresh), CROP, CROP, 3 * WINDOW).astype(np.float32)
        with torch.inference_mode():
            rows.append(network.see(torch.from_numpy(planes).permute(0, 3, 1, 2)).numpy())
        held = held[len(fresh) :]
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
